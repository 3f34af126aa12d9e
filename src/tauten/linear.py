"""What learners add whose scores are linear: rules, weights to look at, and their average."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tauten.base import OnlineLearner
from tauten.classifier import OnlineClassifier
from tauten.kernels.first_order import FirstOrder, passive
from tauten.kernels.pointers import Rule
from tauten.kernels.state import Dense, Floats, LinearPlan, LinearState
from tauten.learned import Learned
from tauten.parameters import switch
from tauten.regressor import OnlineRegressor
from tauten.rows import Rows


class LearnedWeights(Learned):
    """What such a learner has once it has learned."""

    state_: LinearState

    def _weights(self) -> Floats:
        self._learned()
        return self.state_.explicit()

    @property
    def coef_(self) -> Floats:
        """Weights of the features."""
        return self._weights()[:, 1:].copy()

    @property
    def intercept_(self) -> Floats:
        """Weight of the constant feature; 0 without fit_intercept."""
        return self._weights()[:, 0] * float(self.fit_intercept) + 0.0  # no -0


@dataclass(kw_only=True, eq=False, repr=False)
class Linear(LearnedWeights, OnlineLearner):
    """A learner of weights: it names a loss rule, a step rule and the margin it asks for."""

    average: bool = switch(False)

    loss: ClassVar[Rule]
    sweepable: ClassVar[frozenset[str]] = frozenset({"C"})

    @property
    def step(self) -> Rule:
        """How far to move, given the loss, the squared length and C."""
        raise NotImplementedError

    def aggressiveness(self) -> float:
        """What the step rule gets as C."""
        return float(getattr(self, "C", 1.0))

    def objective(self, w: Floats, start: Floats, x: Floats, y: float) -> float:
        """What the step from `start` minimises over w, the bias last in w and x; only the checks call it."""
        raise NotImplementedError

    def new_state(self, n_features: int, n_classes: int) -> LinearState:
        return FirstOrder(n_features, n_classes, self.coupled, self.average)

    def _loop_parts(self, learning: bool) -> dict[str, Any]:
        return dict(
            super()._loop_parts(learning),
            report=self.state_.report(),
            decide=self.state_.decide(),
            loss=(self.loss if learning else passive).handle,
            step=self.step.handle,
            C=np.full(self.state_.n_decisions, self.aggressiveness()),
        )

    def plan(self) -> LinearPlan:
        return super().plan()  # type: ignore[return-value]

    def _loop_plan(self, learning: bool) -> LinearPlan:
        return LinearPlan(**self._loop_parts(learning))

    def _score_rows(self, rows: Rows) -> Floats:
        rows.check(self.feature_index)
        weights, bias = self.state_.explicit(), float(self.fit_intercept)
        scores = np.empty((len(rows), len(weights)))
        for start, block in rows.blocks(0, len(rows), self.state_.per_row):
            if isinstance(block, Dense):  # BLAS is faster than the loop
                part = block.X @ weights[:, 1 : 1 + rows.width].T + weights[:, 0] * bias
            else:
                part = self.state_.score_rows(block, bias)  # type: ignore[assignment]  # all is finite
            scores[start : start + len(block)] = part
        return scores


@dataclass(kw_only=True, eq=False, repr=False)
class LinearClassifier(Linear, OnlineClassifier):
    """A classifier of weights."""


@dataclass(kw_only=True, eq=False, repr=False)
class LinearRegressor(Linear, OnlineRegressor):
    """A regressor of weights, one column of them."""

    @property
    def coef_(self) -> Floats:
        """Weights of the features."""
        return super().coef_[0]
