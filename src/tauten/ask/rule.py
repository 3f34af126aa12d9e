"""What every asking rule is: parameters, and the probability of asking for a label."""

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from tauten import parameters
from tauten.kernels.asking import ASKED, CURIOUS, GIVEN, MOVES, PARAMETERS, ROUNDS, SEED
from tauten.kernels.pointers import Rule

Asking = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class AskRule(BaseEstimator):
    """When to ask. A rule of one's own: numbers as parameters, and `probability` made by `ask_rule`."""

    probability: ClassVar[Rule]
    curious: ClassVar[bool] = False  # whether it wants the variance of the score
    knob: ClassVar[str]  # the parameter that makes it ask more as it grows

    def check(self) -> None:
        """Raise a ValueError for a parameter that is not allowed."""
        parameters.check(self)

    def numbers(self) -> list[float]:
        """The parameters, as the rule finds them from `asking[PARAMETERS]` on."""
        return [float(getattr(self, field.name)) for field in fields(self)]

    def plain(self) -> dict[str, float]:
        """The parameters as plain numbers, for a model file."""
        return dict(zip((field.name for field in fields(self)), self.numbers(), strict=True))

    def begin(self, seed: int) -> Asking:
        """The vector `asking` before the first row."""
        asking = np.zeros(PARAMETERS)
        asking[SEED], asking[GIVEN] = seed, 1.0
        return self.settle(asking)

    def settle(self, asking: Asking) -> Asking:
        """The vector `asking` with the parameters as they are now, what has happened so far kept."""
        asking[CURIOUS] = float(self.curious)
        return np.append(asking[:PARAMETERS], self.numbers())

    def check_asking(self, asking: Asking) -> None:
        """Raise a ValueError unless a vector, as read from a file, is what `asking` can be."""
        like = self.begin(0)
        if asking.shape != like.shape or asking.dtype != like.dtype:
            raise ValueError(f"what was asked is {asking.shape} of {asking.dtype}, expected {like.shape}")
        counts = asking[[SEED, ROUNDS, ASKED, MOVES]]
        whole = np.isfinite(asking).all() and (asking >= 0).all() and (counts == np.floor(counts)).all()
        in_range = counts.max() < 2**53 and asking[SEED] < 2**32 and asking[ASKED] <= asking[ROUNDS]
        if not (whole and in_range and asking[GIVEN] == 1.0):
            raise ValueError(f"what was asked is {asking.tolist()}, which no counts are")

    def chance(self, score: float, variance: float, sqnorm: float, asking: Asking) -> float:
        """The probability of asking, in plain Python."""
        return float(self.probability.function(score, variance, sqnorm, asking))

    def __sklearn_tags__(self) -> Any:
        raise AttributeError("An asking rule is no estimator.")
