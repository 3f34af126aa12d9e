"""Tables: what each column is, and rows made of cells.

A numeric column is a feature of its name. A nominal one is a feature `column=value` for each value, 1 where
the row has it. A text column is a feature `column=words` for each word, or words in a row, and counts them. A
cell without a value brings nothing, or the feature `column=?`, or is an error, as `missing` says.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tauten.io.errors import ReadError, shown
from tauten.io.labels import as_labels, is_number
from tauten.io.source import Batch, Faults, Options, Position
from tauten.words import words

NAMES_SHOWN = 20
UNKNOWN = "?"  # what a mark is called


@dataclass(frozen=True)
class Columns:
    """The columns of a table, by what they are; places are those among all columns."""

    names: list[str]
    label: int | None
    numeric: list[int]
    nominal: list[int]
    text: list[int]
    unsettled: list[int]  # numeric or nominal: the first rows decide
    known: Mapping[str, int]  # the order that a model knows features in

    def settled(self, kinds: Mapping[int, str], options: Options) -> "Columns":
        """The same, once it is known what the unsettled ones are."""
        numeric = sorted(self.numeric + [place for place in self.unsettled if kinds[place] == "numeric"])
        nominal = sorted(self.nominal + [place for place in self.unsettled if kinds[place] == "nominal"])
        settled = replace(self, numeric=numeric, nominal=nominal, unsettled=[])
        if settled.in_frames(options):
            numeric.sort(key=lambda place: self.known.get(self.names[place], len(self.known)))
        return settled

    def in_frames(self, options: Options) -> bool:
        """Whether all features are numbers, so that rows are frames and not dicts."""
        return not self.nominal and not self.text and options.missing != "mark"


def arrange(names: Sequence[str], options: Options, path: str) -> Columns:
    """What the columns of a table are, as far as options say it; raises a ReadError where they do not fit."""
    names = list(names)
    if "" in names:
        place = names.index("")
        raise ReadError(path, None, f"column {place} has no name; expected a header, or header=False")
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise ReadError(path, None, f"two columns are named {shown(twice)}")
    if options.labelled and options.label is None:
        raise ReadError(path, None, f"label must name the column with the label; there are {_list(names)}")
    label = None if options.label is None else _place(options.label, names, "label", path)
    roles: dict[int, str] = {} if label is None else {label: "label"}
    for role in ("ignore", "text", "nominal", "numeric"):
        for reference in getattr(options, role):
            place = _place(reference, names, role, path)
            if roles.setdefault(place, role) != role:
                raise ReadError(
                    path, None, f"column {shown(names[place])} is given as {roles[place]} and as {role}"
                )
    known = {name: place for place, name in enumerate(options.names or ())}
    groups = {name.partition("=")[0] for name in known if "=" in name}
    for place, name in enumerate(names):
        if place not in roles and name in known:
            roles[place] = "numeric"
        elif place not in roles and name in groups:
            roles[place] = "nominal"
    by_role = {
        role: [place for place in range(len(names)) if roles.get(place) == role]
        for role in ("numeric", "nominal", "text")
    }
    unsettled = [place for place in range(len(names)) if place not in roles]
    return Columns(names, label, **by_role, unsettled=unsettled, known=known)


def _place(reference: str | int, names: list[str], role: str, path: str) -> int:
    """The column that a name or a number means."""
    if isinstance(reference, str) and reference in names:
        return names.index(reference)
    if not isinstance(reference, str) and -len(names) <= reference < len(names):
        return int(reference) % len(names)
    raise ReadError(path, None, f"{role} is {reference!r}, but the columns are {_list(names)}")


def _list(names: Sequence[str]) -> str:
    shown_names = ", ".join(names[:NAMES_SHOWN])
    return shown_names if len(names) <= NAMES_SHOWN else f"{shown_names} and {len(names) - NAMES_SHOWN} more"


def kind_of(cells: Iterable[str], missing: frozenset[str]) -> tuple[str, int | None]:
    """Whether most of some cells are numbers, or else nominal, and the first that stands against it."""
    given = [(place, is_number(cell)) for place, cell in enumerate(cells) if cell not in missing]
    n_numbers = sum(number for _, number in given)
    numeric = 2 * n_numbers >= len(given)
    odd = next((place for place, number in given if number != numeric), None)
    return ("numeric" if numeric else "nominal"), odd


@dataclass
class Cells:
    """Some rows of a table, column by column: numbers, and of others texts; None where there is no value."""

    columns: Columns
    numbers: NDArray[np.float64]  # a column a numeric column; NaN where there is no value
    texts: Mapping[int, Sequence[str | None]]  # of nominal and text columns

    def rows(self, options: Options) -> Any:
        """The rows as learners take them: a frame where all are numbers, else dicts."""
        columns = self.columns
        names = [columns.names[place] for place in columns.numeric]
        if columns.in_frames(options):
            return pd.DataFrame(np.nan_to_num(self.numbers, copy=False, nan=0.0), columns=names)
        rows = [dict(zip(names, row, strict=True)) for row in self.numbers.tolist()]
        for i, k in np.argwhere(np.isnan(self.numbers)).tolist():
            self._leave_out(rows[i], names[k], options)
        for place, texts in self.texts.items():
            name, ngrams = columns.names[place], options.ngrams if place in columns.text else None
            for row, text in zip(rows, texts, strict=True):
                if text is None:
                    self._leave_out(row, name, options)
                elif ngrams is None:
                    row[f"{name}={text}"] = 1.0
                else:
                    row.update((f"{name}={word}", n) for word, n in words(text, ngrams).items())
        return rows

    @staticmethod
    def _leave_out(row: dict[str, float], name: str, options: Options) -> None:
        row.pop(name, None)
        if options.missing == "mark":
            row[f"{name}={UNKNOWN}"] = 1.0

    def n_missing(self) -> NDArray[np.int64]:
        """Cells without a value, of each row."""
        counts = np.isnan(self.numbers).sum(axis=1)
        for values in self.texts.values():
            counts += np.array([value is None for value in values], dtype=np.int64)
        return counts

    def first_missing(self, row: int) -> str:
        """The column in which a row first has no value."""
        places = [
            *(self.columns.numeric[k] for k in np.flatnonzero(np.isnan(self.numbers[row]))),
            *(place for place, values in self.texts.items() if values[row] is None),
        ]
        return self.columns.names[min(places)]

    def take(self, chosen: NDArray[np.bool_]) -> "Cells":
        """Some of the rows."""
        if chosen.all():
            return self
        texts = {place: list(compress(values, chosen)) for place, values in self.texts.items()}
        return Cells(self.columns, self.numbers[chosen], texts)


@dataclass
class Part:
    """Some rows of a table on their way into a batch: labels, lines, and what is wrong with which row."""

    cells: Cells
    labels: list[Any] | None
    lines: list[int]
    bad: dict[int, str]

    def batch(self, at: Position, faults: Faults, options: Options, n_read: int) -> Batch:
        """The rows that are not bad, at a position that counts them; the bad ones are noted."""
        for row, reason in sorted(self.bad.items()):
            faults.note(self.lines[row], reason)
        good = np.ones(len(self.lines), dtype=bool)
        good[list(self.bad)] = False
        n_good, n_missing = int(good.sum()), int(self.cells.n_missing()[good].sum())
        at = replace(
            at, rows=at.rows + n_good, missing=at.missing + n_missing, skipped=at.skipped + len(self.bad)
        )
        X = self.cells.take(good).rows(options) if n_good else []
        labels = None if self.labels is None else list(compress(self.labels, good))
        y = None if labels is None else as_labels(labels, bool(at.text_labels))
        return Batch(X, y, np.array(self.lines, dtype=np.int64)[good], at, n_read, faults.take())

    def check_missing(self, options: Options) -> None:
        """Find rows without a value bad where the options say so."""
        if options.missing == "error":
            for row in np.flatnonzero(self.cells.n_missing()).tolist():
                self.bad.setdefault(row, f"column {shown(self.cells.first_missing(row))} has no value")
