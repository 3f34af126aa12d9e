"""Steps on a budget as plain algebra over kernel matrices: what the checks hold the compiled loops to."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from tauten.base import Problem
from tauten.budget import Budgeted
from tauten.kernels.state import Floats


@dataclass
class Dual:
    """The functions before and after a step as coefficients of the same rows: the support vectors before it,
    at `example` the one that was learned, then what is new. A row of K, `before` and `after` each; a column
    of coefficients a column of the model. `along` is what the example's coefficient moves along.
    """

    K: Floats
    before: Floats
    after: Floats
    along: Floats
    example: int

    @classmethod
    def of(cls, model: Budgeted, before: Budgeted, x: Floats, y: Any) -> Self:
        """What one step did, given the model before it."""
        old = before.support_vectors_.toarray()
        rows, after = [*old, x], {}
        for row, coefficient in zip(model.support_vectors_.toarray(), model.dual_coef_.T, strict=True):
            places = [i for i in range(len(rows)) if i not in after and np.array_equal(rows[i], row)]
            if not places:
                rows.append(row)
            after[max(places, default=len(rows) - 1)] = coefficient
        start = np.zeros((len(rows), len(model.dual_coef_)))
        start[: len(old)] = before.dual_coef_.T
        end = np.array([after.get(i, np.zeros(start.shape[1])) for i in range(len(rows))])
        K = model.kernel_matrix(np.array(rows), np.array(rows))
        return cls(K, start, end, _direction(K[len(old)] @ start, model.classes_.tolist().index(y)), len(old))

    def margin(self, coefficients: Floats) -> float:
        """The margin of the example."""
        return float(self.along @ (self.K[self.example] @ coefficients))

    def loss(self, coefficients: Floats) -> float:
        """Its hinge loss."""
        return max(0.0, 1.0 - self.margin(coefficients))

    def sqnorm(self, coefficients: Floats) -> float:
        """‖f‖², of many classes their sum."""
        return float(np.einsum("ic,ij,jc->", coefficients, self.K, coefficients))

    def gradient_step(self, length: float) -> Problem:
        """What a step of a length along the example minimises: ½‖f − fₜ‖² − length·margin."""

        def value(beta: Floats) -> float:
            own = float(self.K[self.example, self.example])
            return own * float(beta @ beta / 2 - length * self.along @ beta)

        end = self.after[self.example]
        return Problem(np.zeros_like(end), end, value)

    def add(self, coefficients: Floats, change: Floats) -> Floats:
        """The coefficients with the example's changed."""
        added = coefficients.copy()
        added[self.example] += change
        return added


def _direction(scores: Floats, code: int) -> Floats:
    """±1 for the side of the example; of many classes 1 for its own and −1 for the best wrong one."""
    if len(scores) == 1:
        return np.array([2.0 * code - 1.0])
    along, rivals = np.zeros(len(scores)), scores.copy()
    rivals[code] = -np.inf
    along[code], along[rivals.argmax()] = 1.0, -1.0
    return along


def at_most(reached: float, best: float) -> Problem:
    """The problem of reaching the best of finitely many values."""
    slack = 1e-9 * max(1.0, abs(best))
    return Problem(
        np.array([best]), np.array([reached]), lambda v: float(v[0]) if v[0] >= best - slack else np.inf
    )
