"""What is printed: tables, JSON, progress, and remarks beside the result."""

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from tauten.io import Batch, Source
    from tauten.tally import Tally

quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")

WIDE = 10_000  # columns where no terminal sets a width
FAULTS_SHOWN = 3


class Output:
    """Where results, progress and remarks go: results to standard output, the rest beside it."""

    def __init__(self, quiet: bool = False, as_json: bool = False, live: bool = True) -> None:
        """`live`: whether progress may be shown."""
        self.quiet, self.as_json, self.live = quiet, as_json, live and not quiet

    def result(self, plain: Mapping[str, Any], show: Callable[["Console"], None]) -> None:
        """Print a result, as JSON or for people."""
        if self.quiet:
            return
        encoding = sys.stdout.encoding or "utf-8"
        if self.as_json:
            plainly = not encoding.lower().startswith("utf")
            click.echo(json.dumps(jsonable(plain), ensure_ascii=plainly, indent=2))
            return
        view = console()
        with view.capture() as shown:
            show(view)
        text = "\n".join(line.rstrip() for line in shown.get().splitlines())
        click.echo(text.encode(encoding, "replace").decode(encoding))  # ρ is not everywhere

    def remark(self, text: str) -> None:
        """Say something beside the result."""
        if not self.quiet:
            click.echo(text, err=True)

    def wrote(self, **paths: str | None) -> None:
        """Name the files that were written; JSON has named them."""
        for what, path in paths.items():
            if path is not None and not self.as_json:
                self.remark(f"Wrote the {what} to {path}")

    def left_out(self, source: "Source") -> None:
        """Say what lines were left out."""
        skipped = source.position.skipped
        if not skipped:
            return
        self.remark(f"{skipped:,} {'line was' if skipped == 1 else 'lines were'} left out:")
        for fault in source.faults[:FAULTS_SHOWN]:
            self.remark(f"  {fault}")
        if skipped > FAULTS_SHOWN:
            self.remark("  …")

    @contextmanager
    def progress(self, *columns: Any) -> Iterator["Progress"]:
        """Live progress, where somebody is looking."""
        from rich.console import Console
        from rich.progress import Progress

        beside = Console(stderr=True)
        with Progress(
            *columns, console=beside, transient=True, disable=not (self.live and beside.is_terminal)
        ) as bars:
            yield bars

    @contextmanager
    def rows(
        self, what: str, source: "Source", passes: int = 1
    ) -> Iterator[Callable[["Tally", "Batch"], None]]:
        """Progress through a file: called with the tally so far and each batch."""
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"), BarColumn(24), TaskProgressColumn(),
            TextColumn("{task.fields[figures]}"), TimeRemainingColumn(elapsed_when_finished=True),
        )  # fmt: skip
        total = None if source.size is None else source.size * passes
        with self.progress(*columns) as bars:
            task = bars.add_task(what, total=total, figures="")
            n_rows = 0

            def seen(tally: "Tally", batch: "Batch") -> None:
                nonlocal n_rows
                n_rows += len(batch)
                elapsed = bars.tasks[task].elapsed or math.inf
                figures = f"{batch.position.rows:,} rows  {n_rows / elapsed:,.0f} rows/s"
                if tally.passes:
                    n_done, errors = tally.passes[-1]
                    figures += f"  error {errors / n_done:.4f}"
                before = max(len(tally.passes) - 1, 0) * (source.size or 0)
                bars.update(task, completed=before + batch.n_read, figures=figures)

            yield seen

    @contextmanager
    def jobs(self, what: str) -> Iterator[Callable[[int, int], None]]:
        """Progress through jobs: called with how many are done, and how many there are."""
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

        columns = TextColumn("{task.description}"), BarColumn(24), MofNCompleteColumn(), TimeRemainingColumn()
        with self.progress(*columns) as bars:
            task = bars.add_task(what, total=None)
            yield lambda done, of: bars.update(task, completed=done, total=of)


def console() -> "Console":
    """Standard output; without a terminal lines are as long as they are."""
    from rich.console import Console

    view = Console(highlight=False, soft_wrap=True)
    if not view.is_terminal:
        view.width = WIDE
    return view


def table(rows: Sequence[Sequence[Any]], headings: Sequence[str], left: Sequence[int] = (0,)) -> Any:
    """A table for people: words (the columns `left`) to the left, numbers to the right."""
    from rich.markup import escape
    from rich.table import Table

    view = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for place, heading in enumerate(headings):
        view.add_column(escape(heading), justify="left" if place in left else "right", overflow="fold")
    for row in rows:
        view.add_row(*(escape(cell) if isinstance(cell, str) else number(cell) for cell in row))
    return view


def number(value: Any) -> str:
    """A number for people: whole ones with commas, others to four digits."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool | str):
        return str(value)
    if float(value).is_integer() and not (isinstance(value, float) and abs(value) < 1):
        return f"{int(value):,}"
    return f"{value:.4f}" if 1e-3 <= abs(value) < 1 else f"{value:.4g}"


def n_rows_in_words(count: int) -> str:
    """A number of rows as it is said."""
    return f"{count:,} {'row' if count == 1 else 'rows'}"


def with_spread(mean: float, spread: float) -> str:
    """A mean and its standard deviation."""
    return number(mean) if math.isnan(spread) else f"{mean:.4f} ± {spread:.4f}"


def jsonable(value: Any) -> Any:
    """A value as strict JSON has it: what is not finite is null."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): jsonable(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
