"""Asking to a budget: margin asking whose δ is steered so that the share of labels asked stays as set.

    P(ask) = δₜ / (δₜ + |p|),   log δₜ = g·(r·t − aₜ)

t counts the rows so far, aₜ the labels asked so far, r is the rate. Each row moves log δ by g·(r − 1{asked}),
so the share asked differs from r by exactly |log δ_T|/(g·T). A δ far above all scores asks for nearly every
label and comes down, one far below for nearly none and goes up: |log δ| stays about the size of the largest
|log |p||, and the difference falls like 1/T whatever the stream does, drift too. Ours; a controller with an
integral term alone.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tauten.ask.rule import AskRule
from tauten.kernels.asking import ASKED, PARAMETERS, ROUNDS, ask_rule
from tauten.kernels.pointers import Rule
from tauten.parameters import above, share


@ask_rule
def probability(score, variance, sqnorm, asking):  # type: ignore[no-untyped-def]
    rate, gain = asking[PARAMETERS], asking[PARAMETERS + 1]
    behind = gain * (rate * asking[ROUNDS] - asking[ASKED])
    delta = np.exp(min(max(behind, -500.0), 500.0))
    return delta / (delta + abs(score))


@dataclass(eq=False, repr=False)
class BudgetAsk(AskRule):
    """Ask by margin, for a set share of the labels: what a team with a labelling budget wants.

    Parameters
    ----------
    rate : float, from 0 to 1, default 0.1
        The share.
    gain : float, above 0, default 0.1
        How sharply δ is steered. Larger holds the share more closely over short stretches and asks less by
        margin.

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
