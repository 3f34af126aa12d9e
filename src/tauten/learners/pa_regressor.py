"""PA regression: move as little as possible until the target is met within ε.

    minimise  ½‖w − wₜ‖² + slack(ξ)   subject to  |y − ⟨w, x⟩| ≤ ε + ξ,  ξ ≥ 0
    solution  w = wₜ + τ·sign(y − ⟨wₜ, x⟩)·x,   ℓ = max(0, |y − ⟨wₜ, x⟩| − ε)

with the steps of `pa`: τ = ℓ/‖x‖² (hard), min(C, ℓ/‖x‖²) (I), ℓ/(‖x‖² + 1/(2C)) (II).
Crammer, Dekel, Keshet, Shalev-Shwartz, Singer (JMLR 7, 2006), section 5.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from tauten.kernels.pointers import Rule, rule
from tauten.kernels.state import Floats
from tauten.learners.pa import VARIANTS, objective
from tauten.linear import LinearRegressor
from tauten.parameters import above, at_least, one_of


@rule
def tube(score, y, epsilon):  # type: ignore[no-untyped-def]
    """Signed loss: how far the target lies outside the tube around the score."""
    miss = y - score
    return np.copysign(max(0.0, abs(miss) - epsilon), miss)


@dataclass(eq=False, repr=False)
class PARegressor(LinearRegressor):
    """Passive-aggressive regressor with an ε-insensitive tube.

    Parameters
    ----------
    C : float, above 0, default 1.0
        How far one example may pull. The hard variant does not use it.
    epsilon : float, 0 or above, default 0.1
        The error that moves nothing, in the units of y.
    variant : "hard", "I" or "II", default "I"
        Meet every target whole; move at most C along x; or damp the move.

    The parameters that all learners share are described in `docs/parameters.md`.

    Examples
    --------
    >>> import tauten as tt
    >>> model = tt.PARegressor(variant="hard", epsilon=0.0, fit_intercept=False)
    >>> model.partial_fit([[1.0], [2.0]], [3.0, 6.0]).predict_one([4.0])
    12.0
    """

    C: float = above(0, default=1.0)
    epsilon: float = at_least(0, default=0.1)
    variant: Literal["hard", "I", "II"] = one_of("hard", "I", "II", default="I")

    loss: ClassVar[Rule] = tube
    sweepable: ClassVar[frozenset[str]] = frozenset({"C", "epsilon"})

    @property
    def step(self) -> Rule:
        return VARIANTS[self.variant].step

    @property
    def takes_weights(self) -> bool:
        return self.variant != "hard"

    def margin(self) -> float:
        return float(self.epsilon)

    def objective(self, w: Floats, start: Floats, x: Floats, y: float) -> float:
        return objective(w, start, max(0.0, abs(y - float(w @ x)) - self.epsilon), self.C, self.variant)
