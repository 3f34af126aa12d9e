"""`tauten run`: a file to a model, each row predicted, then learned."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from tauten.cli.errors import STOPPED, Wrong
from tauten.cli.files import NewFile, draw, keep_apart, plot_option
from tauten.cli.reading import data_argument, given_options, open_data, reading_options
from tauten.cli.showing import Output, json_option, n_rows_in_words, quiet_option, table
from tauten.cli.specs import learner_option, one_learner, parameter_option

if TYPE_CHECKING:
    from rich.console import Console

    from tauten.files import Checkpoint
    from tauten.io import Source
    from tauten.tally import Tally


@click.command(short_help="A file to a model, each row predicted, then learned.")
@data_argument
@learner_option(several=False, required=False)
@parameter_option
@click.option("--test", metavar="FILE", help="Then predict the rows of this file, without learning them.")
@click.option(
    "--epochs",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Passes over the file; figures are of the first.",
)
@click.option(
    "--save",
    type=NewFile(),
    metavar="MODEL",
    help="Write the model here at the end, or when stopped by Ctrl-C.",
)
@click.option(
    "--checkpoint", type=click.IntRange(min=1), metavar="ROWS", help="Write it also after every so many rows."
)
@click.option(
    "--resume", type=click.Path(), metavar="MODEL", help="Go on where the run that wrote this file stood."
)
@click.option("--trace", type=NewFile(), metavar="CSV", help="Write what happened at each row.")
@plot_option
@click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), metavar="N", help="Of learners that draw at random."
)
@quiet_option
@json_option
@reading_options
def run(
    data: str,
    learner: str | None,
    parameters: tuple[str, ...],
    test: str | None,
    epochs: int,
    save: str | None,
    checkpoint: int | None,
    resume: str | None,
    trace: str | None,
    plot: str | None,
    seed: int | None,
    quiet: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Predict each row of DATA, then learn it.

    DATA is a file, "-" for standard input, or a data set (`tauten data list`).
    """
    options = given_options(reading)
    if resume is not None and (learner is not None or parameters or seed is not None):
        raise Wrong("--resume goes on with the learner that was saved; expected no -l, -p or --seed.")
    if resume is None and learner is None:
        raise Wrong("-l must name a learner, such as pa1; `tauten list` shows all.")
    save = save or resume
    if checkpoint is not None and save is None:
        raise Wrong("--checkpoint needs --save, which says where to write to.")
    keep_apart([data, test], [save, trace, plot])
    at = _begun(learner, parameters, seed) if resume is None else _resumed(resume, epochs)
    options = {**at.open_options(), **options}
    source = open_data(data, options)
    job = Job(data, at, source, Output(quiet, as_json), save, trace, plot)
    job.learn(epochs, checkpoint)
    tested = None if test is None else job.predict(test, options)
    job.report(learner, tested)


