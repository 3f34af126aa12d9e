"""SOP: the second-order Perceptron, ridge regression on the rows of mistakes.

    minimise  a‖w‖² + Σ (yᵢ − ⟨w, xᵢ⟩)²   over the rows i of mistakes, yᵢ⟨w, xᵢ⟩ ≤ 0, this one among them
    solution  w = A⁻¹b,  A = a·I + Σ xᵢxᵢᵀ,  b = Σ yᵢxᵢ;   one row at a time, with Σₜ = a·A⁻¹ and V = xᵀΣₜx,
              w = wₜ + (y − ⟨wₜ, x⟩)/(V + a)·Σₜx,   Σ⁻¹ = Σₜ⁻¹ + x xᵀ/a

More than two classes: each has a regression of its own with the same A; at a mistake, ⟨wₛ, x⟩ ≥ ⟨wᵧ, x⟩ for
the best wrong class s, the target of y is 1, that of s −1 and that of all others 0. Cesa-Bianchi, Conconi,
Gentile (SIAM J. Comput. 34, 2005), figure 2. The paper scores x with x xᵀ already in A; that divides the
score by 1 + V/a and changes no sign. The weight of an example multiplies its square, and so C = 1/a.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from tauten.kernels.covariance import LEAST_SQUARES
from tauten.kernels.pointers import Rule
from tauten.kernels.state import Floats
from tauten.learners.arow import measured, objective, regressed
from tauten.learners.perceptron import short
from tauten.linear import LinearClassifier
from tauten.parameters import above
from tauten.second_order import SecondOrder, covariance


@dataclass(eq=False, repr=False)
class SecondOrderPerceptronClassifier(SecondOrder, LinearClassifier):
    """Second-order Perceptron: a yardstick that moves on mistakes only.

    Parameters
    ----------
    a : float, above 0, default 1.0
        How strongly the regression is drawn to 0; large for few rows or much noise.
    covariance : "full" or "diag", default "full"
        All of Σ, at O(features²) a move, or its diagonal, at O(non-zeros).

    The parameters that all classifiers share are described in `docs/parameters.md`.

    Examples
    --------
    >>> import tauten as tt
    >>> model = tt.SecondOrderPerceptronClassifier(fit_intercept=False)
    >>> model.fit([[1.0, 0.0], [1.0, 1.0]], [1, 0]).coef_.round(6).tolist()
    [[0.2, -0.6]]
    """

    a: float = above(0, default=1.0)
    covariance: Literal["full", "diag"] = covariance()

    loss: ClassVar[Rule] = short
    gain: ClassVar[Rule] = measured
    additive: ClassVar[bool] = True

    @property
    def step(self) -> Rule:
        return regressed

    @property
    def moves_two_classes(self) -> bool:
        return False

    def _loop_parts(self, learning: bool) -> dict[str, Any]:
        return {**super()._loop_parts(learning), "decide": LEAST_SQUARES.handle}

    def margins(self, y: Floats) -> Floats:
        return np.zeros_like(y)

    def aggressiveness(self) -> float:
        return 1.0 / self.a

    def objective_of_belief(
        self, w: Floats, spread: Floats, start: Floats, prior: Floats, x: Floats, y: float
    ) -> float:
        return objective(w, spread, start, prior, x, y - float(w @ x), self.a)
