"""BOGD: kernel gradient descent; a support vector leaves at random, and the others make up for it.

    each round     αᵢ ← (1 − ηλ)·αᵢ
    y·f(x) < 1     f ← f + η·y·k(x, ·),   and with B + 1 support vectors one of the old ones goes, i with
                   probability pᵢ; the others:  |αⱼ| ← min(|αⱼ|/(1 − pⱼ), γη),   so that the mean of f stays
    BOGD           pᵢ = 1/B
    BOGD++         pᵢ = 1 − s·|αᵢ|√k(xᵢ, xᵢ),   s = (B − 1)/Σⱼ|αⱼ|√k(xⱼ, xⱼ)

Zhao, Wang, Wu, Jin, Hoi (ICML 2012). Differs from the paper: where one coefficient
outweighs all others together, BOGD++'s pᵢ is negative; it is then 0, and the others add up to 1. More than
two classes: the gradient of the hinge of f_y − f_s, |αᵢ| the length of a vector, and γη√2 the ceiling.
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
from tauten.learners.projectron import short
from tauten.parameters import above, at_least, switch


@rule
def fading(round_, fade):  # type: ignore[no-untyped-def]
    return 1.0 - fade


@rule
def alike(weight, total, n):  # type: ignore[no-untyped-def]
    return 1.0 / n


@rule
def unlike(weight, total, n):  # type: ignore[no-untyped-def]
    return max(0.0, 1.0 - (n - 1.0) * weight / total) if total > 0.0 else 1.0 / n


@dataclass(eq=False, repr=False)
class BudgetOGDClassifier(Budgeted):
    """Budget gradient descent (BOGD): support vectors leave at random, and in the mean nothing is lost.

    Kernel and budget, which all learners on a budget share, are described in `docs/budget.md`; what all
    classifiers share in `docs/parameters.md`.

    Parameters
    ----------
    eta : float, above 0, default 0.5
        The length of a step.
    lam : float, 0 or above, default 0.001
        How strongly f is drawn to 0: a round leaves 1 − eta·lam of it, which must be above 0.
    clip : float, above 0, default 2.0
        No coefficient grows beyond `clip`·eta (γη).
    plus : bool, default False
        BOGD++: light support vectors are the likeliest to leave.

    Examples
    --------
    >>> import numpy as np, tauten as tt
    >>> X = np.random.default_rng(0).standard_normal((1000, 2))
    >>> model = tt.BudgetOGDClassifier(plus=True, gamma=1.0).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> model.support_vectors_.shape, model.predict_one([1.0, -1.0])
    ((100, 2), False)
    """

    eta: float = above(0, default=0.5)
    lam: float = at_least(0, default=0.001)
    clip: float = above(0, default=2.0)
    plus: bool = switch(False)

    step: ClassVar[Rule] = short
    keep: ClassVar[Rule] = fading

    @property
    def judge(self) -> Rule:  # type: ignore[override]
        return unlike if self.plus else alike

    @property
    def make_room(self) -> Rule:
        return maintenance.give_up_unbiased

    def aggressiveness(self) -> float:
        return float(self.eta)

    def fade(self) -> float:
        return float(self.eta) * float(self.lam)

    def own(self) -> float:
        return float(self.clip) * float(self.eta) * (1.0 if self.state_.n_columns == 1 else 2.0**0.5)

    def check_shape(self) -> None:
        if self.fade() >= 1:
            raise ValueError(f"BudgetOGDClassifier: eta·lam is {self.fade():g}; expected less than 1.")
        super().check_shape()

    def problems(self, before: "BudgetOGDClassifier", x: Floats, y: object) -> Sequence[Problem]:
        moved = self.n_updates_ > before.n_updates_
        return [Dual.of(self, before, x, y).gradient_step(self.eta)] if moved else []
