"""`tauten paper`: the figures that a paper published, beside ours."""

from pathlib import Path

import click

from tauten.cli.errors import Wrong
from tauten.cli.showing import Output, console, quiet_option
from tauten.papers import PAPERS

FOLDER = click.Path(path_type=Path)


@click.command(short_help="The figures that a paper published, beside ours.")
@click.argument("name", type=click.Choice(PAPERS))
@click.option(
    "--data", "folder", type=FOLDER, metavar="DIR",
    help="Where the data sets are; by default where `tauten data` looks first.",
)  # fmt: skip
@click.option("--quick", is_flag=True, help="Fewer orders and data sets: done in a minute.")
@click.option(
    "--out",
    type=FOLDER,
    default=Path(),
    metavar="DIR",
    help="The folder for the report, made where it is missing.  [default: here]",
)
@click.option("--markdown", is_flag=True, help="Write it as Markdown with its pictures, too.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, help="Of the orders.  [default: 0]")
@quiet_option
def paper(
    name: str, folder: Path | None, quick: bool, out: Path, markdown: bool, seed: int, quiet: bool
) -> None:
    """Run the protocol of a paper on the data sets that are here, and write a report as one HTML file.

    A full run uses all cores, and takes some minutes.
    """
    from tauten.io import known
    from tauten.papers import reproduce
    from tauten.papers.pages import to_console, write_html, write_markdown

    folder = known.folders()[0] if folder is None else folder
    if not folder.is_dir():
        raise Wrong(f"There is no folder {str(folder)!r} with data sets; --data names another.")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Wrong(f"No folder {str(out)!r} can be made to write to: {error.strerror}.") from error
    report = reproduce(name, folder, quick, seed)
    if not quiet:
        view = console()
        for part in to_console(report):
            view.print(part)
    written = {"report": str(write_html(report, out))}
    if markdown:
        written["page"] = str(write_markdown(report, out))
    Output(quiet).wrote(**written)
