"""What a family keeps and how it is run; and what every family that learns along x keeps: one table, grown,
regrouped, merged and saved in one place.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from tauten.kernels import loops
from tauten.kernels.pointers import Kernel

Floats = NDArray[np.float64]
Flags = NDArray[np.uint8]


@dataclass(kw_only=True)
class Plan:
    """What a learner tells its loop; a family adds its rules, by handle, and their numbers."""

    bias: float
    ask: Any = 0  # every label is learned
    asking: Floats = field(default_factory=lambda: np.zeros(0))


@dataclass(kw_only=True)
class LinearPlan(Plan):
    """What loops along x are told."""

    report: Any
    decide: Any
    loss: Any
    step: Any
    C: Floats


@dataclass
class Dense:
    """Rows as a matrix."""

    X: Floats

    def __len__(self) -> int:
        return len(self.X)

    def rest(self, first: int) -> "Dense":
        """The rows from `first` on."""
        return Dense(self.X[first:])

    def is_finite(self) -> bool:
        """Whether all values are."""
        return bool(np.isfinite(self.X).all())

    def copy(self) -> "Dense":
        return Dense(self.X.copy())


@dataclass
class Sparse:
    """Rows as in CSR, with unsigned indices; `trusted` rows hold each column once, in any order."""

    values: Floats
    indices: NDArray[np.uint32]
    starts: NDArray[np.uint64]
    trusted: bool

    def __len__(self) -> int:
        return len(self.starts) - 1

    def rest(self, first: int) -> "Sparse":
        """The rows from `first` on."""
        return Sparse(self.values, self.indices, self.starts[first:], self.trusted)

    def is_finite(self) -> bool:
        """Whether all values are."""
        return bool(np.isfinite(self.values[self.starts[0] : self.starts[-1]]).all())

    def copy(self) -> "Sparse":
        used = slice(int(self.starts[0]), int(self.starts[-1]))
        starts = self.starts - self.starts[0]
        return Sparse(self.values[used].copy(), self.indices[used].copy(), starts, self.trusted)


class State:
    """What was learned: how many rows, and what a family makes of them."""

    header: ClassVar[tuple[str, ...]] = ("n_features", "n_classes")  # the constructor's arguments

    n_features: int
    n_classes: int  # 0 for regression
    n_rounds: int  # rows whose label was learned
    n_moves: int  # those at which any decision moved

    @property
    def n_columns(self) -> int:
        """Scores of a row: one for two classes or a real target, else one a class."""
        return self.n_classes if self.n_classes > 2 else 1

    @property
    def n_decisions(self) -> int:
        """Decisions at a row, each of which moves something or not: one where classes are coupled."""
        return 1

    @property
    def per_row(self) -> int:
        """Numbers that learning a row takes room for, by which rows are cut into blocks."""
        return self.n_columns

    @property
    def size(self) -> int:
        """Numbers that a copy takes."""
        raise NotImplementedError

    @property
    def in_one_column(self) -> bool:
        """Whether a column of weights is all there is."""
        return False

    def upkeep(self) -> None:
        """What a decision may ask for between two rows."""

    def run(
        self,
        rows: Dense | Sparse,
        plan: Any,
        y: Floats,
        margins: Floats,
        importance: Floats,
        scores: Floats,
        moved: Flags,
        asked: Flags,
    ) -> int:
        """One call of the compiled loop: how many rows it learned, or -1 - i before a row i that it can't."""
        raise NotImplementedError

    def score_rows(self, rows: Dense | Sparse, bias: float) -> Floats | None:
        """Scores of rows that hold each column once; None where a value is not finite."""
        raise NotImplementedError

    def grow_features(self, n_features: int) -> None:
        """Make room for features, doubling so that a stream pays for each feature once."""
        raise NotImplementedError

    def _regrouped(self, order: Sequence[int]) -> Self:
        raise NotImplementedError

    def place_features(self, columns: Sequence[int], n_features: int) -> None:
        """Move feature j to column `columns[j]` of `n_features`."""
        raise NotImplementedError

    def mix(self, states: Sequence[Self], shares: Floats) -> None:
        """Become the mean of states of the same features and classes, with shares that add up to 1."""
        raise NotImplementedError

    def arrays(self) -> dict[str, Floats]:
        """Everything learned, for a model file."""
        raise NotImplementedError

    @classmethod
    def restore(cls, header: dict[str, Any], arrays: dict[str, Floats]) -> Self:
        """The state that was saved; raises ValueError where the parts do not fit together."""
        raise NotImplementedError

    def restored(self, header: dict[str, Any], arrays: dict[str, Floats]) -> Self:
        """A state like this one that was saved."""
        return self.restore(header, arrays)

    def settings(self) -> tuple[Any, ...]:
        """What cannot change once something was learned."""
        return tuple(getattr(self, name) for name in self.header if not name.startswith("n_"))

    def regrouped(self, order: Sequence[int]) -> Self:
        """A state in which class k has what class `order[k]` had; -1 marks a class that is new."""
        fresh = self._regrouped(order)
        fresh.n_rounds, fresh.n_moves = self.n_rounds, self.n_moves
        return fresh

    def learn(
        self,
        rows: Dense | Sparse,
        plan: Plan,
        y: Floats,
        margins: Floats,
        importance: Floats,
        scores: Floats,
        moved: Flags,
        asked: Flags,
    ) -> int:
        """Learn the rows in order, up to the first that cannot be learned: how many were."""
        first = 0
        while first < len(rows):
            done = self.run(
                rows.rest(first) if first else rows,
                plan, y[first:], margins[first:], importance[first:],
                scores[first:], moved[first:], asked[first:],
            )  # fmt: skip
            first += done if done >= 0 else -1 - done
            if done < 0:
                break
        self.n_rounds += int(np.count_nonzero(asked[:first]))
        done_moved = moved[:first]
        self.n_moves += int(np.count_nonzero(done_moved if moved.shape[1] == 1 else done_moved.any(axis=1)))
        return first

    def learn_row(
        self,
        row: Dense | Sparse,
        plan: Plan,
        y: Floats,
        margins: Floats,
        importance: Floats,
        scores: Floats,
        moved: Flags,
        asked: Flags,
    ) -> bool:
        """The same for a single row, at less cost: whether it was learned."""
        if self.run(row, plan, y, margins, importance, scores, moved, asked) != 1:
            return False
        self.n_rounds += 1
        self.n_moves += 1 in moved.tobytes()
        return True


