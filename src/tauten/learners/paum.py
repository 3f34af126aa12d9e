"""PAUM: a Perceptron that asks for a margin of its own on each side.

    where y⟨wₜ, x⟩ ≤ τᵧ:   minimise  ½‖w − wₜ‖² − η·y⟨w, x⟩
    solution               w = wₜ + η·y·x

τ₊ far above τ₋ makes the second class, if rare, found more often. τ₊ = τ₋ = 0 is the Perceptron. Li,
Zaragoza, Herbrich, Shawe-Taylor, Kandola (ICML 2002), table 1. Differs from the paper: the bias moves by η·y,
as the weight of a constant feature 1, and not by η·y·R² with R the length of the longest row, which a stream
does not know.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tauten.kernels.pointers import Rule
from tauten.kernels.state import Floats
from tauten.learners.perceptron import objective, short, whole
from tauten.linear import LinearClassifier
from tauten.parameters import above, number


@dataclass(eq=False, repr=False)
class PAUMClassifier(LinearClassifier):
    """Perceptron with uneven margins: for classes of very different size. Many classes: one against the rest.

    Parameters
    ----------
    tau_plus : float, default 1.0
        Margin asked of the second class (of each class against the rest). Larger finds more of it.
    tau_minus : float, default 0.0
        Margin asked of the first class (of the rest); may be negative.
    eta : float, above 0, default 1.0
        How far each move goes, in units of x.

    The parameters that all classifiers share are described in `docs/parameters.md`.

    Examples
    --------
    >>> import tauten as tt
    >>> model = tt.PAUMClassifier(tau_plus=2.0, fit_intercept=False)
    >>> model.fit([[1.0], [1.0], [-1.0]], [1, 1, 0]).coef_.tolist()
    [[2.0]]
    """

    tau_plus: float = number(1.0)
    tau_minus: float = number(0.0)
    eta: float = above(0, default=1.0)

    loss: ClassVar[Rule] = short
    sweepable: ClassVar[frozenset[str]] = frozenset({"tau_plus", "tau_minus", "eta"})

    @property
    def step(self) -> Rule:
        return whole

    def aggressiveness(self) -> float:
        return float(self.eta)

    def margins(self, y: Floats) -> Floats:
        return np.where(y > 0, float(self.tau_plus), float(self.tau_minus))

    def objective(self, w: Floats, start: Floats, x: Floats, y: float) -> float:
        return objective(w, start, x, y, self.tau_plus if y > 0 else self.tau_minus, self.eta)
