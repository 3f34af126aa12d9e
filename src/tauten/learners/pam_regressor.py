"""PAM regression: move as little as the covariance of the weights allows until the target is met within ε.

    minimise  ½(w − wₜ)ᵀΣₜ⁻¹(w − wₜ) + slack(ξ)   subject to  |y − ⟨w, x⟩| ≤ ε + ξ,  ξ ≥ 0
    solution  w = wₜ + τ·sign(y − ⟨wₜ, x⟩)·Σₜx,   then  Σ⁻¹ = Σₜ⁻¹ + x xᵀ

with the steps of `pam`, ℓ = max(0, |y − ⟨wₜ, x⟩| − ε). Derived as the PAM paper derives its classifier;
it has no regression.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from tauten.kernels.pointers import Rule
from tauten.kernels.state import Floats
from tauten.learners.pa import VARIANTS
from tauten.learners.pa_regressor import tube
from tauten.learners.pam import STEPS, objective, one
from tauten.linear import LinearRegressor
from tauten.parameters import above, at_least, one_of
from tauten.second_order import SecondOrder, covariance


@dataclass(eq=False, repr=False)
class MahalanobisPARegressor(SecondOrder, LinearRegressor):
    """Passive-aggressive Mahalanobis regressor with an ε-insensitive tube: for features of unlike scales.

    Parameters
    ----------
    C : float, above 0, default 1.0
        How far one example may pull. The hard variant does not use it.
    epsilon : float, 0 or above, default 0.1
        The error that moves nothing, in the units of y.
    variant : "hard", "I" or "II", default "I"
        Meet every target whole; move at most C along Σx; or damp the move.
    covariance : "full" or "diag", default "full"
        All of Σ, at O(features²) a move, or its diagonal, at O(non-zeros).

    The parameters that all learners share are described in `docs/parameters.md`.

    Examples
    --------
    >>> import tauten as tt
    >>> model = tt.MahalanobisPARegressor(variant="hard", epsilon=0.0, fit_intercept=False)
    >>> model.partial_fit([[1.0, 0.0], [0.0, 1.0]], [1.0, 2.0]).predict_one([1.0, 1.0])
    3.0
    """

    C: float = above(0, default=1.0)
    epsilon: float = at_least(0, default=0.1)
    variant: Literal["hard", "I", "II"] = one_of("hard", "I", "II", default="I")
    covariance: Literal["full", "diag"] = covariance()

    loss: ClassVar[Rule] = tube
    gain: ClassVar[Rule] = one
    additive: ClassVar[bool] = True

    @property
    def step(self) -> Rule:
        return STEPS[self.variant]

    @property
    def takes_weights(self) -> bool:
        return self.variant != "hard"

    def margin(self) -> float:
        return float(self.epsilon)

    def objective_of_belief(
        self, w: Floats, spread: Floats, start: Floats, prior: Floats, x: Floats, y: float
    ) -> float:
        missing = max(0.0, abs(y - float(w @ x)) - self.epsilon)
        return objective(w, spread, start, prior, x, VARIANTS[self.variant].slack(missing, self.C))
