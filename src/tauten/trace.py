"""What happened at each row of a stream that was predicted before it was learned, and the figures of it."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import metrics

from tauten.parameters import is_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass
class Trace:
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
    def accuracy(self) -> float:
        """Share of rows predicted right."""
        self._known_classes()
        return 1.0 - self.error_rate

    def __len__(self) -> int:
        return len(self.y)

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

    @cached_property
    def confusion(self) -> NDArray[np.int64]:
        """Rows of each class (row) by predicted class (column)."""
        classes = self._known_classes()
        pairs = np.searchsorted(classes, self.y) * len(classes) + np.searchsorted(classes, self.predicted)
        return np.bincount(pairs, minlength=len(classes) ** 2).reshape(len(classes), len(classes))

    def class_counts(self) -> dict[Any, int]:
        """Rows of each class."""
        return dict(zip(self._known_classes().tolist(), self.confusion.sum(axis=1).tolist(), strict=True))

    def f1(self, label: Any = None) -> float:
        """F1 of a label, by default of the second of two classes; of three and more, the mean over the
        classes.
        """
        labels = (
            self._known_classes()
            if label is None and len(self._known_classes()) > 2
            else [self._positive(label)]
        )
        return float(
            metrics.f1_score(self.y, self.predicted, labels=labels, average="macro", zero_division=0.0)
        )

    def sensitivity(self, label: Any = None) -> float:
        """Share of a label's rows that were found; by default of the second of two classes."""
        label = self._positive(label)
        return _share(self.predicted[self.y == label] == label)

    def specificity(self, label: Any = None) -> float:
        """Share of all other rows that were not taken for the label; by default the second of two classes."""
        label = self._positive(label)
        return _share(self.predicted[self.y != label] != label)

    def weighted_sum(self, share: float = 0.5, label: Any = None) -> float:
        """share·sensitivity + (1 − share)·specificity of a label; by default of the second of two classes."""
        return share * self.sensitivity(label) + (1.0 - share) * self.specificity(label)

    def cost(self, missed: float, false_alarm: float = 1.0, label: Any = None) -> float:
        """What the mistakes cost: `missed` for each row of a label that was not found, `false_alarm` for each
        that was taken for it; by default the second of two classes.
        """
        label = self._positive(label)
        own, taken = self.y == label, self.predicted == label
        return float(missed * (own & ~taken).sum() + false_alarm * (~own & taken).sum())

    @property
    def share_asked(self) -> float:
        """Share of the labels that were looked at."""
        return float(self.asked.mean())

    @property
    def balanced_accuracy(self) -> float:
        """The mean over the classes of the share of rows found."""
        present = self.confusion.sum(axis=1)
        return float((np.diag(self.confusion)[present > 0] / present[present > 0]).mean())

    @property
    def kappa(self) -> float:
        """Cohen's kappa: agreement beyond chance."""
        n = int(self.confusion.sum())
        chance = float(self.confusion.sum(axis=0) @ self.confusion.sum(axis=1)) / n**2
        return (1.0 - self.error_rate - chance) / (1.0 - chance) if chance < 1.0 else 0.0

    def _known_classes(self) -> NDArray[Any]:
        if self.classes is None:
            raise ValueError("This trace is of a regression; it has no classes.")
        return self.classes

    def _positive(self, label: Any) -> Any:
        classes = self._known_classes()
        if label is None:
            if len(classes) > 2:
                raise ValueError(
                    f"This trace has {len(classes)} classes; name the label that counts as positive."
                )
            return classes[-1]
        if label not in classes:
            raise ValueError(f"{label!r} is not a class; expected one of {classes.tolist()}.")
        return label

    def summary(self) -> dict[str, float]:
        """The figures in one dict."""
        shared = {
            "rows": len(self),
            "updates": int(self.updates.sum()),
            "asked": int(self.asked.sum()),
            "share_asked": self.share_asked,
        }
        if self.classes is None:
            squares = float(np.sqrt(np.mean(self.errors**2)))
            return {
                **shared,
                "mean_absolute_error": self.error_rate,
                "rmse": squares,
                "seconds": self.seconds,
            }
        figures = {"error_rate": self.error_rate, "f1": self.f1()}
        if len(self.classes) == 2:
            figures["f1_first"] = self.f1(self.classes[0])
            figures |= {"sensitivity": self.sensitivity(), "specificity": self.specificity()}
        figures |= {"balanced_accuracy": self.balanced_accuracy, "kappa": self.kappa}
        return {**shared, **figures, "seconds": self.seconds}

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


def _share(flags: NDArray[np.bool_]) -> float:
    return float(flags.mean()) if len(flags) else float("nan")
