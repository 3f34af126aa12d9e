"""`tauten data`: known public data sets."""

from typing import TYPE_CHECKING

import click

from tauten.cli.errors import Commands, Failed, nearest
from tauten.cli.showing import Output, json_option, quiet_option, table

if TYPE_CHECKING:
    from tauten.io.known import Known


@click.group("data", cls=Commands)
def data() -> None:
    """Known public data sets.

    They are looked for in the folder that TAUTEN_DATA names, then in a folder for caches. Their names stand
    in the place of files: `tauten run a9a …`, `--test a9a/test`.
    """


@data.command("list")
@json_option
def listing(as_json: bool) -> None:
    """All known data sets, and which are on this machine."""
    from tauten.io import known

    sets = list(known.table().values())
    here = {
        one.name: sum(known.find(one.name, part) is not None for part in one.parts) == len(one.parts)
        for one in sets
    }
    rows = [
        [one.name, _rows(one), one.features, str(one.classes), "yes" if here[one.name] else "–", one.licence]
        for one in sets
    ]
    view = table(rows, ["name", "rows", "features", "classes", "here", "licence"], left=(0, 4, 5))
    plain = [
        {
            "name": one.name, "features": one.features, "classes": one.classes, "here": here[one.name],
            "parts": {part.name: part.rows for part in one.parts.values()}, "home": one.home,
            "licence": one.licence, "note": one.note,
        }
        for one in sets
    ]  # fmt: skip
    Output(as_json=as_json).result({"data": plain}, lambda console: console.print(view))


@data.command(short_help="Where a data set is on this machine.")
@click.argument("name")
def path(name: str) -> None:
    """Where NAME is on this machine, a file a line; NAME/PART for one part."""
    from tauten.io import known

    one, part = known_set(name)
    for wanted in [part] if part else one.parts:
        click.echo(str(known.path(one.name, wanted)))


@data.command(short_help="Get a data set from the net.")
@click.argument("name")
@quiet_option
def fetch(name: str, quiet: bool) -> None:
    """Get NAME from the net, if it is not here, and check its rows; prints a file a line."""
    from tauten.io import known

    one, _ = known_set(name)
    output = Output(quiet)
    with output.jobs(f"fetch {one.name}") as progress:
        files = known.fetch(one.name, lambda n_bytes, of: progress(n_bytes, of or 0))
    for file in files.values():
        if not quiet:
            click.echo(str(file))


def known_set(name: str) -> tuple["Known", str | None]:
    """A data set, and a part of it where one is named."""
    from tauten.io import known

    name, _, part = name.partition("/")
    if name not in known.table():
        raise Failed(
            f"There is no known data set {name!r}; {nearest(name, known.table(), 'tauten data list')}."
        )
    one = known.table()[name]
    return one, one.part(part).name if part else None


def _rows(one: "Known") -> str:
    return " / ".join(f"{part.rows:,}" for part in one.parts.values())
