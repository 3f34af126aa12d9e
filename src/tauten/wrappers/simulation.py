"""A pass over rows whose labels are at hand, but are looked at only where they are asked for."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import column_or_1d

from tauten.ask.rule import Asking
from tauten.classifier import OnlineClassifier
from tauten.kernels.asking import ASKED, GIVEN, ROUNDS
from tauten.kernels.state import Dense, Floats, Sparse
from tauten.labels import is_text
from tauten.rows import Rows
from tauten.stream import Record

After = Callable[[Record], None]  # told what happened at the next rows

UNKNOWN = -1
PLAIN = (str, int, float, bool, np.generic)
AHEAD = 64  # rows that the loop is given after one whose label it did not know; then four times as many
NO = np.zeros((1, 1), dtype=np.uint8)
PASSED = Record(np.zeros((1, 1)), NO, NO[0])


class Labels:
    """The labels of a batch. What is asked for is read when it is asked for; the rest may be anything.

    Arrays, and lists of plain values, are compared with the classes beforehand, all at once: so the compiled
    loop can go through them. That says nothing of a label that is none, as long as nobody asks for it.
    Anything else that has a length and an index is read item by item.
    """

    def __init__(self, y: Any) -> None:
        if hasattr(y, "__array__"):
            y = column_or_1d(np.asarray(y), warn=True)
        elif not hasattr(y, "__getitem__") or not hasattr(y, "__len__"):
            raise ValueError(f"y is {y!r:.50}; expected labels with a length and an index.")
        self._read: Callable[[int], Any] = y.__getitem__
        self._length = len(y)
        self._plain = _plain(y)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, row: int) -> Any:
        label = self._read(row)
        return label.item() if isinstance(label, np.generic) else label

    def codes(self, classes: NDArray[Any]) -> NDArray[np.intp]:
        """The place of each label among the classes; UNKNOWN where there is none, or none to be told yet."""
        labels = self._plain
        if labels is None or is_text(labels) != is_text(classes):
            return np.full(len(self), UNKNOWN, dtype=np.intp)
        if len(classes) == 2:  # two comparisons are faster than a search
            is_second = labels == classes[1]
            places, known = is_second.astype(np.intp), is_second | (labels == classes[0])
        else:
            places = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
            known = classes[places] == labels
        return places if known.all() else np.where(known, places, UNKNOWN)


def _plain(y: ArrayLike) -> NDArray[Any] | None:
    """Labels as an array of numbers or of text, if they are all of one kind."""
    if isinstance(y, np.ndarray) and y.dtype.kind in "biufU":
        return y
    if not isinstance(y, list | tuple | np.ndarray) or not all(isinstance(label, PLAIN) for label in y):
        return None
    texts = sum(isinstance(label, str) for label in y)
    return np.asarray(list(y)) if texts in (0, len(y)) else None


class Simulation:
    """A pass over rows whose labels are at hand: compiled as far as labels are known, by hand where not."""

    def __init__(
        self,
        learner: OnlineClassifier,
        wants: Callable[[Dense | Sparse], bool],
        asking: Asking,
        rows: Rows,
        labels: Labels,
        weights: Floats,
        after: After,
    ) -> None:
        self.learner, self.wants, self.asking, self.after = learner, wants, asking, after
        self.rows, self.labels, self.weights = rows, labels, weights
        self.codes = self.untold = np.full(len(rows), UNKNOWN, dtype=np.intp)
        self._know_codes()

    def _know_codes(self) -> None:
        """Work out the codes of the labels anew."""
        if "classes_" in self.learner.__dict__:
            self.codes = self.labels.codes(self.learner.classes_)

    def run(self, first: int, stop: int) -> None:
        """Go from one row up to another."""
        ahead = stop - first
        while first < stop:
            end = min(first + ahead, stop)
            first = self._to_unknown(first, end)
            ahead *= 4
            if first < end:
                self._learn(first)
                first += 1
                ahead = AHEAD

    def _to_unknown(self, first: int, stop: int) -> int:
        """Go on to the first row that is asked for and whose label is not known beforehand."""
        if "classes_" not in self.learner.__dict__:
            return self._to_wanted(first, stop)
        learner, asking = self.learner, self.asking
        learner.settle(0)
        plan, state = learner.plan_now(), learner.state_
        nothing = np.full((1, state.n_decisions), np.nan)  # the last row, which is that of UNKNOWN
        sides, margins = np.vstack([plan.y, nothing]), np.vstack([plan.margins, nothing])
        known = self.codes if plan.fixed else self.untold  # or margins or weights follow the labels so far
        asking[GIVEN] = 0.0
        try:
            for start, block in self.rows.blocks(first, stop, state.per_row):
                codes = known[start : start + len(block)]
                weights = self.weights[start : start + len(block)]
                if plan.importance is not None:
                    weights = weights * plan.importance[codes]
                record = Record.empty(len(block), state)
                done = state.learn(
                    block, plan.loop, sides.take(codes, axis=0), margins.take(codes, axis=0),
                    weights, record.scores, record.moved, record.asked,
                )  # fmt: skip
                learner.count(codes[:done][record.asked[:done] == 1])
                self.after(record.part(0, done))
                if done < len(block):
                    return self._refused(start + done, stop)
        finally:
            asking[GIVEN] = 1.0
        return stop

    def _to_wanted(self, first: int, stop: int) -> int:
        """The same before any label is known, when there are no scores yet."""
        for row in range(first, stop):
            if not self.rows.ascends(row):
                self.rows.sort()
            self.rows.check_row(row, row, self.learner.feature_index)
            if self.wants(self.rows.block(row, row + 1)):
                return row
            self.after(PASSED)
        return stop

    def _refused(self, row: int, stop: int) -> int:
        """A row that the loop did not take: out of order, not valid, or asked for and not known."""
        if not self.rows.ascends(row):
            self.rows.sort()
            return self._to_unknown(row, stop)
        self.rows.check_row(row, row, self.learner.feature_index)
        self.asking[[ROUNDS, ASKED]] += 1.0
        return row

    def _learn(self, row: int) -> None:
        """Read the label of a row that is asked for, and learn it."""
        learner = self.learner
        before = learner.__dict__.get("classes_")
        code = self.codes[row]
        labels = learner.read_y([self.labels[row]]) if code == UNKNOWN else learner.classes_[code : code + 1]
        single = Rows.of(self.rows.block(row, row + 1).copy(), self.rows.width)
        weight = self.weights[row : row + 1]
        learner.learn_spans(single, labels, weight, [(0, 1)], lambda _, record: self.after(record))
        if learner.classes_ is not before:
            self._know_codes()
