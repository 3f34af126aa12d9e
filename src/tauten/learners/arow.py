"""AROW: adaptive regularisation of weights; each example is a measurement of the margin with noise r.

    minimise  KL(N(w, Σ) ‖ N(wₜ, Σₜ)) + ℓ(w)²/(2r) + xᵀΣx/(2r),   ℓ(w) = max(0, 1 − y⟨w, x⟩)
    solution  w = wₜ + α·y·Σₜx,   α = ℓ(wₜ)/(V + r),   Σ⁻¹ = Σₜ⁻¹ + x xᵀ/r,   V = xᵀΣₜx
              where ℓ(wₜ) > 0; elsewhere nothing moves

More than two classes: ℓ = max(0, 1 − ⟨wᵧ − wₛ, x⟩) for the best wrong class s, wᵧ += αΣₜx, wₛ −= αΣₜx and
V = 2xᵀΣₜx; the last term of the problem is the variance of the margin, which is 2xᵀΣx as well. Crammer,
Kulesza, Dredze (NIPS 2009), figure 1; λ₁ = λ₂ = 1/(2r). The weight of an example multiplies C = 1/r.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from tauten.kernels.pointers import Rule, rule
from tauten.kernels.state import Floats
from tauten.learners.pa import hinge
from tauten.linear import LinearClassifier
from tauten.parameters import above
from tauten.second_order import SecondOrder, covariance, distance, divergence


@rule
def regressed(loss, variance, blocks, margin, C):  # type: ignore[no-untyped-def]
    return loss / (variance + 1.0 / C)


@rule
def measured(alpha, variance, blocks, margin, C):  # type: ignore[no-untyped-def]
    return C


def objective(
    w: Floats, spread: Floats, start: Floats, prior: Floats, x: Floats, loss: float, r: float
) -> float:
    """The problem of the docstring."""
    kept = distance(w, start, prior) + divergence(spread, prior)
    return kept + (loss * loss + float(x @ spread @ x)) / (2 * r)


@dataclass(eq=False, repr=False)
class AROWClassifier(SecondOrder, LinearClassifier):
    """Adaptive regularisation of weights: second order, and not upset by noisy labels.

    Parameters
    ----------
    r : float, above 0, default 1.0
        Noise of one example, in units of the variance of the score; large for noisy labels.
    covariance : "full" or "diag", default "full"
        All of Σ, at O(features²) a move, or its diagonal, at O(non-zeros).

    The parameters that all classifiers share are described in `docs/parameters.md`.

    Examples
    --------
    >>> import tauten as tt
    >>> model = tt.AROWClassifier(r=1.0, fit_intercept=False)
    >>> model.fit([[1.0], [1.0]], [1, 1], sample_weight=[1.0, 1.0]).coef_.tolist()
    [[0.0]]
    >>> model.fit([[1.0], [-1.0]], [1, 0]).coef_.round(6).tolist()
    [[0.666667]]
    """

    r: float = above(0, default=1.0)
    covariance: Literal["full", "diag"] = covariance()

    loss: ClassVar[Rule] = hinge
    gain: ClassVar[Rule] = measured
    additive: ClassVar[bool] = True

    @property
    def step(self) -> Rule:
        return regressed

    def aggressiveness(self) -> float:
        return 1.0 / self.r

    def objective_of_belief(
        self, w: Floats, spread: Floats, start: Floats, prior: Floats, x: Floats, y: float
    ) -> float:
        return objective(w, spread, start, prior, x, max(0.0, 1.0 - y * float(w @ x)), self.r)
