"""PAm: a passive-aggressive step that also leans toward the difference of the class means.

    where ℓ = 1 − y⟨wₜ, x⟩ > 0:   minimise  ½‖w − wₜ‖² + γ/2·‖w − m̃‖² + slack(1 − y⟨w, x⟩),   m̃ = κ(m₊ − m₋)
    solution                      w = (wₜ + γm̃ + α·y·x) / (1 + γ),   n = ℓ + γ(1 − y⟨m̃, x⟩)

    PAm      ξ = 0           α = max(0, n / ‖x‖²)
    PAm-1    slack = C·ξ     α = max(0, min(C, n / ‖x‖²))
    PAm-2    slack = C·ξ²    α = max(0, n / (‖x‖² + (1 + γ)/(2C)))

m₊, m₋ are the means of all inputs up to now, x among them; `fit` freezes them after its first epoch. PAmW
takes the step from w̄, the mean of the last Q classifiers, and not from wₜ. Tsai, Tseng, Lee, Pao, algorithms
1 and 2. Differs from the paper: it prints wₜ for xₜ in the means, in ⟨m̃, ·⟩ and in the last term of the
step; its derivation gives x. κ (`anchor_scale`) is ours, 1 is the paper's: m̃ has the scale of x, w that of
1/x, and γ alone cannot balance them. In PAmW the loss in n is that of w̄, where the printed one is that of
wₜ: only so is the step optimal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from tauten.kernels.anchored import Anchored, ClassMeans
from tauten.kernels.pointers import Rule, rule
from tauten.kernels.state import Floats
from tauten.kernels.windowed import Windowed
from tauten.learners.pa import VARIANTS, hinge
from tauten.linear import LinearClassifier
from tauten.parameters import above, count, is_list, is_number, one_of, optional

LARGEST_PULL = 1e30  # of γ and κ: their product with any mean, over any scale of u, is a float


@rule
def hard(numerator, sqnorm, C, gamma):  # type: ignore[no-untyped-def]
    return max(0.0, numerator / sqnorm)


@rule
def capped(numerator, sqnorm, C, gamma):  # type: ignore[no-untyped-def]
    return max(0.0, min(C, numerator / sqnorm))


@rule
def damped(numerator, sqnorm, C, gamma):  # type: ignore[no-untyped-def]
    return max(0.0, numerator / (sqnorm + (1.0 + gamma) / (2.0 * C)))


STEPS = {"hard": hard, "I": capped, "II": damped}


@dataclass(eq=False, repr=False)
class ClassMeanPAClassifier(LinearClassifier):
    """Passive-aggressive classifier anchored to the class means: steadier under any order of the examples.

    Many classes: one against the rest. A row costs O(non-zeros); with a window, a move costs O(window ·
    features).

    Parameters
    ----------
    C : float, above 0, default 1.0
        How far one example may pull. The hard variant does not use it.
    gamma : float, above 0 and up to 1e30, default 0.01
        How strongly each move leans toward the anchor.
    variant : "hard", "I" or "II", default "I"
        PAm, PAm-1 or PAm-2.
    anchor_scale : float, above 0 and up to 1e30, default 1.0
        Factor κ on the difference of the means; 1 is the paper's formula. Its figures come out with γ = 1e-6
        and κγ from 0.1 to 1 (`docs/reproduced.md`); where w shall shrink, try 30 to 100.
    window : int, 0 or above, default 0
        How many of the last classifiers a step starts from the mean of (PAmW); 0 starts it from the last one
        (PAm).
    window_weights : sequence of `window` positive numbers, optional
        Weights for that mean, the oldest classifier first; all equal by default.

    The parameters that all classifiers share are described in `docs/parameters.md`.

    Examples
    --------
    >>> import tauten as tt
    >>> model = tt.ClassMeanPAClassifier(gamma=1.0, variant="hard", fit_intercept=False)
    >>> model.fit([[1.0, 0.0], [0.0, 1.0]], [1, 0]).coef_.tolist()
    [[1.0, -1.0]]
    """

    C: float = above(0, default=1.0)
    gamma: float = above(0, default=0.01, most=LARGEST_PULL)
    variant: Literal["hard", "I", "II"] = one_of("hard", "I", "II", default="I")
    anchor_scale: float = above(0, default=1.0, most=LARGEST_PULL)
    window: int = count(0, default=0)
    window_weights: Sequence[float] | None = optional(
        "positive numbers",
        lambda weights: is_list(weights) and all(is_number(w) and w > 0 for w in weights),
    )

    loss: ClassVar[Rule] = hinge

    @property
    def step(self) -> Rule:
        return STEPS[self.variant]

    @property
    def takes_weights(self) -> bool:
        return self.variant != "hard"

    def new_state(self, n_features: int, n_classes: int) -> ClassMeans:
        if self.window:
            return Windowed(n_features, n_classes, self.coupled, self.average, self.window)
        return Anchored(n_features, n_classes, self.coupled, self.average)

    def settle(self, epoch: int) -> None:
        state = self.state_
        assert isinstance(state, ClassMeans)
        state.settle(float(self.gamma), float(self.anchor_scale), frozen=epoch > 0)
        if isinstance(state, Windowed):
            equal = [1.0] * self.window
            state.shares = np.asarray(
                equal if self.window_weights is None else self.window_weights, dtype=np.float64
            )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.window_weights is not None and len(self.window_weights) != self.window:
            raise ValueError(
                f"ClassMeanPAClassifier: window_weights has {len(self.window_weights)} numbers; "
                f"expected as many as window, {self.window}."
            )

    def check_arrays(self, arrays: Mapping[str, Floats]) -> None:
        if self.window != len(arrays.get("queue", ())):
            raise ValueError(f"a window of {self.window} does not fit its queue")

    @property
    def anchor_(self) -> Floats:
        """κ(m₊ − m₋), a row a column of the model, the constant feature first."""
        assert isinstance(self.state_, ClassMeans)
        return self.state_.anchor()

    def objective(self, w: Floats, start: Floats, x: Floats, y: float) -> float:
        if y * float(start @ x) >= 1.0:
            return float((w - start) @ (w - start))
        if isinstance(self.state_, Windowed):
            start = _bias_last(self.state_.mean_classifier()[0])
        anchor = _bias_last(self.anchor_[0])
        pull = (w - start) @ (w - start) / 2 + self.gamma * ((w - anchor) @ (w - anchor)) / 2
        return float(pull + VARIANTS[self.variant].slack(max(0.0, 1.0 - y * float(w @ x)), self.C))


def _bias_last(vector: Floats) -> Floats:
    return np.append(vector[1:], vector[0])
