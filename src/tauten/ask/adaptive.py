"""SEL-ada: margin asking whose scale grows with the length of the rows and with the number of moves.

    P(ask) = b / (b + |p|),   b = β·X²·√(1 + K)

K counts the moves so far, X is the length of the longest row among this one and those that moved.
Cesa-Bianchi, Gentile, Zaniboni (JMLR 7, 2006), figure 3.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tauten.ask.rule import AskRule
from tauten.kernels.asking import LONGEST, MOVES, PARAMETERS, ask_rule
from tauten.kernels.pointers import Rule
from tauten.parameters import above


@ask_rule
def probability(score, variance, sqnorm, asking):  # type: ignore[no-untyped-def]
    b = asking[PARAMETERS] * max(sqnorm, asking[LONGEST]) * np.sqrt(1.0 + asking[MOVES])
    return b / (b + abs(score)) if b > 0.0 else 1.0


@dataclass(eq=False, repr=False)
class AdaptiveAsk(AskRule):
    """Margin asking that finds its scale by itself: for the Perceptron, whose scores grow with its moves.

    Parameters
    ----------
    beta : float, above 0, default 1.0
        Larger asks more.

    Examples
    --------
    >>> import tauten as tt
    >>> rule = tt.AdaptiveAsk(beta=0.5)
    >>> rule.chance(6.0, 0.0, 4.0, rule.begin(seed=0))  # b = 0.5·4
    0.25
    """

    beta: float = above(0, default=1.0)

    probability: ClassVar[Rule] = probability
    knob: ClassVar[str] = "beta"
