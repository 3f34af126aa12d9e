"""Pairs of rows: read from arrays, or sampled from labelled rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from tauten.kernels.pairs import Places
from tauten.kernels.state import Dense, Floats, Sparse
from tauten.rows import Rows


@dataclass
class Pairs:
    """Rows, and for each pair the places of its two."""

    rows: Rows
    left: Places
    right: Places

    def __len__(self) -> int:
        return len(self.left)

    def take(self, order: Places) -> "Pairs":
        """The pairs in another order."""
        return Pairs(self.rows, self.left[order], self.right[order])

    def block(self) -> Dense | Sparse:
        """All rows as the loops take them."""
        return self.rows.block(0, len(self.rows))

    def differences(self) -> Floats:
        """v = x − x′ of each pair."""
        X = self.rows.X
        v = X[self.left].astype(np.float64) - X[self.right].astype(np.float64)
        return v.toarray() if sp.issparse(v) else v  # type: ignore[no-any-return]


def are_pairs(X: Any) -> bool:
    """Whether training data are pairs, and not rows."""
    if isinstance(X, tuple) or hasattr(X, "ndim"):
        return isinstance(X, tuple) or X.ndim == 3
    try:
        return np.asarray(X).ndim == 3
    except ValueError:  # rows of unlike lengths
        return False


def read_pairs(pairs: Any, n_features: int | None = None) -> Pairs:
    """Pairs from an array of shape (n, 2, d), or a tuple of two sparse matrices, the left and the right rows;
    checked.
    """
    if isinstance(pairs, tuple) and len(pairs) == 2 and any(sp.issparse(side) for side in pairs):
        left, right = (sp.csr_matrix(side, dtype=np.float64) for side in pairs)
        if left.shape != right.shape:
            raise ValueError(f"Left and right rows of pairs have shapes {left.shape} and {right.shape}.")
        rows, n = Rows(sp.vstack([left, right], format="csr")), left.shape[0]
        places = np.arange(n), np.arange(n, 2 * n)
    else:
        rows, n = _stacked(pairs)
        places = np.arange(0, 2 * n, 2), np.arange(1, 2 * n, 2)
    if n == 0:
        raise ValueError("There are no pairs; expected one or more.")
    if n_features is not None and rows.width != n_features:
        raise ValueError(f"Pairs have {rows.width} features; expected {n_features}, as those learned.")
    try:
        rows.check()
    except ValueError as error:
        raise ValueError(f"A pair cannot be read: {error}") from error
    return Pairs(rows, *places)


def _stacked(pairs: Any) -> tuple[Rows, int]:
    """The rows of an array of pairs, one pair after the other."""
    try:
        array = np.ascontiguousarray(pairs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"Pairs cannot be read: {error}; expected numbers of shape (n, 2, d).") from error
    if array.ndim != 3 or array.shape[1] != 2 or array.shape[2] == 0:
        raise ValueError(f"Pairs have shape {array.shape}; expected (n, 2, d): n pairs of rows of d numbers.")
    return Rows(array.reshape(-1, array.shape[2])), len(array)


def read_sides(y: ArrayLike, n: int) -> Floats:
    """Whether each pair is similar, +1, or dissimilar, −1; checked."""
    given = np.asarray(y)
    if given.shape != (n,):
        raise ValueError(f"y has shape {given.shape}; expected ({n},), a label a pair.")
    wrong = np.flatnonzero(~((given == 1) | (given == -1)))
    if len(wrong):
        place = int(wrong[0])
        raise ValueError(
            f"y is {given[place]!r} at pair {place}; expected 1 for similar or -1 for dissimilar."
        )
    return given.astype(np.float64)


def usual_n_pairs(n_classes: int) -> int:
    """The paper's number of training pairs."""
    return 40 * n_classes * (n_classes - 1)


def usual_n_steps(n_rows: int, n_pairs: int) -> int:
    """The paper's number of steps: a fifth of all pairs of rows or 50 a training pair, what is less, but each
    training pair twice at least.
    """
    return max(2 * n_pairs, min(n_rows * (n_rows - 1) // 10, 50 * n_pairs))


def sample_pairs(
    labels: NDArray[Any], n_pairs: int, random: np.random.RandomState
) -> tuple[Places, Places, Floats]:
    """Distinct random pairs of different rows, at most all there are: left, right, and the side of each."""
    n_rows = len(labels)
    n_all = n_rows * (n_rows - 1) // 2
    codes = _distinct(n_all, min(n_pairs, n_all), random)
    # pair number c is (i, j), j < i, with c = i(i − 1)/2 + j
    left = ((1.0 + np.sqrt(1.0 + 8.0 * codes)) / 2.0).astype(np.int64)
    left -= left * (left - 1) // 2 > codes  # the root is rounded
    left += (left + 1) * left // 2 <= codes
    right = codes - left * (left - 1) // 2
    return left, right, np.where(labels[left] == labels[right], 1.0, -1.0)


def _distinct(n_all: int, n_wanted: int, random: np.random.RandomState) -> Places:
    """Different whole numbers below n_all, in random order."""
    if n_all < 4 * n_wanted:
        return random.permutation(n_all)[:n_wanted]
    found = np.zeros(0, dtype=np.int64)
    while len(found) < n_wanted:
        more = np.concatenate([found, random.randint(n_all, size=n_wanted, dtype=np.int64)])
        firsts = np.unique(more, return_index=True)[1]
        found = more[np.sort(firsts)]
    return found[:n_wanted]
