"""What every learner on a budget has: a kernel, a budget of support vectors, and what its loop is told."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state

from tauten.classifier import OnlineClassifier
from tauten.io import model_file
from tauten.kernels import maintenance
from tauten.kernels.budget import BudgetPlan, Expansion
from tauten.kernels.maintenance import SEED
from tauten.kernels.pointers import Rule, rule
from tauten.kernels.similarity import KERNELS
from tauten.kernels.state import Floats
from tauten.learned import Learned
from tauten.parameters import above, at_least, count, is_count, one_of, parameter


@rule
def whole(round_, fade):  # type: ignore[no-untyped-def]
    """A round leaves coefficients as they are."""
    return 1.0


@rule
def nothing(a, b, c, d):  # type: ignore[no-untyped-def]
    """What judges where nothing is to be judged."""
    return 0.0


class LearnedExpansion(Learned):
    """What such a learner has once it has learned."""

    state_: Expansion

    @classmethod
    def restore(cls, header: dict[str, Any], arrays: dict[str, Floats]) -> Self:
        """The learner that a header and arrays describe; no table is made for columns that it has not."""
        width = model_file.decode(header["learned"])["n_features_in_"]
        if header["state"]["n_features"] != width:
            raise ValueError(f"support vectors of {header['state']['n_features']} features, expected {width}")
        return super().restore(header, arrays)

    @property
    def support_vectors_(self) -> csr_matrix:
        """The support vectors, a row each."""
        self._learned()
        rows = self.state_.support()
        shape = self.state_.n_support, self.state_.n_features
        return csr_matrix((rows.values, rows.indices.astype(np.int32), rows.starts.astype(np.int32)), shape)

    @property
    def dual_coef_(self) -> Floats:
        """Their coefficients, a column each: for two classes one row, else a row a class."""
        self._learned()
        return self.state_.alpha[:, : self.state_.n_support].copy()


@dataclass(kw_only=True, eq=False, repr=False)
class Budgeted(LearnedExpansion, OnlineClassifier):
    """A classifier f(x) = Σ αᵢ·k(xᵢ, x) with a budget of support vectors."""

    kernel: Literal["rbf", "linear", "poly"] = one_of(*KERNELS, default="rbf")
    gamma: float = above(0, default=0.1)
    degree: int = count(1, default=3)
    coef0: float = at_least(0, default=0.0)
    budget: int | None = parameter(
        100, lambda b: b is None or (is_count(b) and b >= 1), "None or a whole number, 1 or above"
    )

    coupled: ClassVar[bool] = True
    shape_parameters: ClassVar[str] = "kernel, gamma, degree, coef0, budget or fit_intercept"

    step: ClassVar[Rule]  # (margin, ‖·‖² of what moves, C, round) -> how far
    keep: ClassVar[Rule] = whole  # (round, fade) -> what a round leaves of all coefficients
    judge: ClassVar[Rule] = nothing  # the formula by which room is made
    absorb: ClassVar[Rule] = maintenance.store

    @property
    def make_room(self) -> Rule:
        """What happens where the budget is passed."""
        raise NotImplementedError

    @property
    def inverted(self) -> bool:
        """Whether a root of the inverse of the kernel matrix is kept."""
        return False

    def aggressiveness(self) -> float:
        """What the step rule gets as C, times the weight of the example."""
        return 1.0

    def fade(self) -> float:
        """What the rule `keep` gets."""
        return 0.0

    def own(self) -> float:
        """The number that `absorb` or `make_room` needs."""
        return 0.0

    def new_state(self, n_features: int, n_classes: int) -> Expansion:
        return Expansion(
            n_features, n_classes, self.kernel, self.gamma, self.degree, self.coef0,
            self.fit_intercept, self.budget, self.inverted,
        )  # fmt: skip

    def _begin(self, n_classes: int) -> None:
        super()._begin(n_classes)
        if self.random_state is not None:  # with None the seed is 0: the same answer every time
            seed = check_random_state(self.random_state).randint(2**32, dtype=np.uint64)
            self.state_.memory[SEED] = float(seed)

    def _loop_plan(self, learning: bool) -> BudgetPlan:
        parts = (KERNELS[self.kernel], self.step, self.keep, self.judge, self.absorb, self.make_room)
        return BudgetPlan(
            **self._loop_parts(learning),
            learning=learning,
            rules=tuple(part.handle for part in parts),
            C=self.aggressiveness(),
            numbers=self.state_.numbers(self.fade(), self.own()),
        )

    def kernel_matrix(self, X: Floats, Z: Floats) -> Floats:
        """The kernel of all rows of X with all rows of Z, the constant feature counted where there is one."""
        from sklearn.metrics.pairwise import pairwise_kernels  # a tenth of a second

        X, Z = (np.column_stack([rows, np.full(len(rows), float(self.fit_intercept))]) for rows in (X, Z))
        parameters = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return pairwise_kernels(X, Z, metric=self.kernel, filter_params=True, **parameters)
