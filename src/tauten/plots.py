"""Curves from traces, sweeps and comparisons. Needs matplotlib: pip install 'tauten[plot]'.

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
