"""OGD: online gradient descent on the hinge, with a rate that stays or falls.

    minimise  ½‖w − wₜ‖² + ηₜ·⟨∇ℓ(wₜ), w⟩,   ℓ(w) = max(0, 1 − y⟨w, x⟩),   ηₜ = η/tᵖ
    solution  w = wₜ + ηₜ·y·x   where y⟨wₜ, x⟩ < 1; elsewhere nothing moves

t counts all rounds learned, this one among them; p = ½ is the paper's, p = 0 a constant rate. More than two
classes: wᵧ += ηₜx and wₛ −= ηₜx for the best wrong class s, ℓ = max(0, 1 − ⟨wᵧ − wₛ, x⟩). The weight of an
example multiplies ηₜ. Zinkevich (ICML 2003), with all of space to move in, so that nothing is projected.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tauten.classifier import ClassPlan
from tauten.kernels.pointers import Rule, rule
from tauten.kernels.state import Floats
from tauten.learners.perceptron import whole
from tauten.linear import LinearClassifier
from tauten.parameters import above, share
from tauten.stream import Decisions, Stream


@rule
def slope(score, y, margin):  # type: ignore[no-untyped-def]
    """Signed slope of the hinge: 1, with the sign of y, where y·score is below the margin."""
    return y if y * score < margin else 0.0


def objective(w: Floats, start: Floats, x: Floats, y: float, rate: float) -> float:
    """½‖w − start‖² and the loss as it looks from `start`, times the rate."""
    gain = rate * y * float(w @ x) if y * float(start @ x) < 1.0 else 0.0
    return float((w - start) @ (w - start) / 2 - gain)


@dataclass(eq=False, repr=False)
class OGDClassifier(LinearClassifier):
    """Online gradient descent: what kernel approximations are usually learned with; PA finds its own rate.

    Parameters
    ----------
    eta : float, above 0, default 1.0
        The rate η: length of a move in units of x.
    power : float, from 0 to 1, default 0.5
        How fast the rate falls, η/t^power; 0 keeps it, for streams that drift.

    The parameters that all classifiers share are described in `docs/parameters.md`.

    Examples
    --------
    >>> import tauten as tt
    >>> model = tt.OGDClassifier(eta=0.5, power=0.5, fit_intercept=False)
    >>> model.fit([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]], [1, 0, 1, 1]).coef_.round(3).tolist()
    [[1.039, -0.354]]
    """

    eta: float = above(0, default=1.0)
    power: float = share(default=0.5)

    coupled: ClassVar[bool] = True
    loss: ClassVar[Rule] = slope
    sweepable: ClassVar[frozenset[str]] = frozenset({"eta"})

    @property
    def step(self) -> Rule:
        return whole

    def aggressiveness(self) -> float:
        return float(self.eta)

    def _make_plan(self) -> ClassPlan:
        plan = super()._make_plan()
        if self.power == 0:
            return plan
        pace = self._pace if plan.plain else None
        return replace(plan, plain=False, fixed=False, pace=pace)  # every row has its own rate

    def _slowdown(self, n_rows: int) -> Floats:
        """What the rate is divided by at each of the next rows."""
        rounds: Floats = self.class_count_.sum() + np.arange(1.0, 1 + n_rows)
        return rounds**self.power

    def _pace(self, one: Floats) -> None:
        one[:] = 1.0 / self._slowdown(1)

    def stream_decisions(self, stream: Stream, start: int, stop: int) -> Decisions:
        y, margins, importance = super().stream_decisions(stream, start, stop)
        return y, margins, importance / self._slowdown(stop - start)

    def objective(self, w: Floats, start: Floats, x: Floats, y: float) -> float:
        return objective(w, start, x, y, self.eta / self.t_**self.power)
