"""Files that a command writes: looked at before the work begins, so that none of it is lost."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from tauten.cli.errors import Failed, Wrong

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class NewFile(click.ParamType):  # type: ignore[type-arg]  # older ones are not generic
    """A file to write, in a folder that is there."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The path, if something can be written to it."""
        path = os.fspath(value)
        folder = os.path.dirname(path) or "."
        if not os.path.isdir(folder):
            raise Wrong(f"There is no folder {folder!r} to write {os.path.basename(path)!r} to.")
        if os.path.isdir(path):
            raise Wrong(f"{path!r} is a folder; expected a file to write to.")
        if not os.access(path if os.path.exists(path) else folder, os.W_OK):
            raise Wrong(f"{path!r} cannot be written to.")
        return path


class Picture(NewFile):
    """A picture to write, in a form that matplotlib knows."""

    name = "picture"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The path, if something can be drawn to it."""
        path = super().convert(value, param, ctx)
        try:
            import matplotlib
        except ImportError as error:
            raise Failed("Plots need matplotlib; install it with: pip install 'tauten[plot]'.") from error
        from matplotlib.backend_bases import FigureCanvasBase

        matplotlib.use("Agg")
        form = os.path.splitext(path)[1][1:].lower()
        forms = FigureCanvasBase.get_supported_filetypes()
        if form not in forms:
            raise Wrong(f"{path!r} names no picture; expected an end such as .png, .pdf or .svg.")
        return path


plot_option = click.option(
    "--plot", type=Picture(), metavar="PICTURE", help="Draw it to a file (.png, .pdf, .svg)."
)


def keep_apart(read: Sequence[str | None], written: Sequence[str | None]) -> None:
    """Raise where a file is to be written that is read as well, or is written twice."""
    seen = {os.path.realpath(path) for path in read if path is not None}
    for path in written:
        if path is not None and os.path.realpath(path) in seen:
            raise Wrong(f"{path!r} is named twice; expected a file of its own to write to.")
        seen |= set() if path is None else {os.path.realpath(path)}


def draw(axes: "Axes", path: str) -> None:
    """Write a picture."""
    from matplotlib import pyplot

    figure: Any = axes.figure
    figure.savefig(path, dpi=160)
    pyplot.close(figure)
