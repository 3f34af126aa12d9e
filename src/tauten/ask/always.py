"""Asking always: every label is learned, as by the learner alone.

P(ask) = 1
"""

from dataclasses import dataclass
from typing import ClassVar

from tauten.ask.rule import AskRule
from tauten.kernels.asking import ask_rule
from tauten.kernels.pointers import Rule


@ask_rule
def probability(score, variance, sqnorm, asking):  # type: ignore[no-untyped-def]
    return 1.0


@dataclass(eq=False, repr=False)
class AlwaysAsk(AskRule):
    """Ask for every label: what the others are compared with.

    Examples
    --------
    >>> import tauten as tt
    >>> tt.AlwaysAsk().chance(3.0, 0.0, 1.0, tt.AlwaysAsk().begin(seed=0))
    1.0
    """

    probability: ClassVar[Rule] = probability
