"""The drawings of the reports: curves with bands, lines, in styles that a grey print tells apart."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tauten.papers.report import Figure

STYLES = ("-", "--", "-.", ":", (0, (1, 1)), (0, (5, 1)))
MARKERS = "os^Dvx"
POINTS = 200  # at which a curve is read
SIZE = (6.4, 4.0)


def curves(title: str, by_name: Mapping[str, NDArray[np.float64]], caption: str = "") -> Figure:
    """Errors so far, a row an order: mean and one standard deviation, on a log scale as in the papers."""
    from matplotlib import pyplot

    drawn, axes = pyplot.subplots(figsize=SIZE)
    for (name, runs), style in zip(by_name.items(), cycle(STYLES), strict=False):
        at = np.unique(np.geomspace(10, runs.shape[1], POINTS).astype(int)) - 1
        mean, sd = runs[:, at].mean(axis=0), runs[:, at].std(axis=0)
        (line,) = axes.plot(at + 1, mean, linestyle=style, label=name)
        axes.fill_between(
            at + 1, np.maximum(mean - sd, 1e-4), mean + sd, color=line.get_color(), alpha=0.15, lw=0
        )
    axes.set(xlabel="rows", ylabel="error rate so far", yscale="log", title=title)
    axes.legend()
    return Figure.of(title, drawn, caption)


def lines(
    title: str,
    by_name: Mapping[str, tuple[Sequence[float] | NDArray[Any], Any]],
    x: str,
    y: str,
    log_x: bool = False,
    caption: str = "",
    flat: Mapping[str, float] | None = None,
) -> Figure:
    """A line through points for each name; `flat` draws levels to compare with."""
    from matplotlib import pyplot

    drawn, axes = pyplot.subplots(figsize=SIZE)
    looks = zip(cycle(STYLES), cycle(MARKERS), strict=False)
    for (name, (xs, ys)), (style, marker) in zip(by_name.items(), looks, strict=False):
        values = np.atleast_2d(ys)
        axes.errorbar(
            xs, values.mean(axis=0), values.std(axis=0) if len(values) > 1 else None,
            linestyle=style, marker=marker, markersize=4, capsize=2, label=name,
        )  # fmt: skip
    for name, level in (flat or {}).items():
        axes.axhline(level, color="black", linewidth=1, label=name)
    axes.set(xlabel=x, ylabel=y, title=title)
    if log_x:
        axes.set_xscale("log", base=2)
    axes.legend()
    return Figure.of(title, drawn, caption)
