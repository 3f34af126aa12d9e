"""npz: arrays X and y as `np.savez` writes them, or the sparse rows of `scipy.sparse.save_npz`, with y.

Arrays are read a stretch of rows at a time. Nothing is unpickled.
"""

import math
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tauten.io.errors import ReadError, shown
from tauten.io.labels import as_labels
from tauten.io.lines import UNPACKERS
from tauten.io.source import Batch, Faults, Options, Position, RowLimit
from tauten.labels import LARGEST_EXACT
from tauten.rows import OpenRows

VALUES = 1 << 20  # of a batch at most
MAX_WIDTH = 2**31 - 1
CSR = ("data", "indices", "indptr", "shape", "format")
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError)


class Array:
    """An array in the archive, read from front to back."""

    def __init__(self, archive: zipfile.ZipFile, path: str, name: str, kinds: str) -> None:
        self.path, self.name = path, name
        self.file = archive.open(f"{name}.npy")
        try:
            version = np.lib.format.read_magic(self.file)
            read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
            self.shape, fortran, self.dtype = read[version](self.file)
        except (ValueError, KeyError) as error:
            raise ReadError(path, None, f"array {shown(name)} has no header of numpy ({error})") from error
        if self.dtype.kind not in kinds or any(size < 0 for size in self.shape):
            reason = (
                f"array {shown(name)} holds {self.dtype} in shape {self.shape}; expected numbers or labels"
            )
            raise ReadError(path, None, reason)
        self.whole: NDArray[Any] | None = None
        self.at = 0
        if fortran and len(self.shape) > 1:  # its rows lie all over it
            self.whole = self._read(math.prod(self.shape)).reshape(self.shape, order="F")

    def next(self, n: int) -> NDArray[Any]:
        """The next entries along the first axis."""
        stop = min(self.at + n, self.shape[0])
        per_row = math.prod(self.shape[1:])
        if self.whole is not None:
            part = self.whole[self.at : stop]
        else:
            part = self._read((stop - self.at) * per_row).reshape(stop - self.at, *self.shape[1:])
        self.at = stop
        return part

    def skip(self, n: int) -> None:
        """Pass over entries along the first axis."""
        while n > 0 and self.at < self.shape[0]:
            n -= len(self.next(min(n, max(VALUES // max(math.prod(self.shape[1:]), 1), 1))))

    def _read(self, n: int) -> NDArray[Any]:
        data = self.file.read(n * self.dtype.itemsize)
        if len(data) < n * self.dtype.itemsize:
            raise ReadError(
                self.path, None, f"array {shown(self.name)} is shorter than its shape {self.shape}"
            )
        return np.frombuffer(data, self.dtype)


class Reader:
    """Rows of an npz file."""

    def __init__(self, path: str, options: Options, faults: Faults) -> None:
        if path == "-" or path.endswith(tuple(UNPACKERS)):
            raise ValueError("npz is read from the end on; expected a file that is not packed otherwise.")
        self.path, self.options, self.faults = path, options, faults

    def read(self, position: Position, rows: RowLimit) -> Iterator[Batch]:
        """The batches from a position on."""
        with open(self.path, "rb") as file:
            try:
                with zipfile.ZipFile(file) as archive:
                    names = {name.removesuffix(".npy") for name in archive.namelist()}
                    if set(CSR) <= names:
                        parts: Dense | Csr = Csr(archive, self.path)
                    elif "X" in names:
                        parts = Dense(archive, self.path)
                    else:
                        reason = (
                            f"holds {', '.join(sorted(names))[:200]}; expected X, or what save_npz writes"
                        )
                        raise ReadError(self.path, None, reason)
                    y = self._labels(archive, names, parts.n_rows)
                    yield from self._read(file, parts, y, position, rows)
            except DAMAGE as error:
                raise ReadError(
                    self.path, None, f"is no whole npz file ({str(error).rstrip('.')})"
                ) from error

    def _labels(self, archive: zipfile.ZipFile, names: set[str], n_rows: int) -> Array | None:
        if not self.options.labelled:
            return None
        name = "y" if self.options.label is None else str(self.options.label)
        if name not in names:
            raise ReadError(
                self.path, None, f"has no labels {shown(name)} among {', '.join(sorted(names))[:200]}"
            )
        y = Array(archive, self.path, name, "biufU")
        if y.shape != (n_rows,):
            raise ReadError(
                self.path, None, f"labels {shown(name)} have shape {y.shape}; expected ({n_rows},)"
            )
        return y

    def _read(
        self, file: Any, parts: "Dense | Csr", y: Array | None, at: Position, rows: RowLimit
    ) -> Iterator[Batch]:
        if at.lines > parts.n_rows:
            raise ReadError(
                self.path, None, f"has {parts.n_rows} rows, but {at.lines} before; it has changed"
            )
        parts.skip(at.lines)
        if y is not None:
            y.skip(at.lines)
            at = replace(at, text_labels=y.dtype.kind == "U")
        while at.lines < parts.n_rows:
            n_rows = min(rows.after(at.rows), parts.n_rows - at.lines, parts.rows_at_once)
            X, bad = parts.next(n_rows)
            labels = None if y is None else y.next(n_rows)
            if labels is not None:
                _check_labels(labels, bad)
            lines = np.arange(at.lines + 1, at.lines + n_rows + 1)
            good = np.ones(n_rows, dtype=bool)
            good[list(bad)] = False
            if bad and not self.faults.skip:
                good[min(bad) :] = False
            else:
                for row, reason in sorted(bad.items()):
                    self.faults.note(int(lines[row]), reason)
                at = replace(at, lines=at.lines + n_rows - int(good.sum()), skipped=at.skipped + len(bad))
            n_good = int(good.sum())
            at = replace(at, rows=at.rows + n_good, lines=at.lines + n_good)
            kept = X if n_good == n_rows else X[np.flatnonzero(good)]
            read = None if labels is None else as_labels(labels[good], bool(at.text_labels))
            yield Batch(kept, read, lines[good], at, file.tell(), self.faults.take())
            if bad and not self.faults.skip:
                self.faults.note(int(lines[min(bad)]), bad[min(bad)])


def _check_labels(labels: NDArray[Any], bad: dict[int, str]) -> None:
    if labels.dtype.kind == "f":
        for row in np.flatnonzero(~np.isfinite(labels)).tolist():
            bad.setdefault(row, f"label {labels[row]} is not finite")
    elif labels.dtype.kind in "iu":
        for row in np.flatnonzero((labels > LARGEST_EXACT) | (labels < -LARGEST_EXACT)).tolist():
            bad.setdefault(row, f"label {labels[row]} has more digits than a float can hold")


class Dense:
    """Rows of an array X."""

    def __init__(self, archive: zipfile.ZipFile, path: str) -> None:
        self.X = Array(archive, path, "X", "biuf")
        if len(self.X.shape) != 2 or self.X.shape[1] == 0:
            raise ReadError(path, None, f"X has shape {self.X.shape}; expected rows and columns")
        self.n_rows = int(self.X.shape[0])
        self.rows_at_once = max(VALUES // self.X.shape[1], 1)

    def skip(self, n_rows: int) -> None:
        """Pass over rows."""
        self.X.skip(n_rows)

    def next(self, n_rows: int) -> tuple[NDArray[np.float64], dict[int, str]]:
        """The next rows, and what is wrong with those that are no rows."""
        X = self.X.next(n_rows).astype(np.float64)
        bad: dict[int, str] = {}
        for row in np.flatnonzero(~np.isfinite(X).all(axis=1)).tolist():
            column = int(np.flatnonzero(~np.isfinite(X[row]))[0])
            bad[row] = f"{X[row, column]} in column {column} is not finite"
        return X, bad


class Csr:
    """Sparse rows."""

    def __init__(self, archive: zipfile.ZipFile, path: str) -> None:
        self.path = path
        form, shape = _small(archive, path, "format"), _small(archive, path, "shape")
        if form.tobytes().strip(b"\0") != b"csr" and str(form) != "csr":
            raise ReadError(path, None, f"holds a sparse matrix of the form {shown(str(form))}; expected csr")
        if shape.shape != (2,) or shape.dtype.kind not in "iu" or (shape < 0).any():
            raise ReadError(path, None, f"holds a sparse matrix of shape {shape}; expected rows and columns")
        self.n_rows, self.width = int(shape[0]), int(shape[1])
        self.data, self.indices = Array(archive, path, "data", "biuf"), Array(archive, path, "indices", "iu")
        self.starts = Array(archive, path, "indptr", "iu")
        if len(self.data.shape) != 1 or self.data.shape != self.indices.shape:
            raise self._damaged("as many values as columns")
        if self.starts.shape != (self.n_rows + 1,) or self.width > MAX_WIDTH:
            raise self._damaged(f"{self.n_rows + 1} row starts")
        self.start = int(self.starts.next(1)[0])
        self.rows_at_once = max(VALUES * self.n_rows // max(self.data.shape[0], 1), 1)

    def _damaged(self, expected: str) -> ReadError:
        return ReadError(
            self.path, None, f"holds a sparse matrix that does not fit together; expected {expected}"
        )

    def skip(self, n_rows: int) -> None:
        """Pass over rows."""
        while n_rows > 0:
            n = min(n_rows, self.rows_at_once)
            self.next(n)
            n_rows -= n

    def next(self, n_rows: int) -> tuple[OpenRows, dict[int, str]]:
        """The next rows, and what is wrong with those that are no rows."""
        starts = np.concatenate([[self.start], self.starts.next(n_rows)]).astype(np.int64)
        if (np.diff(starts) < 0).any() or starts[-1] > self.data.shape[0]:
            raise self._damaged("row starts that ascend")
        self.start = int(starts[-1])
        n_values = int(starts[-1] - starts[0])
        values = self.data.next(n_values).astype(np.float64)
        columns = self.indices.next(n_values)
        row_of = np.repeat(np.arange(n_rows), np.diff(starts))
        bad: dict[int, str] = {}
        for place in np.flatnonzero(~np.isfinite(values)).tolist():
            bad.setdefault(int(row_of[place]), f"{values[place]} in column {columns[place]} is not finite")
        outside = (columns < 0) | (columns >= self.width)
        for place in np.flatnonzero(outside).tolist():
            bad.setdefault(int(row_of[place]), f"column {columns[place]} is not among {self.width}")
        kept = np.where(outside, 0, columns).astype(np.int32)
        starts = (starts - starts[0]).astype(np.int32)
        return OpenRows((values, kept, starts), shape=(n_rows, self.width)), bad


def _small(archive: zipfile.ZipFile, path: str, name: str) -> NDArray[Any]:
    """An array of few bytes, whole."""
    if archive.getinfo(f"{name}.npy").file_size > 4096:
        raise ReadError(path, None, f"array {shown(name)} is longer than it may be")
    try:
        with archive.open(f"{name}.npy") as file:
            array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    except (ValueError, KeyError) as error:
        raise ReadError(path, None, f"array {shown(name)} cannot be read ({error})") from error
    return array
