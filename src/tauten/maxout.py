"""What max-out learners add: a state that starts at random, and a look at its parts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_random_state

from tauten import parameters
from tauten.base import Problem
from tauten.classifier import OnlineClassifier
from tauten.kernels.first_order import passive
from tauten.kernels.maxout import MaxOut, MaxOutPlan
from tauten.kernels.pointers import Rule, rule
from tauten.kernels.state import Floats
from tauten.learned import Learned
from tauten.parameters import parameter
from tauten.rows import Rows


@rule
def never(loss):  # type: ignore[no-untyped-def]
    """Planes stay, as they do while only one label is known."""
    return 0.0


class LearnedPlanes(Learned):
    """What such a learner has once it has learned."""

    n_units: int
    n_pieces: int
    standardize: bool
    state_: MaxOut

    @property
    def planes_(self) -> Floats:
        """uᵢⱼ by unit, piece and feature, last the constant feature where there is one."""
        self._learned()
        state = self.state_
        planes = np.roll(state.planes, -1, axis=0) if self.fit_intercept else state.planes[1:]
        return planes.reshape(-1, state.pieces, state.units).transpose(2, 1, 0).copy()

    @property
    def weights_(self) -> Floats:
        """Weights of the units, a row a column of the model."""
        self._learned()
        return self.state_.weights.copy()

    def direction(self, x: Floats) -> Floats:
        """x̂ of an example, in the order of `planes_`; only the checks call it."""
        v = np.append(self.state_.standardised(x), np.ones(int(self.fit_intercept)))
        return v / (np.linalg.norm(v) or 1.0)


@dataclass(kw_only=True, eq=False, repr=False)
class MaxOutClassifier(LearnedPlanes, OnlineClassifier):
    """A classifier over max-out units: it names its rules and their numbers.

    The start is drawn when the first row comes. Features known by then (of dicts: those of the first one)
    start with orthonormal planes; one that a later dict brings starts with the weights that are drawn for its
    number, so that a batch starts as the loop does.
    """

    random_state: int | np.random.RandomState | None = parameter(  # noqa: RUF009  a field
        0, lambda seed: seed is None or parameters.is_seed(seed), "None, a seed or a RandomState"
    )

    coupled: ClassVar[bool] = True
    shape_parameters: ClassVar[str] = "n_units, n_pieces or standardize"

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Loss, step, the step that leaves no loss, when planes move, and how."""
        raise NotImplementedError

    def numbers(self) -> Floats:
        """C of the weights, C of the planes, the share of the loss that is left to the weights, ε."""
        raise NotImplementedError

    def objective_of_weights(self, w: Floats, start: Floats, missing: float, loss: float) -> float:
        """What step 1 minimises over the weights of all classes, where w is `missing` to the margin and the
        loss was `loss`.
        """
        raise NotImplementedError

    def objective_of_target(self, z: Floats, start: Floats, missing: float) -> float:
        """What step 2 minimises over z."""
        raise NotImplementedError

    def objective_of_plane(self, u: Floats, start: Floats, miss: float) -> float:
        """What step 3 minimises over a plane, which misses its target by `miss`."""
        raise NotImplementedError

    def moving(self, products: Floats, target: Floats, loss: float) -> NDArray[np.bool_]:
        """Which planes learn, by unit and piece."""
        raise NotImplementedError

    def problems(self, before: Self, x: Floats, y: Any) -> Iterator[Problem]:
        """The weights, the target of the units, and one plane of each unit; all other planes stay."""
        x, code = before.direction(x), self.classes_.tolist().index(y)
        start, end, planes, reached = before.weights_, self.weights_, before.planes_, self.planes_
        products = planes @ x
        z = products.max(axis=1)
        z = z / (np.linalg.norm(z) or 1.0)
        scores = start @ z
        scores[code % len(scores)] = -np.inf
        rival = int(scores.argmax())

        def missing(weights: Floats, z: Floats) -> float:
            return 1.0 - float(_apart(weights.reshape(start.shape), code, rival) @ z)

        loss = max(0.0, missing(start, z))
        yield Problem(
            start.ravel(),
            end.ravel(),
            lambda w: self.objective_of_weights(w, start.ravel(), missing(w, z), loss),
        )
        along = _apart(end, code, rival)
        target = z + max(0.0, missing(end, z)) / (float(along @ along) or 1.0) * along
        yield Problem(z, target, lambda other: self.objective_of_target(other, z, missing(end, other)))
        moving = self.moving(products, target, loss)
        for unit, piece in zip(*np.nonzero(moving), strict=True):
            value = partial(self._of_plane, planes[unit, piece], x, target[unit])
            yield Problem(planes[unit, piece], reached[unit, piece], value)
        stay = planes[~moving].ravel()
        yield Problem(stay, reached[~moving].ravel(), lambda other: float((other - stay) @ (other - stay)))

    def _of_plane(self, start: Floats, x: Floats, target: float, u: Floats) -> float:
        return self.objective_of_plane(u, start, target - float(u @ x))

    def new_state(self, n_features: int, n_classes: int) -> MaxOut:
        return MaxOut(n_features, n_classes, self.n_units, self.n_pieces, self.standardize)

    def _read_dicts(self, dicts: Sequence[Any], learning: bool) -> Rows:
        first = learning and "n_features_in_" not in self.__dict__ and self.hash_bits is None
        rows = super()._read_dicts(dicts, learning)
        if first:
            self._n_first = len(dicts[0])
        return rows

    def _begin(self, n_classes: int) -> None:
        super()._begin(n_classes)
        seed = check_random_state(self.random_state).randint(2**32, dtype=np.uint64)
        n_first = self.__dict__.pop("_n_first", self.n_features_in_)
        self.state_.start(int(seed), n_first, self.fit_intercept)

    def join(self, other: Self) -> None:
        self._n_first = len(other.state_.first)
        super().join(other)

    def _reset(self) -> None:
        super()._reset()
        self.__dict__.pop("_n_first", None)

    def _loop_plan(self, learning: bool) -> MaxOutPlan:
        loss, step, whole, when, approach = self.rules
        rules = (loss if learning else passive), step, whole, (when if learning else never), approach
        handles = tuple(rule.handle for rule in rules)
        return MaxOutPlan(**self._loop_parts(learning), rules=handles, numbers=self.numbers())

    def check_arrays(self, arrays: Mapping[str, Floats]) -> None:
        if arrays["planes"].shape[1:] != (self.n_units * self.n_pieces,):
            raise ValueError(f"{self.n_units} units of {self.n_pieces} planes do not fit its planes")


def _apart(weights: Floats, code: int, rival: int) -> Floats:
    """The vector whose product with z is the margin of a class over its rival."""
    return (2.0 * code - 1.0) * weights[0] if len(weights) == 1 else weights[code] - weights[rival]
