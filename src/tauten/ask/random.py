"""Asking at random: the yardstick of every other rule.

P(ask) = rate
"""

from dataclasses import dataclass
from typing import ClassVar

from tauten.ask.rule import AskRule
from tauten.kernels.asking import PARAMETERS, ask_rule
from tauten.kernels.pointers import Rule
from tauten.parameters import share


@ask_rule
def probability(score, variance, sqnorm, asking):  # type: ignore[no-untyped-def]
    return asking[PARAMETERS]


@dataclass(eq=False, repr=False)
class RandomAsk(AskRule):
    """Ask for a fixed share of the labels, whatever the scores.

    Parameters
    ----------
    rate : float, from 0 to 1, default 0.1
        The share.

    Examples
    --------
    >>> import tauten as tt
    >>> tt.RandomAsk(rate=0.25).chance(3.0, 0.0, 1.0, tt.RandomAsk(rate=0.25).begin(seed=0))
    0.25
    """

    rate: float = share(0.1)

    probability: ClassVar[Rule] = probability
    knob: ClassVar[str] = "rate"
