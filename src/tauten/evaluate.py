"""Test, then train: every row is predicted before it is learned, and all figures come from what the loop
wrote down.

`progressive` runs one learner over one stream, `compare` several over many random orders of it, `sweep` a
whole grid of parameters; a first-order learner's grid is trained in one pass.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.stats import ttest_rel
from sklearn import metrics
from sklearn.base import clone
from sklearn.utils.validation import check_random_state

from tauten.base import OnlineLearner
from tauten.classifier import OnlineClassifier
from tauten.registry import make
from tauten.stream import Progress
from tauten.sweeping import in_threads, learn_together

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Learner = str | OnlineLearner


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

    def __len__(self) -> int:
        return len(self.y)

    def cumulative_error(self) -> NDArray[np.float64]:
        """The error rate up to and with each row."""
        return np.cumsum(self.errors) / np.arange(1, len(self) + 1)

    def windowed_error(self, window: int = 1000) -> NDArray[np.float64]:
        """The error rate of the last `window` rows at each row; of all rows as long as there are fewer."""
        if window < 1:
            raise ValueError(f"window is {window}; expected 1 or above.")
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
        shared = {"rows": len(self), "updates": int(self.updates.sum()), "asked": int(self.asked.sum())}
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


def progressive(
    model: OnlineLearner,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    progress: Progress | None = None,
) -> Trace:
    """Predict each row, then learn it; the model learns in place, all labels known beforehand.

    `progress`, where given, is called about a hundred times with the rows learned so far and the rows there
    are.

    >>> import numpy as np, tauten as tt
    >>> X = np.random.default_rng(0).standard_normal((500, 3))
    >>> trace = tt.progressive(tt.PAClassifier(C=1.0), X, X[:, 0] > 0)
    >>> trace.error_rate < 0.1
    True
    """
    started = time.perf_counter()
    labels, record = model.learn_recorded(X, y, sample_weight, progress)
    seconds = time.perf_counter() - started
    updates = np.asarray(record.moved.any(axis=1))
    everyone = np.ones(len(labels), dtype=bool)
    if not isinstance(model, OnlineClassifier):
        scores = record.scores[:, 0]
        return Trace(labels, scores, scores, updates, everyone, seconds, None)
    predicted = model.classes_[model.winners(record.scores)]
    scores = record.scores if len(model.classes_) > 2 else record.scores[:, 0]
    return Trace(labels, predicted, scores, updates, everyone, seconds, model.classes_)


@dataclass
class Sweep:
    """A grid of parameters, the learner trained with each, and how it did."""

    grid: list[dict[str, Any]]
    learners: list[OnlineLearner]
    errors: NDArray[np.float64]  # error rate of each; for regression the mean absolute error
    updates: NDArray[np.int64]
    seconds: float

    @property
    def best(self) -> OnlineLearner:
        """The trained learner with the fewest errors, of equals the first."""
        return self.learners[int(np.argmin(self.errors))]

    @property
    def best_params(self) -> dict[str, Any]:
        """The parameters of the best learner that the grid set."""
        return self.grid[int(np.argmin(self.errors))]

    def to_frame(self) -> pd.DataFrame:
        """One row a model: its parameters, error rate (mean absolute error) and updates."""
        error = "error_rate" if isinstance(self.learners[0], OnlineClassifier) else "mean_absolute_error"
        return pd.DataFrame(self.grid).assign(**{error: self.errors, "updates": self.updates})

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the error rate over the one parameter that varies."""
        from tauten import plots

        return plots.sweep(self, ax)


def sweep(
    learner: Learner,
    grid: Mapping[str, Sequence[Any] | NDArray[Any]],
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    n_jobs: int = -1,
) -> Sweep:
    """Run a learner over a stream with every combination of parameters, test-then-train.

    Grid points of a first-order learner that differ in numbers only (C, ρ, margins, ε) are trained side by
    side in one pass over the rows; others, and other learners, in a pass each. `n_jobs` threads share the
    work (-1: a thread a core); the result does not depend on it.

    >>> import numpy as np, tauten as tt
    >>> X = np.random.default_rng(0).standard_normal((500, 3))
    >>> tt.sweep("pa1", {"C": 2.0 ** np.arange(-5, 6)}, X, X[:, 0] > 0).to_frame().shape
    (11, 3)
    """
    names = list(grid)
    choices = [[_plain(value) for value in values] for values in grid.values()]
    points = [dict(zip(names, values, strict=True)) for values in product(*choices)]
    if not points:
        raise ValueError(
            f"The grid has no points: {dict(grid)!r}; expected a value or more for each parameter."
        )
    learners = [_fresh(learner, **point) for point in points]
    started = time.perf_counter()
    errors, updates = learn_together(learners, X, y, sample_weight, n_jobs)
    return Sweep(points, learners, errors, updates, time.perf_counter() - started)


