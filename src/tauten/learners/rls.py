"""RLS: recursive least squares on the labels as numbers, the ridge regression of all rows at any time.

    minimise  ‖w‖²/C + Σ (yᵢ − ⟨w, xᵢ⟩)²   over all rows i so far
    solution  w = A⁻¹b,  A = I/C + Σ xᵢxᵢᵀ,  b = Σ yᵢxᵢ;   one row at a time, with Σₜ = A⁻¹/C and V = xᵀΣₜx,
              w = wₜ + (y − ⟨wₜ, x⟩)/(V + 1/C)·Σₜx,   Σ⁻¹ = Σₜ⁻¹ + C·x xᵀ

More than two classes: each has a regression of its own with the same A, of target 1 where a row is of the
class and −1 where not. The weight of an example multiplies its square. Plackett (Biometrika 37, 1950).
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from tauten.kernels.covariance import ONE_HOT
from tauten.kernels.pointers import Rule, rule
from tauten.kernels.state import Floats
from tauten.learners.arow import measured, objective, regressed
from tauten.linear import LinearClassifier
from tauten.parameters import above
from tauten.second_order import SecondOrder


@rule
def residual(score, y, margin):  # type: ignore[no-untyped-def]
    """Signed loss: what is missing to the label."""
    return y - score


@dataclass(eq=False, repr=False)
class RLSClassifier(SecondOrder, LinearClassifier):
    """Recursive least squares: every row counts, right or wrong, at O(features²) a row.

    Parameters
    ----------
    C : float, above 0, default 1.0
        Weight of the rows against the ridge: small for few rows or much noise.

    The parameters that all classifiers share are described in `docs/parameters.md`.

    Examples
    --------
    >>> import tauten as tt
    >>> model = tt.RLSClassifier(C=1.0, fit_intercept=False)
    >>> model.fit([[1.0], [1.0], [1.0], [1.0]], [1, 1, 1, 0]).coef_.round(3).tolist()  # (3 − 1) / (4 + 1/C)
    [[0.4]]
    """

    C: float = above(0, default=1.0)

    covariance = "full"
    loss: ClassVar[Rule] = residual
    gain: ClassVar[Rule] = measured
    additive: ClassVar[bool] = True

    @property
    def step(self) -> Rule:
        return regressed

    @property
    def moves_two_classes(self) -> bool:
        return False

    def _loop_parts(self, learning: bool) -> dict[str, Any]:
        return {**super()._loop_parts(learning), "decide": ONE_HOT.handle}

    def objective_of_belief(
        self, w: Floats, spread: Floats, start: Floats, prior: Floats, x: Floats, y: float
    ) -> float:
        return objective(w, spread, start, prior, x, y - float(w @ x), 1.0 / self.C)
