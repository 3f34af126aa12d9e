"""What a batch of examples is: dense or sparse rows, read from arrays, sparse matrices, frames or dicts.

A batch keeps the type it came with. Loops get it block by block as float64, so that a float32 or integer
batch is never copied as a whole.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from tauten.kernels.gather import Gatherer
from tauten.kernels.state import Dense, Sparse

BLOCK_VALUES = 1 << 20  # numbers made for a block: 8 MB


class OpenRows(sp.csr_matrix):  # type: ignore[misc]
    """Sparse rows whose columns are numbered without a known end, as those of svmlight files.

    A model of columns without names grows to take them, and passes over columns that it has not learned.
    """


class Rows:
    """A batch of n rows of one width."""

    def __init__(self, X: Any, trusted: bool = False) -> None:
        """`trusted`: a sparse batch whose rows hold each column at most once, though in any order."""
        self.X = X.tocsr() if sp.issparse(X) else X
        self.trusted = trusted
        self.sparse = sp.issparse(X)
        if self.sparse and not trusted:
            self._check_starts()

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def width(self) -> int:
        return int(self.X.shape[1])

    @property
    def n_values(self) -> int:
        return int(self.X.nnz if self.sparse else self.X.size)

    def _check_starts(self) -> None:
        """Raise a ValueError where a sparse matrix does not say where its rows are."""
        starts = self.X.indptr
        if len(starts) != len(self) + 1:
            raise ValueError(
                f"A sparse matrix of {len(self)} rows has {len(starts)} row starts; expected {len(self) + 1}."
            )
        falls = np.flatnonzero(np.diff(starts) < 0)
        if len(falls) or starts[0] != 0 or starts[-1] > min(len(self.X.indices), len(self.X.data)):
            row = int(falls[0]) if len(falls) else len(self) - 1
            raise ValueError(f"Row {row} of a sparse matrix ends where no values are; is the matrix damaged?")

    def take(self, order: NDArray[np.intp]) -> "Rows":
        """The rows in another order."""
        return Rows(self.X[order], self.trusted)

    def ascends(self, row: int) -> bool:
        """Whether the columns of a row are known, or seen, to be what loops take."""
        if not self.sparse or self.trusted:
            return True
        columns = self.X.indices[self.X.indptr[row] : self.X.indptr[row + 1]]
        return bool((columns[1:] > columns[:-1]).all())

    def sort(self) -> None:
        """Put the columns of every row in ascending order, repeated ones added up, in a copy of the batch."""
        self.X = self.X.copy()
        self.X.sum_duplicates()
        self.trusted = True

    def blocks(self, first: int, stop: int, per_row: int = 1) -> Iterator[tuple[int, Dense | Sparse]]:
        """The rows from `first` to `stop` in blocks, each with its first row.

        `per_row` is how many numbers the caller keeps for each row; rows that are converted count as well.
        """
        as_it_is = self.sparse or (self.X.dtype == np.float64 and self.X.flags.c_contiguous)
        values_per_row = per_row if as_it_is else max(self.width, per_row)
        size = max(min(BLOCK_VALUES // (8 * max(values_per_row, 1)), 16384), 16)
        for start in range(first, stop, size):
            yield start, self.block(start, min(start + size, stop))

    def block(self, start: int, stop: int) -> Dense | Sparse:
        """Rows as the loops take them."""
        if not self.sparse:
            return Dense(np.ascontiguousarray(self.X[start:stop], dtype=np.float64))
        X = self.X
        starts = X.indptr[start : stop + 1].astype(np.int64)
        values, indices = X.data, X.indices
        if values.dtype != np.float64 or indices.dtype != np.int32:
            values = values[starts[0] : starts[-1]].astype(np.float64)
            known = indices[starts[0] : starts[-1]]
            indices = np.where((known >= 0) & (known < self.width), known, -1).astype(np.int32)
            starts -= starts[0]
        return Sparse(
            np.ascontiguousarray(values),
            np.ascontiguousarray(indices).view(np.uint32),
            starts.view(np.uint64),
            self.trusted,
        )

    @classmethod
    def of(cls, row: Dense | Sparse, width: int) -> "Rows":
        """A batch of one out of a row as loops take it."""
        if isinstance(row, Dense):
            return cls(row.X)
        parts = row.values, row.indices.view(np.int32), row.starts.view(np.int64)
        return cls(sp.csr_matrix(parts, shape=(1, width)), trusted=True)

    def check(self, index: Mapping[str, int] | None = None) -> None:
        """Raise a ValueError for the first row that has a value that is not finite, or a column too many."""
        values = self.X.data if self.sparse else self.X
        finite = not np.issubdtype(values.dtype, np.floating) or np.isfinite(values).all()
        columns = self.X.indices if self.sparse else np.zeros(0)
        outside = len(columns) > 0 and not 0 <= columns.min() <= columns.max() < self.width
        if not finite or outside:
            for row in range(len(self)):
                self.check_row(row, row, index)

    def fault(self, row: int, index: Mapping[str, int] | None, number: int) -> Exception:
        """What is wrong with a row that a loop refused; `number` is what the row is called."""
        try:
            self.check_row(row, number, index)
        except ValueError as error:
            return error
        return AssertionError(f"Row {number} was refused for no reason.")

    def check_row(self, row: int, number: int, index: Mapping[str, int] | None) -> None:
        if self.sparse:
            span = slice(self.X.indptr[row], self.X.indptr[row + 1])
            columns, values = self.X.indices[span], self.X.data[span]
        else:
            columns, values = np.arange(self.width), np.asarray(self.X[row])
        outside = (columns < 0) | (columns >= self.width)
        for place in np.flatnonzero(outside | ~np.isfinite(values))[:1]:
            column, value = columns[place], values[place]
            if outside[place]:
                raise ValueError(f"Row {number} has a value in column {column} of {self.width}.")
            where = f"column {list(index)[column]!r}" if index is not None else f"column {column}"
            shown = "NaN" if np.isnan(value) else "inf" if value > 0 else "-inf"
            raise ValueError(f"Input X contains {shown} (row {number}, {where}); expected finite values.")


def dicts_in(X: Any) -> Sequence[Any] | None:
    """The dicts of a batch that is a list, an array or a series of them; None for any other."""
    held = getattr(getattr(X, "dtype", None), "kind", "") == "O" and X.ndim == 1
    dicts = list(X) if held else X
    return dicts if isinstance(dicts, Sequence) and len(dicts) > 0 and isinstance(dicts[0], Mapping) else None


def by_name(X: Any, index: Mapping[str, int]) -> Rows | None:
    """A frame as rows of the columns that its names have in an index, the others 0; None without names."""
    names = list(getattr(X, "columns", ()))
    if not names or not all(isinstance(name, str) for name in names):
        return None
    unknown = [name for name in names if name not in index]
    if unknown:
        raise ValueError(
            f"X has the unknown feature names {unknown[:3]}; expected names among the {len(index)} learned."
        )
    check_distinct(names)
    given = sp.csr_matrix(check_array(X, accept_sparse="csr", dtype="numeric", ensure_all_finite=False))
    columns = np.array([index[name] for name in names], dtype=np.int32)[given.indices]
    shape = given.shape[0], len(index)
    return Rows(sp.csr_matrix((given.data, columns, given.indptr), shape=shape), trusted=True)


def check_distinct(names: Sequence[str]) -> None:
    """Raise a ValueError where two columns have one name."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"X has several columns named {twice!r}; expected feature names that differ.")


