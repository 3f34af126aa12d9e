"""Model files as commands take them: the model, and how the file was read that it learned from."""

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from tauten.evaluate import Trained

model_argument = click.argument("model", metavar="MODEL")


def load_model(path: str) -> tuple["Trained", dict[str, Any]]:
    """The model of a file, and, where `tauten run` wrote it, what the run had come to."""
    from tauten.io import model_file
    from tauten.registry import load_parts

    header, arrays = model_file.read(path)
    model: Trained = load_parts(path, header, arrays)
    return model, header.get("stream", {})


def known_names(model: "Trained") -> list[str] | None:
    """The names of the features that a model knows, if it knows any."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]
