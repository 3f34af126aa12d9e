"""A file as a stream of batches: opened by name, read ahead in another thread, from any position on."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from os import PathLike, fspath
from types import MappingProxyType
from typing import Any, Literal, Protocol

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from tauten.io.background import Ahead
from tauten.io.errors import ReadError
from tauten.io.lines import UNPACKERS, size_of
from tauten.parameters import is_count
from tauten.rows import OpenRows

BATCH_ROWS = 1 << 14  # rows of a batch at most
FAULTS_KEPT = 10
MAX_FEATURES = 1 << 27  # columns that nothing was said about: 1 GB of weights

_TABLE = frozenset("label nominal numeric text ignore ngrams missing missing_values names".split())
_DELIMITED = _TABLE | {"header", "delimiter"}


@dataclass(frozen=True)
class Format:
    """A format: the module that reads it, the names that files have, the options that it knows."""

    module: str
    suffixes: tuple[str, ...]
    options: frozenset[str]
    unit: str = "line"


FORMATS = MappingProxyType(
    {
        "svmlight": Format(
            "svmlight", (".svm", ".svmlight", ".libsvm", ".t"), frozenset({"n_features", "zero_based"})
        ),
        "csv": Format("delimited", (".csv",), _DELIMITED),
        "tsv": Format("delimited", (".tsv", ".tab"), _DELIMITED),
        "jsonl": Format("json_lines", (".jsonl", ".ndjson"), _TABLE - {"nominal", "numeric", "names"}),
        "parquet": Format("parquet", (".parquet", ".pq"), _TABLE, unit="row"),
        "npz": Format("npz", (".npz",), frozenset({"label"}), unit="row"),
    }
)
DELIMITERS = (",", ";", "\t", "|", ":", "^", "~")
MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")


@dataclass(frozen=True)
class Position:
    """Where a stream stands: what has been read, and where reading goes on."""

    rows: int = 0
    lines: int = 0  # of the file, or what counts as such in formats without lines
    offset: int = 0  # bytes of the text, unpacked
    skipped: int = 0  # lines that could not be read and were left out
    missing: int = 0  # cells without a value
    width: int = 0  # columns met so far, where they have numbers
    text_labels: bool | None = None  # whether labels are text; None before the first

    def to_dict(self) -> dict[str, Any]:
        """The same in plain values."""
        return asdict(self)


START = Position()


@dataclass
class Batch:
    """Some rows of a file.

    X : sparse rows, a frame of numbers or a list of dicts, as learners take them; y : labels, or None.
    lines : the line that each row begins at, from 1; in formats without lines the number of the row.
    position : where the stream stands after these rows. n_read : bytes of the file read so far.
    faults : the first few of the lines left out since the last batch.
    """

    X: Any
    y: NDArray[Any] | None
    lines: NDArray[np.int64]
    position: Position
    n_read: int
    faults: list[ReadError] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.lines)


@dataclass(frozen=True)
class Options:
    """How a file is to be read; see `open`."""

    format: str
    label: str | int | None = None
    labelled: bool = True
    on_error: Literal["raise", "skip"] = "raise"
    n_features: int | None = None
    zero_based: bool = False
    header: bool = True
    delimiter: str | None = None
    nominal: Sequence[str | int] = ()
    numeric: Sequence[str | int] = ()
    text: Sequence[str | int] = ()
    ignore: Sequence[str | int] = ()
    ngrams: int = 1
    missing: Literal["absent", "mark", "error"] = "absent"
    missing_values: Sequence[str] = MISSING
    names: Sequence[str] | None = None


class Reader(Protocol):
    """What a format brings: batches from a position on, of so many rows at most."""

    def __init__(self, path: str, options: Options, faults: "Faults") -> None: ...

    def read(self, position: Position, rows: "RowLimit") -> Iterator[Batch]:
        """The batches from a position on."""
        ...


@dataclass(frozen=True)
class RowLimit:
    """How many rows a batch may have."""

    most: int = BATCH_ROWS
    every: int | None = None  # no batch goes across a multiple of it

    def after(self, n_rows: int) -> int:
        """How many rows may come next."""
        return self.most if self.every is None else min(self.most, self.every - n_rows % self.every)


class Faults:
    """Lines that cannot be read: an error, or, where they are to be skipped, counted."""

    def __init__(self, path: str, skip: bool, unit: str) -> None:
        self.path, self.skip, self.unit = path, skip, unit
        self.kept: list[ReadError] = []

    def note(self, line: int, reason: str) -> None:
        """A line that is at fault; raises where that is not to be borne."""
        error = ReadError(self.path, line, reason, self.unit)
        if not self.skip:
            raise error
        if len(self.kept) < FAULTS_KEPT:
            self.kept.append(error)

    def take(self) -> list[ReadError]:
        """The first few since the last time."""
        kept, self.kept = self.kept, []
        return kept


class Source:
    """Rows of a file, in order: iterate over it for batches, as often as needed.

    path, format
    size : bytes of the file as it lies on the disk; None where that is not known (standard input)
    position, n_read : where the last pass stands, and how many bytes of the file it has read
    faults : the first few lines that it left out; `position.skipped` counts all
    """

    def __init__(self, path: str, options: Options) -> None:
        self.path, self.options, self.format = path, options, options.format
        self.name = "standard input" if path == "-" else path
        self.size = size_of(path)
        self.position, self.n_read = Position(), 0
        self.faults: list[ReadError] = []
        self._passes = 0

    def __repr__(self) -> str:
        return f"<Source {self.name} ({self.format})>"

    def __iter__(self) -> Iterator[Batch]:
        return self.batches()

    def batches(
        self, start: Position = START, max_rows: int = BATCH_ROWS, every: int | None = None
    ) -> Iterator[Batch]:
        """The rows from a position on, at most `max_rows` at a time, and none across a multiple of `every`.

        Another thread reads ahead; it ends with the iteration.
        """
        self._passes += 1
        if self.path == "-" and self._passes > 1:
            raise ReadError(self.name, None, "can be read only once; save it to a file for several passes")
        self.position, self.n_read, self.faults = start, 0, []
        return self._batches(RowLimit(max_rows, every))

    def _batches(self, limit: RowLimit) -> Iterator[Batch]:
        kind = FORMATS[self.format]
        faults = Faults(self.name, self.options.on_error == "skip", kind.unit)
        reader: Reader = import_module(f"tauten.io.{kind.module}").Reader(self.path, self.options, faults)
        start = self.position
        ahead = Ahead(lambda: reader.read(start, limit))
        try:
            for batch in ahead:
                self.position, self.n_read = batch.position, batch.n_read
                self.faults = (self.faults + batch.faults)[:FAULTS_KEPT]
                if len(batch):
                    yield batch
        finally:
            ahead.close(wait=0.1 if self.size is None else 5.0)
        if self.position.rows == 0:
            why = f": {self.position.skipped} lines left out, {self.faults[0]}" if self.faults else ""
            raise ReadError(self.name, None, f"holds no rows{why}".rstrip("."))

    def know(self, names: Sequence[str] | None) -> None:
        """Read columns as they were for a model of these names, if nothing else was said."""
        if names is not None and self.options.names is None and "names" in FORMATS[self.format].options:
            self.options = replace(self.options, names=tuple(names))

    def load(self) -> tuple[Any, NDArray[Any] | None]:
        """All rows and labels at once, for what wants them in memory."""
        batches = list(self)
        labels = [batch.y for batch in batches if batch.y is not None]
        return _joined([batch.X for batch in batches]), np.concatenate(labels) if labels else None


def _joined(parts: list[Any]) -> Any:
    """Rows of several batches as one."""
    if isinstance(parts[0], list):
        return [row for part in parts for row in part]
    if isinstance(parts[0], pd.DataFrame):
        return pd.concat(parts, ignore_index=True)
    if not sp.issparse(parts[0]):
        return np.concatenate(parts)
    width = max(part.shape[1] for part in parts)
    for part in parts:
        part.resize(part.shape[0], width)
    return OpenRows(sp.vstack(parts, format="csr"))


def open(  # as Python's own, for rows
    path: str | PathLike[str],
    format: str | None = None,
    *,
    label: str | int | None = None,
    labelled: bool = True,
    on_error: Literal["raise", "skip"] = "raise",
    n_features: int | None = None,
    zero_based: bool = False,
    header: bool = True,
    delimiter: str | None = None,
    nominal: Sequence[str | int] = (),
    numeric: Sequence[str | int] = (),
    text: str | int | Sequence[str | int] = (),
    ignore: Sequence[str | int] = (),
    ngrams: int = 1,
    missing: Literal["absent", "mark", "error"] = "absent",
    missing_values: Sequence[str] = MISSING,
    names: Sequence[str] | None = None,
) -> Source:
    """Open a file of examples.

    path : a file, or "-" for standard input; .gz, .bz2 and .xz are unpacked on the way.
    format : "svmlight", "csv", "tsv", "jsonl", "parquet" or "npz"; by default what the name says.
    label : the column with the label, by name or number (-1: the last); of npz the name of the array.
    labelled : False where there are no labels, for rows to predict.
    on_error : "raise": the first line that cannot be read is an error; "skip": it is left out and counted.

    Of svmlight:

    n_features : how many there are; an index beyond is an error. By default as many as there turn out to be.
    zero_based : whether the first index is 0. It is 1 in the format as it was defined.

    Of tables (CSV, TSV, JSON lines, Parquet):

    header, delimiter : whether the first line names the columns, and what stands between cells.
    nominal, numeric : columns of categories, and of numbers, where the first rows would say otherwise.
    text : columns that are split into words, counted by `ngrams` of one word up to this many in a row.
    ignore : columns that are left out.
    missing : a cell without a value brings nothing ("absent"), a feature of its own ("mark"), or is an error.
    missing_values : what stands for no value.
    names : names of features that a model knows; columns are read as they were for it.

    >>> from tauten import io
    >>> from importlib.resources import files
    >>> messages = io.open(files("tauten.data") / "sms_spam.tsv.gz", label="label", text="text")
    >>> sum(len(batch) for batch in messages)
    5574
    """
    path = fspath(path)
    given: dict[str, Any] = {
        name: value
        for name, value in dict(
            label=label, n_features=n_features, zero_based=zero_based, header=header, delimiter=delimiter,
            nominal=tuple(nominal), numeric=tuple(numeric), ignore=tuple(ignore), ngrams=ngrams,
            text=(text,) if isinstance(text, str | int) else tuple(text),
            missing=missing, missing_values=tuple(missing_values), names=names,
        ).items()
        if value != getattr(Options, name)
    }  # fmt: skip
    options = Options(_format(path, format), labelled=labelled, on_error=on_error, **given)
    _check(options, set(given))
    return Source(path, options)


def _format(path: str, format: str | None) -> str:
    """The format that was named, or that the name of a file says."""
    known = ", ".join(FORMATS)
    if format is not None:
        if format not in FORMATS:
            raise ValueError(f"There is no format {format!r}; expected one of {known}.")
        return format
    if path == "-":
        raise ValueError(
            f"Standard input has no name that says its format; expected format to be one of {known}."
        )
    stem, suffix = os.path.splitext(path)
    if suffix in UNPACKERS:
        suffix = os.path.splitext(stem)[1]
    for name, kind in FORMATS.items():
        if suffix.lower() in kind.suffixes:
            return name
    raise ValueError(f"The name {path!r} does not say its format; expected format to be one of {known}.")


def _check(options: Options, given: set[str]) -> None:
    """Raise a ValueError for an option that is not allowed, or that the format does not know."""
    foreign = given - FORMATS[options.format].options
    if foreign:
        raise ValueError(f"{options.format} has no option {sorted(foreign)[0]!r}.")
    for name, choices in (("on_error", ("raise", "skip")), ("missing", ("absent", "mark", "error"))):
        if getattr(options, name) not in choices:
            value = getattr(options, name)
            raise ValueError(f"{name} is {value!r}; expected {' or '.join(map(repr, choices))}.")
    for name in ("n_features", "ngrams"):
        value = getattr(options, name)
        if value is not None and (not is_count(value) or value < 1):
            raise ValueError(f"{name} is {value!r}; expected a whole number, 1 or above.")
    if options.label is not None and not options.labelled:
        raise ValueError(f"label is {options.label!r}, but labelled is False; expected one of them.")
    if options.delimiter is not None and options.delimiter not in DELIMITERS:
        raise ValueError(
            f"delimiter is {options.delimiter!r}; expected one of {' '.join(map(repr, DELIMITERS))}."
        )
