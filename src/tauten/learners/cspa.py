"""Cost-sensitive PA, the learner inside CSPAA: the rare class is asked for a margin of ρ, not of 1.

    minimise  ½‖w − wₜ‖² + slack(ξ)   subject to  y⟨w, x⟩ ≥ ρᵧ − ξ,  ξ ≥ 0,   ρ₊ = ρ, ρ₋ = 1
    solution  w = wₜ + τ·y·x,         ℓ = max(0, ρᵧ − y⟨wₜ, x⟩)

with the steps of `pa`; the paper's is I. ρ = (η₊·T₋)/(η₋·T₊) serves the sum η₊·sensitivity + η₋·specificity,
and ρ = c₊/c₋ the cost c₊·misses + c₋·false alarms. Lu, Zhao, Hoi (2016), section 5, algorithm 4, where every
label is asked. Differs from the paper: rows need not have length 1, so τ has ‖x‖² where the paper has 1.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from tauten.kernels.pointers import Rule
from tauten.kernels.state import Floats
from tauten.learners.pa import VARIANTS, hinge, objective
from tauten.linear import LinearClassifier
from tauten.parameters import above, is_number, one_of, parameter


@dataclass(eq=False, repr=False)
class CostSensitivePAClassifier(LinearClassifier):
    """Cost-sensitive passive-aggressive classifier: for a rare second class. Many classes: one against the
    rest.

    Parameters
    ----------
    C : float, above 0, default 1.0
        How far one example may pull; the theory asks for C ≥ rho.
    rho : float above 0, or "balanced", default 1.0
        Margin asked of the second class (of each class against the rest). "balanced" is T₋/T₊ from the counts
        of rows
        so far, the row itself among them, and 1 until both sides have been seen.
    variant : "hard", "I" or "II", default "I"
        As in PAClassifier.

    The parameters that all classifiers share are described in `docs/parameters.md`.

    Examples
    --------
    >>> import tauten as tt
    >>> model = tt.CostSensitivePAClassifier(C=10.0, rho=3.0, fit_intercept=False)
    >>> model.fit([[1.0], [-1.0]], [1, 0]).decision_function([[1.0]]).tolist()
    [3.0]
    """

    C: float = above(0, default=1.0)
    rho: float | Literal["balanced"] = parameter(
        1.0,
        lambda rho: rho == "balanced" if isinstance(rho, str) else is_number(rho) and rho > 0,
        "a number above 0 or 'balanced'",
    )
    variant: Literal["hard", "I", "II"] = one_of("hard", "I", "II", default="I")

    loss: ClassVar[Rule] = hinge
    sweepable: ClassVar[frozenset[str]] = frozenset({"C", "rho"})

    @property
    def step(self) -> Rule:
        return VARIANTS[self.variant].step

    @property
    def takes_weights(self) -> bool:
        return self.variant != "hard"

    def margins(self, y: Floats) -> Floats:
        return np.where(y > 0, 1.0 if self.rho == "balanced" else float(self.rho), 1.0)

    def running_margins(self, y: Floats, inside: Floats, outside: Floats) -> Floats | None:
        if self.rho != "balanced":
            return None
        ratio = np.divide(outside, inside, out=np.ones_like(y), where=(inside > 0) & (outside > 0))
        return np.where(y > 0, ratio, 1.0)

    def objective(self, w: Floats, start: Floats, x: Floats, y: float) -> float:
        margin = 1.0
        if y > 0:
            first, second = self.class_count_[:2]
            margin = (
                float(self.rho) if self.rho != "balanced" else first / second if first and second else 1.0
            )
        return objective(w, start, max(0.0, margin - y * float(w @ x)), self.C, self.variant)
