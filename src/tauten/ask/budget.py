"""Asking to a budget: margin asking whose δ is steered so that the share of labels asked stays as set.

    P(ask) = δₜ / (δₜ + o + |p|),   δₜ = r/(1 − r) · exp(g·(r·t − aₜ)),   o = 2⁻¹⁰

t counts the rows so far, aₜ the labels asked so far, r is the rate: δ grows while too little was asked and
shrinks while too much was. Where |p| is about 1, PA's margin, it starts in balance. Ours; in the language of
control an integral controller of log δ.

How close it keeps, whatever the scores are and however they change: with Q the largest o + |p|, taking the
expectation of the next δ and of the next 1/δ gives

    E[δₜ₊₁ | past]   ≤ e^(−g(1−r))·δₜ + Q·e^(gr)·(1 − e^−g),    hence  E[δ_T] ≤ δ₀·max(1, Q·e^g/r)
    E[1/δₜ₊₁ | past] ≤ e^(−gr)/δₜ + e^(−gr)·(e^g − 1)/o,        hence  E[1/δ_T] ≤ e^g/(δ₀·o·(1 − r))

and as r·T − a_T = log(δ_T/δ₀)/g, by Markov's inequality, for every T and s > 0

    |a_T − r·T| ≤ (g + log max(Q/r, 1/(o·(1 − r))) + s)/g     with probability 1 − 2·e^−s at least.

So the share asked differs from r by O(1/T), with no assumption on the stream. As long as the scores keep
their size, a_T − r·T has a standard deviation of about 1/√(2g) labels, 2.2 at g = 0.1, where asking at random
has √(T·r·(1 − r)). With o = 0 rows of score 0 would always be asked, and a stream of them could not be held.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tauten.ask.rule import AskRule
from tauten.kernels.asking import ASKED, PARAMETERS, ROUNDS, ask_rule
from tauten.kernels.pointers import Rule
from tauten.parameters import above, share

OFFSET = 2.0**-10


@ask_rule
def probability(score, variance, sqnorm, asking):  # type: ignore[no-untyped-def]
    rate, gain = asking[PARAMETERS], asking[PARAMETERS + 1]
    if not 0.0 < rate < 1.0:
        return rate
    behind = gain * (rate * asking[ROUNDS] - asking[ASKED])
    delta = rate / (1.0 - rate) * np.exp(min(max(behind, -500.0), 500.0))
    return delta / (delta + OFFSET + abs(score))


@dataclass(eq=False, repr=False)
class BudgetAsk(AskRule):
    """Ask by margin, for a set share of the labels: what a team with a labelling budget wants.

    Parameters
    ----------
    rate : float, from 0 to 1, default 0.1
        The share, of all rows seen since learning began.
    gain : float, above 0, default 0.1
        How sharply δ is steered. Larger holds the share more closely over short stretches, and asks less by
        margin and more in turn.

    Examples
    --------
    >>> import numpy as np, tauten as tt
    >>> X = np.random.default_rng(0).standard_normal((5000, 4))
    >>> active = tt.ActiveClassifier(tt.PAClassifier(), ask=tt.BudgetAsk(rate=0.1), random_state=0)
    >>> round(active.partial_fit(X, X[:, 0] > 0).n_asked_ / 5000, 2)
    0.1
    """

    rate: float = share(0.1)
    gain: float = above(0, default=0.1)

    probability: ClassVar[Rule] = probability
    knob: ClassVar[str] = "rate"
