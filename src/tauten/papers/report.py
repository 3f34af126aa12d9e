"""What came out beside what was published: tables whose cells know both, figures, and the pages made of them."""

import base64
import io
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn
    from rich.console import RenderableType

LIBRARIES = ("tauten", "numpy", "numba", "scipy", "scikit-learn")
MARKS = {"agrees": "=", "better": "+", "worse": "−", "": ""}


@dataclass
class Cell:
    """A figure over several orders, and the published one where there is one."""

    values: NDArray[np.float64]
    published: float | None = None
    published_sd: float = 0.0
    more_is_better: bool = False

    @property
    def mean(self) -> float:
        """The mean over the orders."""
        return float(np.mean(self.values))

    @property
    def sd(self) -> float:
        """The standard deviation over the orders; 0 where there is one."""
        return float(np.std(self.values, ddof=1)) if np.size(self.values) > 1 else 0.0

    @property
    def verdict(self) -> str:
        """Whether the published figure lies within two standard deviations, the larger of ours and theirs."""
        if self.published is None:
            return ""
        apart = self.mean - self.published
        if abs(apart) <= 2.0 * max(self.sd, self.published_sd):
            return "agrees"
        return "better" if (apart > 0) == self.more_is_better else "worse"


@dataclass
class Table:
    """Cells by row and column; what could not be filled has none."""

    title: str
    columns: Sequence[str]
    rows: dict[str, list[Cell | str | None]]
    decimals: int = 2
    note: str = ""

    def cells(self) -> list[Cell]:
        """All cells that hold figures."""
        return [cell for row in self.rows.values() for cell in row if isinstance(cell, Cell)]

    def agreement(self) -> str:
        """How many of the published figures came out."""
        verdicts = [cell.verdict for cell in self.cells() if cell.published is not None]
        if not verdicts:
            return "nothing was published to compare with"
        counts = [f"{verdicts.count(verdict)} {verdict}" for verdict in ("agrees", "better", "worse")]
        return f"{len(verdicts)} published figures: {', '.join(counts)}"

    def text(self, cell: Cell | str | None) -> tuple[str, str, str]:
        """A cell as ours, published and mark."""
        if not isinstance(cell, Cell):
            return cell or "", "", ""
        shown = f"{cell.mean:.{self.decimals}f}" + (f" ± {cell.sd:.{self.decimals}f}" if cell.sd else "")
        if cell.published is None:
            return shown, "", ""
        spread = f" ± {cell.published_sd:.{self.decimals}f}" if cell.published_sd else ""
        return shown, f"{cell.published:.{self.decimals}f}{spread}", MARKS[cell.verdict]


@dataclass
class Figure:
    """A drawing, kept as PNG."""

    title: str
    png: bytes
    caption: str = ""

    @classmethod
    def of(cls, title: str, drawn: "Drawn", caption: str = "") -> "Figure":
        """A drawing of matplotlib, which is closed."""
        from matplotlib import pyplot

        buffer = io.BytesIO()
        drawn.savefig(buffer, format="png", dpi=110, bbox_inches="tight")
        pyplot.close(drawn)
        return cls(title, buffer.getvalue(), caption)


@dataclass
class Report:
    """One paper: what it claims, and section by section what came out."""

    name: str
    title: str
    claim: str
    parts: list[Table | Figure | str] = field(default_factory=list)
    missing: dict[str, str] = field(
        default_factory=dict
    )  # data sets that were not found, and how to get them
    seconds: float = 0.0
    seed: int = 0
    quick: bool = False

    @property
    def tables(self) -> list[Table]:
        """The tables among the parts."""
        return [part for part in self.parts if isinstance(part, Table)]

    def circumstances(self) -> str:
        """Machine, versions, seed and time."""
        versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
        machine = f"{platform.machine()} {platform.system()}, Python {platform.python_version()}"
        kind = "quick run" if self.quick else "full run"
        return f"{kind}, {self.seconds:.0f} s on {machine}; {versions}; seed {self.seed}"

    def legend(self) -> str:
        """What the marks say."""
        return (
            "Mean ± sd over the orders; published figures below or in brackets. "
            "= within two sd (the larger of both), + better than published, − worse."
        )


