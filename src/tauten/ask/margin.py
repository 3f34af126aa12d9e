"""Margin asking: the less sure the score, the more likely the question.

    P(ask) = δ / (δ + o + |p|)        p: the score; of many classes, the best score less the second

o = 0 is the rule of PAA and, with a Perceptron, of PEA (Cesa-Bianchi, Gentile, Zaniboni, JMLR 7, 2006); o = 1
is that of theorem 4 (Lu, Zhao, Hoi, 2016), whose bound is best at δ = 2. PAA's theorem 1 wants δ ≥ 1.
"""

from dataclasses import dataclass
from typing import ClassVar

from tauten.ask.rule import AskRule
from tauten.kernels.asking import PARAMETERS, ask_rule
from tauten.kernels.pointers import Rule
from tauten.parameters import above, at_least


@ask_rule
def probability(score, variance, sqnorm, asking):  # type: ignore[no-untyped-def]
    delta, offset = asking[PARAMETERS], asking[PARAMETERS + 1]
    return delta / (delta + offset + abs(score))


@dataclass(eq=False, repr=False)
class MarginAsk(AskRule):
    """Ask where the score is small: the first choice.

    Parameters
    ----------
    delta : float, above 0, default 1.0
        The score at which every other label is asked for (`offset` 0). Large asks for nearly all.
    offset : float, 0 or above, default 0.0
        Added to the score; with 1 even a score of 0 is not asked for surely.

    Examples
    --------
    >>> import tauten as tt
    >>> tt.MarginAsk(delta=1.0).chance(3.0, 0.0, 1.0, tt.MarginAsk(delta=1.0).begin(seed=0))
    0.25
    """

    delta: float = above(0, default=1.0)
    offset: float = at_least(0, default=0.0)

    probability: ClassVar[Rule] = probability
    knob: ClassVar[str] = "delta"
