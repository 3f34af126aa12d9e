"""Options that say how data are read, the same in every command, and the data that they open."""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from tauten.cli.errors import Failed, as_given, nearest
from tauten.cli.values import number_of, split, value_of

if TYPE_CHECKING:
    from tauten.io import Source

COLUMNS = ("nominal", "numeric", "text", "ignore")


class Column(click.ParamType):  # type: ignore[type-arg]  # older ones are not generic
    """A column by name, or by number from 0 (-1: the last); a name that is a number stands in quotes."""

    name = "column"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | int:
        """The column that a text means."""
        text = str(value).strip()
        number = number_of(text)
        return number if isinstance(number, int) else str(value_of(text)) if text[:1] in "'\"" else text


class ColumnList(Column):
    """Columns, between commas."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The columns that a text means."""
        convert = super().convert
        with as_given():
            return tuple(convert(part, param, ctx) for part in split(str(value), ",") if part.strip())


OPTIONS = (
    click.option(
        "--label",
        type=Column(),
        metavar="COLUMN",
        help="Tables: the column of the label, by name or number (-1: the last).",
    ),
    click.option(
        "--text",
        type=ColumnList(),
        multiple=True,
        metavar="COLUMNS",
        help="Tables: columns to split into words.",
    ),
    click.option(
        "--ngrams", type=click.IntRange(min=1), metavar="N", help="Count words, and up to N in a row."
    ),
    click.option(
        "--nominal",
        type=ColumnList(),
        multiple=True,
        metavar="COLUMNS",
        help="Tables: columns of categories.",
    ),
    click.option(
        "--numeric", type=ColumnList(), multiple=True, metavar="COLUMNS", help="Tables: columns of numbers."
    ),
    click.option(
        "--ignore", type=ColumnList(), multiple=True, metavar="COLUMNS", help="Tables: columns to leave out."
    ),
    click.option(
        "--missing",
        type=click.Choice(["absent", "mark", "error"]),
        help="A cell without a value brings nothing, a feature of its own, or is an error.",
    ),
    click.option(
        "--missing-value",
        "missing_values",
        multiple=True,
        metavar="TEXT",
        help="What stands for no value; may be repeated.",
    ),
    click.option(
        "--header/--no-header", default=None, help="CSV, TSV: whether the first line names the columns."
    ),
    click.option("--delimiter", metavar="SIGN", help="CSV, TSV: what stands between cells."),
    click.option(
        "--n-features",
        type=click.IntRange(min=1),
        metavar="N",
        help="svmlight: how many there are; beyond is an error.",
    ),
    click.option("--zero-based", is_flag=True, default=None, help="svmlight: the first index is 0, not 1."),
    click.option(
        "--format",
        "format",
        metavar="FORMAT",
        help="svmlight, csv, tsv, jsonl, parquet or npz; by default what the name says.",
    ),
    click.option(
        "--on-error",
        type=click.Choice(["raise", "skip"]),
        help="Stop at the first line that cannot be read, or leave such lines out and count them.",
    ),
)

data_argument = click.argument("data")


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command all options that say how data are read."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def given_options(reading: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given, as `tauten.io.open` takes them."""
    given = {name: value for name, value in reading.items() if value is not None and value != ()}
    for name in COLUMNS:
        if name in given:
            given[name] = tuple(column for columns in given[name] for column in columns)
    return given


def open_data(data: str, options: Mapping[str, Any]) -> "Source":
    """Open a file, standard input ("-"), or a data set where there is no such file."""
    from tauten import io

    path, known = found(data)
    with as_given():
        return io.open(path, **{**known, **options})


def found(data: str) -> tuple[str, dict[str, Any]]:
    """The file that is meant, and how it is read where it is a known data set: `name` or `name/part`."""
    from tauten.io import known

    if data == "-" or os.path.exists(data):
        return data, {}
    name, slash, part = data.partition("/")
    if name in known.table():
        with as_given():
            return str(known.path(name, part if slash else None)), dict(known.table()[name].options)
    if os.path.basename(data) == data and "." not in data:
        raise Failed(
            f"There is no file {data!r}, and no data set; {nearest(data, known.table(), 'tauten data list')}."
        )
    return data, {}
