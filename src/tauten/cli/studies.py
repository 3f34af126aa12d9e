"""What commands share that run learners many times over one file: its rows are held in memory."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from tauten.cli.files import NewFile, draw, keep_apart, plot_option
from tauten.cli.reading import given_options, open_data, reading_options
from tauten.cli.showing import Output, json_option, quiet_option

if TYPE_CHECKING:
    import pandas as pd

REPEATS = click.option(
    "--repeats", type=click.IntRange(min=1), default=20, help="Random orders of the rows.  [default: 20]"
)
SEED = click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    help="Of the orders, and of whatever is drawn.  [default: 0]",
)
TABLE = click.option("--table", type=NewFile(), metavar="CSV", help="Write the table to a file.")
JOBS = click.option(
    "--jobs", type=click.IntRange(min=-1), default=-1, help="Threads; -1 is one a core.  [default: -1]"
)


@dataclass(frozen=True)
class Study:
    """How a study is made, and what is written of it."""

    reading: Mapping[str, Any]
    output: Output
    plot: str | None
    table: str | None
    jobs: int
    repeats: int = 1
    seed: int = 0

    def rows(self, data: str) -> tuple[Any, Any]:
        """All rows and labels of a file or a data set."""
        keep_apart([data], [self.plot, self.table])
        source = open_data(data, given_options(self.reading))
        with self.output.jobs("read"):
            X, y = source.load()
        self.output.left_out(source)
        return X, y

    def report(
        self, result: Any, frame: "pd.DataFrame", plain: Mapping[str, Any], shown: Any, **written: str | None
    ) -> None:
        """Print a result, as JSON or as the table `shown`, and write the picture and the whole table."""
        if self.plot is not None:
            draw(result.plot(), self.plot)
        if self.table is not None:
            frame.to_csv(self.table, index=False)
        written |= {"plot": self.plot, "table": self.table}
        paths = {what: path for what, path in written.items() if path is not None}
        self.output.result({**plain, **paths}, lambda view: view.print(shown))
        self.output.wrote(**written)


def study_options(orders: bool) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of a study, over random `orders` or not, and hand it the study."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def with_study(
            plot: str | None, table: str | None, jobs: int, quiet: bool, as_json: bool, **given: Any
        ) -> None:
            reading = {name: given.pop(name) for name in reading_names if name in given}
            order = {name: given.pop(name) for name in ("repeats", "seed") if orders}
            command(study=Study(reading, Output(quiet, as_json), plot, table, jobs, **order), **given)

        options = (*((REPEATS,) if orders else ()), plot_option, TABLE, *((SEED,) if orders else ()), JOBS)
        decorated: Callable[..., None] = reading_options(with_study)
        reading_names = [option.name for option in decorated.__click_params__]  # type: ignore[attr-defined]
        for option in (json_option, quiet_option, *reversed(options)):
            decorated = option(decorated)
        return decorated

    return decorate
