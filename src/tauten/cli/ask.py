"""`tauten ask`: what active learners make of few labels."""

from typing import Any

import click

from tauten.cli.compare import compared
from tauten.cli.errors import Wrong
from tauten.cli.reading import data_argument
from tauten.cli.showing import table, with_spread
from tauten.cli.specs import learner_option, parameter_option, several_learners
from tauten.cli.studies import Study, study_options

FIGURES = ("f1", "error_rate", "balanced_accuracy", "kappa", "sensitivity", "specificity", "weighted_sum")


@click.command(short_help="What active learners make of few labels.")
@data_argument
@learner_option(several=True)
@parameter_option
@click.option(
    "--rate",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="SHARE",
    help="Ask for about this share of the labels; without it the whole curve.",
)
@click.option("--figure", type=click.Choice(FIGURES), help="What the curve shows.  [default: f1]")
@study_options(orders=True)
def ask(
    data: str,
    learners: tuple[str, ...],
    parameters: tuple[str, ...],
    rate: float | None,
    figure: str | None,
    study: Study,
) -> None:
    """Run active learners over random orders of DATA, the labels looked at only where they are asked for.

    With --rate each asks for about that share of the labels; without it their asking parameter is turned
    from few labels to all.
    """
    if rate is not None and figure is not None:
        raise Wrong("--figure is of the curve, and --rate asks for a point of it; expected one of them.")
    models = several_learners(learners, parameters)
    for name, model in models.items():
        if not hasattr(model, "rule"):
            raise Wrong(f"{name} learns every label; expected learners that ask, such as paa1.")
    X, y = study.rows(data)
    if rate is None:
        _curve(models, X, y, figure or "f1", study)
    else:
        tuned = _tuned(models, X, y, rate, study)
        compared(tuned, X, y, study, setting={name: _setting(model) for name, model in tuned.items()})


def _tuned(models: dict[str, Any], X: Any, y: Any, rate: float, study: Study) -> dict[str, Any]:
    """The learners, each with its rule turned until it asks for about that share of the labels."""
    import tauten as tt

    tuned: dict[str, Any] = {}
    with study.output.jobs("tune") as progress:
        for name, model in models.items():
            progress(len(tuned), len(models))
            tuned[name] = tt.at_rate(model, None, X, y, rate, random_state=study.seed)
            tuned[name].set_params(random_state=model.random_state)
    return tuned


def _curve(models: dict[str, Any], X: Any, y: Any, figure: str, study: Study) -> None:
    """A figure against the share of labels asked."""
    import tauten as tt

    with study.output.jobs("ask") as progress:
        curve = tt.ask_curve(
            models, X, y, figure,
            repeats=study.repeats, random_state=study.seed, n_jobs=study.jobs, progress=progress,
        )  # fmt: skip
    frame = curve.to_frame()
    points = frame.to_dict("records")
    rows = [
        [
            point["learner"], _setting(models[point["learner"]], point["setting"]), point["share_asked"],
            with_spread(point[figure], point[f"{figure}_sd"]),
        ]
        for point in points
    ]  # fmt: skip
    headings = ["learner", "setting", "share asked", figure.replace("_", " ")]
    plain = {"figure": figure, "repeats": study.repeats, "points": points}
    study.report(curve, frame, plain, table(rows, headings, left=(0, 1)))


def _setting(model: Any, value: float | None = None) -> str:
    """The parameter by which a learner asks more or less, and its value."""
    knob = model.rule.knob
    return f"{knob}={getattr(model.rule, knob) if value is None else value:.4g}"
