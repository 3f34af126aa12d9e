"""From a file to a model: each row predicted, then learned, in bounded memory; goes on after a stop."""

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from os import PathLike
from typing import Any, Self

import numpy as np
import pandas as pd

from tauten.base import OnlineLearner
from tauten.evaluate import Trained
from tauten.io import model_file
from tauten.io.source import BATCH_ROWS, START, Batch, Options, Position, Source
from tauten.io.source import open as open_source
from tauten.parameters import is_count
from tauten.registry import load_parts
from tauten.regressor import OnlineRegressor
from tauten.stream import Outcome
from tauten.tally import Tally

Path = str | PathLike[str]
Watch = Callable[[Tally, Batch], bool | None]
FREE = ("names", "on_error")  # options that do not say what is read


@dataclass
class Checkpoint:
    """A model on its way through a file, and how far it has come.

    model, tally : as they were after the rows before `position`; source_options : how the file was read
    number : which pass over the file this is, from 1
    """

    model: Trained
    tally: Tally
    position: Position = START
    number: int = 1
    source_options: dict[str, Any] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        """Write model and place to one file, which is a model file as well."""
        header, arrays = self.model.parts()
        stream = {
            "tally": self.tally.to_dict(),
            "position": self.position.to_dict(),
            "number": self.number,
            "options": self.source_options,
        }
        model_file.write(path, {**header, "stream": stream}, arrays)

    def open_options(self) -> dict[str, Any]:
        """What `tauten.io.open` needs to be told to read the file as before."""
        return dict(self.source_options)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save`, or a run with checkpoints, wrote."""
        header, arrays = model_file.read(path)
        if "stream" not in header:
            raise model_file.ModelFileError(f"{path} holds a model, but no place in a file to go on from.")
        model = load_parts(path, header, arrays)
        with model_file.readable(path):
            kept = header["stream"]
            position, tally = Position(**kept["position"]), Tally.from_dict(kept["tally"])
            counts = {**kept["position"], "text_labels": 0, "number": kept["number"]}
            for name, value in counts.items():
                if not is_count(value) or value < 0:
                    raise ValueError(f"{name} is {value!r}, expected a count")
            return cls(model, tally, position, kept["number"], dict(kept["options"]))


def run(
    model: Trained | Checkpoint,
    source: Source | Path,
    *,
    learn: bool = True,
    passes: int = 1,
    classes: Sequence[Any] | None = None,
    checkpoint: Path | None = None,
    every: int = 100_000,
    watch: Watch | None = None,
    **options: Any,
) -> Tally:
    """Predict each row of a file, then learn it, in memory that does not grow; the model learns in place.

    model : a learner, or a `Checkpoint`, to go on from there as if never stopped
    source : what `tauten.io.open` opened, or a path that it opens with these `options`
    learn : False only predicts
    passes : over the file; all figures but `tally.passes` are those of the first
    classes : labels known beforehand; others join where they appear, and count there as an error
    checkpoint : file to save model and place to, after each `every` rows, at the end, and before an error
        passes
    watch : called after each batch with the tally so far and the batch; what is False ends the run there

    >>> import tauten as tt
    >>> from importlib.resources import files
    >>> path = files("tauten.data") / "sms_spam.tsv.gz"
    >>> tt.run(tt.PAClassifier(C=0.1), path, label="label", text="text").error_rate < 0.02
    True
    """
    at = model if isinstance(model, Checkpoint) else _begin(model)
    _check(at, learn, passes, checkpoint, every)
    if not isinstance(source, Source):
        source = open_source(source, **options)
    elif options:
        raise ValueError(
            f"run got the option {next(iter(options))!r}, but its source has been opened already."
        )
    _check_options(at, source)
    source.know(_names(at.model))
    saved = None if isinstance(model, Checkpoint) else _place(at)

    def save() -> None:
        nonlocal saved
        fitted = at.model.__sklearn_is_fitted__()  # an active learner may not have asked for any label yet
        if checkpoint is not None and saved != _place(at) and fitted:
            with _whole():  # else a part of a file may be left
                at.save(checkpoint)
            saved = _place(at)

    try:
        for batch in _batches(at, source, passes, every if checkpoint is not None else None):
            with _whole():
                started = time.perf_counter()
                tested = _test(at.model, batch, learn, classes)
                at.tally.seconds += time.perf_counter() - started
                at.tally.add(tested, at.number)
                at.position = batch.position
            if at.position.rows % every == 0:
                save()
            if watch is not None and watch(at.tally, batch) is False:
                break
    finally:
        save()
    return at.tally


def _begin(model: Any) -> Checkpoint:
    if not isinstance(model, Trained):
        raise ValueError(f"run got {model!r}; expected a learner, which it trains in place, or a Checkpoint.")
    return Checkpoint(model, Tally(not isinstance(model, OnlineRegressor)))


def _check(at: Checkpoint, learn: bool, passes: int, checkpoint: Path | None, every: int) -> None:
    """Raise a ValueError for arguments that do not go together."""
    for name, value in (("passes", passes), ("every", every)):
        if not is_count(value) or value < 1:
            raise ValueError(f"{name} is {value!r}; expected a whole number, 1 or above.")
    if not learn and (passes > 1 or checkpoint is not None):
        raise ValueError(
            "run with learn=False makes one pass and saves nothing; expected no passes or checkpoint."
        )


def _check_options(at: Checkpoint, source: Source) -> None:
    """Raise a ValueError where a file is not read as it was before."""
    options = {name: value for name, value in _plain(source.options).items() if name not in FREE}
    for name, value in at.source_options.items():
        if options.get(name) != value:
            raise ValueError(f"{name} is {options.get(name)!r}, but the run to go on with had {value!r}.")
    at.source_options = options


def _plain(options: Options) -> dict[str, Any]:
    """Options as JSON would give them back."""
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in asdict(options).items()
    }


def _place(at: Checkpoint) -> tuple[int, int]:
    return at.number, at.position.rows


def _names(model: Trained) -> list[str] | None:
    """The names of the features that a model knows, if it knows any."""
    index = _learner(model).feature_index
    return None if index is None else list(index)


def _learner(model: Trained) -> OnlineLearner:
    """What learns in a model."""
    if isinstance(model, OnlineLearner):
        return model
    learner: OnlineLearner = model.__dict__.get("learner_", model.learner)
    return learner


def _batches(at: Checkpoint, source: Source, passes: int, every: int | None) -> Iterator[Batch]:
    """The batches that are still to come, of this pass and the next ones."""
    while at.number <= passes:
        yield from source.batches(at.position, min(BATCH_ROWS, every or BATCH_ROWS), every)
        if at.number == passes:
            return
        at.number, at.position = at.number + 1, START


def rows_for(model: Trained, batch: Batch) -> Any:
    """The rows of a batch as a model takes them: by name where it hashes names."""
    hashed = getattr(_learner(model), "hash_bits", None) is not None
    return batch.X.to_dict("records") if hashed and isinstance(batch.X, pd.DataFrame) else batch.X


def _test(model: Trained, batch: Batch, learn: bool, classes: Sequence[Any] | None) -> Outcome:
    """Predict the rows of a batch, and learn them."""
    if batch.y is None:
        raise ValueError("run needs labels, but the source was opened with labelled=False.")
    X = rows_for(model, batch)
    if learn:
        return model.learn_tested(X, batch.y, classes)
    predicted = model.predict(X)
    always, never = np.ones(len(batch), dtype=bool), np.zeros(len(batch), dtype=bool)
    return Outcome(model.read_y(batch.y), predicted, always, never, never)


@contextmanager
def _whole() -> Iterator[None]:
    """Let Ctrl-C wait until a batch has been learned whole, or a file written."""
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        yield
        return
    pressed: list[Any] = []
    signal.signal(signal.SIGINT, lambda *event: pressed.append(event))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if pressed:
        usual(*pressed[0])
