"""AROW regression: each target is a measurement with noise r, of which errors up to ε are forgiven.

    minimise  KL(N(w, Σ) ‖ N(wₜ, Σₜ)) + ℓ(w)²/(2r) + xᵀΣx/(2r),   ℓ(w) = max(0, |y − ⟨w, x⟩| − ε)
    solution  w = wₜ + α·sign(y − ⟨wₜ, x⟩)·Σₜx,   α = ℓ(wₜ)/(V + r),   Σ⁻¹ = Σₜ⁻¹ + x xᵀ/r,   V = xᵀΣₜx
              where ℓ(wₜ) > 0; elsewhere nothing moves

Derived as Crammer, Kulesza, Dredze (NIPS 2009) derive the classifier. With ε = 0 it is recursive least
squares.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from tauten.kernels.pointers import Rule
from tauten.kernels.state import Floats
from tauten.learners.arow import measured, objective, regressed
from tauten.learners.pa_regressor import tube
from tauten.linear import LinearRegressor
from tauten.parameters import above, at_least
from tauten.second_order import SecondOrder, covariance


@dataclass(eq=False, repr=False)
class AROWRegressor(SecondOrder, LinearRegressor):
    """Adaptive regularisation of weights for regression: recursive least squares that forgives small errors.

    Parameters
    ----------
    r : float, above 0, default 1.0
        Noise of one target: its variance in units of the weights' prior variance.
    epsilon : float, 0 or above, default 0.1
        The error that moves nothing, in the units of y.
    covariance : "full" or "diag", default "full"
        All of Σ, at O(features²) a move, or its diagonal, at O(non-zeros).

    The parameters that all learners share are described in `docs/parameters.md`.

    Examples
    --------
    >>> import tauten as tt
    >>> model = tt.AROWRegressor(r=1.0, epsilon=0.0, fit_intercept=False)
    >>> model.partial_fit([[1.0], [1.0], [1.0]], [4.0, 4.0, 4.0]).predict_one([1.0])  # 3·4 / (3 + r)
    3.0
    """

    r: float = above(0, default=1.0)
    epsilon: float = at_least(0, default=0.1)
    covariance: Literal["full", "diag"] = covariance()

    loss: ClassVar[Rule] = tube
    gain: ClassVar[Rule] = measured
    additive: ClassVar[bool] = True

    @property
    def step(self) -> Rule:
        return regressed

    def margin(self) -> float:
        return float(self.epsilon)

    def aggressiveness(self) -> float:
        return 1.0 / self.r

    def objective_of_belief(
        self, w: Floats, spread: Floats, start: Floats, prior: Floats, x: Floats, y: float
    ) -> float:
        missing = max(0.0, abs(y - float(w @ x)) - self.epsilon)
        return objective(w, spread, start, prior, x, missing, self.r)
