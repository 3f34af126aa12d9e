"""The mapped family: any other family's state, learning what a mapping makes of the rows.

A block of rows is mapped at a time, and never the whole batch. While a mapping still takes landmarks, rows go
one by one: each is mapped with a coordinate of its own, learned, and taken if it left a weight on it. One
that did not is seen through the landmarks before it, and loses nothing: its coordinate has weight 0.
"""

import copy
from collections.abc import Sequence
from typing import Any, ClassVar, Self

from tauten.kernels.mappings import Mapping
from tauten.kernels.state import Dense, Flags, Floats, LinearState, Plan, Sparse, State
from tauten.kernels.tiles import first_rows


class MappedState(State):
    """A mapping, and the state of whoever learns behind it."""

    header: ClassVar[tuple[str, ...]] = ("n_features", "inner_header")

    def __init__(self, mapping: Mapping, inner: State, law: tuple[Any, ...]) -> None:
        """`law`: the parameters of the mapping, by which another one is known to be the same."""
        self.mapping, self.inner, self._law = mapping, inner, law

    @property
    def n_features(self) -> int:  # type: ignore[override]
        return self.mapping.n_features

    @property
    def n_classes(self) -> int:  # type: ignore[override]
        return self.inner.n_classes

    @property
    def n_rounds(self) -> int:  # type: ignore[override]
        return self.inner.n_rounds

    @n_rounds.setter
    def n_rounds(self, count: int) -> None:
        self.inner.n_rounds = count

    @property
    def n_moves(self) -> int:  # type: ignore[override]
        return self.inner.n_moves

    @n_moves.setter
    def n_moves(self, count: int) -> None:
        self.inner.n_moves = count

    @property
    def inner_header(self) -> dict[str, Any]:
        """What the inner state is made with, for a model file."""
        return {name: getattr(self.inner, name) for name in self.inner.header}

    @property
    def n_columns(self) -> int:
        return self.inner.n_columns

    @property
    def n_decisions(self) -> int:
        return self.inner.n_decisions

    @property
    def per_row(self) -> int:
        return self.mapping.per_row + self.inner.per_row

    @property
    def size(self) -> int:
        return self.mapping.size + self.inner.size

    def settings(self) -> tuple[Any, ...]:
        return self._law, type(self.inner), self.inner.settings()

    def run(
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
        growing = not self.mapping.settled
        if growing:
            rows = first_rows(rows, 1)
        done, Z = self.mapping.write(rows, candidate=growing)
        if len(Z) == 0:
            return done
        learned = self.inner.run(Dense(Z), plan, y, margins, importance, scores, moved, asked)
        if growing and learned == 1 and self._left_a_weight(Z[0], moved[0]):
            axes = self.mapping.take(rows, Z[0])
            if axes is not None:
                self.inner.turn(axes)  # type: ignore[attr-defined]
        return done if learned == len(Z) else learned

    def _left_a_weight(self, z: Floats, moved: Flags) -> bool:
        """Whether a row was learned along its own coordinate."""
        own = self.mapping.n_taken
        if z[own] == 0.0:
            return False
        if isinstance(self.inner, LinearState):
            return bool(self.inner.used[1 + own].any())
        return bool(moved.any())

    def mapped(self, rows: Dense | Sparse) -> Floats:
        """What rows become."""
        return self.mapping.write(rows)[1]

    def score_rows(self, rows: Dense | Sparse, bias: float) -> Floats | None:
        done, Z = self.mapping.write(rows)
        return self.inner.score_rows(Dense(Z), bias) if done == len(rows) else None

    def grow_features(self, n_features: int) -> None:
        self.mapping.grow_features(n_features)

    def with_inner(self, inner: State) -> Self:
        """The same mapping before another state."""
        return type(self)(self.mapping, inner, self._law)

    def _regrouped(self, order: Sequence[int]) -> Self:
        fresh = self.with_inner(self.inner.regrouped(order))
        fresh.mapping = copy.deepcopy(self.mapping)  # the state before may be wanted back
        return fresh

    def place_features(self, columns: Sequence[int], n_features: int) -> None:
        self.mapping.place_features(columns, n_features)

    def check_same_mapping(self, others: Sequence[Self]) -> None:
        """Raise a ValueError unless others map rows as this one does."""
        if not all(self.mapping.same(other.mapping) for other in others):
            raise ValueError(
                "The models have landmarks of their own, and their weights mean other things; expected "
                "models that grew out of one whose landmarks were all there."
            )

    def arrays(self) -> dict[str, Floats]:
        return {**self.inner.arrays(), **self.mapping.arrays()}

    def restored(self, header: dict[str, Any], arrays: dict[str, Floats]) -> Self:
        of_mapping = {name: arrays[name] for name in self.mapping.kept}
        of_inner = {name: array for name, array in arrays.items() if name not in of_mapping}
        inner = type(self.inner).restore(header["inner_header"], of_inner)
        mapping = copy.deepcopy(self.mapping)
        mapping.grow_features(header["n_features"])
        mapping.restore(of_mapping)
        if inner.n_features != mapping.n_outputs:
            raise ValueError(f"weights of {inner.n_features} features, expected {mapping.n_outputs}")
        return type(self)(mapping, inner, self._law)
