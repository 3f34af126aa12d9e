"""`tauten compare`: several learners over the same random orders of one file."""

from typing import Any

import click

from tauten.cli.files import draw, plot_option
from tauten.cli.reading import data_argument, given_options, reading_options
from tauten.cli.showing import Output, json_option, quiet_option, table, with_spread, write_table
from tauten.cli.specs import learner_option, parameter_option, several_learners
from tauten.cli.studies import jobs_option, repeats_option, rows_of, seed_option, table_option


@click.command()
@data_argument
@learner_option(several=True)
@parameter_option
@repeats_option
@plot_option
@table_option
@seed_option
@jobs_option
@quiet_option
@json_option
@reading_options
def compare(
    data: str, learners: tuple[str, ...], parameters: tuple[str, ...], repeats: int, plot: str | None,
    table: str | None, seed: int, jobs: int, quiet: bool, as_json: bool, **reading: Any,
) -> None:  # fmt: skip
    """Run learners over random orders of DATA, each row predicted, then learned.

    The best stands first; p is that of a paired t-test of its errors against the learner's.
    """
    import tauten as tt

    output = Output(quiet, as_json)
    models = several_learners(learners, parameters)
    X, y = rows_of(data, given_options(reading), output)
    with output.jobs("compare") as progress:
        comparison = tt.compare(models, X, y, repeats, random_state=seed, n_jobs=jobs, progress=progress)
    report(comparison, output, plot, table)


def report(comparison: Any, output: Output, plot: str | None, to: str | None, **more: Any) -> None:
    """Print the table of a comparison, and write what was asked for; `more` are columns of their own."""
    frame = comparison.to_frame().reset_index()
    for place, (name, values) in enumerate(more.items(), start=1):
        frame.insert(place, name, [values[learner] for learner in frame["learner"]])
    if plot is not None:
        draw(comparison.plot(), plot)
    if to is not None:
        write_table(frame, to)
    written = {"plot": plot, "table": to}
    plain = {"repeats": comparison.curves.shape[1], "learners": frame.to_dict("records")}
    output.result(plain | {k: v for k, v in written.items() if v}, lambda view: view.print(_table(frame, list(more))))
    output.wrote(**written)


def _table(frame: Any, more: list[str]) -> Any:
    """The figures with their spreads, a learner a line."""
    figures = [name.removesuffix("_sd") for name in frame if name.endswith("_sd")]
    whole = [name for name in figures if name == "updates"]
    rows = []
    for row in frame.to_dict("records"):
        cells = [row["learner"], *(row[name] for name in more)]
        cells += [with_spread(row[name], row[f"{name}_sd"]) for name in figures if name not in whole]
        rows.append([*cells, *(round(row[name]) for name in whole), row["seconds"], row["p_value"]])
    headings = ["learner", *more, *(name.replace("_", " ") for name in figures), "seconds", "p"]
    return table(rows, headings)
