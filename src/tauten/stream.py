"""A batch on its way through a loop: what is to be learned of each row, and what happened there."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tauten.kernels.state import Flags, Floats, Plan, State
from tauten.rows import Rows, dicts_in

Decisions = tuple[Floats, Floats, Floats]  # for each row: y, margins (a column a decision), importance
Progress = Callable[[int, int], None]  # called with the rows learned and the rows there are
NOTHING: NDArray[np.bool_] = np.zeros(0, dtype=bool)


@dataclass
class Record:
    """Where a pass writes what happened at each row: scores before the update, which decisions moved, and
    whether the label was asked.
    """

    scores: Floats
    moved: Flags
    asked: Flags

    @classmethod
    def empty(cls, n_rows: int, state: State) -> Self:
        """Room for what happens to rows in a state."""
        moved = np.zeros((n_rows, state.n_decisions), dtype=np.uint8)
        return cls(np.zeros((n_rows, state.n_columns)), moved, np.ones(n_rows, dtype=np.uint8))

    def part(self, first: int, stop: int) -> "Record":
        return Record(self.scores[first:stop], self.moved[first:stop], self.asked[first:stop])


@dataclass
class Outcome:
    """Rows that were predicted before they were learned: a row each.

    y, predicted : labels (targets), and what was predicted, of which `known` says where there was anything
    updates, asked : whether the model moved, and whether the label was looked at
    """

    y: NDArray[Any]
    predicted: NDArray[Any]
    known: NDArray[np.bool_]
    updates: NDArray[np.bool_]
    asked: NDArray[np.bool_]

    @classmethod
    def of(cls, y: NDArray[Any], parts: "list[tuple[NDArray[Any] | None, Record]]") -> Self:
        """What records say, each with what was predicted of its rows, or None."""
        predicted = [y[:0]]
        known, updates, asked = [NOTHING], [NOTHING], [NOTHING]
        for labels, record in parts:
            n_rows = len(record.moved)
            predicted.append(np.repeat(y[:1], n_rows) if labels is None else labels)
            known.append(np.full(n_rows, labels is not None))
            updates.append(np.asarray(record.moved.any(axis=1)))
            asked.append(record.asked.astype(bool))
        return cls(y, *(np.concatenate(field) for field in (predicted, known, updates, asked)))


@dataclass
class Stream:
    """Rows that were read and checked, with what is to be learned of each."""

    rows: Rows
    labels: NDArray[Any]  # as given
    y: NDArray[Any]  # class codes, or real targets
    importance: Floats
    index: Mapping[str, int] | None  # names of the columns
    balanced: bool = False  # whether class_weight="balanced" is in the importance already
    order: NDArray[np.intp] | None = None  # row numbers as given, where the rows were put in another order

    def take(self, order: NDArray[np.intp]) -> "Stream":
        """The rows in another order."""
        parts = self.rows.take(order), self.labels[order], self.y[order], self.importance[order]
        return Stream(*parts, self.index, self.balanced, order)

    def fault(self, row: int) -> Exception:
        """What is wrong with a row that a loop refused."""
        return self.rows.fault(row, self.index, row if self.order is None else int(self.order[row]))


def learn_rows(
    state: State,
    plan: Plan,
    stream: Stream,
    span: tuple[int, int],
    decisions: Callable[[int, int], Decisions],
    after: Callable[[int, Record], None],
) -> None:
    """Learn a span of a stream, in order, block by block; `after` is told what happened from a row on."""
    rows = stream.rows
    for start, block in rows.blocks(*span, state.per_row):
        record = Record.empty(len(block), state)
        done = state.learn(
            block, plan, *decisions(start, start + len(block)), record.scores, record.moved, record.asked
        )
        after(start, record.part(0, done))
        if done < len(block):
            if rows.trusted or not rows.sparse:
                raise stream.fault(start + done)
            rows.sort()
            learn_rows(state, plan, stream, (start + done, span[1]), decisions, after)
            return


def progress_spans(n_rows: int, progress: Progress | None) -> Iterator[tuple[int, int]]:
    """All rows at once, or, where somebody wants to hear of it, about a hundred spans."""
    size = max(n_rows, 1) if progress is None else max(n_rows // 100, 1)
    for first in range(0, n_rows, size):
        yield first, min(first + size, n_rows)
        if progress is not None:
            progress(min(first + size, n_rows), n_rows)


def one_row(x: Any) -> Any:
    """One example, a dict, a vector, a sparse row or a row of a frame, as a batch of one."""
    if isinstance(x, Mapping):
        return [x]
    if hasattr(x, "to_frame") and hasattr(x, "index"):  # a row of a pandas frame, which has names
        return x.to_frame().T
    shape = np.shape(x)
    dicts = dicts_in(x)
    if len(shape) == 1 and dicts is None:
        return x.reshape(1, -1) if sp.issparse(x) else np.asarray(x)[None]
    if len(shape) == 2 and shape[0] == 1:
        return x
    what = f"{type(x).__name__} of shape {shape}" if dicts is None else f"{len(dicts)} dicts in a list"
    raise ValueError(f"Got {what}; expected one example: a dict, a vector or a single row.")


def as_weights(sample_weight: Any, n_rows: int) -> Floats:
    """Example weights, a number a row or one for all, checked."""
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight cannot be read: {error}; expected a number a row.") from error
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}; expected ({n_rows},), a weight a row of X."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        row = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0])
        raise ValueError(
            f"sample_weight is {weights[row]} at row {row}; expected a finite number, 0 or above."
        )
    return weights
