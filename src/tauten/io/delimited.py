"""CSV and TSV: a header, then a record a line; cells of CSV may be quoted, with "" for a quote.

Blanks around a cell that is not quoted do not count. TSV knows no quotes. Empty lines hold no record. Which
columns are numeric and which nominal is settled by the first rows, and does not change after.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tauten.io.errors import ReadError, shown
from tauten.io.labels import finite, is_number, label_fault, read_label
from tauten.io.lines import too_long
from tauten.io.source import Batch, Faults, Options
from tauten.io.tables import Cells, Columns, Part, arrange, kind_of
from tauten.io.text_reader import TextReader
from tauten.kernels import text
from tauten.kernels.numbers import EASY

SAMPLE_ROWS = 1000  # by which columns are settled
SAMPLE_BYTES = 1 << 24
CELLS = 1 << 18  # of a batch at most
LABELS_KEPT = 4096  # as they stand in the file, so that each is read once


class Records:
    """Records in the bytes of a window: where their cells are."""

    def __init__(self, reader: "Reader", n_columns: int, max_rows: int, start: int | None = None) -> None:
        window = reader.window
        self.start = window.start if start is None else start
        most = max(min(max_rows, CELLS // n_columns, (window.stop - self.start) // 2 + 1), 1)
        self.data = window.data
        self.spans = np.empty((most, n_columns, 2), dtype=np.int64)
        self.lines = np.empty(most, dtype=np.int64)
        self.report = np.zeros(text.REPORT, dtype=np.int64)
        text.split_records.run(
            window.data, self.start, window.stop, reader.delimiter, reader.quote, n_columns, most,
            window.ended, self.spans, self.lines, self.report,
        )  # fmt: skip
        self.stop, self.n_lines = int(self.report[text.POSITION]), int(self.report[text.LINES])
        self.fault = int(self.report[text.FAULT])
        self.spans, self.lines = self.spans[: len(self)], self.lines[: len(self)]
        self._bytes = window.text(self.start, self.stop)

    def __len__(self) -> int:
        return int(self.report[text.ROWS])

    def column(self, place: int) -> list[str]:
        """The texts of a column; bytes that are not UTF-8 come out as U+FFFD."""
        spans = self.spans[:, place].tolist()
        return [self._text(start, stop) for start, stop in spans]

    def row(self, row: int) -> list[str]:
        """The texts of a record."""
        return [self.cell(row, place) for place in range(self.spans.shape[1])]

    def cell(self, row: int, place: int) -> str:
        """The text of a cell."""
        return self._text(*self.spans[row, place].tolist())

    def _text(self, start: int, stop: int) -> str:
        if stop >= 0:
            return self._bytes[start - self.start : stop - self.start].decode("utf-8", "replace")
        quoted = self._bytes[start - self.start : -1 - stop - self.start]
        return quoted.replace(b'""', b'"').decode("utf-8", "replace")

    def raw(self, row: int) -> bytes:
        """A record as it stands there."""
        start = int(self.spans[row, 0, 0])
        stop = int(self.spans[row + 1, 0, 0]) if row + 1 < len(self) else self.stop
        return self._bytes[start - self.start : stop - self.start].rstrip()

    def not_text(self) -> list[int]:
        """The records that are not in UTF-8."""
        if _is_text(self._bytes):
            return []
        return [row for row in range(len(self)) if not _is_text(self.raw(row))]


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


class Reader(TextReader):
    """Rows of a CSV or TSV file."""

    columns: Columns

    def __init__(self, path: str, options: Options, faults: Faults) -> None:
        super().__init__(path, options, faults)
        tabs = options.format == "tsv"
        self.delimiter = ord(options.delimiter or ("\t" if tabs else ","))
        self.quote = -1 if tabs else ord('"')
        self.missing = frozenset(options.missing_values)
        self.known: dict[str, str | float | None] = {}  # labels that were read

    def begin(self) -> None:
        """Read the header, and settle the columns by the first rows."""
        window = self.window
        if not window.more():
            return
        window.pass_mark()
        first = Records(self, 1, 1)
        while first.fault == text.NONE and not len(first) and not window.too_long and window.more():
            first = Records(self, 1, 1)
        if window.too_long:
            raise ReadError(self.faults.path, 1, too_long())
        if first.fault not in (text.NONE, text.TOO_MANY):
            raise ReadError(self.faults.path, first.n_lines + 1, self._reason(first))
        n_columns = max(int(first.report[text.WIDTH]), 1)
        header = Records(self, n_columns, 1)
        if not len(header):  # nothing but empty lines
            window.used(window.stop)
            return
        names, n_lines = [str(place) for place in range(n_columns)], 0
        if self.options.header:
            names, n_lines = header.row(0), header.n_lines
            self._check_header(header, names)
            window.used(header.stop)
        columns = arrange(names, self.options, self.faults.path)
        self.columns = columns.settled(self._kinds(columns, n_lines), self.options)
        if not (self.columns.numeric or self.columns.nominal or self.columns.text):
            raise ReadError(self.faults.path, None, f"has no column of features among {', '.join(names)}")
        if self.at.offset == 0:
            self.at = replace(self.at, lines=n_lines, offset=window.offset)

    def _check_header(self, header: Records, names: list[str]) -> None:
        line = int(header.lines[0]) + 1
        if header.not_text():
            raise ReadError(self.faults.path, line, f"the header {shown(header.raw(0))} is not in UTF-8")
        if all(is_number(name) for name in names):
            reason = f"the header {shown(header.raw(0))} is all numbers; say header=False if there is none"
            raise ReadError(self.faults.path, line, reason)

    def _kinds(self, columns: Columns, n_lines: int) -> dict[int, str]:
        """What the first rows say that columns are."""
        lines: list[int] = []
        cells: dict[int, list[str]] = {place: [] for place in columns.unsettled}
        for sample in self._sample(len(columns.names)) if cells else ():
            lines += (sample.lines + n_lines + 1).tolist()
            n_lines += sample.n_lines + (sample.fault != text.NONE)
            for place, texts in cells.items():
                texts.extend(sample.column(place))
        kinds = {}
        for place, texts in cells.items():
            kinds[place], odd = kind_of(texts, self.missing)
            if odd is not None and not self.faults.skip:
                name, other = shown(columns.names[place]), shown(texts[odd])
                what = "numbers, but here" if kinds[place] == "numeric" else "other things than"
                reason = f"column {name} holds {what} {other}; say numeric or nominal"
                raise ReadError(self.faults.path, lines[odd], reason)
        return kinds

    def _sample(self, n_columns: int) -> Iterator[Records]:
        """The first records, past lines at fault."""
        window = self.window
        start = window.start
        n_rows = 0
        while n_rows < SAMPLE_ROWS and start - window.start < SAMPLE_BYTES and not window.too_long:
            records = Records(self, n_columns, SAMPLE_ROWS - n_rows, start)
            n_rows += len(records)
            start = records.stop
            if records.fault != text.NONE:
                start = window.end_of_line(start)
            yield records
            if not len(records) and records.fault == text.NONE:
                used = start - window.start
                if not window.more():
                    return
                start = window.start + used

    def next(self, max_rows: int) -> Iterator[Batch]:
        records, part = self._read(max_rows)
        if part.bad and not self.faults.skip:  # the rows before it, whose end is a place to go on from
            first = min(part.bad)
            if first == 0:
                self.faults.note(part.lines[0], part.bad[0])
            records, part = self._read(first)
        self.window.used(records.stop)
        at = replace(self.at, lines=self.at.lines + records.n_lines, offset=self.window.offset)
        batch = part.batch(at, self.faults, self.options, self.window.n_read)
        self.at = batch.position
        yield batch
        if records.fault != text.NONE:
            reason = self._reason(records)
            self.window.used(self.window.end_of_line(records.stop))
            self.fault(self.at.lines, reason)

    def _read(self, max_rows: int) -> tuple[Records, Part]:
        """The next records, and what they hold."""
        records = Records(self, len(self.columns.names), max_rows)
        bad = {row: f"{shown(records.raw(row))} is not in UTF-8" for row in records.not_text()}
        labels = self._labels(records, bad)
        lines = (records.lines + (self.at.lines + 1)).tolist()
        part = Part(self._cells(records, bad), labels, lines, bad)
        part.check_missing(self.options)
        return records, part

    def _labels(self, records: Records, bad: dict[int, str]) -> list[Any] | None:
        """The labels, and what is wrong with those that are none."""
        if self.columns.label is None:
            return None
        texts = records.column(self.columns.label)
        labels: list[Any] = []
        for row, label in enumerate(texts):
            value = self.known.get(label)
            if value is None:
                value = self._label(row, label, bad)
            labels.append(value)
        return labels

    def _label(self, row: int, label: str, bad: dict[int, str]) -> str | float | None:
        if label in self.missing:
            bad.setdefault(row, f"label {shown(label)} stands for no value")
            return None
        if row in bad:
            return None
        if self.at.text_labels is None:
            self.at = replace(self.at, text_labels=not is_number(label))
        value = read_label(label, bool(self.at.text_labels))
        if value is None:
            bad.setdefault(row, label_fault(label))
        elif len(self.known) < LABELS_KEPT:
            self.known[label] = value
        return value

    def _cells(self, records: Records, bad: dict[int, str]) -> Cells:
        """The cells of the columns that are features, and what is wrong with those that cannot be read."""
        columns = self.columns
        numbers = np.empty((len(records), len(columns.numeric)))
        verdicts = np.empty(numbers.shape, dtype=np.uint8)
        places = np.array(columns.numeric, dtype=np.int64)
        n_odd = text.parse_cells.run(records.data, records.spans, len(records), places, numbers, verdicts)
        for row, k in np.argwhere(verdicts != EASY).tolist() if n_odd else []:
            cell = records.cell(row, columns.numeric[k])
            value = finite(cell)
            if cell in self.missing:
                value = np.nan
            elif value is None:
                what = "not finite" if is_number(cell) else "no number"
                name = shown(columns.names[columns.numeric[k]])
                bad.setdefault(row, f"{shown(cell)} in the numeric column {name} is {what}")
            numbers[row, k] = 0.0 if value is None else value
        texts: dict[int, list[str | None]] = {}
        for place in columns.nominal:
            texts[place] = [None if cell in self.missing else cell for cell in records.column(place)]
        for place in columns.text:
            texts[place] = [cell if cell and not cell.isspace() else None for cell in records.column(place)]
        return Cells(columns, numbers, texts)

    def _reason(self, records: Records) -> str:
        """What is wrong with the record after the last one, in words."""
        start, stop = int(records.report[text.FAULT_START]), int(records.report[text.FAULT_STOP])
        given = shown(self.window.text(start, min(stop, start + 200)))
        if records.fault == text.UNCLOSED:
            return f"the quote that begins {given} is not closed"
        if records.fault == text.AFTER_QUOTE:
            return f"something follows the closing quote in {given}"
        n_cells, n_columns = int(records.report[text.WIDTH]), records.spans.shape[1]
        return f"there are {n_cells} cells in {given}; expected {n_columns}"
