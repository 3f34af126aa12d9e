"""svmlight: `label index:value index:value … # comment`, indices ascending, from 1 unless said otherwise.

`qid:number` is read and left out. Empty lines and lines of comment hold no row.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tauten.io.errors import shown
from tauten.io.labels import as_labels, finite, is_number, label_fault, read_label
from tauten.io.source import MAX_FEATURES, Batch, Faults, Options
from tauten.io.text_reader import TextReader
from tauten.kernels import text
from tauten.labels import LARGEST_EXACT
from tauten.rows import OpenRows

HARD_NUMBERS = 1024  # for `float` in one call; a row that has more is given more room
CAREFUL = 64  # rows to read at a time after a fault


@dataclass
class Block:
    """What the parser is given to write to."""

    n_bytes: int
    max_rows: int
    n_hard: int = HARD_NUMBERS
    report: NDArray[np.int64] = field(default_factory=lambda: np.zeros(text.REPORT, dtype=np.int64))

    def __post_init__(self) -> None:
        most = self.n_bytes // 4 + 1  # " 1:2" are four bytes
        self.values, self.indices = np.empty(most), np.empty(most, dtype=np.int32)
        self.starts = np.empty(self.max_rows + 1, dtype=np.int32)
        self.labels = np.empty(self.max_rows)
        self.spans = np.empty((self.max_rows, 2), dtype=np.int64)  # of labels
        self.lines = np.empty(self.max_rows, dtype=np.int64)
        self.hard = np.empty((self.n_hard, 3), dtype=np.int64)


@dataclass
class Wrong:
    """What is wrong with a row that was parsed, and a place in its line."""

    row: int
    place: int
    reason: str


class Reader(TextReader):
    """Rows of an svmlight file."""

    def __init__(self, path: str, options: Options, faults: Faults) -> None:
        super().__init__(path, options, faults)
        self.labelled, self.base = options.labelled, 0 if options.zero_based else 1
        self.width, self.limit = options.n_features or 0, options.n_features or MAX_FEATURES
        self.trust = 1 << 30  # rows to read at a time: fewer after a fault

    def begin(self) -> None:
        self.at = replace(self.at, width=max(self.at.width, self.width))

    def nothing(self) -> OpenRows:
        return OpenRows((0, self.at.width))

    def next(self, max_rows: int) -> Iterator[Batch]:
        skipped = self.at.skipped
        yield from self._next(min(max_rows, self.trust))
        self.trust = CAREFUL if self.at.skipped > skipped else 2 * self.trust

    def _next(self, max_rows: int) -> Iterator[Batch]:
        """The next rows, and what is wrong with the line after them."""
        block = self._parse(max_rows)
        labels, wrong = self._finish(block)
        if wrong is not None and wrong.row:  # the same again, up to there
            block = self._parse(wrong.row)
            labels, wrong = self._finish(block)
        if wrong is not None:
            self.window.used(self.window.end_of_line(wrong.place))
            self.fault(self.at.lines + int(block.lines[0]), wrong.reason)
            return
        fault = int(block.report[text.FAULT])
        place = int(block.report[text.FAULT_START]), int(block.report[text.FAULT_STOP])
        reason = self._reason(fault, *place)
        self.window.used(int(block.report[text.POSITION]))
        self.at = replace(self.at, lines=self.at.lines + int(block.report[text.LINES]))
        if block.report[text.ROWS]:
            yield self._batch(block, int(block.report[text.ROWS]), labels)
        if reason is not None:
            self.window.used(self.window.end_of_line(place[0]))
            self.fault(self.at.lines, reason)

    def _parse(self, max_rows: int) -> Block:
        window, n_hard = self.window, HARD_NUMBERS
        n_bytes = window.stop - window.start
        while True:
            block = Block(n_bytes, min(max_rows, n_bytes // 2 + 1), n_hard)
            text.parse_svmlight.run(
                window.data, window.start, window.stop, self.base, self.limit, self.labelled, block.max_rows,
                block.values, block.indices, block.starts, block.labels, block.spans, block.lines, block.hard,
                block.report,
            )  # fmt: skip
            if block.report[text.FAULT] != text.HARD_FULL or block.report[text.ROWS]:
                return block
            n_hard *= 4

    def _finish(self, block: Block) -> tuple[NDArray[np.generic] | None, Wrong | None]:
        """Read what the parser left to Python: the labels, and the first row that cannot be."""
        n_rows = int(block.report[text.ROWS])
        wrong = self._finish_numbers(block)
        if not self.labelled or n_rows == 0:
            return None, wrong
        numbers = block.labels[:n_rows]
        odd = np.flatnonzero(~(np.abs(numbers) < LARGEST_EXACT))
        if self.at.text_labels is None:
            self.at = replace(self.at, text_labels=not is_number(self._label(block, 0)))
        if not self.at.text_labels:
            for row in odd.tolist():
                label = self._label(block, row)
                if read_label(label, are_text=False) is None and (wrong is None or row < wrong.row):
                    return None, Wrong(row, int(block.spans[row, 0]), label_fault(label))
            return as_labels(numbers, are_text=False), wrong
        labels = [self._label(block, row) for row in range(n_rows)]
        for row, label in enumerate(labels):
            reason = _text_fault(label)
            if reason is not None and (wrong is None or row < wrong.row):
                return None, Wrong(row, int(block.spans[row, 0]), reason)
        return as_labels(labels, are_text=True), wrong

    def _finish_numbers(self, block: Block) -> Wrong | None:
        """Put numbers that take `float` where they belong."""
        n_values = int(block.report[text.VALUES])
        starts = block.starts[: int(block.report[text.ROWS]) + 1]
        for slot, start, stop in block.hard[: int(block.report[text.N_HARD])].tolist():
            number = self.window.text(start, stop).decode("ascii")
            value = finite(number)
            if value is None:
                row = -1 - slot if slot < 0 else int(np.searchsorted(starts, slot, side="right")) - 1
                return Wrong(row, start, f"{shown(number)} is not finite")
            if slot < 0:
                block.labels[-1 - slot] = value
            elif slot < n_values:
                block.values[slot] = value
        return None

    def _label(self, block: Block, row: int) -> str:
        start, stop = block.spans[row].tolist()
        return self.window.text(start, stop).decode("utf-8", "replace")

    def _batch(self, block: Block, n_rows: int, labels: NDArray[np.generic] | None) -> Batch:
        width = max(self.at.width, int(block.report[text.WIDTH]))
        lines = block.lines[:n_rows] + (self.at.lines - int(block.report[text.LINES]) + 1)
        at = replace(self.at, rows=self.at.rows + n_rows, offset=self.window.offset, width=width)
        n_values = int(block.report[text.VALUES])
        starts = block.starts[: n_rows + 1] if n_rows else np.zeros(1, dtype=np.int32)
        X = OpenRows((block.values[:n_values], block.indices[:n_values], starts), shape=(n_rows, width))
        self.at = at
        return Batch(X, labels, lines, at, self.window.n_read, self.faults.take())

    def _reason(self, fault: int, start: int, stop: int) -> str | None:
        """What is wrong with a line, in words."""
        if fault in (text.NONE, text.HARD_FULL):
            return None
        given = self.window.text(start, min(stop, start + 200))
        token, value = shown(given), given.partition(b":")[2].decode("utf-8", "replace")
        more = "" if self.width else "; say n_features if there are more"
        return {
            text.NO_LABEL: f"the row begins with {token}; expected a label",
            text.INDEX_ZERO: f"index 0 in {token}, but indices begin at 1; say zero_based if they begin at 0",
            text.INDEX_LARGE: f"the index in {token} is not among {self.limit} features{more}",
            text.NOT_ASCENDING: f"the index in {token} is not above the one before it",
            text.BAD_QID: f"{token} is no qid:number",
            text.NO_PAIR: f"{token} is no index:value",
            text.NOT_A_NUMBER: f"the value in {token} is {'not finite' if is_number(value) else 'no number'}",
        }[fault]


def _text_fault(label: str) -> str | None:
    """What is wrong with a label that is no number; None where nothing is."""
    if not label.isprintable() or "\ufffd" in label:
        return f"label {shown(label)} is not text in UTF-8"
    if not is_number(label) and label.lstrip("+-.")[:1].isdigit():
        return f"label {shown(label)} begins as a number, but is none"
    return None
