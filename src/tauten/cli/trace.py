"""A trace as a file: a line for each row of a run, written as it goes, so that its length is no matter."""

import csv
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Self, TextIO

from tauten.cli.errors import Failed
from tauten.tally import Tally

if TYPE_CHECKING:
    from tauten.files import Checkpoint
    from tauten.stream import Outcome

COLUMNS = ("pass", "row", "y", "predicted", "error", "asked", "updated")


class Written(Tally):
    """A tally that writes down each row that it counts."""

    file: TextIO

    @classmethod
    def to(cls, tally: Tally, file: TextIO) -> Self:
        """The same tally, with a file to write to."""
        written = cls.from_dict(tally.to_dict())
        written.file = file
        return written

    def add(self, tested: "Outcome", number: int = 1) -> None:
        """Count rows, and write them."""
        before = int(self.passes[number - 1][0]) if len(self.passes) >= number else 0
        super().add(tested, number)
        n_rows = len(tested.y)
        predicted = [
            label if known else None
            for label, known in zip(tested.predicted.tolist(), tested.known.tolist(), strict=True)
        ]
        errors = self._errors(tested).tolist()
        csv.writer(self.file, lineterminator="\n").writerows(
            zip(
                [number] * n_rows, range(before + 1, before + n_rows + 1), tested.y.tolist(), predicted,
                errors if self.classes is None else map(int, errors), map(int, tested.asked.tolist()),
                map(int, tested.updates.tolist()), strict=True,
            )
        )  # fmt: skip
        self.file.flush()  # a checkpoint is never ahead of its trace


@contextmanager
def traced(at: "Checkpoint", path: str | None) -> Iterator[None]:
    """Write a line for each row of a run; a run that goes on adds to the trace that it had."""
    if path is None:
        yield
        return
    n_rows = int(sum(rows for rows, _ in at.tally.passes))
    with _beginning(path, n_rows) as file:
        at.tally = Written.to(at.tally, file)
        yield


def _beginning(path: str, n_rows: int) -> TextIO:
    """The trace of so many rows, what is after them cut off, open to be written on."""
    if n_rows == 0:
        file = open(path, "w", newline="", encoding="utf-8")  # noqa: SIM115  the caller closes it
        csv.writer(file, lineterminator="\n").writerow(COLUMNS)
        return file
    if not os.path.exists(path):
        raise Failed(f"There is no trace {path!r} to go on with; expected the {n_rows:,} rows before.")
    file = open(path, "r+", newline="", encoding="utf-8")  # noqa: SIM115  the same
    records = csv.reader(iter(file.readline, ""))
    header = next(records, [])
    if tuple(header) != COLUMNS or sum(1 for _ in islice(records, n_rows)) < n_rows:
        file.close()
        raise Failed(f"{path!r} is no trace of the {n_rows:,} rows before.")
    file.seek(file.tell())
    file.truncate()
    return file
