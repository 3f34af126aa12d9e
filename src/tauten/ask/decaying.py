"""Decaying asking: margin asking that asks much early and little later.

    P(ask) = δₜ / (δₜ + |p|),   δₜ = δₜ₋₁·t/(t + 1),  δ₀ = δ;   so δₜ = δ/(t + 1)

Lu, Zhao, Hoi (2016), "CSPAA(a)", δ = 2¹⁴.
"""

from dataclasses import dataclass
from typing import ClassVar

from tauten.ask.rule import AskRule
from tauten.kernels.asking import PARAMETERS, ROUNDS, ask_rule
from tauten.kernels.pointers import Rule
from tauten.parameters import above


@ask_rule
def probability(score, variance, sqnorm, asking):  # type: ignore[no-untyped-def]
    delta = asking[PARAMETERS] / (asking[ROUNDS] + 2.0)  # rows before this one, and this one, and 1
    return delta / (delta + abs(score))


@dataclass(eq=False, repr=False)
class DecayingAsk(AskRule):
    """Ask much early and little later: for a stream that stays as it is.

    Parameters
    ----------
    delta : float, above 0, default 16384.0
        δ₀, about the row number at which a score of 1 is asked for every other time.

    Examples
    --------
    >>> import tauten as tt
    >>> rule = tt.DecayingAsk(delta=2.0)
    >>> rule.chance(3.0, 0.0, 1.0, rule.begin(seed=0))  # δ₁ = 1
    0.25
    """

    delta: float = above(0, default=16384.0)

    probability: ClassVar[Rule] = probability
    knob: ClassVar[str] = "delta"
