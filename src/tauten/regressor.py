"""What every regressor adds: real targets, one decision a row."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import assert_all_finite, check_consistent_length, column_or_1d

from tauten import parameters
from tauten.base import LoopPlan, OnlineLearner
from tauten.kernels.state import Floats
from tauten.stream import Decisions, Outcome, Record, Stream, one_row


@dataclass
class TargetPlan(LoopPlan):
    """The loop's plan, and the buffers that one example uses."""

    margin: float
    y: Floats
    margins: Floats


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineRegressor(RegressorMixin, OnlineLearner):
    """A regressor of one real target."""

    def expected_failed_checks(self) -> dict[str, str]:
        asked = "every learner here can be asked for its scores by one name"
        return {**super().expected_failed_checks(), "check_regressors_no_decision_function": asked}

    def margin(self) -> float:
        """The error that is still forgiven."""
        return 0.0

    def partial_fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the rows once, in order, exactly as `learn_one` on each would."""
        self._learn_batch(X, y, sample_weight)
        return self

    def learn_tested(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Outcome:
        if classes is not None:
            raise ValueError(f"{type(self).__name__} has no classes; expected none.")
        parts: list[tuple[NDArray[Any] | None, Record]] = []
        targets = self._learn_batch(X, y, None, lambda _, record: parts.append((record.scores[:, 0], record)))
        return Outcome.of(targets, parts)

    def _learn_batch(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        after: Callable[[int, Record], None] | None = None,
    ) -> Floats:
        """The work of `partial_fit`: the targets, as they were read."""
        with self.unchanged_on_error() as kept:
            stream = self.read_once(X, y, sample_weight)
            self.protect(kept, stream.rows)
            self.learn_stream(stream, after=after)
        return stream.labels

    def learn_one(self, x: Any, y: float, sample_weight: float | None = None) -> Self:
        """Learn one example: a dict, a vector or a sparse row."""
        plan = self.__dict__.get("_plan")
        if plan is not None and sample_weight is None and parameters.is_number(y):
            plan.y[0, 0] = y
            if self._learn_fast(x, plan, plan.y, plan.margins):
                return self
        return self.partial_fit(
            one_row(x), [y], sample_weight=None if sample_weight is None else [sample_weight]
        )

    def read_y(self, y: ArrayLike) -> Floats:
        self.need_y(y)
        targets: Floats = column_or_1d(y, warn=True, dtype=np.float64)
        assert_all_finite(targets, input_name="y")
        return targets

    def _read_stream(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Stream:
        parameters.check(self)
        targets = self.read_y(y)
        check_consistent_length(X, targets)
        rows = self._read(X, learning=True)
        weights = self._importance(sample_weight, len(rows))
        if "state_" not in self.__dict__:
            self._begin(0)
        return Stream(rows, targets, targets, weights, self.feature_index)

    def _make_plan(self) -> TargetPlan:
        return TargetPlan(
            **self._plain_plan(learning=True),
            margin=self.margin(),
            y=np.zeros((1, 1)),
            margins=np.full((1, 1), self.margin()),
        )

    def stream_decisions(self, stream: Stream, start: int, stop: int) -> Decisions:
        y = stream.y[start:stop, None]
        return y, np.full_like(y, self.plan_now().margin), stream.importance[start:stop]

    def misses(self, scores: Floats, y: Floats) -> Floats:
        return np.abs(scores[..., 0] - y)

    def predict(self, X: Any) -> Floats:
        """Scores as they are."""
        return self._scores(X)[:, 0]

    def predict_one(self, x: Any) -> float:
        """The target predicted for one example; 0 before any was learned."""
        return float(self._score_one(x)[0, 0]) if "state_" in self.__dict__ else 0.0

    def decision_function(self, X: Any) -> Floats:
        """The same as `predict`, so that every learner can be asked for its scores."""
        return self.predict(X)

    def check_learned(self) -> None:
        super().check_learned()
        if self.state_.n_classes != 0:
            raise ValueError(f"weights of {self.state_.n_classes} classes, expected none")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
