"""NHERD: herds a whole cloud of weights v ~ N(wₜ, Σₜ) by one map, v → Av + b, that suits them on average.

    minimise  E‖Av + b − v‖²/2 + C/2·E(y − ⟨Av + b, x⟩)²   over A, b;  lengths are measured by Σₜ⁻¹,
              where ℓ = max(0, 1 − y⟨wₜ, x⟩) > 0
    solution  w = wₜ + α·y·Σₜx,   α = ℓ/(V + 1/C),   A = (I + C·Σₜx xᵀ)⁻¹,   V = xᵀΣₜx
              Σ = AΣₜAᵀ,  that is  Σ⁻¹ = Σₜ⁻¹ + (2C + C²V)·x xᵀ

Crammer, Lee (NIPS 2010), figure 1, "full" and for the diagonal "project". More than two classes: margin and V
of the right class against the best wrong one, as in `arow`; A acts on each vector by its own, so its V is
xᵀΣₜx.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from tauten.kernels.pointers import Rule, rule
from tauten.kernels.state import Floats
from tauten.learners.arow import regressed
from tauten.learners.pa import hinge
from tauten.linear import LinearClassifier
from tauten.parameters import above
from tauten.second_order import SecondOrder, covariance, distance


@rule
def herded(alpha, variance, blocks, margin, C):  # type: ignore[no-untyped-def]
    return C * (2.0 + C * variance / blocks)


@dataclass(eq=False, repr=False)
class NHERDClassifier(SecondOrder, LinearClassifier):
    """Gaussian herding: a second-order step that becomes sure faster than AROW.

    Parameters
    ----------
    C : float, above 0, default 1.0
        How far one example may pull; small for noisy labels.
    covariance : "full" or "diag", default "full"
        All of Σ, at O(features²) a move, or its diagonal, at O(non-zeros).

    The parameters that all classifiers share are described in `docs/parameters.md`.

    Examples
    --------
    >>> import tauten as tt
    >>> model = tt.NHERDClassifier(C=1.0, fit_intercept=False)
    >>> model.fit([[1.0], [-1.0]], [1, 0]).covariance_.round(6).tolist()
    [[0.16]]
    """

    C: float = above(0, default=1.0)
    covariance: Literal["full", "diag"] = covariance()

    loss: ClassVar[Rule] = hinge
    gain: ClassVar[Rule] = herded

    @property
    def step(self) -> Rule:
        return regressed

    def objective_of_belief(
        self, w: Floats, spread: Floats, start: Floats, prior: Floats, x: Floats, y: float
    ) -> float:
        """Of all A with AΣₜAᵀ = Σ the cheapest is the one that is symmetric in the directions of Σₜ."""
        missing = max(0.0, 1.0 - y * float(w @ x))
        halves = np.linalg.cholesky(prior), np.linalg.cholesky(spread)
        stretched = float(((np.linalg.svd(np.linalg.solve(*halves))[1] - 1.0) ** 2).sum()) / 2
        return distance(w, start, prior) + stretched + self.C / 2 * (missing**2 + float(x @ spread @ x))
