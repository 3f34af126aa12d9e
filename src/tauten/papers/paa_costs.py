"""A rare class and few labels: tables 6 to 8, figures 6 and 7 of the active PA paper."""

import time
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import ttest_rel
from sklearn.base import clone

import tauten as tt
from tauten.kernels.state import Floats
from tauten.papers.drawing import Drawing, Looks, lines, panels
from tauten.papers.protocol import ALL_CORES, Orders, orders
from tauten.papers.report import Cell, Figure, Part, Table
from tauten.papers.sets import Rows
from tauten.sweeping import in_threads

SETTINGS: Floats = 2.0 ** np.arange(-10.0, 11.0, 2.0)  # of δ; of rules with a rate, up to 1
RATE = 0.02  # of the tables
COLUMNS = ["sum, %", "sensitivity, %", "specificity, %", "cost", "accuracy, %", "asked, %"]
LEVELS = ("PA", "CPA", "CSPA")  # of learners that see all labels, in figure 6
TIMED = (
    "Of one core, in 20 batches, the fastest of five runs each; LEPE and CSPAA with δ = 1, CSPAA(a) with "
    "δ₀ = 2¹⁴. The first use of each learner is left out."
)


def make(algorithm: str, **parameters: Any) -> Any:
    """A learner without a bias of its own: rows have a constant feature."""
    return tt.make(algorithm, fit_intercept=False, **parameters)


def seeing_all(rho: float) -> dict[str, Any]:
    """Learners that see every label, all with C = ρ as in the paper."""
    return {
        "PE": make("perceptron"), "PA": make("pa1", C=rho), "CW-diag": make("cw-diag"),
        "PAUM": make("paum", tau_plus=rho, tau_minus=0.0), "CPA": make("cpa", C=rho, rho=rho),
        "CSPA": make("cspa", C=rho, rho=rho),
    }  # fmt: skip


def asking(rho: float) -> dict[str, tt.ActiveClassifier]:
    """Learners that ask."""
    costly = make("cspa", C=rho, rho=rho)
    return {
        "LEPE": make("pea"),
        "CSRND": tt.ActiveClassifier(costly, tt.RandomAsk()),
        "CSPAA": tt.ActiveClassifier(costly, tt.MarginAsk()),
        "CSPAA(a)": tt.ActiveClassifier(costly, tt.DecayingAsk()),
    }


def cost(trace: tt.Trace) -> float:
    """What the mistakes cost: a miss the share of the other class, a false alarm that of the rare one."""
    share = trace.class_counts()[True] / len(trace)
    return trace.cost(missed=1.0 - share, false_alarm=share)


def costs(title: str, rows: Rows, repeats: int, seed: int) -> tuple[list[Part], list[str]]:
    """Tables 6 to 8 and figure 6: sum and cost of learners that see all labels, and of those that ask."""
    X, y = rows
    rho, some = float((~y).sum() / y.sum()), orders(len(y), repeats, seed)
    first = X[some[0]], y[some[0]]
    tuned = {f"{name} at 2 %": tt.at_rate(model, None, *first, RATE) for name, model in asking(rho).items()}
    learners = seeing_all(rho) | tuned
    found = dict(zip(learners, figures_of(list(learners.values()), X, y, some), strict=True))
    table = Table(f"{title}: {len(y):,} rows, {y.sum():,} positive (tables 6 to 8)", COLUMNS)
    table.rows = {name: [Cell(column) for column in runs.T] for name, runs in found.items()}
    drawings = {
        what: over_share_with_levels(rows, rho, repeats, what, figure, levels)
        for what, figure, levels in (
            ("sum", "weighted_sum", {name: table.means(name)["sum, %"] / 100 for name in LEVELS}),
            ("cost", cost, {name: table.means(name)["cost"] for name in LEVELS}),
        )
    }
    drawn = panels(f"{title}: sum and cost against the share asked (figure 6)", drawings)
    return [table, drawn], [told(title, {name: runs[:, 0] for name, runs in found.items()})]


