"""The drawings of the reports: panels of curves and lines, in styles that a grey print tells apart."""

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tauten.papers.report import Figure
from tauten.plots import STYLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "os^Dvx*"  # one more than there are styles, so that pairs of both repeat late
POINTS = 200  # at which a curve is read
SIZE = (3.7, 2.9)  # inches of a panel

Look = tuple[str, Any, str]  # colour, style of the line, marker
ByName = Mapping[str, NDArray[np.float64]]


class Looks:
    """How each name is drawn, the same in all panels of a figure."""

    def __init__(self) -> None:
        self.by_name: dict[str, Look] = {}
        self.rest = zip(cycle(STYLES), cycle(MARKERS), strict=False)

    def of(self, name: str) -> Look:
        """The look of a name, a new one where it has none."""
        if name not in self.by_name:
            (colour, style), marker = next(self.rest)
            self.by_name[name] = colour, style, marker
        return self.by_name[name]


Drawing = Callable[["Axes", Looks], None]


def panels(title: str, drawings: Mapping[str, Drawing], caption: str = "", columns: int = 3) -> Figure:
    """Drawings side by side, under one legend."""
    from matplotlib.figure import Figure as Drawn

    columns = min(columns, len(drawings))
    rows = ceil(len(drawings) / columns)
    size = (SIZE[0] * columns, SIZE[1] * rows + 0.3)
    looks = Looks()
    drawn = Drawn(figsize=size, layout="constrained")
    axes = drawn.subplots(rows, columns, squeeze=False)
    for place, (ax, (name, drawing)) in enumerate(zip(axes.flat, drawings.items(), strict=False)):
        drawing(ax, looks)
        ax.set_title(name, fontsize=10)
        ax.grid(alpha=0.25, linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
        if place % columns and ax.get_ylabel() == axes.flat[place - 1].get_ylabel():
            ax.yaxis.label.set_visible(False)
    for ax in list(axes.flat)[len(drawings) :]:
        ax.set_visible(False)
    shown = {
        name: handle for ax in axes.flat for handle, name in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    if shown:
        look = {"loc": "outside lower center", "frameon": False, "fontsize": 9}
        drawn.legend(shown.values(), shown.keys(), ncols=min(len(shown), 2 * columns), **look)
    return Figure.of(title, drawn, caption)


def curves(by_name: ByName) -> Drawing:
    """Error rates so far, a row an order: mean and one sd, on a log scale as in the papers."""

    def draw(ax: "Axes", looks: Looks) -> None:
        for name, runs in by_name.items():
            colour, style, _ = looks.of(name)
            at = np.unique(np.geomspace(10, runs.shape[1], POINTS).astype(int)) - 1
            mean, sd = runs[:, at].mean(axis=0), runs[:, at].std(axis=0)
            ax.plot(at + 1, mean, color=colour, linestyle=style, linewidth=1.4, label=name)
            low = np.maximum(mean - sd, mean / 2)  # a log scale would show nothing else
            ax.fill_between(at + 1, low, mean + sd, color=colour, alpha=0.12, linewidth=0)
        ax.set(xlabel="rows", ylabel="error rate so far", yscale="log")
        ax.yaxis.set_major_formatter("{x:.2g}")
        ax.yaxis.set_minor_formatter("")
        ax.locator_params(axis="x", nbins=5)
        _few_ticks(ax)

    return draw


def lines(
    at: ArrayLike | Mapping[str, ArrayLike],
    by_name: Mapping[str, ArrayLike],
    x: str,
    y: str,
    log: bool = False,
    flat: Mapping[str, float] | None = None,
) -> Drawing:
    """A line through points for each name, whose values are one each or a row an order; `at` is the same for
    all, or one for each name. `flat` draws levels to compare with.
    """

    def draw(ax: "Axes", looks: Looks) -> None:
        for name, given in by_name.items():
            colour, style, marker = looks.of(name)
            runs = np.atleast_2d(np.asarray(given, dtype=np.float64))
            places = np.asarray(at[name] if isinstance(at, Mapping) else at, dtype=np.float64)
            mean, sd = runs.mean(axis=0), runs.std(axis=0)
            ax.plot(
                places,
                mean,
                color=colour,
                linestyle=style,
                marker=marker,
                markersize=3.5,
                linewidth=1.2,
                label=name,
            )
            if len(runs) > 1:
                ax.fill_between(places, mean - sd, mean + sd, color=colour, alpha=0.1, linewidth=0)
        for (name, level), (_, style) in zip((flat or {}).items(), cycle(STYLES), strict=False):
            ax.axhline(level, color="black", linewidth=1, linestyle=style, label=name)
        ax.set(xlabel=x, ylabel=y)
        if log:
            ax.set_xscale("log", base=2)
        else:
            ax.locator_params(axis="x", nbins=6)

    return draw


def surface(
    rows: Sequence[Any], columns: Sequence[Any], values: NDArray[np.float64], x: str, y: str
) -> Drawing:
    """Shades over two parameters, each value written into its field."""

    def draw(ax: "Axes", _: Looks) -> None:
        image = ax.imshow(values, origin="lower", aspect="auto", cmap="Greys")
        middle = (values.min() + values.max()) / 2
        for (row, column), value in np.ndenumerate(values):
            shade = "white" if value > middle else "black"
            ax.text(column, row, f"{value:.1f}", ha="center", va="center", fontsize=6, color=shade)
        ax.set_xticks(range(len(columns)), [str(value) for value in columns], fontsize=7)
        ax.set_yticks(range(len(rows)), [str(value) for value in rows], fontsize=7)
        ax.set(xlabel=x, ylabel=y)
        ax.grid(False)
        ax.figure.colorbar(image, ax=ax)

    return draw


def _few_ticks(ax: "Axes") -> None:
    """A log scale of less than a decade has no ticks of its own worth reading."""
    from matplotlib.ticker import LogLocator

    low, high = ax.get_ylim()
    if high / low < 30:
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 5)))
