"""What came out beside what was published: cells that know both, tables, figures, and a report of all."""

import io
import os
import platform
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn

LIBRARIES = ("numpy", "numba", "scipy", "scikit-learn")
WORDS = ("title", "source", "claim", "protocol")
MARKS = {"agrees": "=", "better": "+", "worse": "−"}
LEGEND = (
    "Mean ± standard deviation over random orders; the published figure stands in brackets. "
    "= within two standard deviations (the larger of both), + better than published, − worse."
)


@dataclass(frozen=True)
class Published:
    """A published figure, its spread, and how far from it counts as near: two sd if not said."""

    mean: float
    sd: float = 0.0
    room: float | None = None


@dataclass
class Cell:
    """A figure over several orders, and the published one where there is one.

    Figures of another machine, as seconds, are shown and not judged.
    """

    values: NDArray[np.float64]
    published: Published | None = None
    more_is_better: bool = False
    judged: bool = True

    @classmethod
    def of(cls, values: ArrayLike, *published: float | None, **how: bool) -> "Cell":
        """A cell from numbers: ours, and the published mean, sd and room, as far as there are any."""
        mean, *spread = published or (None,)
        beside = None if mean is None else Published(mean, *(number or 0.0 for number in spread))
        return cls(np.atleast_1d(np.asarray(values, dtype=np.float64)), beside, **how)

    @property
    def mean(self) -> float:
        """The mean over the orders."""
        return float(np.mean(self.values))

    @property
    def sd(self) -> float:
        """The standard deviation over the orders; 0 where there is one."""
        return float(np.std(self.values, ddof=1)) if self.values.size > 1 else 0.0

    @property
    def verdict(self) -> str:
        """Whether the published figure came out: agrees, better, worse, or nothing that is to be said."""
        if self.published is None or not self.judged:
            return ""
        apart = self.mean - self.published.mean
        room = 2.0 * max(self.sd, self.published.sd) if self.published.room is None else self.published.room
        if abs(apart) <= room:
            return "agrees"
        return "better" if (apart > 0) == self.more_is_better else "worse"


@dataclass
class Table:
    """Cells by row and column; what could not be measured is empty."""

    title: str
    columns: Sequence[str]
    rows: dict[str, Sequence[Cell | str]] = field(default_factory=dict)
    decimals: int = 2
    note: str = ""

    def cells(self) -> list[Cell]:
        """All cells that hold figures."""
        return [cell for row in self.rows.values() for cell in row if isinstance(cell, Cell)]

    def means(self, row: str) -> dict[str, float]:
        """The figures of a row by column."""
        cells = zip(self.columns, self.rows[row], strict=True)
        return {name: cell.mean for name, cell in cells if isinstance(cell, Cell)}

    def verdicts(self) -> list[str]:
        """What is to be said of each published figure."""
        return [cell.verdict for cell in self.cells() if cell.verdict]

    def text(self, cell: Cell | str) -> tuple[str, str, str]:
        """A cell as ours, published and mark."""
        if isinstance(cell, str):
            return cell, "", ""
        ours = self._number(cell.mean, cell.sd)
        if cell.published is None:
            return ours, "", ""
        return ours, self._number(cell.published.mean, cell.published.sd), MARKS.get(cell.verdict, "")

    def line(self, cell: Cell | str) -> str:
        """The same in one line."""
        ours, theirs, mark = self.text(cell)
        return f"{ours} [{theirs}] {mark}".strip() if theirs else ours

    def _number(self, mean: float, sd: float) -> str:
        return f"{mean:,.{self.decimals}f}" + (f" ± {sd:,.{self.decimals}f}" if sd else "")


@dataclass
class Figure:
    """A drawing, kept as PNG."""

    title: str
    png: bytes
    caption: str = ""

    @classmethod
    def of(cls, title: str, drawn: "Drawn", caption: str = "") -> "Figure":
        """A drawing of matplotlib."""
        buffer = io.BytesIO()
        drawn.savefig(buffer, format="png", dpi=90, pil_kwargs={"optimize": True})
        return cls(title, buffer.getvalue(), caption)

    @property
    def words(self) -> str:
        """The title, fit for the name of a file."""
        plain = (letter if letter.isascii() and letter.isalnum() else " " for letter in self.title.lower())
        return "-".join("".join(plain).split())


Part = Table | Figure | str


@dataclass
class Report:
    """One paper: what it claims, what came out, and what is to be said to it."""

    name: str
    title: str
    source: str
    claim: str
    protocol: str
    deviations: list[str]  # and errata
    parts: list[Part]
    findings: list[str]  # what became of the claims, from the figures of this run
    missing: Mapping[str, str]  # data sets that were not found, and how to get them
    seconds: float = 0.0
    seed: int = 0
    quick: bool = False

    @classmethod
    def of(cls, name: str, parts: list[Part], findings: list[str], missing: Mapping[str, str]) -> "Report":
        """A report with the words that are kept beside the code; tables without cells are left out."""
        words = tomllib.loads(files("tauten.papers").joinpath("words", f"{name}.toml").read_text("utf-8"))
        deviations = [in_one_line(text) for text in words["deviations"]]
        title, source, claim, protocol = (in_one_line(words[what]) for what in WORDS)
        filled = [part for part in parts if not isinstance(part, Table) or any(part.rows.values())]
        return cls(name, title, source, claim, protocol, deviations, filled, findings, missing)

    @property
    def tables(self) -> list[Table]:
        """The tables among the parts."""
        return [part for part in self.parts if isinstance(part, Table)]

    @property
    def figures(self) -> list[Figure]:
        """The figures among the parts."""
        return [part for part in self.parts if isinstance(part, Figure)]

    def agreement(self) -> str:
        """How many of the published figures came out."""
        verdicts = [verdict for table in self.tables for verdict in table.verdicts()]
        if not verdicts:
            return "None of the data sets with published figures was found."
        agree, better, worse = (verdicts.count(verdict) for verdict in MARKS)
        return (
            f"Of {len(verdicts)} published figures {agree} come out; {better} are better here, {worse} worse."
        )

    def circumstances(self) -> str:
        """Machine, versions, seed and time."""
        import tauten

        versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
        machine = f"{os.cpu_count()} cores ({platform.machine()}, {platform.system()})"
        kind = "Quick run: fewer orders and data sets" if self.quick else "Full run"
        return (
            f"{kind}. {self.seconds:.0f} s on {machine}, seed {self.seed}; tauten {tauten.__version__}, "
            f"Python {platform.python_version()}, {versions}."
        )


def in_one_line(text: str) -> str:
    """A text without the ends of its lines."""
    return " ".join(text.split())
