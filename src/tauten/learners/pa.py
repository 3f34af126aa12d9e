"""PA: fix the mistake with the smallest move; PA-I and PA-II bound how far a noisy example can pull.

    minimise  ½‖w − wₜ‖² + slack(ξ)   subject to  y⟨w, x⟩ ≥ 1 − ξ,  ξ ≥ 0
    solution  w = wₜ + τ·y·x,         ℓ = max(0, 1 − y⟨wₜ, x⟩)

    hard      ξ = 0           τ = ℓ / ‖x‖²
    I         slack = C·ξ     τ = min(C, ℓ / ‖x‖²)
    II        slack = C·ξ²    τ = ℓ / (‖x‖² + 1/(2C))

More than two classes: wᵧ += τx and wₛ −= τx for the best wrong class s, ℓ = max(0, 1 − ⟨wᵧ − wₛ, x⟩), and
2‖x‖² in the place of ‖x‖². Crammer, Dekel, Keshet, Shalev-Shwartz, Singer (JMLR 7, 2006), figures 1 and 3,
section 8.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from tauten.kernels.pointers import Rule, rule
from tauten.kernels.state import Floats
from tauten.linear import LinearClassifier
from tauten.parameters import above, one_of


@rule
def hinge(score, y, margin):  # type: ignore[no-untyped-def]
    """Signed loss: how far y·score falls short of the margin, with the sign of y."""
    return y * max(0.0, margin - y * score)


@rule
def hard(loss, sqnorm, C):  # type: ignore[no-untyped-def]
    return loss / sqnorm


@rule
def capped(loss, sqnorm, C):  # type: ignore[no-untyped-def]
    return min(C, loss / sqnorm)


@rule
def damped(loss, sqnorm, C):  # type: ignore[no-untyped-def]
    return loss / (sqnorm + 0.5 / C)


class Variant(NamedTuple):
    """A step and what it lets an example that stays wrong by `loss` cost."""

    step: Rule
    slack: Callable[[float, float], float]


VARIANTS = {
    "hard": Variant(hard, lambda loss, C: np.inf if loss > 1e-9 else 0.0),
    "I": Variant(capped, lambda loss, C: C * loss),
    "II": Variant(damped, lambda loss, C: C * loss * loss),
}


def objective(w: Floats, start: Floats, loss: float, C: float, variant: str) -> float:
    """½‖w − start‖² + slack, what every step of this shape minimises."""
    return float((w - start) @ (w - start) / 2 + VARIANTS[variant].slack(loss, C))


@dataclass(eq=False, repr=False)
class PAClassifier(LinearClassifier):
    """Passive-aggressive classifier: the first choice for sparse text and for streams.

    Parameters
    ----------
    C : float, above 0, default 1.0
        How far one example may pull; small for noisy labels. The hard variant does not use it.
    variant : "hard", "I" or "II", default "I"
        Fix every mistake whole; move at most C along x; or damp the move.

    The parameters that all classifiers share are described in `docs/parameters.md`.

    Examples
    --------
    >>> import tauten as tt
    >>> model = tt.PAClassifier(C=1.0)
    >>> model = model.learn_one({"free": 1, "offer": 2}, "spam").learn_one({"lunch": 1}, "ham")
    >>> model.predict_one({"lunch": 2})
    'ham'
    """

    C: float = above(0, default=1.0)
    variant: Literal["hard", "I", "II"] = one_of("hard", "I", "II", default="I")

    coupled: ClassVar[bool] = True
    loss: ClassVar[Rule] = hinge

    @property
    def step(self) -> Rule:
        return VARIANTS[self.variant].step

    @property
    def takes_weights(self) -> bool:
        return self.variant != "hard"

    def objective(self, w: Floats, start: Floats, x: Floats, y: float) -> float:
        return objective(w, start, max(0.0, 1.0 - y * float(w @ x)), self.C, self.variant)
