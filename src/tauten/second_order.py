"""What every second-order learner adds: a covariance of its weights, whole or diagonal, and how beliefs are
judged and merged.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tauten.kernels.covariance import Belief, BeliefPlan, as_given
from tauten.kernels.diagonal import Diagonal
from tauten.kernels.full import Full
from tauten.kernels.pointers import Rule
from tauten.kernels.state import Floats
from tauten.linear import Linear
from tauten.parameters import one_of

FAMILIES: dict[str, type[Belief]] = {"full": Full, "diag": Diagonal}


def covariance() -> Any:
    """The parameter that all of them have."""
    return one_of(*FAMILIES, default="full")


class SecondOrder(Linear):
    """A learner that believes its weights to be about w, with a covariance Σ that all classes share."""

    covariance: str
    gain: ClassVar[Rule]
    demand: ClassVar[Rule] = as_given
    coupled: ClassVar[bool] = True
    sweepable: ClassVar[frozenset[str]] = frozenset()
    additive: ClassVar[bool] = False  # whether what moves have told adds up, so that shards can be added

    def new_state(self, n_features: int, n_classes: int) -> Belief:
        return FAMILIES[self.covariance](n_features, n_classes, self.coupled, self.average)

    def _loop_plan(self, learning: bool) -> BeliefPlan:
        parts = self._loop_parts(learning)
        return BeliefPlan(**parts, demand=self.demand.handle, gain=self.gain.handle)

    def pool(self, states: Sequence[Any], shares: Floats) -> None:
        assert isinstance(self.state_, Belief)
        self.state_.pool(states, shares, self.additive)

    @property
    def covariance_(self) -> Floats:
        """Σ over the features, and last the constant feature where there is one; its diagonal for "diag"."""
        self._learned()
        assert isinstance(self.state_, Belief)
        known = self.state_.covariance()
        axes = tuple(range(known.ndim))
        return np.roll(known, -1, axes) if self.fit_intercept else known[tuple(slice(1, None) for _ in axes)]

    def objective_of_belief(
        self, w: Floats, spread: Floats, start: Floats, prior: Floats, x: Floats, y: float
    ) -> float:
        """What the step from N(start, prior) minimises over N(w, spread); only the checks call it.

        Of many classes the two that move are given as one: their weights in a row, their covariances as
        blocks, x and −x.
        """
        raise NotImplementedError


def distance(w: Floats, start: Floats, prior: Floats) -> float:
    """½(w − start)ᵀ·prior⁻¹·(w − start)."""
    return float((w - start) @ np.linalg.solve(prior, w - start)) / 2


def divergence(spread: Floats, prior: Floats) -> float:
    """How far a covariance is from another: KL(N(w, spread) ‖ N(w, prior))."""
    ratio = np.linalg.solve(prior, spread)
    return float(np.trace(ratio) - np.linalg.slogdet(ratio)[1] - len(spread)) / 2
