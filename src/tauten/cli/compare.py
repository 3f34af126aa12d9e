"""`tauten compare`: several learners over the same random orders of one file."""

from typing import TYPE_CHECKING, Any

import click

from tauten.cli.reading import data_argument
from tauten.cli.showing import table, with_spread
from tauten.cli.specs import learner_option, parameter_option, several_learners
from tauten.cli.studies import Study, study_options

if TYPE_CHECKING:
    from tauten.evaluate import Comparison


@click.command(short_help="Learners over random orders of a file, with a test.")
@data_argument
@learner_option(several=True)
@parameter_option
@study_options(orders=True)
def compare(data: str, learners: tuple[str, ...], parameters: tuple[str, ...], study: Study) -> None:
    """Run learners over random orders of DATA, each row predicted, then learned.

    The best stands first; p is that of a paired t-test of its errors against the learner's.
    """
    models = several_learners(learners, parameters)
    compared(models, *study.rows(data), study)


def compared(models: dict[str, Any], X: Any, y: Any, study: Study, **more: dict[str, Any]) -> None:
    """Compare learners and report it, `more` with columns of their own."""
    import tauten as tt

    with study.output.jobs("compare") as progress:
        comparison = tt.compare(
            models, X, y, study.repeats, random_state=study.seed, n_jobs=study.jobs, progress=progress
        )
    frame = comparison.to_frame().reset_index()
    for place, (name, values) in enumerate(more.items(), start=1):
        frame.insert(place, name, [values[learner] for learner in frame["learner"]])
    plain = {"repeats": study.repeats, "learners": frame.to_dict("records")}
    study.report(comparison, frame, plain, _table(comparison, frame, list(more)))


def _table(comparison: "Comparison", frame: Any, more: list[str]) -> Any:
    """A learner a line, figures with their spreads."""
    figures = [name.removesuffix("_sd") for name in frame if name.endswith("_sd") and name != "updates_sd"]
    rows = [
        [
            row["learner"], *(row[name] for name in more),
            *(with_spread(row[name], row[f"{name}_sd"]) for name in figures),
            round(row["updates"]), row["seconds"], row["p_value"],
        ]
        for row in frame.to_dict("records")
    ]  # fmt: skip
    headings = ["learner", *more, *(name.replace("_", " ") for name in figures), "updates", "seconds", "p"]
    return table(rows, headings, left=range(1 + len(more)))
