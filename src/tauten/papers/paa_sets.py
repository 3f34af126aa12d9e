"""The data sets of the active PA paper: rows of length 1, and what counts as positive."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import StandardScaler, normalize

from tauten.papers.sets import Rows, Sets, joined, narrow, with_constant

Reader = Callable[[Sets], Rows | None]


def unit(X: Any, constant: bool = True) -> Any:
    """Rows of length 1, with a constant feature or without."""
    return narrow(normalize(with_constant(X) if constant else X))


def standardised(X: Any) -> Any:
    """Features of mean 0 and standard deviation 1."""
    return StandardScaler().fit_transform(X.toarray() if sp.issparse(X) else X)


@dataclass(frozen=True)
class Plain:
    """A data set of numbers, with both parts or the first alone."""

    name: str
    n_features: int | None = None
    positive: Any = None  # of two classes; None for many
    scaled: bool = False
    constant: bool = True
    first_alone: bool = False

    def __call__(self, sets: Sets) -> Rows | None:
        """Rows and labels, the positive ones True where there are two classes."""
        parts = sets.parts(self.name, self.n_features)
        if parts is None:
            return None
        X, y = parts[0] if self.first_alone else joined(parts)
        X = unit(standardised(X) if self.scaled else X, self.constant)
        return X, y if self.positive is None else y == self.positive


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
    return unit(standardised(X.to_numpy()), constant=False), loaded[1] == "1"


def covtype(sets: Sets, n_rows: int, random: np.random.Generator) -> Rows | None:
    """A sample of forest cover, class 4 against the rest, standardised."""
    loaded = sets.load("covtype")
    if loaded is None:
        return None
    sample: NDArray[np.intp] = random.permutation(len(loaded[1]))[:n_rows]
    return unit(standardised(loaded[0][sample])), loaded[1][sample] == "4"


PAPERS_OWN: dict[str, Any] = {"scaled": True, "constant": False}  # by which the figures of a8a come out

BINARY: dict[str, Reader] = {
    "a8a": Plain("a8a", 123, 1, **PAPERS_OWN),
    "svmguide1": Plain("svmguide1", 4, 1, **PAPERS_OWN),
    "w7a": Plain("w7a", 300, 1, **PAPERS_OWN, first_alone=True),
    "w8a": Plain("w8a", 300, 1, **PAPERS_OWN),
    "phishing": phishing,
}
TEXTS: dict[str, Reader] = {
    "20 newsgroups, comp against rec": Words("20newsgroups", "comp.", "rec."),
    "20 newsgroups, rec against sci": Words("20newsgroups", "rec.", "sci."),
    "RCV1, a sample": Plain("rcv1_small", 47236, 1),
}
MANY: dict[str, Reader] = {
    "dna": Plain("dna", 180),
    "segment": Plain("segment", scaled=True),
    "vowel": Plain("vowel", scaled=True),
    "letter": Plain("letter", 16),
    "usps": Plain("usps"),
    "mnist": Plain("mnist"),
    "sector": Plain("sector", 55197),
    "20 newsgroups": Words("20newsgroups"),
    "Reuters R8": Words("reuters_r8"),
}
RARE: dict[str, Callable[[Sets, int, np.random.Generator], Rows | None]] = {
    "w7a": lambda sets, n_rows, random: Plain("w7a", 300, 1, first_alone=True)(sets),
    "covtype, class 4": covtype,
}
