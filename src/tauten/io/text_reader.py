"""What the readers of text formats share."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tauten.io.lines import Window, too_long
from tauten.io.source import Batch, Faults, Options, Position, RowLimit


class TextReader:
    """The way from block to block, and lines that are at fault."""

    def __init__(self, path: str, options: Options, faults: Faults) -> None:
        self.path, self.options, self.faults = path, options, faults

    def begin(self) -> None:
        """Look at the beginning of the file, and use what is no row."""

    def next(self, max_rows: int) -> Iterator[Batch]:
        """The next rows in the window; using none of it means that it must hold more."""
        raise NotImplementedError

    def nothing(self) -> Any:
        """Rows, of which there are none."""
        return []

    def read(self, position: Position, rows: RowLimit) -> Iterator[Batch]:
        """The batches from a position on."""
        self.at = position
        self.window = window = Window(self.path, self.faults.path)
        try:
            self.begin()
            if position.offset:
                window.go_to(position.offset)
            ready = window.start < window.stop or window.more()
            while ready:
                if window.offset == 0:
                    window.pass_mark()
                if window.too_long:
                    window.drop_line()
                    self.fault(self.at.lines, too_long())
                start = -1
                while start != window.start < window.stop:
                    start = window.start
                    yield from self.next(rows.after(self.at.rows))
                ready = window.more()
            self.at = replace(self.at, offset=window.offset)
            yield Batch(
                self.nothing(), None, np.zeros(0, np.int64), self.at, window.n_read, self.faults.take()
            )
        finally:
            window.close()

    def fault(self, line: int, reason: str) -> None:
        """Note that a line (from 0), the last that was used, is at fault."""
        self.faults.note(line + 1, reason)
        self.at = replace(self.at, lines=line + 1, offset=self.window.offset, skipped=self.at.skipped + 1)
