"""BSGD: stochastic gradient descent on the SVM, on a budget: what must go is removed, projected or merged.

    minimise     λ/2·‖f‖² + mean hinge;   at round t:  αᵢ ← (1 − 1/t)·αᵢ,   y·f(x) < 1:  f += 1/(λt)·y·k(x, ·)
    beyond B     p with the least αₚ²·k(xₚ, xₚ), x itself not excepted, is
    removal      left out;
    projection   replaced by its nearest point in the span of the others:  αᵢ += αₚ·dᵢ,  d = K⁻¹kₚ;
    merging      put together with q at z = h·xₚ + (1 − h)·x_q,  α_z = αₚ·k(xₚ, z) + α_q·k(x_q, z); h and q
                 minimise ‖αₚk(xₚ, ·) + α_qk(x_q, ·) − α_zk(z, ·)‖² = αₚ² + α_q² + 2αₚα_q·k(xₚ, x_q) − α_z²

Wang, Crammer, Vucetic (JMLR 13, 2012). Merging needs the RBF kernel, for which
k(xₚ, z) = κ^((1−h)²) and k(x_q, z) = κ^(h²), κ = k(xₚ, x_q). Coefficients of opposite signs merge too, at
an h below 0. More than two classes: the gradient of the hinge of f_y − f_s; coefficients are vectors and
their products inner ones.
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
    "removal": (maintenance.store, maintenance.give_up_lightest),
    "projection": (maintenance.store_if_new, projecting.give_up_projected),
    "merging": (maintenance.store_at_once, projecting.give_up_merged),
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
        What becomes of the lightest support vector. Merging needs kernel="rbf" and suits most data;
        projection costs O(budget²) a time.

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
        return MAINTENANCE[self.maintenance][0]

    @property
    def make_room(self) -> Rule:
        return MAINTENANCE[self.maintenance][1]

    @property
    def inverted(self) -> bool:
        return self.maintenance == "projection"

    @property
    def rounding(self) -> float:  # type: ignore[override]
        """K⁻¹ multiplies what rounding leaves by its condition."""
        return 1e-9 if self.inverted else 1e-12

    def aggressiveness(self) -> float:
        return 1.0 / float(self.lam)

    def check_shape(self) -> None:
        if self.maintenance == "merging" and self.kernel != "rbf":
            raise ValueError(
                f"BudgetSGDClassifier: kernel is {self.kernel!r}, expected 'rbf', or another maintenance "
                "than 'merging'."
            )
        super().check_shape()

    def problems(self, before: "BudgetSGDClassifier", x: Floats, y: object) -> Sequence[Problem]:
        dual, n, t = Dual.of(self, before, x, y), before.state_.n_support, self.t_
        if n != self.budget or dual.loss(dual.before) == 0.0:
            return []
        f = dual.add((1 - 1 / t) * dual.before, dual.along / (self.lam * t))
        weights = (f[: n + 1] ** 2).sum(axis=1) * dual.K.diagonal()[: n + 1]
        p = int(np.flatnonzero(weights <= weights.min() * (1 + maintenance.EVEN))[0])
        if self.maintenance == "merging":
            least = min(_merged(f[p], f[q], dual.K[p, q]) for q in range(n + 1) if q != p)
        elif self.maintenance == "removal":
            least = weights[p]
        else:  # a row in the span of the support vectors is projected at once
            K = dual.K[: n + 1, : n + 1]
            distance = [_projected(K, i) for i in (n, p)]
            least = 0.0 if distance[0] <= 1e-9 * K[n, n] else distance[1] * f[p] @ f[p]
        return [at_most(dual.sqnorm(f - dual.after), float(least))]


def _projected(K: Floats, p: int) -> float:
    """The squared distance of a row from the span of all others."""
    others = np.delete(np.arange(len(K)), p)
    d = np.linalg.lstsq(K[np.ix_(others, others)], K[others, p])[0]
    return max(0.0, float(K[p, p] - K[p, others] @ d))


def _merged(p: Floats, q: Floats, kappa: float) -> float:
    """What merging loses at the best h, by ever finer grids."""
    log = np.log(min(max(kappa, 1e-300), 1.0))
    reach = 1.0 / np.sqrt(max(-2.0 * log, 1e-12))
    h = np.linspace(-reach, 1.0 + reach, 4001)
    for _ in range(3):
        z = p * np.exp(log * (1 - h[:, None]) ** 2) + q * np.exp(log * h[:, None] ** 2)
        kept = (z * z).sum(axis=1)
        best, stride = h[kept.argmax()], h[1] - h[0]
        h = np.linspace(best - stride, best + stride, 201)
    return max(0.0, float(p @ p + q @ q + 2 * kappa * p @ q - kept.max()))
