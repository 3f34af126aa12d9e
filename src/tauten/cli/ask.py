"""`tauten ask`: what active learners make of few labels."""

from typing import Any

import click

from tauten.cli.compare import report
from tauten.cli.errors import Wrong
from tauten.cli.files import draw, plot_option
from tauten.cli.reading import data_argument, given_options, reading_options
from tauten.cli.showing import Output, json_option, number, quiet_option, table, with_spread, write_table
from tauten.cli.specs import learner_option, parameter_option, several_learners
from tauten.cli.studies import jobs_option, repeats_option, rows_of, seed_option, table_option

FIGURES = ("f1", "error_rate", "balanced_accuracy", "kappa", "sensitivity", "specificity", "weighted_sum")


@click.command()
@data_argument
@learner_option(several=True)
@parameter_option
@click.option("--rate", type=click.FloatRange(0, 1, min_open=True), metavar="SHARE", help="Ask for about this share of the labels; without it the whole curve.")
@click.option("--figure", type=click.Choice(FIGURES), default=None, help="What the curve shows.  [default: f1]")
@repeats_option
@plot_option
@table_option
@seed_option
@jobs_option
@quiet_option
@json_option
@reading_options
def ask(
    data: str, learners: tuple[str, ...], parameters: tuple[str, ...], rate: float | None, figure: str | None,
    repeats: int, plot: str | None, table: str | None, seed: int, jobs: int, quiet: bool, as_json: bool,
    **reading: Any,
) -> None:  # fmt: skip
    """Run active learners over random orders of DATA, the labels looked at only where they are asked for.

    With --rate each asks for about that share of the labels; without it their asking parameter is turned
    from few labels to all.
    """
    output = Output(quiet, as_json)
    if rate is not None and figure is not None:
        raise Wrong("--figure is what a curve shows, and --rate asks for one point of it; expected one of them.")
    models = several_learners(learners, parameters)
    for name, model in models.items():
        check_active(name, model)
    X, y = rows_of(data, given_options(reading), output)
    if rate is None:
        _curve(models, X, y, figure or "f1", repeats, seed, jobs, output, plot, table)
    else:
        _at_rate(models, X, y, rate, repeats, seed, jobs, output, plot, table)


def check_active(name: str, model: Any) -> None:
    """Raise where a learner does not ask for labels."""
    if not hasattr(model, "rule"):
        raise Wrong(f"{name} learns every label; expected learners that ask, such as paa1 (`tauten list --kind active`).")


def _at_rate(
    models: dict[str, Any], X: Any, y: Any, rate: float, repeats: int, seed: int, jobs: int, output: Output,
    plot: str | None, to: str | None,
) -> None:  # fmt: skip
    import tauten as tt

    tuned = {}
    with output.jobs("tune") as progress:
        for done, (name, model) in enumerate(models.items(), start=1):
            tuned[name] = tt.at_rate(model, None, X, y, rate, random_state=seed).set_params(random_state=None)
            progress(done, len(models))
    with output.jobs("ask") as progress:
        comparison = tt.compare(tuned, X, y, repeats, random_state=seed, n_jobs=jobs, progress=progress)
    settings = {name: f"{model.rule.knob}={getattr(model.rule, model.rule.knob):.4g}" for name, model in tuned.items()}
    report(comparison, output, plot, to, setting=settings)


def _curve(
    models: dict[str, Any], X: Any, y: Any, figure: str, repeats: int, seed: int, jobs: int, output: Output,
    plot: str | None, to: str | None,
) -> None:  # fmt: skip
    import tauten as tt

    with output.jobs("ask") as progress:
        curve = tt.ask_curve(
            models, X, y, figure, repeats=repeats, random_state=seed, n_jobs=jobs, progress=progress
        )
    frame = curve.to_frame()
    if plot is not None:
        draw(curve.plot(), plot)
    if to is not None:
        write_table(frame, to)
    rows = [
        [
            point["learner"], f"{models[point['learner']].rule.knob}={point['setting']:.4g}",
            number(point["share_asked"]), with_spread(point[figure], point[f"{figure}_sd"]),
        ]
        for point in frame.to_dict("records")
    ]  # fmt: skip
    written = {"plot": plot, "table": to}
    plain = {"figure": figure, "repeats": repeats, "points": frame.to_dict("records")}
    output.result(
        plain | {what: path for what, path in written.items() if path is not None},
        lambda view: view.print(table(rows, ["learner", "setting", "share asked", figure.replace("_", " ")], left=2)),
    )
    output.wrote(**written)
