"""What the tests run over: learners of weights that learn every label (others have test files of their own),
those that ask, and public data sets.
"""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

import tauten as tt
from tauten.linear import Linear

SUPERVISED = [
    name
    for name, entry in tt.learners().items()
    if entry.kind in ("classifier", "regressor") and issubclass(entry.learner, Linear)
]  # those whose weights can be looked at; others have test files of their own
ACTIVE = [name for name, entry in tt.learners().items() if entry.kind == "active"]
DATA = Path(os.environ.get("TAUTEN_DATA", Path(__file__).parents[2] / "shared" / "data"))


def load_svmlight(name: str, n_features: int, *, constant: bool) -> list[tuple[sp.csr_matrix, np.ndarray]]:
    """The training and test rows of a data set, with a constant feature appended where asked; skips without
    them.
    """
    if not (DATA / name).is_dir():
        pytest.skip(f"needs the public data set {name}: set TAUTEN_DATA to the folder that holds it")
    parts = []
    for part in ("train", "test"):
        X, y = load_svmlight_file(str(DATA / name / f"{part}.svm.gz"), n_features=n_features)
        rows = sp.hstack([X, np.ones((X.shape[0], 1))]).tocsr() if constant else X
        parts.append((rows, y))
    return parts
