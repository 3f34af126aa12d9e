"""Forgetron, self-tuned: on a mistake all coefficients shrink, as little as the oldest can be dropped for.

    on a mistake, y·f(x) ≤ 0:   f' = f + y·k(x, ·);   with B + 1 support vectors f ← φ·f', then the oldest, r,
                                goes
    maximise   φ in (0, 1]   subject to   Q + Ψ(σφ, φμ) ≤ 15/32·M,   Ψ(λ, μ) = λ² + 2λ − 2λμ

σ is what r's coefficient has shrunk to, μ = y_r·f'(x_r), M counts mistakes, and Q sums Ψ over what was
dropped. Dekel, Shalev-Shwartz, Singer (SIAM Journal on Computing 37, 2008). Their bound on
mistakes, for B ≥ 84, needs k(x, x) ≤ 1: a longer row enters as k(x, ·)/√k(x, x), which changes the sign of
no score. More than two classes: k(x, ·) enters f_y, and −k(x, ·) f_s, as one vector of squared length
2·k(x, x).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tauten.base import Problem
from tauten.budget import Budgeted
from tauten.dual import Dual
from tauten.kernels import maintenance
from tauten.kernels.maintenance import MOVES, SPENT
from tauten.kernels.pointers import Rule, rule
from tauten.kernels.state import Floats

SHARE = 15.0 / 32.0


@rule
def mistaken(margin, sqnorm, C, round_):  # type: ignore[no-untyped-def]
    return 1.0 / max(1.0, np.sqrt(sqnorm)) if margin <= 0.0 else 0.0


@rule
def shrink(sigma, mu, spent, mistakes):  # type: ignore[no-untyped-def]
    """The largest φ: a·φ² + b·φ + c is below 0 at 0, and has no root or two above 0 where a < 0."""
    a = sigma * sigma - 2.0 * sigma * mu
    b = 2.0 * sigma
    c = spent - SHARE * mistakes
    if a + b + c <= 0.0:
        return 1.0
    return min(1.0, 2.0 * max(-c, 0.0) / (b + np.sqrt(max(b * b - 4.0 * a * c, 0.0))))


def damage(phi: float, sigma: float, mu: float) -> float:
    """Ψ(σφ, φμ)."""
    return (sigma * phi) ** 2 + 2 * sigma * phi - 2 * sigma * phi * phi * mu


@dataclass(eq=False, repr=False)
class ForgetronClassifier(Budgeted):
    """Forgetron: for streams that drift, with a bound on mistakes; the oldest support vector is forgotten.

    It has no parameters of its own, and takes no weights. Kernel and budget, which all learners on a budget
    share, are described in `docs/budget.md`; what all classifiers share in `docs/parameters.md`.

    Examples
    --------
    >>> import numpy as np, tauten as tt
    >>> X = np.random.default_rng(0).standard_normal((1000, 2))
    >>> model = tt.ForgetronClassifier(gamma=1.0).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> model.predict_one([1.0, -1.0]), bool(model.dual_coef_.max() <= 1)
    (False, True)
    """

    step: ClassVar[Rule] = mistaken
    judge: ClassVar[Rule] = shrink

    @property
    def make_room(self) -> Rule:
        return maintenance.give_up_oldest

    @property
    def takes_weights(self) -> bool:
        return False

    def problems(self, before: "ForgetronClassifier", x: Floats, y: object) -> Sequence[Problem]:
        dual, state = Dual.of(self, before, x, y), before.state_
        if self.n_updates_ == before.n_updates_ or state.n_support != self.budget:
            return []
        entered = dual.along / max(1.0, np.sqrt(dual.along @ dual.along * dual.K[dual.example, dual.example]))
        oldest = int(state.marks[maintenance.BORN, : state.n_support].argmin())
        sigma = float(state.marks[maintenance.SHRUNK, oldest])
        f = dual.add(dual.before, entered)
        mu = float(f[oldest] / sigma @ (dual.K[oldest] @ f))
        allowed = SHARE * (state.memory[MOVES] + 1) - state.memory[SPENT]

        def value(phi: Floats) -> float:
            met = 0 < phi[0] <= 1 + 1e-12 and damage(phi[0], sigma, mu) <= allowed + 1e-9
            return -float(phi[0]) if met else np.inf

        phi = np.linalg.norm(dual.after[dual.example]) / np.linalg.norm(entered)
        return [Problem(np.array([1e-6]), np.array([phi]), value)]
