"""How metric learners do, by the protocol of their paper: half of the rows to learn from, half to be
labelled by their nearest neighbours, several times over; and whether they differ over many data sets.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.stats import friedmanchisquare, norm, rankdata
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.validation import check_random_state, check_X_y

from tauten.kernels.state import Floats
from tauten.labels import read_labels
from tauten.metric import Metric, OnlineMetric
from tauten.neighbours import neighbour_errors
from tauten.registry import make

if TYPE_CHECKING:
    from matplotlib.axes import Axes

USUAL = ("euclid", "metric-pa1+", "metric-pa1-", "metric-pa2+", "metric-pa2-", "metric-ls+", "metric-ls-")
N_STOPS = 40  # points of a curve


@dataclass
class MetricStudy:
    """Metric learners over random halves of one data set."""

    names: list[str]
    runs: pd.DataFrame  # a row a learner and split
    neighbours: NDArray[np.float64]  # learner, split, k: error of the k nearest neighbours on the other half
    curves: pd.DataFrame  # learner, split, steps: predictive_error up to there, dimension then
    leading: pd.DataFrame = field(default_factory=pd.DataFrame)  # learner, split, kept: 2-NN error

    def best_k(self, name: str) -> int:
        """The number of neighbours with the least mean error."""
        return int(self.neighbours[self._place(name)].mean(axis=0).argmin()) + 1

    def errors(self, name: str) -> NDArray[np.float64]:
        """The error in each split, with that number of neighbours."""
        return self.neighbours[self._place(name), :, self.best_k(name) - 1]

    def to_frame(self) -> pd.DataFrame:
        """A row a learner: error of the best number of neighbours k, its sd over the splits, and means of CPU
        seconds of learning, C, pairs learned and moved at, predictive error and effective dimension.
        """
        table = self.runs.drop(columns="split").groupby("learner", sort=False).mean()
        errors = {name: self.errors(name) for name in self.names}
        table.insert(0, "knn_error", {name: error.mean() for name, error in errors.items()})
        table.insert(1, "knn_error_sd", {name: error.std(ddof=1) for name, error in errors.items()})
        table.insert(2, "k", {name: self.best_k(name) for name in self.names})
        return table

    def plot(self, figure: str = "predictive_error", ax: "Axes | None" = None) -> "Axes":
        """Draw a figure ("predictive_error", "dimension") over the pairs learned, or "leading": the error
        of two neighbours over the number of leading eigenvectors kept; means over the splits.
        """
        from tauten import plots

        return plots.metric_study(self, figure, ax)

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise ValueError(f"{name!r} was not studied; expected one of {self.names}.")
        return self.names.index(name)


def metric_study(
    X: ArrayLike,
    labels: ArrayLike,
    learners: Sequence[Any] | Mapping[str, Any] = USUAL,
    splits: int = 10,
    C: float | str | None = "auto",
    scale: bool = True,
    leading: bool = False,
    random_state: int = 0,
) -> MetricStudy:
    """Run metric learners over `splits` random halves of labelled rows, the same halves and pairs for all.

    `learners` are registry names, "euclid" for the plain distance, or transformers, or a dict that gives them
    names. `C` is what learners of tauten get as C; None leaves it as it is. With `scale` the features are
    standardised by the half that is learned from. `leading` also finds the error of two neighbours for each
    number of leading eigenvectors of the metric.

    >>> import tauten as tt
    >>> from sklearn.datasets import load_iris
    >>> study = tt.metric_study(*load_iris(return_X_y=True), ["euclid", "metric-pa1-"], splits=2)
    >>> bool(study.to_frame()["knn_error"].max() < 0.1)
    True
    """
    y = read_labels(labels)
    rows, _ = check_X_y(X, y)
    named = _named(learners)
    if splits < 1 or not named:
        raise ValueError(
            f"metric_study got {len(named)} learners and {splits} splits; expected some of each."
        )
    random = check_random_state(random_state)
    runs, neighbours, curves, kept = [], [], [], []
    for split in range(splits):
        order = random.permutation(len(y))
        halves = order[: len(y) // 2], order[len(y) // 2 :]
        train, test = (rows[half] for half in halves)
        if scale:
            scaler = StandardScaler().fit(train)
            train, test = scaler.transform(train), scaler.transform(test)
        data = train, y[halves[0]], test, y[halves[1]]
        for name, learner in named.items():
            model, seconds = _trained(learner, split, C, *data[:2])
            moved = model.transform(train), data[1], model.transform(test), data[3]
            neighbours.append(neighbour_errors(*moved))
            run = {"learner": name, "split": split, "seconds": seconds, **_figures(model)}
            if isinstance(model, OnlineMetric):
                curve = _curve(model, *data[:2])
                curves.append(curve.assign(learner=name, split=split))
                run["predictive_error"] = curve["predictive_error"].iloc[-1]
            runs.append(run)
            if leading and isinstance(model, Metric):
                kept.append(_leading(*moved).assign(learner=name, split=split))
    most = min(len(errors) for errors in neighbours)
    table = np.array([errors[:most] for errors in neighbours]).reshape(splits, len(named), most)
    frames = (pd.concat(parts, ignore_index=True) if parts else pd.DataFrame() for parts in (curves, kept))
    return MetricStudy(list(named), pd.DataFrame(runs), table.swapaxes(0, 1), *frames)


def _named(learners: Sequence[Any] | Mapping[str, Any]) -> dict[str, Any]:
    """Each learner, untrained, under a name of its own."""
    given = learners if isinstance(learners, Mapping) else {str(learner): learner for learner in learners}
    named = {}
    for name, learner in given.items():
        if isinstance(learner, str):
            learner = FunctionTransformer() if learner == "euclid" else make(learner)  # noqa: PLW2901
        if not hasattr(learner, "transform"):
            raise ValueError(f"{name} is no metric; expected one, as tt.make('metric-pa1+') gives.")
        named[name] = learner
    return named


def _trained(learner: Any, split: int, C: Any, X: Floats, labels: NDArray[Any]) -> tuple[Any, float]:
    """A learner trained on one half, and the CPU seconds of learning, those of choosing C apart."""
    model = clone(learner)
    if isinstance(model, Metric):
        model.set_params(random_state=split)
    if isinstance(model, OnlineMetric):
        if C is not None:
            model.set_params(C=C)
        model.fit(X, labels)
        model = clone(model).set_params(C=model.C_)
    started = time.process_time()
    model.fit(X, labels)
    return model, time.process_time() - started


def _figures(model: Any) -> dict[str, float]:
    """What can be read off a trained metric."""
    figures: dict[str, float] = {}
    if isinstance(model, OnlineMetric):
        figures |= {"C": model.C_, "pairs": model.t_, "updates": model.n_updates_}
    if isinstance(model, Metric):
        figures["dimension"] = model.effective_dimension()
    return figures


def _curve(model: OnlineMetric, X: Floats, labels: NDArray[Any]) -> pd.DataFrame:
    """The share of pairs mistaken before they were learned, and the effective dimension, step by step."""
    again = clone(model)
    stops = np.unique(np.geomspace(1, model.t_, N_STOPS).astype(int)).tolist()
    mistakes, rows = 0, []
    for record, sides in again.fit_recorded(X, labels, stops):
        mistakes += int((np.where(record.scores >= 0, 1.0, -1.0) != sides).sum())
        if again.t_ in stops:
            rows.append((again.t_, mistakes / again.t_, again.effective_dimension()))
    return pd.DataFrame(rows, columns=["steps", "predictive_error", "dimension"])


def _leading(train: Floats, labels: NDArray[Any], test: Floats, test_labels: NDArray[Any]) -> pd.DataFrame:
    """The error of two neighbours for each number of leading columns, which are those of the largest
    eigenvalues.
    """
    kept = np.arange(1, train.shape[1] + 1)
    errors = [neighbour_errors(train[:, :n], labels, test[:, :n], test_labels, most=2)[-1] for n in kept]
    return pd.DataFrame({"kept": kept, "error": errors})


@dataclass
class RankTest:
    """Whether learners differ over data sets: Friedman's test, and Holm's post-hoc test of each two."""

    table: pd.DataFrame  # a row a data set, a column a learner
    ranks: pd.Series  # mean rank of each learner, 1 the least figure
    statistic: float
    p_value: float  # of no difference at all
    pairs: pd.DataFrame  # adjusted p-values, a row and a column a learner


def rank_test(studies: Mapping[str, MetricStudy] | pd.DataFrame, figure: str = "knn_error") -> RankTest:
    """Test whether learners differ in a figure, the less the better, over data sets.

    `studies` are one for each data set, with the same learners, of whose `to_frame()` the figure is taken;
    or a frame with a row a data set and a column a learner. Needs statsmodels: pip install
    'tauten[metric]'.

    >>> import pandas as pd, tauten as tt
    >>> table = pd.DataFrame({"a": [1, 2, 1, 2.0, 1], "b": [2, 3, 2, 3.5, 3], "c": [3, 4, 3, 5.0, 4]})
    >>> round(tt.rank_test(table).p_value, 4)
    0.0067
    """
    try:
        from statsmodels.stats.multitest import multipletests
    except ImportError as error:
        raise ImportError(
            "rank_test needs statsmodels; install it with: pip install 'tauten[metric]'."
        ) from error
    table = studies
    if not isinstance(table, pd.DataFrame):
        table = pd.DataFrame({name: study.to_frame()[figure] for name, study in studies.items()}).T
    table = table.dropna(axis=1, how="all")
    n_sets, n_learners = table.shape
    if n_learners < 3 or n_sets < 2 or table.isna().any(axis=None):
        raise ValueError(
            f"rank_test got {n_sets} data sets and {n_learners} learners; expected 2 and 3 or more and every "
            "figure there."
        )
    statistic, p_value = friedmanchisquare(*(table[name] for name in table))
    ranks = pd.Series(rankdata(table.to_numpy(), axis=1).mean(axis=0), index=table.columns)
    apart = np.abs(ranks.to_numpy()[:, None] - ranks.to_numpy())
    z = apart / np.sqrt(n_learners * (n_learners + 1) / (6 * n_sets))
    upper = np.triu_indices(n_learners, 1)
    adjusted = np.ones((n_learners, n_learners))
    adjusted[upper] = multipletests(2 * norm.sf(z[upper]), method="holm")[1]
    adjusted.T[upper] = adjusted[upper]
    pairs = pd.DataFrame(adjusted, index=table.columns, columns=table.columns)
    return RankTest(table, ranks, float(statistic), float(p_value), pairs)