@dataclass
class Comparison:
    """Several learners over the same random orders of one stream."""

    names: list[str]
    figures: pd.DataFrame  # one row a learner and order
    rows: NDArray[np.int64]  # row numbers at which curves were read
    curves: NDArray[np.float64]  # learner, order, row number: error rate so far

    def errors(self, name: str) -> NDArray[np.float64]:
        """A learner's error rate in each order."""
        if name not in self.names:
            raise ValueError(f"{name!r} was not compared; expected one of {self.names}.")
        return self.figures.loc[self.figures["learner"] == name, self.measure].to_numpy()

    @property
    def measure(self) -> str:
        """What the errors are: error_rate, or for regression mean_absolute_error."""
        return "error_rate" if "error_rate" in self.figures else "mean_absolute_error"

    def p_value(self, first: str, second: str) -> float:
        """Paired t-test of two learners' errors; 1 where they never differ, NaN where always by the same."""
        apart = self.errors(first) - self.errors(second)
        if np.ptp(apart) == 0:  # the test would divide by the spread
            return 1.0 if apart[0] == 0 else np.nan
        return float(ttest_rel(self.errors(first), self.errors(second)).pvalue)

    def to_frame(self) -> pd.DataFrame:
        """One row a learner, the best first: mean and sd of each figure, and the paired test against the
        best.
        """
        by_name = self.figures.groupby("learner", sort=False)
        means, spreads = by_name.mean(), by_name.std(ddof=1)
        columns = {}
        for figure in means.columns:
            columns[figure] = means[figure]
            columns[f"{figure}_sd"] = spreads[figure]
        table = pd.DataFrame(columns).drop(columns=["seconds_sd"]).sort_values(self.measure, kind="stable")
        best = table.index[0]
        return table.assign(
            p_value=[1.0 if name == best else self.p_value(best, name) for name in table.index]
        )

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw each learner's error rate so far, mean and one sd over the orders."""
        from tauten import plots

        return plots.comparison(self, ax)


def compare(
    learners: Sequence[Learner] | Mapping[str, Learner],
    X: Any,
    y: ArrayLike,
    repeats: int = 20,
    random_state: int | None = 0,
    n_jobs: int = -1,
) -> Comparison:
    """Run learners over `repeats` random orders of the rows, the same orders for all, each from the start.

    `learners` are registry names or learners, or a dict that gives them other names. With several threads
    (`n_jobs`) the times are those of a busy machine; only `n_jobs=1` times one learner at a time.

    >>> import numpy as np, tauten as tt
    >>> X = np.random.default_rng(0).standard_normal((500, 3))
    >>> list(tt.compare(["pa1", "perceptron"], X, X[:, 0] > 0, repeats=3).to_frame().index)
    ['pa1', 'perceptron']
    """
    named = dict(_named(learners))
    random = check_random_state(random_state)
    y = np.asarray(y)
    orders = [random.permutation(len(y)) for _ in range(repeats)]
    if not orders or not named:
        raise ValueError(f"compare got {len(named)} learners and {repeats} orders; expected some of each.")
    rows = np.unique(np.linspace(1, len(y), num=min(len(y), 200), dtype=np.int64))

    def run(name: str, order: NDArray[np.intp]) -> tuple[dict[str, Any], NDArray[np.float64]]:
        trace = progressive(_fresh(named[name]), _reordered(X, order), y[order])
        figures = {"mean_absolute_error": trace.error_rate}
        if trace.classes is not None:
            figures = {"error_rate": trace.error_rate, "f1": trace.f1()}
        figures["updates"] = int(trace.updates.sum())
        return {"learner": name, **figures, "seconds": trace.seconds}, trace.cumulative_error()[rows - 1]

    done = in_threads(run, product(named, orders), n_jobs)
    curves = np.array([curve for _, curve in done]).reshape(len(named), repeats, len(rows))
    return Comparison(list(named), pd.DataFrame([figures for figures, _ in done]), rows, curves)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _named(learners: Sequence[Learner] | Mapping[str, Learner]) -> Iterator[tuple[str, Learner]]:
    """Each learner under a name of its own."""
    if isinstance(learners, Mapping):
        yield from learners.items()
        return
    seen: dict[str, int] = {}
    for learner in learners:
        name = learner if isinstance(learner, str) else repr(learner)
        seen[name] = seen.get(name, 0) + 1
        yield (name if seen[name] == 1 else f"{name} ({seen[name]})"), learner


def _fresh(learner: Learner, **parameters: Any) -> OnlineLearner:
    """An untrained learner with parameters."""
    if isinstance(learner, str):
        return make(learner, **parameters)
    return clone(learner).set_params(**parameters)  # type: ignore[no-any-return]


def _reordered(X: Any, order: NDArray[np.intp]) -> Any:
    """Rows of anything that holds rows, in another order."""
    if hasattr(X, "iloc"):
        return X.iloc[order]
    return [X[row] for row in order] if isinstance(X, list | tuple) else X[order]


def _share(flags: NDArray[np.bool_]) -> float:
    return float(flags.mean()) if len(flags) else float("nan")
