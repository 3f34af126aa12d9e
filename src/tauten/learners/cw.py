"""CW: confidence-weighted; after each example its label is as probable as was asked for.

    minimise  KL(N(w, Σ) ‖ N(wₜ, Σₜ))   subject to  y⟨w, x⟩ ≥ φ·√(xᵀΣx),   φ = Φ⁻¹(η)
    solution  w = wₜ + α·y·Σₜx,   Σ⁻¹ = Σₜ⁻¹ + αφ/√V₊·x xᵀ,   where m = y⟨wₜ, x⟩ < φ√V,  V = xᵀΣₜx
              α ≥ 0 from  m + αV = φ√V₊,   √V₊ = ½(−αφV + √((αφV)² + 4V))

The form with the standard deviation, exact and convex in √Σ: Crammer, Dredze, Pereira (NIPS 2008), equations
9 to 12. More than two classes: the margin ⟨wᵧ − wₛ, x⟩ for the best wrong class s has V = 2xᵀΣₜx, both
vectors move, and αφV in the root becomes αφV/2. With the diagonal the problem is solved as above and Σ⁻¹
projected.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numba import njit
from scipy.special import ndtri

from tauten.kernels.pointers import Rule, rule
from tauten.kernels.state import Floats
from tauten.learners.pa import hinge
from tauten.linear import LinearClassifier
from tauten.parameters import is_number, optional, parameter
from tauten.second_order import SecondOrder, covariance, distance, divergence


@rule
def in_deviations(margin, variance):  # type: ignore[no-untyped-def]
    """φ standard deviations of the score."""
    return margin * np.sqrt(variance)


@njit(error_model="numpy")
def confident(loss, variance, blocks, phi, damping):  # type: ignore[no-untyped-def]
    """α ≥ 0 with m + α(V + damping) = φ√V₊: the root of aα² + bα = missing, which squaring twice leaves."""
    root = phi * np.sqrt(variance)
    margin = root - loss
    n = variance + damping
    v = variance / blocks
    a = n * (n + v * phi * phi)
    b = margin * (2.0 * n + v * phi * phi)
    missing = loss * (root + margin)
    discriminant = np.sqrt(b * b + 4.0 * a * missing)
    return 2.0 * missing / (b + discriminant) if b > 0.0 else (discriminant - b) / (2.0 * a)


@rule
def step(loss, variance, blocks, margin, C):  # type: ignore[no-untyped-def]
    return confident(loss, variance, blocks, margin, 0.0)


@rule
def gain(alpha, variance, blocks, phi, C):  # type: ignore[no-untyped-def]
    """αφ/√V₊."""
    p = alpha * phi * variance / blocks
    return alpha * phi * (p + np.sqrt(p * p + 4.0 * variance)) / (2.0 * variance)


def probability(default: float) -> Any:
    """η as a parameter."""
    return parameter(default, lambda eta: is_number(eta) and 0.5 < eta < 1, "a number between 0.5 and 1")


def deviations() -> Any:
    """φ as a parameter, which overrides η where it is given."""
    return optional("a finite number above 0", lambda phi: is_number(phi) and phi > 0)


class Confident(SecondOrder, LinearClassifier):
    """A classifier that asks for a margin in standard deviations: what CW and SCW share."""

    eta: float
    phi: float | None

    loss: ClassVar[Rule] = hinge
    demand: ClassVar[Rule] = in_deviations
    gain: ClassVar[Rule] = gain

    def quantile(self) -> float:
        """φ, from whichever of the two was given."""
        return float(ndtri(self.eta)) if self.phi is None else float(self.phi)

    def margins(self, y: Floats) -> Floats:
        return np.full_like(y, self.quantile())

    def slack(self, missing: float) -> float:
        """What a margin that stays short costs."""
        raise NotImplementedError

    def objective_of_belief(
        self, w: Floats, spread: Floats, start: Floats, prior: Floats, x: Floats, y: float
    ) -> float:
        missing = self.quantile() * np.sqrt(x @ spread @ x) - y * float(w @ x)
        return distance(w, start, prior) + divergence(spread, prior) + self.slack(max(0.0, float(missing)))


@dataclass(eq=False, repr=False)
class CWClassifier(Confident):
    """Confidence-weighted classifier: for labels without noise; one wrong label can swing it.

    Parameters
    ----------
    eta : float, between 0.5 and 1, default 0.7
        Probability of being right that each example is given; larger moves more often and further.
    phi : float, above 0, optional
        The same as standard deviations φ = Φ⁻¹(eta); where given, `eta` is not used.
    covariance : "full" or "diag", default "full"
        All of Σ, at O(features²) a move, or its diagonal, at O(non-zeros).

    The parameters that all classifiers share are described in `docs/parameters.md`.

    Examples
    --------
    >>> import tauten as tt
    >>> model = tt.CWClassifier(phi=1.0, fit_intercept=False)
    >>> model = model.fit([[1.0], [-1.0]], [1, 0])
    >>> float(model.coef_[0, 0] / model.covariance_[0, 0] ** 0.5)  # sure by one standard deviation
    1.0
    """

    eta: float = probability(0.7)
    phi: float | None = deviations()
    covariance: Literal["full", "diag"] = covariance()

    @property
    def step(self) -> Rule:
        return step

    @property
    def takes_weights(self) -> bool:
        return False

    def slack(self, missing: float) -> float:
        return 0.0 if missing <= 1e-9 else np.inf
