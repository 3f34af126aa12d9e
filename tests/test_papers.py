"""The papers' reports, in their quick form: what is in them, and figures of each that must come out."""

import base64
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import DATA

from tauten.cli import main
from tauten.papers import PAPERS, reproduce
from tauten.papers.pages import to_console, to_html, to_markdown, write_html, write_markdown
from tauten.papers.report import Cell, Report, Table

NEEDED = {
    "pam": ("bupa", "crx"),
    "paa": ("svmguide1", "vowel", "w7a"),
    "pamo": ("svmguide1", "w7a"),
    "pamean": ("svmguide1", "a9a"),
    "metric": ("wine",),
}
COME_OUT = [  # paper, how the title of the table begins, row, column
    ("pam", "F1 of both classes", "BUPA +", "PA-II"),
    ("pam", "F1 of both classes", "BUPA −", "PAM-II"),
    ("paa", "svmguide1: F", "RPE", "F at 10%"),
    ("paa", "svmguide1: F", "PAA-I", "F at 10%"),
    ("paa", "svmguide1: F", "PAA-II", "F at 20%"),
    ("pamo", "Test error", "AROW", "svmguide1"),
    ("pamo", "Test error", "PAMO-II", "svmguide1"),
    ("pamo", "Mistakes over the rows", "PAMO-II", "w7a"),
    ("pamean", "Test error", "PAm-1", "adult"),
    ("pamean", "Standard deviation", "PAm-1", "adult"),
    ("pamean", "Least test error", "PA", "adult"),
    ("pamean", "Updates", "PAm-1", "svmguide1"),
    ("metric", "Error of the nearest", "wine", "PAII−"),
]
ALONE = frozenset("meta img".split())  # tags without an end


@pytest.fixture(scope="module")
def reports() -> dict[str, Report]:
    """Reports made so far: each is made once."""
    return {}


def report_of(paper: str, reports: dict[str, Report]) -> Report:
    """The quick report of a paper; skips without its data."""
    for name in NEEDED[paper]:
        if not (DATA / name).is_dir():
            pytest.skip(f"needs the public data set {name}: set TAUTEN_DATA to the folder that holds it")
    if paper == "metric":
        pytest.importorskip("metric_learn", reason="ITML, the baseline, is that of metric-learn")
    if paper not in reports:
        reports[paper] = reproduce(paper, DATA, quick=True)
    return reports[paper]


class Tags(HTMLParser):
    """Looks at a page tag by tag: each must be closed, and nothing may be fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.sources: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in ALONE:
            self.open.append(tag)
        assert tag not in ("script", "link")
        self.sources += [value for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("paper", PAPERS)
def test_tables_are_full(paper, reports):
    """Every row has a cell a column, figures are finite, and there is something beside the published ones."""
    report = report_of(paper, reports)
    assert report.figures and report.findings and report.deviations and report.seconds > 0
    for table in report.tables:
        assert table.rows
        assert all(len(row) == len(table.columns) for row in table.rows.values()), table.title
        assert all(np.isfinite(cell.values).all() for cell in table.cells()), table.title
    assert any(table.verdicts() for table in report.tables)


@pytest.mark.parametrize(("paper", "title", "row", "column"), COME_OUT)
def test_published_figures_come_out(paper, title, row, column, reports):
    """A figure of the paper lies within two standard deviations."""
    table = next(table for table in report_of(paper, reports).tables if table.title.startswith(title))
    cell = table.rows[row][list(table.columns).index(column)]
    assert cell.verdict == "agrees", table.line(cell)


@pytest.mark.parametrize("paper", PAPERS)
def test_pages(paper, reports, tmp_path):
    """The HTML is whole and holds its pictures; the Markdown finds its own; a terminal gets the rest."""
    report = report_of(paper, reports)
    page = Tags()
    page.feed(write_html(report, tmp_path).read_text(encoding="utf-8"))
    assert not page.open
    assert len(page.sources) == len(report.figures)
    for source in page.sources:
        start = "data:image/png;base64,"
        assert source.startswith(start) and base64.b64decode(source[len(start) :]).startswith(b"\x89PNG")
    text = write_markdown(report, tmp_path).read_text(encoding="utf-8")
    shown = re.findall(r"\]\(([^)]+\.png)\)", text)
    assert len(set(shown)) == len(report.figures)
    assert all((tmp_path / name).is_file() for name in shown)
    assert len(to_console(report)) > len(report.tables)


@pytest.mark.parametrize("paper", PAPERS)
def test_without_data_there_is_still_a_report(paper, tmp_path):
    """What is missing is listed with how to get it, and no table invents a figure."""
    report = reproduce(paper, tmp_path, quick=True)
    assert set(NEEDED[paper]) <= set(report.missing)
    assert all(f"put it into a folder {name}" in report.missing[name] for name in NEEDED[paper])
    assert not any(table.verdicts() for table in report.tables)
    assert report.agreement() == "None of the data sets with published figures was found."
    for page in (to_html(report), to_markdown(report, "img")):
        assert f"put it into a folder {NEEDED[paper][0]}" in page


def test_there_is_no_such_paper(tmp_path):
    """An unknown name is named, with those there are."""
    with pytest.raises(ValueError, match="no paper 'pa'; expected one of pam, paa"):
        reproduce("pa", tmp_path)


@pytest.mark.parametrize(
    ("ours", "published", "more_is_better", "verdict"),
    [
        ([1.0, 3.0], (4.0, 0.1), False, "agrees"),  # 2 apart, and our sd is 1.41
        ([2.0, 2.0], (4.0, 1.0), False, "agrees"),  # exactly two of their sd
        ([2.0, 2.0], (4.1, 1.0), False, "better"),
        ([2.0, 2.0], (4.1, 1.0), True, "worse"),
        ([5.0, 5.0], (2.0, 0.0, 1.0), True, "better"),
        ([5.0, 5.0], (2.0, 0.0, 3.0), True, "agrees"),
        ([5.0], (), True, ""),
    ],
)
def test_verdicts(ours, published, more_is_better, verdict):
    """Within two standard deviations, the larger of both, or within the room that is said."""
    assert Cell.of(ours, *published, more_is_better=more_is_better).verdict == verdict


def test_cells_as_text():
    """Ours, the published one in brackets, and the mark; nothing that is not there."""
    table = Table("", [], decimals=1)
    assert table.line(Cell.of([1.0, 3.0], 4.0, 0.1)) == "2.0 ± 1.4 [4.0 ± 0.1] ="
    assert table.line(Cell.of([2.0], 4.0)) == "2.0 [4.0] +"
    assert table.line(Cell.of([2.0], 4.0, judged=False)) == "2.0 [4.0]"
    assert table.line(Cell.of([2.0])) == "2.0"
    assert table.line("text") == "text"


def test_from_the_command_line(tmp_path):
    """The report is printed, and written where it was asked for; a folder that is not there is named."""
    out = tmp_path / "out"
    out.mkdir()
    given = ["paper", "pam", "--quick", "--data", str(tmp_path), "--out", str(out), "--markdown"]
    done = CliRunner().invoke(main, given)
    assert done.exit_code == 0, done.output
    assert "None of the data sets" in done.output
    assert {path.name for path in out.iterdir()} == {"pam.html", "pam.md", "img"}
    done = CliRunner().invoke(main, ["paper", "pam", "--data", str(tmp_path / "nowhere")])
    assert done.exit_code == 2
    assert "There is no folder" in done.output