class LinearState(State):
    """One table. Row 0 is the constant feature, row 1 + j feature j. Its columns come in blocks: first one
    column of weights a decision (or class), then what the family adds. `memory` is a short vector of the
    family's own.
    """

    header = ("n_features", "n_classes", "coupled", "averaged")

    def __init__(
        self, n_features: int, n_classes: int, coupled: bool, averaged: bool, n_models: int = 1
    ) -> None:
        """`coupled` classes compete in one decision, others have one each."""
        self.n_features, self.n_classes, self.n_models = n_features, n_classes, n_models
        self.coupled, self.averaged = bool(coupled), bool(averaged)
        self.n_rounds = self.n_moves = 0
        self._place(np.zeros((1 + n_features, self._table_width())), n_features)
        self.memory: Floats = self._new_memory()

    def _table_width(self) -> int:
        raise NotImplementedError

    def _new_memory(self) -> Floats:
        raise NotImplementedError

    def decide(self) -> Any:
        """The handle of the family's decision."""
        raise NotImplementedError

    def report(self) -> Any:
        """The handle of what makes scores of a row's products with the table."""
        raise NotImplementedError

    def readout(self, table: Floats) -> Floats:
        """What predicts: rows of the table, or their products with examples, as columns of the model."""
        raise NotImplementedError

    @property
    def n_columns(self) -> int:
        return self.n_models * super().n_columns

    @property
    def n_decisions(self) -> int:
        return self.n_models if self.coupled else self.n_columns

    @property
    def per_row(self) -> int:
        return self.table.shape[1]

    @property
    def size(self) -> int:
        return self.table.size

    @property
    def in_one_column(self) -> bool:
        return self.table.shape[1] == 1

    def _place(self, table: Floats, n_features: int) -> None:
        """Take a table, of which `used` is the part without the room kept for features to come."""
        self.table, self.n_features = table, n_features
        self.used = table[: 1 + n_features]

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value for name, value in self.__dict__.items() if name != "used"
        }  # a copy would be no view

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._place(self.table, self.n_features)

    def grow_features(self, n_features: int) -> None:
        table = self.table
        if 1 + n_features > len(table):
            table = np.zeros((max(1 + n_features, 2 * len(table)), table.shape[1]))
            table[: len(self.table)] = self.table
        self._place(table, n_features)

    def run(
        self,
        rows: Dense | Sparse,
        plan: Any,
        y: Floats,
        margins: Floats,
        importance: Floats,
        scores: Floats,
        moved: Flags,
        asked: Flags,
    ) -> int:
        loop: Kernel
        if isinstance(rows, Dense):
            loop = loops.learn_dense_column if self.in_one_column else loops.learn_dense
            done: int = loop.run(
                rows.X, y, margins, importance, plan.C, plan.bias, self.used, self.memory,
                plan.report, plan.decide, plan.loss, plan.step, scores, moved,
                plan.ask, plan.asking, asked,
            )  # fmt: skip
        else:
            loop = loops.learn_sparse_column if self.in_one_column else loops.learn_sparse
            done = loop.run(
                rows.values, rows.indices, rows.starts, rows.trusted,
                y, margins, importance, plan.C, plan.bias, self.used, self.memory,
                plan.report, plan.decide, plan.loss, plan.step, scores, moved,
                plan.ask, plan.asking, asked,
            )  # fmt: skip
        self.upkeep()
        return done

    def explicit(self) -> Floats:
        """The weights that predict, one row a column of the model, the bias first."""
        return self.readout(self.used).T

    def score_rows(self, rows: Dense | Sparse, bias: float) -> Floats | None:
        raw = np.empty((len(rows), self.used.shape[1]))
        if isinstance(rows, Dense):
            done = loops.score_dense.run(rows.X, bias, self.used, raw)
        else:
            done = loops.score_sparse.run(rows.values, rows.indices, rows.starts, bias, self.used, raw)
        return self.readout(raw) if done == len(rows) else None

    def place_features(self, columns: Sequence[int], n_features: int) -> None:
        table = np.zeros((1 + n_features, self.table.shape[1]))
        table[[0, *(1 + column for column in columns)]] = self.used
        self._place(table, n_features)

    def turn(self, axes: Floats) -> None:
        """Go over to features that are products with the rows of `axes`, where all columns lie along x."""
        self._place(np.vstack([self.used[:1], axes @ self.used[1:]]), len(axes))

    def arrays(self) -> dict[str, Floats]:
        return {"table": self.used, "memory": self.memory}

    @classmethod
    def restore(cls, header: dict[str, Any], arrays: dict[str, Floats]) -> Self:
        height, width = arrays["table"].shape
        for name in cls.header:
            kind = int if name.startswith("n_") or name == "window" else bool
            if type(header[name]) is not kind:
                raise ValueError(f"{name} is {header[name]!r}, expected a {kind.__name__}")
        if header["n_features"] != height - 1 or not 0 <= header["n_classes"] <= max(width, 2):
            raise ValueError(f"a table of {height} rows and {width} columns does not fit its header")
        state = cls(**{name: header[name] for name in cls.header})
        for name, like in state.arrays().items():
            if arrays[name].shape != like.shape or arrays[name].dtype != like.dtype:
                raise ValueError(f"{name} has shape {arrays[name].shape}, expected {like.shape}")
            setattr(state, name, np.ascontiguousarray(arrays[name]))
        state._place(state.table, state.n_features)
        if not all(np.isfinite(array).all() for array in arrays.values()):
            raise ValueError("a number in its arrays is not finite")
        state.check_memory()
        return state

    def check_memory(self) -> None:
        """Raise a ValueError where a loop would be led astray by what stands in memory."""
        raise NotImplementedError


def binary_to_columns(weights: Floats, order: Sequence[int], share: float) -> Floats:
    """Columns of weights (last axis) after the classes changed to `order`.

    One column w scores the second of two classes. Among three it becomes -share·w for the first and share·w
    for the second: share ½ keeps the margin between them where classes compete, 1 keeps each column's own
    score.
    """
    n_old = 1 + max(order)
    shape = weights.shape[:-1]
    if len(order) <= 2:
        return weights if n_old == 2 else np.zeros((*shape, 1))
    if n_old <= 1:
        return np.zeros((*shape, len(order)))
    # 0 - x and not -x: a zero stays the zero that a feature met later starts with.
    old = np.concatenate([0.0 - share * weights, share * weights], axis=-1) if n_old == 2 else weights
    columns = np.zeros((*shape, len(order)))
    for new, k in enumerate(order):
        if k >= 0:
            columns[..., new] = old[..., k]
    return columns