def read_dicts(dicts: Sequence[Any], gather: Gatherer, grow: bool) -> Rows:
    """A batch of dicts from names to numbers, by an index of columns.

    Names that the index lacks join it, or, where it may not grow, are left out.
    """
    index = gather.index
    columns, values, starts = [np.zeros(0, np.int32)], [np.zeros(0)], [0]
    for row, example in enumerate(dicts):
        gathered = gather(example) if isinstance(example, dict) else None
        if gathered is None:
            check_dict(example, row)
            if grow:
                gather.add(example)
            known = {str(name): float(value) for name, value in example.items() if name in index}
            gathered = gather(known)
        assert gathered is not None
        starts.append(starts[-1] + int(gathered.starts[1]))
        columns.append(gathered.indices[: gathered.starts[1]].astype(np.int32))
        values.append(gathered.values[: gathered.starts[1]].copy())
    parts = np.concatenate(values), np.concatenate(columns), np.array(starts)
    return Rows(sp.csr_matrix(parts, shape=(len(dicts), len(index))), trusted=True)


def hash_dicts(dicts: Sequence[Any], bits: int) -> Rows:
    """A batch of dicts whose names are hashed into 2**bits columns, by scikit-learn's FeatureHasher."""
    from sklearn.feature_extraction import FeatureHasher

    for row, example in enumerate(dicts):
        check_dict(example, row)
    return Rows(FeatureHasher(1 << bits).transform(dicts), trusted=True)


def check_dict(example: Any, row: int) -> None:
    """Raise a ValueError unless an example is a dict from names to finite numbers."""
    if not isinstance(example, Mapping):
        raise ValueError(f"Row {row} is {type(example).__name__}; expected a dict, as the rows before it.")
    for name, value in example.items():
        if not isinstance(name, str):
            raise ValueError(f"Row {row} has the feature name {name!r}; expected text.")
        number = _number(value)
        if number is None:
            hint = f" (for a category, {{'{name}={value}': 1}})" if isinstance(value, str) else ""
            raise ValueError(f"Row {row}, feature {name!r} is {value!r:.50}; expected a number{hint}.")
        if not math.isfinite(number):
            raise ValueError(f"Row {row}, feature {name!r} is {value!r:.50}; expected a finite number.")


def _number(value: Any) -> float | None:
    """A value as a float; None where it is no real number."""
    if isinstance(value, str | bytes | complex | np.complexfloating):
        return None
    try:
        return float(value)
    except OverflowError:  # a whole number beyond all floats
        return math.inf
    except (TypeError, ValueError):
        return None
