"""SEL-2nd: margin asking that asks more where the score is less certain, for the second-order Perceptron.

    P(ask) = b / (b + |p| + p²(1 + v)/2),   p = s/(1 + v),   v = xᵀΣx,  s the score

Cesa-Bianchi, Gentile, Zaniboni (JMLR 7, 2006), figure 4: p is the score with x xᵀ already in A, which divides
that of `sop` by 1 + v (a = 1).
"""

from dataclasses import dataclass
from typing import ClassVar

from tauten.ask.rule import AskRule
from tauten.kernels.asking import PARAMETERS, ask_rule
from tauten.kernels.pointers import Rule
from tauten.parameters import above


@ask_rule
def probability(score, variance, sqnorm, asking):  # type: ignore[no-untyped-def]
    b = asking[PARAMETERS]
    p = abs(score) / (1.0 + variance)
    return b / (b + p + p * p * (1.0 + variance) / 2.0)


@dataclass(eq=False, repr=False)
class SecondOrderAsk(AskRule):
    """Margin asking by score and variance; only for learners that have a covariance.

    Parameters
    ----------
    b : float, above 0, default 1.0
        Larger asks more.

    Examples
    --------
    >>> import tauten as tt
    >>> rule = tt.SecondOrderAsk(b=1.0)
    >>> rule.chance(4.0, 1.0, 1.0, rule.begin(seed=0))  # p = 2: 1/(1 + 2 + 4)
    0.14285714285714285
    """

    b: float = above(0, default=1.0)

    probability: ClassVar[Rule] = probability
    knob: ClassVar[str] = "b"
    curious: ClassVar[bool] = True