@dataclass
class Job:
    """A run: what learns, what is read, and what is written."""

    data: str
    at: "Checkpoint"
    source: "Source"
    output: Output
    save: str | None
    trace: str | None
    plot: str | None

    def learn(self, epochs: int, every: int | None) -> None:
        """Learn the rows of the file; the model is saved on the way out of anything that stops it."""
        import tauten as tt
        from tauten.cli.trace import traced

        begun = place(self.at.tally)
        try:
            with (
                traced(self.at, self.trace),
                self.output.rows("learn", self.source, epochs) as seen,
            ):
                tt.run(
                    self.at, self.source, passes=epochs, checkpoint=self.save, every=every or sys.maxsize,
                    watch=seen,
                )  # fmt: skip
        except BaseException as error:
            self._stopped(error, begun)
            raise
        finally:
            self.output.left_out(self.source)
        if not self.at.model.__sklearn_is_fitted__():
            self.output.remark("No label was asked for; there is no model to save.")
            self.save = None
        elif self.save is not None and place(self.at.tally) == begun:  # nothing was left to learn
            self.at.save(self.save)

    def _stopped(self, error: BaseException, begun: int) -> None:
        """Say what is left of a run that did not come to its end."""
        n_rows = place(self.at.tally)
        stopped = isinstance(error, KeyboardInterrupt)
        if stopped or n_rows > begun:
            saved = stopped or isinstance(error, ValueError)  # else what failed may be the saving
            click.echo(
                f"Stopped after {n_rows_in_words(n_rows)}{self._kept(n_rows) if saved else '.'}", err=True
            )
        if stopped:
            raise click.exceptions.Exit(STOPPED)

    def _kept(self, n_rows: int) -> str:
        if self.save is None:
            return "; nothing is saved without --save."
        if not n_rows:
            return "; there is nothing to save."
        return (
            f"; the model is saved to {self.save}, to go on with: tauten run {self.data} --resume {self.save}"
        )

    def predict(self, test: str, options: Mapping[str, Any]) -> "Tally":
        """The figures of another file, which is not learned."""
        import tauten as tt

        source = open_data(test, options)
        try:
            with self.output.rows("test", source) as seen:
                return tt.run(self.at.model, source, learn=False, watch=seen)
        except KeyboardInterrupt:
            click.echo(f"Stopped while testing{self._kept(place(self.at.tally))}", err=True)
            raise click.exceptions.Exit(STOPPED) from None
        finally:
            self.output.left_out(source)

    def report(self, spec: str | None, tested: "Tally | None") -> None:
        """Print the figures, and write the picture."""
        if self.plot is not None:
            draw(self.at.tally.plot(), self.plot)
        written = {"model": self.save, "trace": self.trace, "plot": self.plot}
        self.output.result(self._plain(spec, tested, written), lambda view: self._show(view, tested))
        self.output.wrote(**written)

    def _plain(
        self, spec: str | None, tested: "Tally | None", written: Mapping[str, str | None]
    ) -> dict[str, Any]:
        at, tally = self.at, self.at.tally
        plain = {"data": self.data, "learner": type(at.model).__name__, **tally.summary()}
        if spec is not None:
            plain["learner"] = spec
        if tally.classes is not None:
            plain["classes"] = tally.class_counts()
        plain["passes"] = [{"rows": int(rows), "error": errors / rows} for rows, errors in tally.passes]
        plain |= {"skipped": self.source.position.skipped, "missing": self.source.position.missing}
        if tested is not None:
            plain["test"] = tested.summary()
        return plain | {what: path for what, path in written.items() if path is not None}

    def _show(self, view: "Console", tested: "Tally | None") -> None:
        columns = [_lines(self.at.tally)]
        if tested is not None:
            columns.append({name: value for name, value in _lines(tested).items() if name not in LEARNING})
        lines = [[name, *(column.get(name) for column in columns)] for name in columns[0]]
        title = os.path.basename(self.data) if os.path.exists(self.data) else self.data
        view.print(table(lines, ["", title, "test"][: 1 + len(columns)]))


LEARNING = ("updates", "asked", "share asked")  # what says nothing of rows that are not learned


def _lines(tally: "Tally") -> dict[str, float]:
    """The figures by what people call them."""
    called: dict[str, str] = {}
    if tally.classes is not None and len(tally.classes) == 2:
        first, second = tally.classes.tolist()
        called = {name: f"{name} of {second}" for name in ("f1", "sensitivity", "specificity")}
        called["f1_first"] = f"f1 of {first}"
    lines = {called.get(name, name.replace("_", " ")): value for name, value in tally.summary().items()}
    error = "error rate" if tally.classes is not None else "mean absolute error"
    for number, (n_rows, errors) in enumerate(tally.passes[1:], start=2):
        lines[f"{error} of pass {number}"] = errors / n_rows
    return lines


def place(tally: "Tally") -> int:
    """Rows learned, in all passes."""
    return int(sum(rows for rows, _ in tally.passes))


def _begun(spec: str | None, parameters: tuple[str, ...], seed: int | None) -> "Checkpoint":
    """A run from its start."""
    from tauten.files import Checkpoint
    from tauten.regressor import OnlineRegressor
    from tauten.tally import Tally
    from tauten.wrappers.active import seeded

    model = one_learner(spec or "", parameters)
    if seed is not None:
        model.set_params(random_state=seed)
    model = seeded(model, 0)
    return Checkpoint(model, Tally(not isinstance(model, OnlineRegressor)))


def _resumed(path: str, epochs: int) -> "Checkpoint":
    """A run from where it was left."""
    from tauten.files import Checkpoint

    at = Checkpoint.load(path)
    if at.number > epochs:
        raise Wrong(f"{path} is in pass {at.number}; expected --epochs {at.number} or more.")
    return at
