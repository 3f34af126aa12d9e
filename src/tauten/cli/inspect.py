"""`tauten inspect`: what is in a model file."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from tauten.cli.models import known_names, load_model, model_argument
from tauten.cli.showing import Output, json_option, number, table

if TYPE_CHECKING:
    from rich.console import Console

    from tauten.files import Checkpoint

CLASSES_SHOWN = 20
UNITS = ("bytes", "kB", "MB", "GB", "TB")


@click.command(short_help="What is in a model file.")
@model_argument
@click.option(
    "-n",
    "--features",
    "n_features",
    type=click.IntRange(min=0),
    default=10,
    help="How many of the heaviest features to name, of each class.  [default: 10]",
)
@json_option
def inspect(model: str, n_features: int, as_json: bool) -> None:
    """What MODEL is, what it has learned, and what it goes by."""
    learned, at = load_model(model)
    facts = {"model": " ".join(repr(learned).split()), **facts_of(learned), **run_of(at)}
    facts["size"] = os.path.getsize(model)
    weights = list(heaviest(learned, n_features, {} if at is None else at.source_options))
    parameters = {name: value for name, value in learned.get_params(deep=False).items()}
    plain = {"class": type(learned).__name__, "parameters": parameters, **facts, "heaviest": weights}
    Output(as_json=as_json).result(plain, lambda view: _show(view, facts, weights))


def facts_of(model: Any) -> dict[str, Any]:
    """What a model has learned, in plain values."""
    facts: dict[str, Any] = {}
    if hasattr(model, "classes_"):
        facts["classes"] = dict(zip(model.classes_.tolist(), model.class_count_.tolist(), strict=True))
    facts["features"] = model.n_features_in_
    learner = getattr(model, "learner", model)
    named = known_names(model) is not None
    facts["columns"] = "named" if named else "hashed" if getattr(learner, "hash_bits", None) else "numbered"
    if hasattr(model, "n_seen_"):
        facts |= {"seen": model.n_seen_, "asked": model.n_asked_, "waiting": len(model.waiting_)}
    counts = {"rounds": "t_", "moves": "n_updates_"}
    return facts | {name: getattr(model, count) for name, count in counts.items() if hasattr(model, count)}


def run_of(at: "Checkpoint | None") -> dict[str, Any]:
    """How far the run had come that wrote the file, if a run did."""
    if at is None:
        return {}
    error = "mean_absolute_error" if at.tally.classes is None else "error_rate"
    return {"pass": at.number, "row": at.position.rows, error: at.tally.error_rate}


def heaviest(model: Any, most: int, options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The features with the largest weights, for each class, or for a regression of either sign."""
    import numpy as np

    weights = getattr(model, "coef_", None)
    if weights is None or not most:
        return
    names = known_names(model)
    first = 1 if options.get("format") == "svmlight" and not options.get("zero_based") else 0
    labels = model.classes_.tolist() if hasattr(model, "classes_") else None
    rows = np.atleast_2d(weights)
    if labels is not None and len(labels) <= 2:
        rows = np.vstack([-rows[0], rows[0]][: len(labels)])
    for place, row in enumerate(rows):
        order = np.argsort(-np.abs(row) if labels is None else -row, kind="stable")[:most]
        for column in order.tolist():
            if row[column] > 0 or (labels is None and row[column]):
                name = column + first if names is None else names[column]
                yield {
                    **({} if labels is None else {"class": labels[place]}),
                    "feature": name,
                    "weight": float(row[column]),
                }


def _show(view: "Console", facts: dict[str, Any], weights: list[dict[str, Any]]) -> None:
    rows = [[name.replace("_", " "), _cell(name, value)] for name, value in facts.items()]
    view.print(table(rows, ["", ""], left=(0, 1)), "")
    if weights:
        headings = ["class"] if "class" in weights[0] else []
        cells = [[str(row[name]) for name in [*headings, "feature"]] + [row["weight"]] for row in weights]
        view.print(table(cells, [*headings, "heaviest feature", "weight"], left=range(len(headings) + 1)))


def _cell(name: str, value: Any) -> str:
    if name == "size":
        return size(value)
    if isinstance(value, dict):
        counts = [f"{label} {number(count)}" for label, count in list(value.items())[:CLASSES_SHOWN]]
        more = f" and {len(value) - CLASSES_SHOWN} more" if len(value) > CLASSES_SHOWN else ""
        return f"{len(value)}: {', '.join(counts)}{more}"
    return number(value)


def size(n_bytes: float) -> str:
    """A number of bytes for people."""
    power = 0
    while n_bytes >= 1000 and power < len(UNITS) - 1:
        n_bytes, power = n_bytes / 1000, power + 1
    return f"{n_bytes:.3g} {UNITS[power]}"
