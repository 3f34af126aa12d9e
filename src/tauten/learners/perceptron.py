"""Perceptron: on a mistake, add the example; otherwise do nothing.

    on a mistake, y⟨wₜ, x⟩ ≤ 0:   minimise  ½‖w − wₜ‖² − y⟨w, x⟩
    solution                      w = wₜ + y·x

More than two classes: wᵧ += x and wₛ −= x for the best wrong class s whenever it scores no less than y
(max-score). Rosenblatt (1958); Crammer and Singer (JMLR 3, 2003) for many classes.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tauten.kernels.pointers import Rule, rule
from tauten.kernels.state import Floats
from tauten.linear import LinearClassifier


@rule
def short(score, y, margin):  # type: ignore[no-untyped-def]
    """Signed loss: 1, with the sign of y, where y·score is not above the margin."""
    return y if y * score <= margin else 0.0


@rule
def whole(loss, sqnorm, C):  # type: ignore[no-untyped-def]
    return C


def objective(w: Floats, start: Floats, x: Floats, y: float, margin: float, C: float) -> float:
    """What adding C·y·x minimises where the margin is not reached, and staying elsewhere."""
    gain = C * y * float(w @ x) if y * float(start @ x) <= margin else 0.0
    return float((w - start) @ (w - start) / 2 - gain)


@dataclass(eq=False, repr=False)
class PerceptronClassifier(LinearClassifier):
    """Perceptron: the yardstick. It has no parameters of its own, and `average=True` makes it a fair rival.

    The parameters that all classifiers share are described in `docs/parameters.md`.

    Examples
    --------
    >>> import tauten as tt
    >>> tt.PerceptronClassifier().fit([[1.0, 0.0], [0.0, 1.0]], [1, 0]).predict_one([2.0, 1.0])
    1
    """

    coupled: ClassVar[bool] = True
    loss: ClassVar[Rule] = short
    sweepable: ClassVar[frozenset[str]] = frozenset()

    @property
    def step(self) -> Rule:
        return whole

    def margins(self, y: Floats) -> Floats:
        return np.zeros_like(y)

    def objective(self, w: Floats, start: Floats, x: Floats, y: float) -> float:
        return objective(w, start, x, y, 0.0, 1.0)
