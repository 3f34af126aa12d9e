"""How many rows their nearest neighbours label wrongly, for each number of neighbours at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from tauten.kernels.state import Floats

MOST_NEIGHBOURS = 25


def neighbour_errors(
    X: Floats,
    labels: NDArray[Any],
    test: Floats | None = None,
    test_labels: NDArray[Any] | None = None,
    most: int = MOST_NEIGHBOURS,
) -> Floats:
    """The error rate of k nearest neighbours on the test rows, for k from 1 to `most`; without test rows on
    the training rows, each left out in its turn.

    Votes are counted as KNeighborsClassifier does: of classes with equally many the first wins.
    """
    classes, codes = np.unique(labels, return_inverse=True)
    alone = test is None
    most = min(most, len(X) - int(alone))
    nearest = NearestNeighbors(n_neighbors=most).fit(X).kneighbors(test, return_distance=False)
    votes = np.cumsum(np.eye(len(classes), dtype=np.int64)[codes[nearest]], axis=1)
    predicted = classes[votes.argmax(axis=2)]
    truth = labels if test_labels is None else test_labels
    return np.asarray((predicted != truth[:, None]).mean(axis=0))
