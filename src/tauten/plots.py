"""Curves from traces, sweeps and comparisons, and boundaries of models. Needs matplotlib: pip install
'tauten[plot]'.

Readable in greyscale: lines differ in dashes and marks, and what one of several lines is stands in the order
of their ends.
"""

from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tauten.curves import AskCurve
    from tauten.evaluate import Comparison, Sweep
    from tauten.studying import MetricStudy
    from tauten.tally import Tally
    from tauten.trace import Trace

STYLES = (
    ("#0b3c5d", "-"),
    ("#c8442d", "--"),
    ("#2a8c55", "-."),
    ("#8a4fa3", ":"),
    ("#c79a10", (0, (5, 1))),
    ("#555f61", (0, (1, 1))),
    ("#2f86c5", (0, (3, 1, 1, 1))),
    ("#a3215f", (0, (7, 2))),
)
MARKERS = "os^DvXP"  # one fewer: styles and markers that go round together take long to come again
WINDOWS_DRAWN = 60  # of a tally; more are noise
SETTLED = 0.1  # share of the rows after which a curve sets the scale: the first are all noise


def _axes(ax: "Axes | None") -> "Axes":
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("Plots need matplotlib; install it with: pip install 'tauten[plot]'.") from error
    if ax is None:
        ax = pyplot.subplots(figsize=(7, 4.2), layout="constrained")[1]
    ax.grid(alpha=0.25, linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _label(trace: Any) -> str:
    return "mean absolute error" if trace.classes is None else "error rate"


def trace(trace: "Trace", window: int, ax: "Axes | None") -> "Axes":
    """The error so far, and that of the last rows."""
    rows = np.arange(1, len(trace) + 1)
    lately, so_far = (rows, trace.windowed_error(window)), (rows, trace.cumulative_error())
    return _running(lately, so_far, f"last {window:,} rows", _label(trace), ax)


def tally(tally: "Tally", ax: "Axes | None") -> "Axes":
    """The error so far, and that of each window."""
    curve = tally.curve()
    ends, errors, so_far = (curve[name].to_numpy() for name in ("rows", "error", "error_so_far"))
    several = -(-len(ends) // WINDOWS_DRAWN)  # windows in one
    sums = np.diff(np.concatenate([[0], ends])) * errors
    last = np.unique([*range(several - 1, len(ends), several), len(ends) - 1])
    sizes = np.diff(np.concatenate([[0], ends[last]]))
    lately = np.diff(np.concatenate([[0.0], np.cumsum(sums)[last]])) / sizes
    window = f"each {several * tally.window:,} rows"
    return _running((ends[last], lately), (ends, so_far), window, _label(tally), ax)


def _running(
    lately: tuple[Any, Any], so_far: tuple[Any, Any], window: str, label: str, ax: "Axes | None"
) -> "Axes":
    """The error of the last rows and that of all rows, each as row numbers and errors."""
    ax = _axes(ax)
    ax.plot(*lately, color="#9aa7a8", linewidth=1.0, label=window)
    ax.plot(*so_far, color=STYLES[0][0], linewidth=1.8, label="all rows so far")
    n_rows = so_far[0][-1]
    settled = [errors[rows >= min(SETTLED * n_rows, rows[-1])] for rows, errors in (lately, so_far)]
    top = 1.2 * max(float(np.concatenate(settled).max()), 1e-3)
    ax.set(xlabel="rows learned", ylabel=label, xlim=(1, max(n_rows, 2)), ylim=(0, top))
    _thousands(ax)
    ax.legend(frameon=False)
    return ax


def _thousands(ax: "Axes") -> None:
    ax.xaxis.set_major_formatter(lambda rows, _: f"{rows:,.0f}")


def _curve(ax: "Axes", look: Any, name: str, x: Any, mean: Any, spread: Any, marks: Any) -> None:
    """One of several lines, with a band of one sd."""
    (colour, style), marker = look
    ax.plot(
        x, mean, color=colour, linestyle=style, linewidth=1.6, label=name,
        marker=marker, markersize=4.5, markevery=marks,
    )  # fmt: skip
    ax.fill_between(x, mean - spread, mean + spread, color=colour, alpha=0.13, linewidth=0)


def _legend(ax: "Axes", ends: Any, n_orders: int) -> None:
    """Names of the lines, in the order in which they end, from the top."""
    lines, names = ax.get_legend_handles_labels()
    order = np.argsort(-np.asarray(ends), kind="stable")
    title = f"mean ± sd of {n_orders} orders" if n_orders > 1 else None
    legend = ax.legend(
        [lines[i] for i in order], [names[i] for i in order],
        title=title, frameon=False, handlelength=4, title_fontsize="small",
    )  # fmt: skip
    legend.set_alignment("left")


def sweep(sweep: "Sweep", ax: "Axes | None") -> "Axes":
    """The error over the one parameter that varies."""
    varying = [name for name in sweep.grid[0] if len({repr(point[name]) for point in sweep.grid}) > 1]
    if len(varying) != 1:
        raise ValueError(f"A sweep of {len(varying)} varying parameters has no curve; expected one.")
    ax = _axes(ax)
    values = [point[varying[0]] for point in sweep.grid]
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    places = values if numbers else range(len(values))
    ax.plot(
        places, sweep.errors, color=STYLES[0][0], marker="o", markersize=4, linewidth=1.5 if numbers else 0
    )
    if not numbers:
        ax.set_xticks(places, [str(value) for value in values])
    elif min(values) > 0:
        ax.set_xscale("log", base=2)
    ax.set(xlabel=varying[0], ylabel=sweep.to_frame().columns[-2].replace("_", " "))
    return ax


def comparison(comparison: "Comparison", ax: "Axes | None") -> "Axes":
    """Each learner's error so far, the mean over the orders with a band of one sd."""
    ax = _axes(ax)
    rows, curves = comparison.rows, comparison.curves
    means = curves.mean(axis=1)
    spreads = curves.std(axis=1, ddof=1) if curves.shape[1] > 1 else np.zeros_like(means)
    looks = zip(cycle(STYLES), cycle(MARKERS), strict=False)
    for place, (name, look) in enumerate(zip(comparison.names, looks, strict=False)):
        every = max(len(rows) // 8, 1)
        marks = (place * every // len(comparison.names), every)  # not on top of each other
        _curve(ax, look, name, rows, means[place], spreads[place], marks)
    settled = rows >= min(SETTLED * rows[-1], rows[-1])
    low, high = (means - spreads)[:, settled].min(), (means + spreads)[:, settled].max()
    room = 0.08 * max(high - low, 1e-3)
    ax.set(
        xlabel="rows learned",
        ylabel=f"{_words(comparison.measure)} so far",
        xlim=(1, rows[-1]),
        ylim=(max(low - room, 0.0), high + room),
    )
    _thousands(ax)
    _legend(ax, means[:, -1], curves.shape[1])
    return ax


def ask_curve(curve: "AskCurve", ax: "Axes | None") -> "Axes":
    """A figure against the share of labels asked, the mean over the orders with a band of one sd."""
    ax = _axes(ax)
    table, figure = curve.to_frame(), curve.figure
    ends = []
    looks = zip(cycle(STYLES), cycle(MARKERS), strict=False)
    for (name, rows), look in zip(table.groupby("learner", sort=False), looks, strict=False):
        points = rows.sort_values("share_asked")
        mean, spread = points[figure].to_numpy(), points[f"{figure}_sd"].fillna(0.0).to_numpy()
        _curve(ax, look, str(name), points["share_asked"].to_numpy(), mean, spread, 1)
        ends.append(float(mean.mean()))
    ax.set(xlabel="share of labels asked", ylabel=_words(figure), xscale="log")
    ax.xaxis.set_major_formatter(lambda share, _: f"{share:.3g}")
    if table[figure].min() >= 0:
        ax.set_ylim(bottom=0.0)
    _legend(ax, ends, int(curve.runs["order"].nunique()))
    return ax


def _words(figure: str) -> str:
    return "F1" if figure == "f1" else figure.replace("_", " ")


def plot_boundary(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    limits: Any = None,
    resolution: int = 200,
    ax: "Axes | None" = None,
) -> "Axes":
    """What a classifier of two features predicts where, with the boundary, and rows of X by their labels.

    `model` is any trained classifier with `classes_` and `predict`, a pipeline too. `limits` are
    ((left, right), (bottom, top)); by default those of X with some room, or ±3. `resolution` is the number of
    points along each side at which the model is asked.

    >>> import numpy as np, tauten as tt
    >>> X = np.random.default_rng(0).standard_normal((500, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> axes = tt.plot_boundary(tt.make("pamo1").fit(X, y), X, y, resolution=50)
    >>> axes.get_xlabel()
    'feature 0'
    """
    points = None if X is None else _two_columns(X)
    if y is not None and (points is None or len(points) != len(y)):
        raise ValueError(f"plot_boundary got {len(y)} labels; expected X with a row for each.")
    if getattr(model, "n_features_in_", 2) != 2 or not hasattr(model, "classes_"):
        raise ValueError(f"plot_boundary got {model!r:.60}; expected a trained classifier of two features.")
    if limits is None:
        limits = [(-3.0, 3.0)] * 2 if points is None else [_with_room(column) for column in points.T]
    across, up = (np.linspace(low, high, resolution) for low, high in limits)
    grid = np.column_stack([side.ravel() for side in np.meshgrid(across, up)])
    names = getattr(model, "feature_names_in_", None)
    regions, heights = _answers(model, grid, names)
    shape = (resolution, resolution)
    ax = _axes(ax)
    ax.grid(False)
    colours = [colour for _, (colour, _) in zip(model.classes_, cycle(STYLES), strict=False)]
    levels = np.arange(len(colours) + 1) - 0.5
    ax.contourf(across, up, regions.reshape(shape), levels=levels, colors=colours, alpha=0.2)
    for height in heights:
        if height.min() < 0.0 < height.max():
            ax.contour(across, up, height.reshape(shape), levels=[0.0], colors="black", linewidths=1.2)
    if points is not None:
        _scatter(ax, points, y, model.classes_)
    labels = ["feature 0", "feature 1"] if names is None else list(names)
    ax.set(xlabel=labels[0], ylabel=labels[1], xlim=limits[0], ylim=limits[1])
    return ax


def _two_columns(X: Any) -> Any:
    points = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"plot_boundary got X of shape {points.shape}; expected two columns.")
    return points


def _with_room(column: Any) -> tuple[float, float]:
    room = 0.06 * float(np.ptp(column)) or 1.0
    return float(column.min()) - room, float(column.max()) + room


def _answers(model: Any, grid: Any, names: Any) -> tuple[Any, list[Any]]:
    """The code that is predicted at each point, and functions of it whose zeros are the boundaries."""
    if names is not None:
        import pandas as pd

        grid = pd.DataFrame(grid, columns=list(names))
    codes = np.searchsorted(model.classes_, model.predict(grid))
    if len(model.classes_) < 2:
        return codes, []
    if not hasattr(model, "decision_function"):
        return codes, [np.where(codes == k, 1.0, -1.0) for k in range(len(model.classes_))]
    scores = model.decision_function(grid)
    if scores.ndim == 1:
        return codes, [scores]
    others = [np.delete(scores, k, axis=1).max(axis=1) for k in range(scores.shape[1])]
    return codes, [scores[:, k] - other for k, other in enumerate(others)]


def _scatter(ax: "Axes", points: Any, y: Any, classes: Any) -> None:
    """Rows, each class with a colour and a marker of its own."""
    if y is None:
        ax.scatter(points[:, 0], points[:, 1], s=12, color="#424949", linewidths=0)
        return
    for label, (colour, _), marker in zip(classes, cycle(STYLES), cycle(MARKERS), strict=False):
        here = points[np.asarray(y) == label]
        ax.scatter(here[:, 0], here[:, 1], s=16, color=colour, marker=marker, linewidths=0, label=str(label))


CURVES = {
    "predictive_error": ("curves", "steps", "predictive error so far"),
    "dimension": ("curves", "steps", "effective dimension"),
    "leading": ("leading", "kept", "error of two neighbours"),
}


def metric_study(study: "MetricStudy", figure: str, ax: "Axes | None") -> "Axes":
    """A figure of each metric learner over the pairs learned, or over the eigenvectors kept: means."""
    if figure not in CURVES:
        raise ValueError(f"There is no curve of {figure!r}; expected one of {', '.join(CURVES)}.")
    part, x, label = CURVES[figure]
    table = getattr(study, part)
    if not len(table):
        raise ValueError(f"The study holds no {part}; expected learners that have them, and leading=True.")
    ax = _axes(ax)
    value = "error" if figure == "leading" else figure
    for (name, rows), (colour, style) in zip(
        table.groupby("learner", sort=False), cycle(STYLES), strict=False
    ):
        mean = rows.groupby(x)[value].mean()
        ax.plot(mean.index, mean, color=colour, linestyle=style, linewidth=1.8, label=name)
    ax.set(xlabel="eigenvectors kept" if figure == "leading" else "pairs learned", ylabel=label)
    if figure != "leading":
        ax.set_xscale("log")
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
    return ax
