"""RBP: the kernel Perceptron; where the budget is passed, a support vector drawn at random leaves.

    on a mistake, y·f(x) ≤ 0:   f ← f + y·k(x, ·),   and with B + 1 support vectors one of the old ones goes,
                                each with probability 1/B

Cavallanti, Cesa-Bianchi, Gentile (Machine Learning 69, 2007). More than two classes: f_y += k(x, ·)
and f_s −= k(x, ·) for the best wrong class s whenever it scores no less than y; all share support vectors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tauten.base import Problem
from tauten.budget import Budgeted
from tauten.dual import Dual
from tauten.kernels import maintenance
from tauten.kernels.pointers import Rule, rule
from tauten.kernels.state import Floats


@rule
def mistaken(margin, sqnorm, C, round_):  # type: ignore[no-untyped-def]
    return C if margin <= 0.0 else 0.0


@dataclass(eq=False, repr=False)
class BudgetPerceptronClassifier(Budgeted):
    """Randomised budget Perceptron: the cheapest of its kind, and the yardstick.

    It has no parameters of its own. Kernel and budget, which all learners on a budget share, are described in
    `docs/budget.md`; what all classifiers share in `docs/parameters.md`.

    Examples
    --------
    >>> import numpy as np, tauten as tt
    >>> X = np.random.default_rng(0).standard_normal((1000, 2))
    >>> model = tt.BudgetPerceptronClassifier(gamma=1.0, budget=50).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> model.support_vectors_.shape, model.predict_one([1.0, -1.0])
    ((50, 2), False)
    """

    step: ClassVar[Rule] = mistaken

    @property
    def make_room(self) -> Rule:
        return maintenance.give_up_any

    def problems(self, before: "BudgetPerceptronClassifier", x: Floats, y: object) -> Sequence[Problem]:
        moved = self.n_updates_ > before.n_updates_
        return [Dual.of(self, before, x, y).gradient_step(1.0)] if moved else []
