"""BSGD: stochastic gradient descent on the SVM, on a budget: what must go is removed, projected or merged.

    minimise     λ/2·‖f‖² + mean hinge;   at round t:  αᵢ ← (1 − 1/t)·αᵢ,   y·f(x) < 1:  f += 1/(λt)·y·k(x, ·)
    beyond B     p with the least αₚ²·k(xₚ, xₚ), x itself not excepted, is
    removal      left out;
    projection   replaced by its nearest point in the span of the others:  αᵢ += αₚ·dᵢ,  d = K⁻¹kₚ;
    merging      put together with q at z = h·xₚ + (1 − h)·x_q,  α_z = αₚ·k(xₚ, z) + α_q·k(x_q, z); h and q
                 minimise ‖αₚk(xₚ, ·) + α_qk(x_q, ·) − α_zk(z, ·)‖² = αₚ² + α_q² + 2αₚα_q·k(xₚ, x_q) − α_z²

Wang, Crammer, Vucetic (JMLR 13, 2012), algorithm 1 and section 4. Merging needs the RBF kernel, for which
k(xₚ, z) = κ^((1−h)²) and k(x_q, z) = κ^(h²), κ = k(xₚ, x_q). Coefficients of opposite signs merge too, at an h
below 0. More than two classes: the gradient of the hinge of f_y − f_s; coefficients are vectors and their products
inner ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from tauten.base import Problem
from tauten.budget import Budgeted
from tauten.dual import Dual, at_most
from tauten.kernels import maintenance, projecting
from tauten.kernels.pointers import Rule, rule
from tauten.kernels.state import Floats
from tauten.parameters import above, one_of

MAINTENANCE = {
    "removal": maintenance.give_up_lightest,
    "projection": projecting.give_up_projected,
    "merging": projecting.give_up_merged,
}


@rule
def descend(margin, sqnorm, C, round_):  # type: ignore[no-untyped-def]
    return C / round_ if margin < 1.0 else 0.0


@rule
def decaying(round_, fade):  # type: ignore[no-untyped-def]
    return 1.0 - 1.0 / round_


@dataclass(eq=False, repr=False)
class BudgetSGDClassifier(Budgeted):
    """Budget stochastic gradient descent (BSGD): an SVM of a fixed size in one pass or several.

    Kernel and budget, which all learners on a budget share, are described in `docs/budget.md`; what all
    classifiers share in `docs/parameters.md`.

    Parameters
    ----------
    lam : float, above 0, default 0.0001
        How strongly f is drawn to 0 (λ); about 1/(C·rows) of an SVM.
    maintenance : "removal", "projection" or "merging", default "merging"
        What becomes of the lightest support vector. Merging needs kernel="rbf" and suits most data; projection
        costs O(budget²) a time.

    Examples
    --------
    >>> import numpy as np, tauten as tt
    >>> X = np.random.default_rng(0).standard_normal((1000, 2))
    >>> model = tt.BudgetSGDClassifier(gamma=1.0, budget=30).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> model.support_vectors_.shape, model.predict_one([1.0, -1.0])
    ((30, 2), False)
    """

    lam: float = above(0, default=0.0001)
    maintenance: Literal["removal", "projection", "merging"] = one_of(*MAINTENANCE, default="merging")

    step: ClassVar[Rule] = descend
    keep: ClassVar[Rule] = decaying

    @property
    def absorb(self) -> Rule:  # type: ignore[override]
        return maintenance.store_if_new if self.inverted else maintenance.store

    @property
    def make_room(self) -> Rule:
        return MAINTENANCE[self.maintenance]

    @property
    def inverted(self) -> bool:
        return self.maintenance == "projection"

    def aggressiveness(self) -> float:
        return 1.0 / float(self.lam)

    def check_shape(self) -> None:
        if self.maintenance == "merging" and self.kernel != "rbf":
            raise ValueError(
                f"BudgetSGDClassifier: kernel is {self.kernel!r}, expected 'rbf', or another maintenance than "
                "'merging'."
            )
        super().check_shape()

    def problems(self, before: "BudgetSGDClassifier", x: Floats, y: object) -> Sequence[Problem]:
        dual, n, t = Dual.of(self, before, x, y), before.state_.n_support, self.t_
        if n != self.budget or dual.loss(dual.before) == 0.0:
            return []
        f = dual.add((1 - 1 / t) * dual.before, dual.along / (self.lam * t))
        weights = (f[: n + 1] ** 2).sum(axis=1) * dual.K.diagonal()[: n + 1]
        p = int(weights.argmin())
        least = {"removal": weights[p], "projection": _projected(dual.K[: n + 1, : n + 1], p) * f[p] @ f[p]}
        if self.maintenance == "merging":
            least["merging"] = min(_merged(f[p], f[q], dual.K[p, q]) for q in range(n + 1) if q != p)
        return [at_most(dual.sqnorm(f - dual.after), float(least[self.maintenance]))]


def _projected(K: Floats, p: int) -> float:
    """The squared distance of a row from the span of all others."""
    others = np.delete(np.arange(len(K)), p)
    d = np.linalg.lstsq(K[np.ix_(others, others)], K[others, p])[0]
    return max(0.0, float(K[p, p] - K[p, others] @ d))


def _merged(p: Floats, q: Floats, kappa: float, n_points: int = 2001) -> float:
    """What merging loses at the best of many h."""
    if kappa == 0.0:
        return float(min(p @ p, q @ q))
    log = np.log(min(kappa, 1.0))
    h = np.linspace(-2.0, 2.0, n_points)[:, None]
    z = p * np.exp(log * (1 - h) ** 2) + q * np.exp(log * h**2)
    return float(p @ p + q @ q + 2 * kappa * p @ q - (z * z).sum(axis=1).max())
