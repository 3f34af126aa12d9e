"""`tauten sweep`: a learner with every combination of parameters, first-order learners in one pass."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from tauten.cli.errors import Wrong, as_given
from tauten.cli.files import NewFile, keep_apart
from tauten.cli.reading import data_argument
from tauten.cli.showing import table
from tauten.cli.specs import Spec, learner_option, one_spec, parameter_option, shared
from tauten.cli.studies import Study, study_options
from tauten.cli.values import assignments, values_of

if TYPE_CHECKING:
    from tauten.evaluate import Sweep


@click.command(short_help="A learner with every combination of parameters.")
@data_argument
@learner_option(several=False)
@parameter_option
@click.option(
    "-g",
    "--grid",
    "grid",
    multiple=True,
    required=True,
    metavar="NAME=VALUES",
    help="Values of a parameter: C=0.1,1,10 or C=2^-5:5 or window=5:50:5; may be repeated.",
)
@click.option(
    "--save", type=NewFile(), metavar="MODEL", help="Write the model with the fewest errors to a file."
)
@study_options(orders=False)
def sweep(
    data: str,
    learner: str,
    parameters: tuple[str, ...],
    grid: tuple[str, ...],
    save: str | None,
    study: Study,
) -> None:
    """Run a learner over DATA with every combination of parameters, each row predicted, then learned."""
    import tauten as tt

    spec = one_spec(learner)
    fixed = spec.values(shared([spec], parameters))
    points = _points(spec, fixed, grid)
    varying = sum(len(values) > 1 for values in points.values())
    if study.plot is not None and varying != 1:
        raise Wrong(f"--plot draws errors over one parameter, but {varying} vary; expected one.")
    keep_apart([data], [save])
    X, y = study.rows(data)
    alone = {name: [value] for name, value in fixed.items()}
    if spec.entry.ask is not None and "random_state" not in {**alone, **points}:
        alone["random_state"] = [0]
    with study.output.jobs("sweep"):
        swept = tt.sweep(spec.entry.name, {**alone, **points}, X, y, n_jobs=study.jobs)
    if save is not None:
        swept.best.save(save)
    frame = swept.to_frame().drop(columns=list(alone))
    plain = {
        "best": {name: swept.best_params[name] for name in points},
        "models": frame.to_dict("records"),
        "seconds": swept.seconds,
    }
    study.report(swept, frame, plain, _table(swept, frame, list(points)), model=save)


def _points(spec: Spec, fixed: Mapping[str, Any], grid: Sequence[str]) -> dict[str, list[Any]]:
    """The values of each parameter of a grid, each of which the learner takes."""
    with as_given():
        points = {name: values_of(values) for name, values in assignments(grid).items()}
    for name, values in points.items():
        spec.check(name)
        if name in fixed:
            raise Wrong(f"{name} is given by itself and in the grid; expected one of them.")
        for value in values:
            spec.make({**fixed, name: value})
    return points


def _table(swept: "Sweep", frame: Any, names: list[str]) -> Any:
    """A model a line, the best marked."""
    best = int(swept.errors.argmin())
    rows = [
        [*(f"{row[name]:.6g}" if isinstance(row[name], float) else str(row[name]) for name in names)]
        + [row[name] for name in frame if name not in names]
        + ["best" if place == best else ""]
        for place, row in enumerate(frame.to_dict("records"))
    ]
    headings = [*names, *(name.replace("_", " ") for name in frame if name not in names), ""]
    return table(rows, headings, left=())
