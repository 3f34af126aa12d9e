"""`tauten sweep`: a learner with every combination of parameters, first-order learners in one pass."""

from typing import Any

import click

from tauten.cli.errors import Wrong, as_given
from tauten.cli.files import NewFile, draw, plot_option
from tauten.cli.reading import data_argument, given_options, reading_options
from tauten.cli.showing import Output, json_option, quiet_option, table, write_table
from tauten.cli.specs import learner_option, one_spec, parameter_option, shared
from tauten.cli.studies import jobs_option, rows_of, table_option
from tauten.cli.values import assignment, values_of


@click.command()
@data_argument
@learner_option(several=False)
@parameter_option
@click.option(
    "-g", "--grid", "grid", multiple=True, required=True, metavar="NAME=VALUES",
    help="Values of a parameter: C=0.1,1,10 or C=2^-5:5 or window=5:50:5; may be repeated.",
)  # fmt: skip
@plot_option
@table_option
@click.option("--save", type=NewFile(), metavar="MODEL", help="Write the model with the fewest errors here.")
@jobs_option
@quiet_option
@json_option
@reading_options
def sweep(
    data: str, learners: str, parameters: tuple[str, ...], grid: tuple[str, ...], plot: str | None,
    table: str | None, save: str | None, jobs: int, quiet: bool, as_json: bool, **reading: Any,
) -> None:  # fmt: skip
    """Run a learner over DATA with every combination of parameters, each row predicted, then learned."""
    import tauten as tt

    output = Output(quiet, as_json)
    spec = one_spec(learners)
    fixed = spec.values(shared([spec], parameters))
    with as_given():
        points = {name: values_of(values) for name, values in map(assignment, grid)}
    for name, values in points.items():
        spec.check(name)
        for value in values:
            spec.make({**fixed, name: value})
    varying = sum(len({repr(value) for value in values}) > 1 for values in points.values())
    if plot is not None and varying != 1:
        raise Wrong(f"--plot draws errors over one parameter, but {varying} vary; expected one.")
    X, y = rows_of(data, given_options(reading), output)
    with output.jobs("sweep"):
        swept = tt.sweep(spec.entry.name, {**{name: [value] for name, value in fixed.items()}, **points}, X, y, n_jobs=jobs)
    if save is not None:
        swept.best.save(save)
    report(swept, output, save, plot, table)


def report(swept: Any, output: Output, save: str | None, plot: str | None, to: str | None) -> None:
    """Print the table of a sweep, and write what was asked for."""
    frame = swept.to_frame()
    if plot is not None:
        draw(swept.plot(), plot)
    if to is not None:
        write_table(frame, to)
    written = {"model": save, "plot": plot, "table": to}
    plain = {"best": swept.best_params, "models": frame.to_dict("records"), "seconds": swept.seconds}
    headings = [name if name in swept.grid[0] else name.replace("_", " ") for name in frame]
    best = int(swept.errors.argmin())
    rows = [[*row, "best" if i == best else ""] for i, row in enumerate(frame.astype(object).values.tolist())]
    output.result(
        plain | {what: path for what, path in written.items() if path is not None},
        lambda view: view.print(table(rows, [*headings, ""], left=0)),
    )
    output.wrote(**written)
