"""Test, then train: every row is predicted before it is learned, and all figures come from what the loop
wrote down.

`progressive` runs one learner over one stream, `compare` several over many random orders of it, `sweep` a
whole grid of parameters; a first-order learner's grid is trained in one pass.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.stats import ttest_rel
from sklearn.base import clone
from sklearn.utils.validation import check_consistent_length, check_random_state

from tauten.base import OnlineLearner
from tauten.kernels.gather import Gatherer
from tauten.registry import make
from tauten.regressor import OnlineRegressor
from tauten.rows import dicts_in, read_dicts
from tauten.stream import Progress
from tauten.sweeping import in_threads, learn_together
from tauten.trace import Trace
from tauten.wrappers.active import ActiveClassifier, seeded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Trained = OnlineLearner | ActiveClassifier
Learner = str | Trained


def progressive(
    model: Trained,
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
    if not isinstance(model, Trained):
        raise ValueError(
            f"progressive got {model!r}; expected a learner, which it trains in place, as tt.make gives."
        )
    started = time.perf_counter()
    labels, record = model.learn_recorded(X, y, sample_weight, progress)
    seconds = time.perf_counter() - started
    updates = np.asarray(record.moved.any(axis=1))
    asked = record.asked.astype(bool)
    if isinstance(model, OnlineRegressor):
        scores = record.scores[:, 0]
        return Trace(labels, scores, scores, updates, asked, seconds, None)
    predicted = model.classes_[model.winners(record.scores)]
    scores = record.scores if len(model.classes_) > 2 else record.scores[:, 0]
    return Trace(labels, predicted, scores, updates, asked, seconds, model.classes_)


@dataclass
class Sweep:
    """A grid of parameters, the learner trained with each, and how it did."""

    grid: list[dict[str, Any]]
    learners: list[Trained]
    errors: NDArray[np.float64]  # error rate of each; for regression the mean absolute error
    updates: NDArray[np.int64]
    seconds: float

    @property
    def best(self) -> Trained:
        """The trained learner with the fewest errors, of equals the first."""
        return self.learners[int(np.argmin(self.errors))]

    @property
    def best_params(self) -> dict[str, Any]:
        """The parameters of the best learner that the grid set."""
        return self.grid[int(np.argmin(self.errors))]

    def to_frame(self) -> pd.DataFrame:
        """One row a model: its parameters, error rate (mean absolute error) and updates."""
        error = "mean_absolute_error" if isinstance(self.learners[0], OnlineRegressor) else "error_rate"
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
    for name, values in grid.items():
        if not _is_choice(values):
            raise ValueError(f"The grid has {values!r} for {name}; expected a list of values.")
    names = list(grid)
    choices = [[_plain(value) for value in values] for values in grid.values()]
    points = [dict(zip(names, values, strict=True)) for values in product(*choices)]
    if not points:
        raise ValueError(
            f"The grid has no points: {dict(grid)!r}; expected a value or more for each parameter."
        )
    learners = [fresh(learner, **point) for point in points]
    plain = [learner for learner in learners if isinstance(learner, OnlineLearner)]
    started = time.perf_counter()
    if len(plain) == len(learners):
        errors, updates = learn_together(plain, X, y, sample_weight, n_jobs)
    else:
        traces = in_threads(progressive, [(learner, X, y, sample_weight) for learner in learners], n_jobs)
        errors = np.array([trace.error_rate for trace in traces])
        updates = np.array([int(trace.updates.sum()) for trace in traces])
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
    learners: Learner | Sequence[Learner] | Mapping[str, Learner],
    X: Any,
    y: ArrayLike,
    repeats: int = 20,
    random_state: int | None = 0,
    n_jobs: int = -1,
    progress: Progress | None = None,
) -> Comparison:
    """Run learners over `repeats` random orders of the rows, the same orders for all, each from the start.

    `learners` are registry names or learners, all classifiers or all regressors, or a dict that gives them
    other names. With several threads
    (`n_jobs`) the times are those of a busy machine; only `n_jobs=1` times one learner at a time. `progress`,
    where given, is called with the runs done and the runs there are.

    >>> import numpy as np, tauten as tt
    >>> X = np.random.default_rng(0).standard_normal((500, 3))
    >>> list(tt.compare(["pa1", "perceptron"], X, X[:, 0] > 0, repeats=3).to_frame().index)
    ['pa1', 'perceptron']
    """
    named = {name: fresh(learner) for name, learner in _named(learners)}
    if repeats < 1 or not named:
        raise ValueError(f"compare got {len(named)} learners and {repeats} orders; expected some of each.")
    if len({isinstance(learner, OnlineRegressor) for learner in named.values()}) > 1:
        raise ValueError(f"compare got classifiers and regressors, {list(named)}; expected one kind.")
    y = next(iter(named.values())).read_y(y)
    check_consistent_length(X, y)
    X = reorderable(X, list(named.values()))
    some_ask = any(isinstance(learner, ActiveClassifier) for learner in named.values())
    random = check_random_state(random_state)
    orders = [random.permutation(len(y)) for _ in range(repeats)]
    rows = np.unique(np.linspace(1, len(y), num=min(len(y), 200), dtype=np.int64))

    def run(name: str, order: NDArray[np.intp]) -> tuple[dict[str, Any], NDArray[np.float64]]:
        model = seeded(clone(named[name]), int(order[0]))
        trace = progressive(model, reordered(X, order), y[order])
        figures = {"mean_absolute_error": trace.error_rate}
        if trace.classes is not None:
            figures = {"error_rate": trace.error_rate, "f1": trace.f1()}
        if some_ask:
            figures["share_asked"] = trace.share_asked
        figures["updates"] = int(trace.updates.sum())
        return {"learner": name, **figures, "seconds": trace.seconds}, trace.cumulative_error()[rows - 1]

    done = in_threads(run, list(product(named, orders)), n_jobs, progress)
    curves = np.array([curve for _, curve in done]).reshape(len(named), repeats, len(rows))
    return Comparison(list(named), pd.DataFrame([figures for figures, _ in done]), rows, curves)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _is_choice(values: Any) -> bool:
    """Whether there are values to choose from, and not one alone."""
    several = isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping)
    return several and getattr(values, "ndim", 1) == 1


def _named(learners: Learner | Sequence[Learner] | Mapping[str, Learner]) -> Iterator[tuple[str, Learner]]:
    """Each learner under a name of its own."""
    if isinstance(learners, Learner):
        learners = [learners]
    if isinstance(learners, Mapping):
        yield from learners.items()
        return
    seen: dict[str, int] = {}
    for learner in learners:
        name = learner if isinstance(learner, str) else repr(learner)
        seen[name] = seen.get(name, 0) + 1
        yield (name if seen[name] == 1 else f"{name} ({seen[name]})"), learner


def fresh(learner: Learner, **parameters: Any) -> Trained:
    """An untrained learner with parameters."""
    made = make(learner, **parameters) if isinstance(learner, str) else learner
    if not isinstance(made, Trained):
        raise ValueError(
            f"{learner!r} is no learner of tauten that takes rows one by one; expected one, or its registry "
            "name."
        )
    return made if isinstance(learner, str) else clone(made).set_params(**parameters)  # type: ignore[no-any-return]


def reorderable(X: Any, learners: Sequence[Trained]) -> Any:
    """Rows that can be put in many orders at little cost: dicts, unless they are hashed, as sparse rows."""
    if sp.issparse(X):
        return X.tocsr()  # of other forms rows cannot be taken
    dicts = dicts_in(X)
    plain = [one.learner if isinstance(one, ActiveClassifier) else one for one in learners]
    hashed = any(learner.hash_bits is not None for learner in plain)
    return X if dicts is None or hashed else read_dicts(dicts, Gatherer({}), grow=True).X


def reordered(X: Any, order: NDArray[np.intp]) -> Any:
    """Rows of anything that holds rows, in another order."""
    if hasattr(X, "iloc"):
        return X.iloc[order]
    return [X[row] for row in order] if isinstance(X, list | tuple) else X[order]