def figures_of(learners: list[Any], X: Any, y: NDArray[Any], some: Orders) -> Floats:
    """The columns of the table: learner, order, figure."""

    def figures(model: Any, number: int) -> tuple[float, ...]:
        model = clone(model)
        if isinstance(model, tt.ActiveClassifier):
            model.set_params(random_state=number)
        trace = tt.progressive(model, X[some[number]], y[some[number]])
        shares = trace.weighted_sum(), trace.sensitivity(), trace.specificity()
        rest = cost(trace), 100 * (1 - trace.error_rate), 100 * trace.share_asked
        return (*(100 * share for share in shares), *rest)

    jobs = [(model, number) for model in learners for number in range(len(some))]
    return np.array(in_threads(figures, jobs, ALL_CORES)).reshape(len(learners), len(some), -1)


def told(title: str, sums: Mapping[str, Floats]) -> str:
    """What became of the claim, with a paired t-test where there are orders enough."""
    active, chance, everything = (sums[name] for name in ("CSPAA at 2 %", "CSRND at 2 %", "CSPA"))
    p = f" (p = {ttest_rel(active, chance).pvalue:.2g})" if len(active) > 2 else ""
    return (
        f"Sum on {title} at 2 % of the labels: CSPAA {active.mean():.1f} %, with decaying δ "
        f"{sums['CSPAA(a) at 2 %'].mean():.1f} %, asked at random {chance.mean():.1f} %{p}; the learner "
        f"with all labels {everything.mean():.1f} %."
    )


def over_share(curve: pd.DataFrame, label: str) -> Drawing:
    """Lines from the table of an asking curve."""
    figure = curve.columns[3]
    groups = {name: group.sort_values("share_asked") for name, group in curve.groupby("learner", sort=False)}
    return lines(
        {name: group["share_asked"] for name, group in groups.items()},
        {name: group[figure] for name, group in groups.items()},
        "share of labels asked", label, log=True,
    )  # fmt: skip


def over_share_with_levels(
    rows: Rows, rho: float, repeats: int, what: str, figure: Any, levels: Mapping[str, float]
) -> Drawing:
    """A figure over the share asked, and as levels those of learners that see all labels."""
    curve = tt.ask_curve(asking(rho), *rows, figure, SETTINGS, repeats, random_state=0).to_frame()
    drawing = over_share(curve, what)

    def draw(ax: Any, looks: Looks) -> None:
        drawing(ax, looks)
        for (name, level), style in zip(levels.items(), ("-", "--", ":"), strict=True):
            ax.axhline(level, color="black", linewidth=1, linestyle=style, label=f"{name}, all labels")

    return draw


def over_time(title: str, rows: Rows, n_batches: int = 20, n_runs: int = 5) -> Figure:
    """Figure 7: cumulative seconds of learning over rows."""
    X, y = rows
    rho = float((~y).sum() / y.sum())
    learners = seeing_all(rho) | {name: model for name, model in asking(rho).items() if name != "CSRND"}
    ends = np.linspace(0, len(y), n_batches + 1).astype(int)
    batches = [(X[start:stop], y[start:stop]) for start, stop in pairwise(ends)]
    taken = {}
    for name, learner in learners.items():
        clone(learner).partial_fit(*batches[0], classes=[False, True])
        taken[name] = np.cumsum(np.min([seconds(learner, batches) for _ in range(n_runs)], axis=0))
    drawing = lines(ends[1:], taken, "rows", "seconds")
    return panels(f"{title}: seconds over rows (figure 7)", {title: drawing}, TIMED, columns=1)


def seconds(learner: Any, batches: list[Rows]) -> list[float]:
    """What each batch takes a fresh model to learn."""
    model, taken = clone(learner), []
    for batch in batches:
        begun = time.perf_counter()
        model.partial_fit(*batch, classes=[False, True])
        taken.append(time.perf_counter() - begun)
    return taken
