"""Model files as commands take them: the model, and how far the run had come that wrote it."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from tauten.evaluate import Trained
    from tauten.files import Checkpoint

model_argument = click.argument("model", metavar="MODEL")


def load_model(path: str) -> "tuple[Trained, Checkpoint | None]":
    """The model of a file, and, where `tauten run` wrote it, its place in the data."""
    import tauten as tt

    try:
        at = tt.Checkpoint.load(path)
    except tt.ModelFileError:
        return tt.load(path), None  # a model alone, or none
    return at.model, at


def known_names(model: "Trained") -> list[str] | None:
    """The names of the features that a model knows, if it knows any."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]
