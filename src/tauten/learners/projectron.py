"""Projectron: on a mistake the row is projected onto the span of the support vectors, if it is near enough.

    on a mistake, y·f(x) ≤ 0:   minimise  ‖k(x, ·) − Σᵢ dᵢ·k(xᵢ, ·)‖²;   d = K⁻¹k,   ‖δ‖² = k(x, x) − ⟨k, d⟩
                                ‖δ‖ ≤ η, or no room:  αᵢ += y·dᵢ;   otherwise x becomes a support vector
    ++, on 0 < y·f(x) < 1:      αᵢ += τ·y·dᵢ, with the largest τ in [0, 1] that does not pass the margin,
                                τ‖Pk‖² ≤ ℓ, and loses no progress, 2τ(ℓ − ‖δ‖/η) ≥ τ²‖Pk‖²

Orabona, Keshet, Caputo (JMLR 10, 2009). Differs from the paper: there is a budget (None for none), at which
every row is projected; and not K⁻¹ is kept but a root of it, which loses fewer digits. More than two classes:
k(x, ·) enters f_y and −k(x, ·) f_s, as one vector, so that ‖δ‖² and ‖Pk‖² count twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tauten.base import Problem
from tauten.budget import Budgeted
from tauten.dual import Dual
from tauten.kernels import maintenance
from tauten.kernels.pointers import Rule, rule
from tauten.kernels.state import Floats
from tauten.learners.rbp import mistaken
from tauten.parameters import above, switch


@rule
def short(margin, sqnorm, C, round_):  # type: ignore[no-untyped-def]
    return C if margin < 1.0 else 0.0


@rule
def reach(loss, spread, distance, eta):  # type: ignore[no-untyped-def]
    """τ for the loss ℓ, ‖Pk‖², ‖δ‖ and η."""
    return max(0.0, min(loss / spread, 2.0 * (loss - distance / eta) / spread, 1.0))


@dataclass(eq=False, repr=False)
class ProjectronClassifier(Budgeted):
    """Projectron: where few support vectors span nearly everything, it is the kernel Perceptron at less cost.

    Kernel and budget, which all learners on a budget share, are described in `docs/budget.md`; what all
    classifiers share in `docs/parameters.md`.

    Parameters
    ----------
    eta : float, above 0, default 0.1
        How far a mistake may be from the span and still be projected; large for few support vectors.
    plus : bool, default False
        Projectron++: learn also from rows that are right by less than the margin, as far as the span goes.

    Examples
    --------
    >>> import numpy as np, tauten as tt
    >>> X = np.random.default_rng(0).standard_normal((1000, 2))
    >>> model = tt.ProjectronClassifier(eta=0.3, plus=True, gamma=1.0).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> model.predict_one([1.0, -1.0]), model.support_vectors_.shape[0] < 60
    (False, True)
    """

    eta: float = above(0, default=0.1)
    plus: bool = switch(False)

    judge: ClassVar[Rule] = reach
    absorb: ClassVar[Rule] = maintenance.store_if_far
    rounding: ClassVar[float] = 1e-9  # K⁻¹ multiplies what rounding leaves by its condition

    @property
    def step(self) -> Rule:  # type: ignore[override]
        return short if self.plus else mistaken

    @property
    def make_room(self) -> Rule:
        return maintenance.give_up_any  # never called: there is no room to make

    @property
    def inverted(self) -> bool:
        return True

    def own(self) -> float:
        return float(self.eta)

    def problems(self, before: "ProjectronClassifier", x: Floats, y: object) -> Sequence[Problem]:
        dual, n = Dual.of(self, before, x, y), before.state_.n_support
        if self.n_updates_ == before.n_updates_ or np.any(dual.after[n:]):
            return []
        own, near, K = dual.K[n, n], dual.K[n, :n], dual.K[:n, :n]
        d = np.linalg.lstsq(K, near)[0]
        taken = (dual.after - dual.before)[:n] @ dual.along / (dual.along @ dual.along)
        spread, apart = (dual.along @ dual.along * part for part in (near @ d, own - near @ d))
        tau = float(near @ taken) / float(near @ d)
        loss = dual.loss(dual.before)

        def distance(share: Floats) -> float:
            return float(own - 2 * near @ share + share @ K @ share)

        def minus_tau(tau: Floats) -> float:
            progress = 2 * tau[0] * (loss - np.sqrt(max(apart, 0.0)) / self.eta) - tau[0] ** 2 * spread
            met = 0 <= tau[0] <= 1 and tau[0] * spread <= loss + 1e-9 and progress >= -1e-9
            return -float(tau[0]) if met else np.inf

        projected = Problem(np.zeros(n), taken / tau, distance)
        stepped = Problem(np.zeros(1), np.array([tau]), minus_tau)
        return [projected] if dual.margin(dual.before) <= 0 else [projected, stepped]
