"""The data sets of the active PA paper: rows with a constant feature, of length 1, and what counts as positive."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import StandardScaler, normalize

from tauten.papers.sets import Rows, Sets, narrow, with_constant

Reader = Callable[[Sets], Rows | None]


def unit(X: Any) -> Any:
    """Rows with a constant feature, of length 1."""
    return narrow(normalize(with_constant(X)))


def standardised(X: Any) -> Any:
    """Features of mean 0 and standard deviation 1."""
    return StandardScaler().fit_transform(X.toarray() if sp.issparse(X) else X)


@dataclass(frozen=True)
class Plain:
    """A data set as it lies there, with both parts or the first alone."""

    name: str
    n_features: int | None = None
    scaled: bool = False
    first_alone: bool = True
    positive: Any = None  # of two classes; None for many

    def __call__(self, sets: Sets) -> Rows | None:
        """Rows and labels, the positive ones True where there are two classes."""
        parts = sets.parts(self.name, self.n_features)
        if parts is None:
            return None
        loaded = parts[0] if self.first_alone else sets.load(self.name, self.n_features)
        if loaded is None:
            return None
        X, y = loaded
        return unit(standardised(X) if self.scaled else X), y if self.positive is None else y == self.positive


@dataclass(frozen=True)
class Words:
    """Texts as counts of words; of two groups of labels, by how they begin, the first is positive."""

    name: str
    first: str = ""
    second: str = ""

    def __call__(self, sets: Sets) -> Rows | None:
        """Rows and labels."""
        loaded = sets.load(self.name)
        if loaded is None:
            return None
        texts, labels = loaded
        chosen = np.array([label.startswith((self.first, self.second)) for label in labels])
        X = CountVectorizer(dtype=np.float64).fit_transform(texts[chosen])
        y = labels[chosen]
        return unit(X), np.array([label.startswith(self.first) for label in y]) if self.first else y


def phishing(sets: Sets) -> Rows | None:
    """Web sites, each value a feature of its own as LIBSVM has them."""
    loaded = sets.load("phishing_websites")
    if loaded is None:
        return None
    X = pd.get_dummies(pd.DataFrame(loaded[0]).astype(int).astype(str), dtype=float)
    return unit(sp.csr_matrix(X.to_numpy())), loaded[1] == "1"


def covtype(sets: Sets, n_rows: int, random: np.random.Generator) -> Rows | None:
    """A sample of forest cover, class 4 against the rest, standardised."""
    loaded = sets.load("covtype")
    if loaded is None:
        return None
    sample: NDArray[np.intp] = random.permutation(len(loaded[1]))[:n_rows]
    return unit(standardised(loaded[0][sample])), loaded[1][sample] == "4"


BINARY: dict[str, Reader] = {
    "magic04": Plain("magic04", scaled=True, positive="g"),
    "a8a": Plain("a8a", 123, positive=1),
    "svmguide1": Plain("svmguide1", 4, scaled=True, positive=1),
    "a9a": Plain("a9a", 123, positive=1),
    "w7a": Plain("w7a", 300, positive=1),
    "w8a": Plain("w8a", 300, positive=1),
    "phishing": phishing,
}
TEXTS: dict[str, Reader] = {
    "20 newsgroups, comp against rec": Words("20newsgroups", "comp.", "rec."),
    "20 newsgroups, rec against sci": Words("20newsgroups", "rec.", "sci."),
    "RCV1, a sample": Plain("rcv1_small", 47236, first_alone=False, positive=1),
}
MANY: dict[str, Reader] = {
    "dna": Plain("dna", 180, first_alone=False),
    "segment": Plain("segment", scaled=True),
    "vowel": Plain("vowel", scaled=True, first_alone=False),
    "letter": Plain("letter", 16, first_alone=False),
    "usps": Plain("usps"),
    "mnist": Plain("mnist"),
    "sector": Plain("sector", 55197),
    "20 newsgroups": Words("20newsgroups"),
    "Reuters R8": Words("reuters_r8"),
}
