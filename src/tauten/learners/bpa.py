"""BPA-S: the passive-aggressive step among functions of B support vectors.

    minimise   ½‖f − fₜ‖² + C·ℓ(f; x, y)   over r and β,   f = fₜ − α_r·k(x_r, ·) + β·k(x, ·)
    solution   β = α_r·k(x_r, x)/k(x, x) + τ·y,   τ = min(C, ℓ/k(x, x)),   ℓ = max(0, 1 − y·fₜ(x)),
               r with the least  ½α_r²·(k(x_r, x_r) − k(x_r, x)²/k(x, x))

x takes over the share of r that is along k(x, ·); the rest of r is the cost, and does not bear on τ. Before
the budget is full it is PA-I with a kernel. Where the cost exceeds what the step gains, fₜ stays (r is x
itself). Wang and Vucetic (AISTATS 2010). More than two classes, from the same problem with the
margin f_y − f_s against the best wrong class and ½Σₖ‖fₖ − fₖₜ‖²: α_r is a vector, α_r² its squared length,
and τ = min(C, ℓ/(2·k(x, x))).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tauten.base import Problem
from tauten.budget import Budgeted
from tauten.dual import Dual, at_most
from tauten.kernels import maintenance
from tauten.kernels.pointers import Rule, rule
from tauten.kernels.state import Floats
from tauten.parameters import above


@rule
def capped(margin, sqnorm, C, round_):  # type: ignore[no-untyped-def]
    return min(C, max(0.0, 1.0 - margin) / sqnorm)


@rule
def cost(squared, own, near, newest):  # type: ignore[no-untyped-def]
    """What is left of r when the newest takes over its share."""
    return 0.5 * squared * max(0.0, own - near * near / newest)


@dataclass(eq=False, repr=False)
class BudgetPAClassifier(Budgeted):
    """Passive-aggressive classifier on a budget: the first to try with a kernel.

    Kernel and budget, which all learners on a budget share, are described in `docs/budget.md`; what all
    classifiers share in `docs/parameters.md`.

    Parameters
    ----------
    C : float, above 0, default 1.0
        How far one example may pull; small for noisy labels.

    Examples
    --------
    >>> import numpy as np, tauten as tt
    >>> X = np.random.default_rng(0).standard_normal((1000, 2))
    >>> model = tt.BudgetPAClassifier(gamma=1.0, budget=50).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> model.support_vectors_.shape, model.predict_one([1.0, -1.0])
    ((50, 2), False)
    """

    C: float = above(0, default=1.0)

    step: ClassVar[Rule] = capped
    judge: ClassVar[Rule] = cost

    @property
    def make_room(self) -> Rule:
        return maintenance.give_to_newest

    def aggressiveness(self) -> float:
        return float(self.C)

    def problems(self, before: "BudgetPAClassifier", x: Floats, y: object) -> Sequence[Problem]:
        dual, n = Dual.of(self, before, x, y), before.state_.n_support

        def objective(f: Floats) -> float:
            return dual.sqnorm(f - dual.before) / 2 + self.C * dual.loss(f)

        def value(beta: Floats) -> float:
            choices = [dual.add(dual.before, beta)] if n != self.budget or not beta.any() else []
            for r in range(n if n == self.budget else 0):
                f = dual.add(dual.before, beta)
                f[r] = 0.0
                choices.append(f)
            return min(map(objective, choices))

        beta = dual.after[n]
        return [Problem(np.zeros_like(beta), beta, value), at_most(objective(dual.after), value(beta))]
