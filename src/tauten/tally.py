"""Figures of a stream of any length, kept in bounded memory."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tauten.figures import Figures, codes, confusion
from tauten.labels import distinct, put_together
from tauten.stream import Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WINDOW = 100  # rows of a window at first
WINDOWS = 400  # as many as are kept; beyond it every two become one

COUNTS = ("n_rows", "n_updates", "n_asked")
SUMS = ("absolute_error", "squared_error", "seconds")


class Tally(Figures):
    """Running figures of rows that were predicted, and then learned: those of `Trace`, without its rows.

    passes : for each pass over the file its rows and errors; all else is of the first pass
    window, windows : rows of a window, and the errors in each that is full
    """

    def __init__(self, classifies: bool) -> None:
        self.classes = np.zeros(0) if classifies else None
        self.n_rows = self.n_updates = self.n_asked = 0
        self.absolute_error = self.squared_error = self.seconds = 0.0
        self.confusion = np.zeros((0, 0), dtype=np.int64)
        self.unpredicted = np.zeros(0, dtype=np.int64)
        self.passes: list[list[float]] = []
        self.window = WINDOW
        self.windows: list[float] = []
        self._begun: list[float] = [0, 0.0]  # rows and errors of the window that is not full yet

    def __repr__(self) -> str:
        name = "mean_absolute_error" if self.classes is None else "error_rate"
        return f"Tally(rows={self.n_rows}, {name}={self.error_rate:.4g}, updates={self.n_updates})"

    def add(self, tested: Outcome, number: int = 1) -> None:
        """Count rows of a pass (from 1)."""
        errors = self._errors(tested)
        while len(self.passes) < number:
            self.passes.append([0, 0.0])
        self.passes[number - 1][0] += len(errors)
        self.passes[number - 1][1] += float(errors.sum())
        if number > 1:
            return
        self.n_rows += len(errors)
        self.n_updates += int(tested.updates.sum())
        self.n_asked += int(tested.asked.sum())
        if self.classes is None:
            self.absolute_error += float(errors.sum())
            self.squared_error += float((errors**2).sum())
        else:
            self._count(tested)
        self._draw(errors)

    def _errors(self, tested: Outcome) -> NDArray[np.float64]:
        if self.classes is None:
            return np.abs(tested.y - tested.predicted)
        return (~tested.known | (tested.y != tested.predicted)).astype(np.float64)

    def _count(self, tested: Outcome) -> None:
        known = tested.known
        for labels in (tested.y, tested.predicted[known]):
            self._know(distinct(labels) if len(labels) else labels)
        assert self.classes is not None
        self.confusion += confusion(self.classes, tested.y[known], tested.predicted[known])
        unknown = codes(self.classes, tested.y[~known])
        self.unpredicted += np.bincount(unknown, minlength=len(self.classes))

    def _know(self, labels: NDArray[Any]) -> None:
        """Make room for labels."""
        assert self.classes is not None
        if not len(labels):
            return
        classes = np.unique(put_together(self.classes, labels) if len(self.classes) else labels)
        if len(classes) == len(self.classes):
            return
        places = np.searchsorted(classes, self.classes) if len(self.classes) else np.zeros(0, dtype=np.intp)
        grown = np.zeros((len(classes), len(classes)), dtype=np.int64)
        grown[np.ix_(places, places)] = self.confusion
        unpredicted = np.zeros(len(classes), dtype=np.int64)
        unpredicted[places] = self.unpredicted
        self.classes, self.confusion, self.unpredicted = classes, grown, unpredicted

    def _draw(self, errors: NDArray[np.float64]) -> None:
        """Add to the curve."""
        while len(errors):
            part = errors[: self.window - int(self._begun[0])]
            errors = errors[len(part) :]
            self._begun = [self._begun[0] + len(part), self._begun[1] + float(part.sum())]
            if self._begun[0] == self.window:
                self.windows.append(self._begun[1])
                self._begun = [0, 0.0]
            if len(self.windows) == WINDOWS:
                self.windows = [sum(pair) for pair in zip(self.windows[::2], self.windows[1::2], strict=True)]
                self.window *= 2

    def curve(self) -> pd.DataFrame:
        """A row a window: rows up to its end, the error in it, and the error so far."""
        ends = np.arange(1, len(self.windows) + 1) * self.window
        sums = np.array(self.windows, dtype=np.float64)
        sizes = np.full(len(ends), self.window)
        if self._begun[0]:
            ends, sums = np.append(ends, self.n_rows), np.append(sums, self._begun[1])
            sizes = np.append(sizes, int(self._begun[0]))
        return pd.DataFrame({"rows": ends, "error": sums / sizes, "error_so_far": np.cumsum(sums) / ends})

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the error so far and that of each window."""
        from tauten import plots

        return plots.tally(self, ax)

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain values."""
        return {
            **{name: getattr(self, name) for name in (*COUNTS, *SUMS, "passes", "window", "windows")},
            "begun": self._begun,
            "classes": None if self.classes is None else self.classes.tolist(),
            "confusion": self.confusion.tolist(),
            "unpredicted": self.unpredicted.tolist(),
        }

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> Self:
        """The tally that `to_dict` described."""
        tally = cls(kept["classes"] is not None)
        for name in (*COUNTS, *SUMS, "passes", "window", "windows"):
            setattr(tally, name, kept[name])
        tally._begun = kept["begun"]
        if tally.classes is not None:
            tally.classes = np.array(kept["classes"])
            n_classes = len(tally.classes)
            tally.confusion = np.array(kept["confusion"], dtype=np.int64).reshape(n_classes, n_classes)
            tally.unpredicted = np.array(kept["unpredicted"], dtype=np.int64).reshape(n_classes)
        return tally
