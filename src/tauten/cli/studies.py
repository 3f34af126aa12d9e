"""What the commands have in common that run learners many times over one file: its rows are held in memory."""

from collections.abc import Mapping
from typing import Any

import click

from tauten.cli.files import NewFile
from tauten.cli.reading import open_data
from tauten.cli.showing import Output

repeats_option = click.option(
    "--repeats", type=click.IntRange(min=1), default=20, help="Random orders of the rows.  [default: 20]"
)
seed_option = click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=0, help="Of the orders and whatever is drawn.  [default: 0]"
)
jobs_option = click.option("--jobs", type=click.IntRange(min=-1), default=-1, help="Threads; -1 is one a core.  [default: -1]")
table_option = click.option("--table", type=NewFile(), metavar="CSV", help="Write the table to a file.")


def rows_of(data: str, options: Mapping[str, Any], output: Output) -> tuple[Any, Any]:
    """All rows and labels of a file or a data set."""
    source = open_data(data, options)
    X, y = source.load()
    output.left_out(source)
    return X, y
