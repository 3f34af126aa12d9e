"""Asking by variance: surely where the score is within reach of what the row could still teach.

    q = |p| − η/2 · 1/(1/v + 1/γ),   v = xᵀΣx
    P(ask) = 1 where q ≤ 0,   δ / (δ + q) elsewhere

The rule of SOAL (Hao et al., ICDM 2016) and, with one δ for both sides and no cost, of OA3 (KDD 2018), after
their public code.
"""

from dataclasses import dataclass
from typing import ClassVar

from tauten.ask.rule import AskRule
from tauten.kernels.asking import PARAMETERS, ask_rule
from tauten.kernels.pointers import Rule
from tauten.parameters import above


@ask_rule
def probability(score, variance, sqnorm, asking):  # type: ignore[no-untyped-def]
    delta, eta, gamma = asking[PARAMETERS], asking[PARAMETERS + 1], asking[PARAMETERS + 2]
    q = abs(score) - eta / 2.0 * variance * gamma / (variance + gamma)
    return delta / (delta + q) if q > 0.0 else 1.0


@dataclass(eq=False, repr=False)
class VarianceAsk(AskRule):
    """Ask surely while the score is not certain, then by margin; only for learners that have a covariance.

    Parameters
    ----------
    delta : float, above 0, default 1.0
        How slowly the probability falls with the score; large asks for nearly all.
    eta : float, above 0, default 1.0
        How much of the variance counts.
    gamma : float, above 0, default 1.0
        The largest variance that counts.

    Examples
    --------
    >>> import tauten as tt
    >>> rule = tt.VarianceAsk(delta=1.0, eta=2.0, gamma=1.0)
    >>> rule.chance(3.5, 1.0, 1.0, rule.begin(seed=0))  # q = 3.5 − 0.5
    0.25
    """

    delta: float = above(0, default=1.0)
    eta: float = above(0, default=1.0)
    gamma: float = above(0, default=1.0)

    probability: ClassVar[Rule] = probability
    knob: ClassVar[str] = "delta"
    curious: ClassVar[bool] = True
