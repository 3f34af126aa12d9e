"""The figures of rows that were predicted, from how many were and as what: of a trace and of a tally."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Figures:
    """What follows from a confusion matrix and a few counts.

    classes : the labels, sorted; None for regression
    n_rows, n_updates, n_asked : rows, those at which the model moved, those whose label was looked at
    confusion : rows of each class (row) by predicted class (column); `unpredicted` : those without prediction
    absolute_error, squared_error : of a regression, summed up
    seconds : time that it took
    """

    classes: NDArray[Any] | None
    n_rows: int
    n_updates: int
    n_asked: int
    confusion: NDArray[np.int64]
    unpredicted: NDArray[np.int64]
    absolute_error: float
    squared_error: float
    seconds: float

    def __len__(self) -> int:
        return self.n_rows

    @property
    def error_rate(self) -> float:
        """Share of rows predicted wrong; for regression the mean absolute error."""
        if self.n_rows == 0:
            return float("nan")
        if self.classes is None:
            return self.absolute_error / self.n_rows
        return (self.n_rows - int(np.trace(self.confusion))) / self.n_rows

    @property
    def accuracy(self) -> float:
        """Share of rows predicted right."""
        self._known_classes()
        return 1.0 - self.error_rate

    def class_counts(self) -> dict[Any, int]:
        """Rows of each class."""
        return dict(zip(self._known_classes().tolist(), self._rows_of_classes().tolist(), strict=True))

    def f1(self, label: Any = None) -> float:
        """F1 of a label, by default of the second of two classes; of three and more, the mean over the
        classes.
        """
        classes = self._known_classes()
        several = label is None and len(classes) > 2
        places = range(len(classes)) if several else [self._place(label)]
        return float(np.mean([self._f1(place) for place in places]))

    def _f1(self, place: int) -> float:
        found = int(self.confusion[place, place])
        either = int(self._rows_of_classes()[place] + self.confusion[:, place].sum())
        return 2 * found / either if either else 0.0

    def sensitivity(self, label: Any = None) -> float:
        """Share of a label's rows that were found; by default of the second of two classes."""
        place = self._place(label)
        return _share(int(self.confusion[place, place]), int(self._rows_of_classes()[place]))

    def specificity(self, label: Any = None) -> float:
        """Share of all other rows that were not taken for the label; by default the second of two classes."""
        place = self._place(label)
        others = self.n_rows - int(self._rows_of_classes()[place])
        return _share(others - self._false_alarms(place), others)

    def weighted_sum(self, share: float = 0.5, label: Any = None) -> float:
        """share·sensitivity + (1 − share)·specificity of a label; by default of the second of two classes."""
        return share * self.sensitivity(label) + (1.0 - share) * self.specificity(label)

    def cost(self, missed: float, false_alarm: float = 1.0, label: Any = None) -> float:
        """What the mistakes cost: `missed` for each row of a label that was not found, `false_alarm` for each
        that was taken for it; by default the second of two classes.
        """
        place = self._place(label)
        n_missed = int(self._rows_of_classes()[place] - self.confusion[place, place])
        return float(missed * n_missed + false_alarm * self._false_alarms(place))

    @property
    def share_asked(self) -> float:
        """Share of the labels that were looked at."""
        return _share(self.n_asked, self.n_rows)

    @property
    def balanced_accuracy(self) -> float:
        """The mean over the classes of the share of rows found."""
        of_class = self._rows_of_classes()
        return float((np.diag(self.confusion)[of_class > 0] / of_class[of_class > 0]).mean())

    @property
    def kappa(self) -> float:
        """Cohen's kappa: agreement beyond chance."""
        chance = float(self.confusion.sum(axis=0) @ self._rows_of_classes()) / self.n_rows**2
        return (1.0 - self.error_rate - chance) / (1.0 - chance) if chance < 1.0 else 0.0

    def _rows_of_classes(self) -> NDArray[np.int64]:
        return self.confusion.sum(axis=1) + self.unpredicted

    def _false_alarms(self, place: int) -> int:
        return int(self.confusion[:, place].sum() - self.confusion[place, place])

    def _known_classes(self) -> NDArray[Any]:
        if self.classes is None:
            raise ValueError("These figures are of a regression; it has no classes.")
        return self.classes

    def _place(self, label: Any) -> int:
        """Where a label stands among the classes; by default the second of two."""
        classes = self._known_classes()
        if label is None:
            if len(classes) > 2:
                raise ValueError(f"There are {len(classes)} classes; name the label that counts as positive.")
            return len(classes) - 1
        if label not in classes:
            raise ValueError(f"{label!r} is not a class; expected one of {classes.tolist()}.")
        return int(np.flatnonzero(classes == label)[0])

    def summary(self) -> dict[str, float]:
        """The figures in one dict."""
        shared = {
            "rows": self.n_rows,
            "updates": self.n_updates,
            "asked": self.n_asked,
            "share_asked": self.share_asked,
        }
        if self.classes is None:
            rmse = float(np.sqrt(_share(self.squared_error, self.n_rows)))
            return {**shared, "mean_absolute_error": self.error_rate, "rmse": rmse, "seconds": self.seconds}
        figures = {"error_rate": self.error_rate, "f1": self.f1()}
        if len(self.classes) == 2:
            figures["f1_first"] = self.f1(self.classes[0])
            figures |= {"sensitivity": self.sensitivity(), "specificity": self.specificity()}
        figures |= {"balanced_accuracy": self.balanced_accuracy, "kappa": self.kappa}
        return {**shared, **figures, "seconds": self.seconds}


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


def confusion(classes: NDArray[Any], y: NDArray[Any], predicted: NDArray[Any]) -> NDArray[np.int64]:
    """Rows of each class by predicted class, all of them among the classes."""
    pairs = codes(classes, y) * len(classes) + codes(classes, predicted)
    return np.bincount(pairs, minlength=len(classes) ** 2).reshape(len(classes), len(classes))


def codes(classes: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.intp]:
    """The place of each label among the classes."""
    if len(classes) == 2:
        return (labels == classes[1]).astype(np.intp)
    return np.searchsorted(classes, labels)
