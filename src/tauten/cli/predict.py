"""`tauten predict`: the labels that a model gives to the rows of a file."""

import csv
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import click

from tauten.cli.errors import Failed, Wrong
from tauten.cli.files import NewFile, keep_apart
from tauten.cli.models import known_names, load_model, model_argument
from tauten.cli.reading import data_argument, found, given_options, open_data, reading_options
from tauten.cli.showing import Output, json_option, n_rows_in_words, number, quiet_option

if TYPE_CHECKING:
    from tauten.evaluate import Trained
    from tauten.io import Batch, Source
    from tauten.tally import Tally

TABLES = ("csv", "tsv", "jsonl", "parquet")


@click.command(short_help="The labels that a model gives to rows.")
@model_argument
@data_argument
@click.option(
    "-o",
    "--output",
    "to",
    type=NewFile(),
    metavar="FILE",
    help="Write the predictions here, not to standard output.",
)
@click.option("--scores", is_flag=True, help="Write a CSV of line, prediction and scores.")
@click.option("--unlabelled", is_flag=True, help="The rows have no labels.")
@quiet_option
@json_option
@reading_options
def predict(
    model: str, data: str, to: str | None, scores: bool, unlabelled: bool, quiet: bool, as_json: bool,
    **reading: Any,
) -> None:  # fmt: skip
    """Write the label that MODEL gives to each row of DATA, a line a row.

    DATA is read as the file was that `tauten run` learned from, unless options say otherwise. Where there
    are labels, the error rate is said as well. A table without --label has none.
    """
    output = Output(quiet, as_json, live=to is not None or not sys.stdout.isatty())
    if as_json and to is None:
        raise Wrong("--json prints the figures; expected -o, for the predictions to go to a file.")
    keep_apart([model, data], [to])
    learned, at = load_model(model)
    if not hasattr(learned, "predict_one"):
        raise Failed(f"{model} holds a {type(learned).__name__}, which predicts no rows.")
    if scores and not hasattr(learned, "classes_"):
        raise Wrong(f"{model} is a regression, whose predictions are its scores; expected no --scores.")
    options = options_of(data, given_options(reading), {} if at is None else at.open_options(), unlabelled)
    source = open_data(data, options)
    source.know(known_names(learned))
    with writing(to) as file:
        tally = predict_rows(learned, source, scores, file, output)
    output.left_out(source)
    _report(data, tally, source, output, to)


def options_of(
    data: str, given: Mapping[str, Any], remembered: Mapping[str, Any], unlabelled: bool
) -> dict[str, Any]:
    """How to read rows to predict: as given, and else as those that were learned."""
    from tauten.io.source import FORMATS

    path, own = found(data)
    named = {"format": given["format"]} if "format" in given else {}
    if path == "-" and not named and "format" in remembered:
        named = {"format": remembered["format"]}
    format = open_data(path, named).format
    fitting = FORMATS[format].options - {"names"}
    options = {name: value for name, value in remembered.items() if name in fitting and value is not None}
    options |= {**named, **own, **given}
    if unlabelled or (format in TABLES and "label" not in options):
        options["labelled"] = False
        options.pop("label", None)
    return options


@contextmanager
def writing(path: str | None) -> Iterator[TextIO]:
    """A file to write to, or standard output."""
    if path is None:
        yield sys.stdout
    else:
        with open(path, "w", newline="", encoding="utf-8") as file:
            yield file


def predict_rows(model: "Trained", source: "Source", scores: bool, file: TextIO, output: Output) -> "Tally":
    """Write what is predicted of each row; the figures, as far as there are labels."""
    from tauten.files import rows_for
    from tauten.io import ReadError
    from tauten.tally import Tally

    tally = Tally(hasattr(model, "classes_"))
    lines = csv.writer(file, lineterminator="\n")
    if scores:
        lines.writerow(["line", "predicted", *_headings(model)])
    try:
        with output.rows("predict", source) as seen:
            for batch in source:
                X = rows_for(model, batch)
                predicted = model.predict(X)
                if scores:
                    values = model.decision_function(X).reshape(len(batch), -1).tolist()
                    scored = zip(batch.lines.tolist(), predicted.tolist(), values, strict=True)
                    lines.writerows([line, label, *score] for line, label, score in scored)
                else:
                    lines.writerows([label] for label in predicted.tolist())
                file.flush()  # as rows come
                _count(tally, model, batch, predicted)
                seen(tally, batch)
    except ReadError as error:
        if error.line is None and error.reason.startswith("label "):
            raise Failed(f"{error} Say --unlabelled if there are no labels.") from error
        raise
    return tally


def _headings(model: Any) -> list[str]:
    """What the columns of scores are called."""
    labels = model.classes_.tolist()
    return ["score"] if len(labels) <= 2 else [f"score_{label}" for label in labels]


def _count(tally: "Tally", model: Any, batch: "Batch", predicted: Any) -> None:
    """Add to the figures, if the labels are such as the model knows."""
    import numpy as np

    from tauten.labels import is_text
    from tauten.stream import Outcome

    if batch.y is None or (tally.classes is not None and is_text(batch.y) != is_text(model.classes_)):
        return
    always, never = np.ones(len(batch), dtype=bool), np.zeros(len(batch), dtype=bool)
    tally.add(Outcome(model.read_y(batch.y), predicted, always, never, never))


def _report(data: str, tally: "Tally", source: "Source", output: Output, to: str | None) -> None:
    """Say how good the predictions are, as far as that is known."""
    n_rows = source.position.rows
    figures = tally.summary() if tally.n_rows else {"rows": n_rows}
    for name in ("updates", "asked", "share_asked", "seconds"):
        figures.pop(name, None)
    plain = {"data": data, **figures, "skipped": source.position.skipped, "predictions": to}
    if output.as_json:
        output.result(plain, lambda view: None)
        return
    name = "error_rate" if tally.classes is not None else "mean_absolute_error"
    right = f", {name.replace('_', ' ')} {number(figures[name])}" if name in figures else ""
    output.remark(f"{n_rows_in_words(n_rows)} predicted{right}")
    output.wrote(predictions=to)