def console_parts(report: Report) -> "list[RenderableType]":
    """A report for a terminal."""
    from rich.table import Table as Grid

    parts: list[RenderableType] = [f"[bold]{report.title}[/bold]", report.claim, ""]
    for part in report.parts:
        if isinstance(part, Table):
            grid = Grid(title=part.title, caption=part.note or None, title_justify="left")
            for heading in ("", *part.columns):
                grid.add_column(heading)
            for name, cells in part.rows.items():
                texts = (part.text(cell) for cell in cells)
                grid.add_row(
                    name, *(f"{ours} [{theirs}] {mark}" if theirs else ours for ours, theirs, mark in texts)
                )
            parts += [grid, part.agreement(), ""]
        elif isinstance(part, str):
            parts += [part, ""]
    parts += [f"{name}: not found. {how}" for name, how in report.missing.items()]
    return [*parts, report.legend(), report.circumstances()]


def to_markdown(report: Report, folder: str) -> str:
    """A report as a page of the docs, its figures in a folder beside it."""
    lines = [f"# {report.title}", "", report.claim, "", report.legend(), ""]
    for part in report.parts:
        if isinstance(part, str):
            lines += [part, ""]
        elif isinstance(part, Figure):
            lines += [f"![{part.title}]({folder}/{file_name(report, part)})", "", part.caption, ""]
        else:
            lines += [
                f"## {part.title}",
                "",
                f"| | {' | '.join(part.columns)} |",
                f"|---{'|---' * len(part.columns)}|",
            ]
            for name, cells in part.rows.items():
                texts = (part.text(cell) for cell in cells)
                shown = (f"{ours} [{theirs}] {mark}" if theirs else ours for ours, theirs, mark in texts)
                lines.append(f"| {name} | {' | '.join(shown)} |")
            lines += ["", *([part.note, ""] if part.note else []), f"{part.agreement()}.", ""]
    lines += [f"- {name} was not found. {how}" for name, how in report.missing.items()]
    return "\n".join([*lines, "", f"*{report.circumstances()}*", ""])


def file_name(report: Report, figure: Figure) -> str:
    """What a figure's file is called."""
    words = "".join(letter if letter.isalnum() else " " for letter in figure.title.lower()).split()
    return f"{report.name}_{'_'.join(words)}.png"


STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse;margin:1em 0;font-variant-numeric:tabular-nums}
th,td{border:1px solid #bbb;padding:.25em .6em;text-align:right}th:first-child,td:first-child{text-align:left}
td small{color:#666;display:block}.agrees{background:#e6f2e6}.better{background:#e3ecf8}.worse{background:#f8e8e0}
img{max-width:100%}caption,figcaption,.note{color:#555;text-align:left}
"""


def to_html(report: Report) -> str:
    """A report as one page that needs nothing else."""
    body = [
        f"<h1>{escape(report.title)}</h1>",
        f"<p>{escape(report.claim)}</p>",
        f"<p class=note>{escape(report.legend())}</p>",
    ]
    for part in report.parts:
        if isinstance(part, str):
            body.append(f"<p>{escape(part)}</p>")
        elif isinstance(part, Figure):
            picture = base64.b64encode(part.png).decode()
            body.append(
                f"<figure><img alt='{escape(part.title)}' src='data:image/png;base64,{picture}'>"
                f"<figcaption>{escape(part.title)}. {escape(part.caption)}</figcaption></figure>"
            )
        else:
            body.append(_html_table(part))
    if report.missing:
        items = "".join(f"<li>{escape(name)}: {escape(how)}</li>" for name, how in report.missing.items())
        body.append(f"<h2>Data sets that were not found</h2><ul>{items}</ul>")
    body.append(f"<p class=note>{escape(report.circumstances())}</p>")
    head = f"<meta charset=utf-8><title>{escape(report.title)}</title><style>{STYLE}</style>"
    return f"<!doctype html><html lang=en><head>{head}</head><body>{''.join(body)}</body></html>\n"


def _html_table(table: Table) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in ("", *table.columns))
    rows = []
    for name, cells in table.rows.items():
        row = [f"<td>{escape(name)}</td>"]
        for cell in cells:
            ours, theirs, _ = table.text(cell)
            below = f"<small>{escape(theirs)}</small>" if theirs else ""
            kind = cell.verdict if isinstance(cell, Cell) else ""
            row.append(f"<td class='{kind}'>{escape(ours)}{below}</td>")
        rows.append(f"<tr>{''.join(row)}</tr>")
    note = f"{table.note} " if table.note else ""
    return (
        f"<h2>{escape(table.title)}</h2><table><tr>{head}</tr>{''.join(rows)}</table>"
        f"<p class=note>{escape(note)}{escape(table.agreement())}.</p>"
    )
