"""What happened at each row of a stream that was predicted before it was learned, and the figures of it."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tauten.figures import Figures, confusion
from tauten.parameters import is_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass
class Trace(Figures):
    """What happened at each row of a stream, and the figures that follow from it.

    y, predicted : labels (targets) and what was predicted before each was learned
    scores : decision_function before the row was learned; a column a class for three classes and more
    updates, asked : whether the model moved, and whether the label was looked at
    seconds : time that learning took
    """

    y: NDArray[Any]
    predicted: NDArray[Any]
    scores: NDArray[np.float64]
    updates: NDArray[np.bool_]
    asked: NDArray[np.bool_]
    seconds: float
    classes: NDArray[Any] | None  # None for regression

    @cached_property
    def errors(self) -> NDArray[Any]:
        """Whether each prediction was wrong; for regression by how much."""
        if self.classes is None:
            return np.abs(self.y - self.predicted)
        return self.predicted != self.y

    @property
    def error_rate(self) -> float:
        """Share of rows predicted wrong; for regression the mean absolute error."""
        return float(self.errors.mean())

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Rows of the stream."""
        return len(self.y)

    @property
    def n_updates(self) -> int:  # type: ignore[override]
        """Rows at which the model moved."""
        return int(self.updates.sum())

    @property
    def n_asked(self) -> int:  # type: ignore[override]
        """Rows whose label was looked at."""
        return int(self.asked.sum())

    @cached_property
    def confusion(self) -> NDArray[np.int64]:  # type: ignore[override]
        """Rows of each class (row) by predicted class (column)."""
        return confusion(self._known_classes(), self.y, self.predicted)

    @property
    def unpredicted(self) -> NDArray[np.int64]:  # type: ignore[override]
        """Rows of each class without a prediction: none, all classes are known beforehand."""
        return np.zeros(len(self._known_classes()), dtype=np.int64)

    @property
    def squared_error(self) -> float:  # type: ignore[override]
        """Of a regression, summed up."""
        return float((self.errors**2).sum())

    def cumulative_error(self) -> NDArray[np.float64]:
        """The error rate up to and with each row."""
        return np.cumsum(self.errors) / np.arange(1, len(self) + 1)

    def windowed_error(self, window: int = 1000) -> NDArray[np.float64]:
        """The error rate of the last `window` rows at each row; of all rows as long as there are fewer."""
        if not is_count(window) or window < 1:
            raise ValueError(f"window is {window!r}; expected a whole number, 1 or above.")
        total = np.concatenate([[0.0], np.cumsum(self.errors)])
        ends = np.arange(1, len(self) + 1)
        starts = np.maximum(ends - window, 0)
        return (total[ends] - total[starts]) / (ends - starts)

    def to_frame(self) -> pd.DataFrame:
        """One row a row of the stream."""
        scores = {"score": self.scores}
        if self.scores.ndim == 2:
            scores = {f"score_{label}": self.scores[:, k] for k, label in enumerate(self._known_classes())}
        columns = {"y": self.y, "predicted": self.predicted, **scores, "error": self.errors}
        return pd.DataFrame({**columns, "asked": self.asked, "updated": self.updates})

    def plot(self, window: int = 1000, ax: "Axes | None" = None) -> "Axes":
        """Draw the error so far and that of the last `window` rows."""
        from tauten import plots

        return plots.trace(self, window, ax)
