"""JSON lines: an object a line. Numbers are features of their name, nested ones of `outer.inner`.

Texts are nominal, `name=value`, or, where the options say so, words; a list of texts is a feature each. true
and false are 1 and 0, null is no value.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tauten.io.errors import shown
from tauten.io.labels import as_labels
from tauten.io.source import Batch, Faults, Options
from tauten.io.tables import UNKNOWN
from tauten.io.text_reader import TextReader
from tauten.labels import LARGEST_EXACT
from tauten.words import words

DEEPEST = 50  # objects in objects


class LineError(ValueError):
    """What is wrong with a line."""


class Reader(TextReader):
    """Rows of a file of JSON lines."""

    def __init__(self, path: str, options: Options, faults: Faults) -> None:
        super().__init__(path, options, faults)
        for role in ("label", "text", "ignore"):
            given = getattr(options, role)
            for name in given if isinstance(given, tuple) else (given,):
                if name is not None and not isinstance(name, str):
                    raise ValueError(f"{role} is {name!r}; fields of JSON have names, and no numbers.")
        if options.labelled and options.label is None:
            raise ValueError("label must name the field that holds the label.")
        self.text, self.ignore = frozenset(options.text), frozenset(options.ignore)
        self.missing = frozenset(options.missing_values)

    def next(self, max_rows: int) -> Iterator[Batch]:
        window, at = self.window, self.at
        rows: list[dict[str, float]] = []
        labels: list[Any] = []
        lines: list[int] = []
        wrong: str | None = None
        data = window.text(window.start, window.stop)
        start = 0
        while start < len(data) and len(rows) < max_rows:
            line = data[start : data.index(b"\n", start)]
            start += len(line) + 1
            try:
                self.n_missing = 0
                row, label = self._row(line, at.text_labels) if line.strip() else (None, None)
            except LineError as fault:
                if not self.faults.skip:
                    wrong = str(fault)
                    break
                row, label = None, None
                self.faults.note(at.lines + 1, str(fault))
                at = replace(at, skipped=at.skipped + 1)
            window.used(window.start + len(line) + 1)
            at = replace(at, lines=at.lines + 1, offset=window.offset)
            if row is None:
                continue
            if self.options.labelled and at.text_labels is None:
                at = replace(at, text_labels=isinstance(label, str))
            at = replace(at, missing=at.missing + self.n_missing)
            rows.append(row)
            labels.append(label)
            lines.append(at.lines)
        self.at = replace(at, rows=at.rows + len(rows))
        y = as_labels(labels, bool(at.text_labels)) if self.options.labelled else None
        yield Batch(rows, y, np.array(lines, dtype=np.int64), self.at, window.n_read, self.faults.take())
        if wrong is not None:
            self.faults.note(self.at.lines + 1, wrong)

    def _row(self, line: bytes, text_labels: bool | None) -> tuple[dict[str, float], Any]:
        """Features and label of a line; raises a LineError."""
        try:
            given = json.loads(line.decode("utf-8"), object_pairs_hook=_object, parse_constant=_refuse)
        except LineError:  # is a ValueError, as those of json are
            raise
        except UnicodeDecodeError:
            raise LineError(f"{shown(line)} is not in UTF-8") from None
        except (ValueError, RecursionError) as error:
            words = str(error).partition(":")[0].partition(" (")[0]
            raise LineError(f"{shown(line)} is no JSON ({words})") from None
        if not isinstance(given, dict):
            raise LineError(f"{shown(line)} is no object; expected {{...}}")
        label = self._label(given, text_labels) if self.options.labelled else None
        row: dict[str, float] = {}
        self._add(row, given, "", 0)
        return row, label

    def _label(self, given: dict[str, Any], text_labels: bool | None) -> Any:
        """Take the label out of a line."""
        name = str(self.options.label)
        label = given.pop(name, None)
        if label is None or (isinstance(label, str) and label in self.missing):
            raise LineError(f"there is no label {shown(name)} in {shown(json.dumps(given))}")
        if not isinstance(label, str | int | float):
            raise LineError(f"label {shown(json.dumps(label))} is neither number nor text")
        if text_labels is not None and isinstance(label, str) != text_labels:
            kinds = ("text", "a number") if text_labels else ("a number", "text")
            raise LineError(
                f"label {shown(json.dumps(label))} is {kinds[1]}, but the first label is {kinds[0]}"
            )
        if isinstance(label, float) and not math.isfinite(label):
            raise LineError("the label is not finite")
        if isinstance(label, int) and abs(label) > LARGEST_EXACT:
            raise LineError(f"label {shown(str(label))} has more digits than a float can hold")
        return label

    def _add(self, row: dict[str, float], given: Mapping[str, Any], before: str, depth: int) -> None:
        """Add what an object holds to a row."""
        if depth > DEEPEST:
            raise LineError(f"objects are nested more than {DEEPEST} deep")
        for key, value in given.items():
            name = before + key
            if name in self.ignore:
                continue
            if isinstance(value, dict):
                self._add(row, value, f"{name}.", depth + 1)
            elif value is None or isinstance(value, str):
                self._add_text(row, name, value)
            elif isinstance(value, list):
                self._add_texts(row, name, value)
            else:
                _put(row, name, _finite(value, name))

    def _add_text(self, row: dict[str, float], name: str, value: str | None) -> None:
        if name in self.text and value is not None and value.strip():
            for word, n in words(value, self.options.ngrams).items():
                _put(row, f"{name}={word}", n)
        elif name in self.text or value is None or value in self.missing:
            self._leave_out(row, name)
        else:
            _put(row, f"{name}={value}", 1.0)

    def _add_texts(self, row: dict[str, float], name: str, values: list[Any]) -> None:
        for value in values:
            if not isinstance(value, str):
                given = shown(json.dumps(value))
                raise LineError(f"field {shown(name)} holds a list with {given}; expected a list of texts")
        for value, n in Counter(values).items():
            _put(row, f"{name}={value}", float(n))

    def _leave_out(self, row: dict[str, float], name: str) -> None:
        self.n_missing += 1
        if self.options.missing == "error":
            raise LineError(f"field {shown(name)} has no value")
        if self.options.missing == "mark":
            _put(row, f"{name}={UNKNOWN}", 1.0)


def _put(row: dict[str, float], name: str, value: float) -> None:
    if name in row:
        raise LineError(f"two fields come to the feature {shown(name)}")
    row[name] = value


def _finite(value: float, name: str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise LineError(f"field {shown(name)} is not finite")
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, whose names must differ."""
    given = dict(pairs)
    if len(given) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise LineError(f"the field {shown(twice)} stands there twice")
    return given


def _refuse(constant: str) -> Any:
    raise LineError(f"{constant} is not finite")
