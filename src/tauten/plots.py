"""Curves from traces, sweeps and comparisons, and boundaries of models; readable in greyscale. Needs
matplotlib: pip install 'tauten[plot]'.
"""

from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tauten.curves import AskCurve
    from tauten.evaluate import Comparison, Sweep
    from tauten.trace import Trace

STYLES = (
    ("#1b4f72", "-"),
    ("#c0392b", "--"),
    ("#1e8449", "-."),
    ("#7d3c98", ":"),
    ("#b7950b", (0, (5, 1))),
    ("#424949", (0, (1, 1))),
)
MARKERS = "o^sDvP"
STYLE_MARKERS = ("", *MARKERS)  # tell apart the lines that have one style


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
    ax = _axes(ax)
    rows = np.arange(1, len(trace) + 1)
    ax.plot(rows, trace.windowed_error(window), color="#aab7b8", linewidth=1.0, label=f"last {window} rows")
    ax.plot(rows, trace.cumulative_error(), color=STYLES[0][0], linewidth=1.8, label="all rows so far")
    settled = trace.cumulative_error()[
        min(len(trace) - 1, max(20, len(trace) // 100)) :
    ]  # the first rows are all noise
    top = 1.3 * max(float(settled.max()), float(trace.windowed_error(window)[-len(settled) :].max()), 1e-3)
    ax.set(xlabel="rows learned", ylabel=_label(trace), xlim=(1, max(len(trace), 2)), ylim=(0, top))
    ax.legend(frameon=False)
    return ax


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
    for name, curves, (colour, style) in zip(
        comparison.names, comparison.curves, cycle(STYLES), strict=False
    ):
        mean = curves.mean(axis=0)
        ax.plot(comparison.rows, mean, color=colour, linestyle=style, linewidth=1.8, label=name)
        if len(curves) > 1:
            spread = curves.std(axis=0, ddof=1)
            ax.fill_between(
                comparison.rows, mean - spread, mean + spread, color=colour, alpha=0.15, linewidth=0
            )
    start = min(len(comparison.rows) - 1, 3)  # the first rows are all noise and would set the scale
    ax.set(
        xlabel="rows learned",
        ylabel=comparison.measure.replace("_", " ") + " so far",
        xlim=(1, comparison.rows[-1]),
    )
    ax.set_ylim(0, 1.15 * float(comparison.curves[:, :, start:].mean(axis=1).max()))
    ax.legend(frameon=False)
    return ax


def ask_curve(curve: "AskCurve", ax: "Axes | None") -> "Axes":
    """A figure against the share of labels asked, the mean over the orders with a band of one sd."""
    ax = _axes(ax)
    table, figure = curve.to_frame(), curve.figure
    for place, (name, rows) in enumerate(table.groupby("learner", sort=False)):
        colour, style = STYLES[place % len(STYLES)]
        marker = STYLE_MARKERS[place // len(STYLES) % len(STYLE_MARKERS)]
        points = rows.sort_values("share_asked")
        share, mean, spread = points["share_asked"], points[figure], points[f"{figure}_sd"].fillna(0.0)
        ax.plot(share, mean, color=colour, linestyle=style, marker=marker, linewidth=1.8, label=name)
        ax.fill_between(share, mean - spread, mean + spread, color=colour, alpha=0.15, linewidth=0)
    ax.set(xlabel="share of labels asked", ylabel=figure.replace("_", " "), xscale="log")
    if (table[figure] >= 0).all():
        ax.set_ylim(bottom=max(ax.get_ylim()[0], 0.0))  # a band may go below what a figure can be
    ax.xaxis.set_major_formatter(lambda share, _: f"{share:.3g}")
    ax.legend(frameon=False)
    return ax


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
        _scatter(ax, points, y, model.classes_, colours)
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


def _scatter(ax: "Axes", points: Any, y: Any, classes: Any, colours: Any) -> None:
    """Rows, each class with a colour and a marker of its own."""
    if y is None:
        ax.scatter(points[:, 0], points[:, 1], s=12, color="#424949", linewidths=0)
        return
    for label, colour, marker in zip(classes, colours, cycle(MARKERS), strict=False):
        here = points[np.asarray(y) == label]
        ax.scatter(here[:, 0], here[:, 1], s=16, color=colour, marker=marker, linewidths=0, label=str(label))
