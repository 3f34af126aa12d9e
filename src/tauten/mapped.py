"""What learners behind a feature map share: rows are mapped, and all the rest is asked of the learner.

Rows, names and labels are read here as everywhere. What becomes of the rows is learned by a state of the
learner's own, and every question about rules, margins and rates goes to the learner.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from tauten import parameters
from tauten.base import OnlineLearner
from tauten.classifier import OnlineClassifier
from tauten.kernels.anchored import Anchored
from tauten.kernels.first_order import FirstOrder
from tauten.kernels.mapped import MappedState
from tauten.kernels.state import Dense, Floats, Sparse
from tauten.maps import FeatureMap
from tauten.stream import Decisions, Record, Stream


def shared_parameters(model: OnlineClassifier) -> dict[str, Any]:
    """The parameters that all classifiers share, for what learns behind a map."""
    return {field.name: getattr(model, field.name) for field in fields(OnlineClassifier)}


class Mapped(OnlineLearner):
    """A learner that learns what a map makes of the rows."""

    shape_parameters: ClassVar[str] = "the map, or what shapes the learner behind it,"
    learner: Any  # an untrained learner: what learns
    map: FeatureMap
    state_: MappedState

    @property
    def learner_(self) -> Any:
        """What learns as it stands behind the map: `learner_.coef_` weighs what the map makes of a row."""
        self._learned()
        self.plan_now()
        inner = self.__dict__["_inner"]
        inner.n_features_in_ = self.state_.mapping.n_outputs  # fewer since a map with a rank was turned
        return inner

    def mapped(self, X: Any) -> Floats:
        """What the map makes of rows."""
        self._need_fitted()
        rows = self._read(X, learning=False)
        rows.check(self.feature_index)
        if rows.sparse and not rows.trusted:
            rows.sort()
        blocks = [self.state_.mapped(block) for _, block in rows.blocks(0, len(rows), self.state_.per_row)]
        return np.concatenate([np.zeros((0, self.state_.mapping.n_outputs)), *blocks])

    @property
    def moves_two_classes(self) -> bool:
        return bool(self.learner.moves_two_classes)

    @property
    def knows_columns(self) -> bool:
        return self.map.drawn

    @property
    def takes_weights(self) -> bool:
        return bool(self.learner.takes_weights)

    def unweighable(self) -> str:
        return str(self.learner.unweighable())

    def expected_failed_checks(self) -> dict[str, str]:
        return {**super().expected_failed_checks(), **self.learner.expected_failed_checks()}

    def check_parts(self) -> None:
        """Raise a ValueError for a parameter of the map or the learner that is not allowed."""
        self.map.check()
        if isinstance(self.learner, Mapped):
            raise ValueError(f"{type(self.learner).__name__} has a map; expected a learner without one.")
        if isinstance(self.learner, OnlineClassifier):
            self.learner._check_parameters()
        else:
            parameters.check(self.learner)
        if self.map.turns() and not isinstance(self.learner.new_state(1, 2), FirstOrder | Anchored):
            raise ValueError(
                f"{type(self.learner).__name__} keeps more than vectors along x, and a map with a rank "
                "turns nothing else; expected rank=None."
            )

    def new_state(self, n_features: int, n_classes: int) -> MappedState:
        self.check_parts()
        mapping = self.map.mapping(n_features)
        return MappedState(mapping, self.learner.new_state(mapping.n_outputs, n_classes), self.map.law())

    def _make_plan(self) -> Any:
        self.check_parts()
        inner = clone(self.learner).set_params(hash_bits=None)
        inner.state_, inner.n_features_in_ = self.state_.inner, self.state_.mapping.n_outputs
        for name in ("classes_", "class_count_", "_asked_by"):
            if name in self.__dict__:
                inner.__dict__[name] = self.__dict__[name]
        plan = inner.plan_now()
        self.__dict__["_inner"] = inner
        return replace(
            plan, gather=self._plan_gatherer(), learn_dict=None, record=Record.empty(1, self.state_)
        )

    def as_learned(self, row: Dense | Sparse) -> Floats:
        mapping = self.state_.mapping if "state_" in self.__dict__ else self.map.mapping(self.n_features_in_)
        return mapping.write(row, candidate=not mapping.settled)[1]

    def settle(self, epoch: int) -> None:
        if "_plan" in self.__dict__:  # a new plan is settled when it is made
            self.__dict__["_inner"].settle(epoch)

    def stream_decisions(self, stream: Stream, start: int, stop: int) -> Decisions:
        return self.learner_.stream_decisions(stream, start, stop)  # type: ignore[no-any-return]

    def decision_tables(self) -> tuple[Floats, Floats] | None:
        return self.learner_.decision_tables()  # type: ignore[no-any-return]

    def pool(self, states: Sequence[MappedState], shares: Floats) -> None:
        self.state_.check_same_mapping(states)
        self.learner_.pool([state.inner for state in states], shares)

    def set_params(self, **params: Any) -> Self:
        self.__dict__.pop("_plan", None)  # parameters of the learner or the map may change
        super().set_params(**params)
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_inner"}
