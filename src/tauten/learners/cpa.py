"""CPA: passive-aggressive on mistakes only, each to a margin that grows with what the mistake costs.

    on a mistake:  minimise  ½‖w − wₜ‖² + C·ξ   subject to  y⟨w, x⟩ ≥ √ρᵧ − ξ,  ξ ≥ 0
    solution       w = wₜ + τ·y·x,   τ = min(C, ℓ/‖x‖²),   ℓ = √ρᵧ − y⟨wₜ, x⟩

The root makes ℓ² an upper bound of the cost ρ. More than two classes: ŷ the predicted one, ℓ = √ρᵧ + ⟨w_ŷ −
wᵧ, x⟩, wᵧ += τx, w_ŷ −= τx, and 2‖x‖². Crammer et al. (JMLR 7, 2006), section 9, prediction-based; as a
rival: Lu, Zhao, Hoi (2016), table 6. A mistake is what `predict` gets wrong: a score of 0, or a tie, is one
for the later class only. The loss jumps at that score. Where it is met exactly, as on small whole numbers,
rounding decides, and dense and sparse rows, summed in another order, may part.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tauten.kernels.pointers import Rule, rule
from tauten.kernels.state import Floats
from tauten.learners.pa import capped, objective
from tauten.linear import LinearClassifier
from tauten.parameters import above, is_number, is_weight_map, parameter


@rule
def mistake_hinge(score, y, margin):  # type: ignore[no-untyped-def]
    """Signed loss: what is missing to the margin, but only on a mistake."""
    mistake = score <= 0.0 if y > 0.0 else score > 0.0
    return y * (margin - y * score) if mistake else 0.0


@dataclass(eq=False, repr=False)
class CPAClassifier(LinearClassifier):
    """Cost-sensitive passive-aggressive classifier, prediction-based: for labels whose mistakes cost
    differently.

    Parameters
    ----------
    C : float, above 0, default 1.0
        How far one example may pull.
    rho : float above 0, or dict from labels to such numbers, default 1.0
        What missing a label costs. A number is the cost of missing the second of two classes, the other's
        being 1;
        labels that a dict leaves out cost 1.

    The parameters that all classifiers share are described in `docs/parameters.md`.

    Examples
    --------
    >>> import tauten as tt
    >>> model = tt.CPAClassifier(C=10.0, rho=4.0, fit_intercept=False).fit([[1.0], [-1.0]], [1, 0])
    >>> model.decision_function([[1.0]]).tolist()
    [2.0]
    """

    C: float = above(0, default=1.0)
    rho: float | Mapping[Any, float] = parameter(
        1.0,
        lambda rho: (
            (is_number(rho) and rho > 0) or (is_weight_map(rho) and all(cost > 0 for cost in rho.values()))
        ),
        "a number above 0 or a dict from labels to such numbers",
    )

    coupled: ClassVar[bool] = True
    loss: ClassVar[Rule] = mistake_hinge
    sweepable: ClassVar[frozenset[str]] = frozenset({"C", "rho"})

    @property
    def step(self) -> Rule:
        return capped

    def costs(self) -> Floats:
        """The cost of missing each class."""
        if isinstance(self.rho, Mapping):
            return np.array([float(self.rho.get(label, 1.0)) for label in self.classes_.tolist()])
        if len(self.classes_) > 2 and self.rho != 1.0:
            raise ValueError(
                f"CPAClassifier: rho is {self.rho!r} for {len(self.classes_)} classes; expected a dict."
            )
        return (
            np.array([1.0, float(self.rho)])[: len(self.classes_)]
            if len(self.classes_) <= 2
            else np.ones(len(self.classes_))
        )

    def margins(self, y: Floats) -> Floats:
        return np.sqrt(self.costs())[:, None]

    def objective(self, w: Floats, start: Floats, x: Floats, y: float) -> float:
        score = float(start @ x)
        if (score > 0) == (y > 0):
            return objective(w, start, 0.0, self.C, "I")
        margin = float(np.sqrt(self.costs()[int(y > 0)]))
        return objective(w, start, max(0.0, margin - y * float(w @ x)), self.C, "I")
