"""Curves from traces, sweeps and comparisons; readable in greyscale. Needs matplotlib: pip install
'tauten[plot]'.
"""

from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tauten.curves import AskCurve
    from tauten.evaluate import Comparison, Sweep
    from tauten.tally import Tally
    from tauten.trace import Trace

STYLES = (
    ("#1b4f72", "-"),
    ("#c0392b", "--"),
    ("#1e8449", "-."),
    ("#7d3c98", ":"),
    ("#b7950b", (0, (5, 1))),
    ("#424949", (0, (1, 1))),
)


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
    lately, so_far = trace.windowed_error(window), trace.cumulative_error()
    return _running(rows, lately, so_far, f"last {window} rows", _label(trace), ax)


def tally(tally: "Tally", ax: "Axes | None") -> "Axes":
    """The error so far, and that of each window."""
    curve = tally.curve()
    rows, lately, so_far = (curve[name].to_numpy() for name in ("rows", "error", "error_so_far"))
    return _running(rows, lately, so_far, f"{tally.window} rows each", _label(tally), ax)


def _running(rows: Any, lately: Any, so_far: Any, window: str, label: str, ax: "Axes | None") -> "Axes":
    ax = _axes(ax)
    ax.plot(rows, lately, color="#aab7b8", linewidth=1.0, label=window)
    ax.plot(rows, so_far, color=STYLES[0][0], linewidth=1.8, label="all rows so far")
    settled = slice(
        min(len(rows) - 1, max(int(20 / rows[0]), len(rows) // 100)), None
    )  # the first are all noise
    top = 1.3 * max(float(so_far[settled].max()), float(lately[settled].max()), 1e-3)
    ax.set(xlabel="rows learned", ylabel=label, xlim=(1, max(rows[-1], 2)), ylim=(0, top))
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
    for (name, rows), (colour, style) in zip(
        table.groupby("learner", sort=False), cycle(STYLES), strict=False
    ):
        points = rows.sort_values("share_asked")
        mean, spread = points[figure], points[f"{figure}_sd"].fillna(0.0)
        ax.plot(points["share_asked"], mean, color=colour, linestyle=style, linewidth=1.8, label=name)
        ax.fill_between(
            points["share_asked"], mean - spread, mean + spread, color=colour, alpha=0.15, linewidth=0
        )
    ax.set(xlabel="share of labels asked", ylabel=figure.replace("_", " "), xscale="log")
    ax.xaxis.set_major_formatter(lambda share, _: f"{share:.3g}")
    ax.legend(frameon=False)
    return ax
