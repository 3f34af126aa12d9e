"""What the max-out family keeps, and how it starts, grows, and is merged and saved; `maxout_loops` has its
loops.

Weights start at random, uniform in ±0.1, drawn by a seed and by the number of the feature they belong to: so
a feature that is met later starts as it would have from the beginning, in a batch as in a loop. The planes of
a unit are orthonormal over the features that are known when learning begins. Of a feature that came later its
first weights are part of no plane's length.

The mean of several models is the mean of their planes and weights. That makes sense only for planes that
began at the same place, and have gone on from there on other rows: it is refused for others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from tauten.kernels.maxout_loops import (
    CONSTANT,
    COUNTED,
    SEED,
    learn_maxout_dense,
    learn_maxout_sparse,
    score_maxout_dense,
    score_maxout_sparse,
)
from tauten.kernels.state import Dense, Flags, Floats, Plan, Sparse, State, binary_to_columns

SPREAD = 0.1  # weights start uniform in ±SPREAD
LARGEST = 2**31  # numbers of planes: 16 GB
ARRAYS = ("planes", "weights", "first", "moments", "memory")


def aligned(height: int, width: int) -> Floats:
    """A table of zeros that begins where a line of the cache does: SIMD is up to a half faster on it."""
    raw = np.zeros(height * width + 7)
    start = -(raw.ctypes.data // raw.itemsize) % 8
    return raw[start : start + height * width].reshape(height, width)


def drawn(seed: int, first: int, n_rows: int, width: int) -> Floats:
    """Weights that features start with, `first` and those after it: the same whenever they are met."""
    fours = -(-width // 4)  # the generator counts in fours
    generator = np.random.Generator(np.random.Philox(key=seed, counter=first * fours))
    return generator.uniform(-SPREAD, SPREAD, (n_rows, 4 * fours))[:, :width]


def orthonormal(planes: Floats, units: int) -> Floats:
    """The planes of each unit made orthogonal (Gram, Schmidt) and of length 1; a plane for which there are
    too few features to be orthogonal gets the length only.
    """
    parts = planes.reshape(len(planes), -1, units).copy()
    for j in range(parts.shape[1]):
        plane = parts[:, j]
        for k in range(j if j < len(planes) else 0):
            plane -= (plane * parts[:, k]).sum(axis=0) * parts[:, k]
        plane /= np.linalg.norm(plane, axis=0)
    return parts.reshape(planes.shape)


@dataclass(kw_only=True)
class MaxOutPlan(Plan):
    """What the loop is told: the rules loss, step, the step that leaves no loss, when planes move, and how;
    and the numbers C, C_r, 1 − α, ε.
    """

    rules: tuple[Any, ...]
    numbers: Floats


class MaxOut(State):
    """Planes and weights, which features were the first, and moments where features are standardised."""

    header = ("n_features", "n_classes", "units", "pieces", "standardized")

    def __init__(self, n_features: int, n_classes: int, units: int, pieces: int, standardized: bool) -> None:
        self.n_features, self.n_classes = n_features, n_classes
        self.units, self.pieces, self.standardized = int(units), int(pieces), bool(standardized)
        self.n_rounds = self.n_moves = 0
        self.memory: Floats = np.zeros(2)
        self.first: Floats = np.zeros(0)
        self._planes, self._moments = self._room(1 + n_features)
        self.weights: Floats = np.zeros((self.n_columns, units))

    def _room(self, height: int) -> tuple[Floats, Floats]:
        """Tables of zeros: planes, and moments where they are needed."""
        if height * self.units * self.pieces > LARGEST:
            raise ValueError(
                f"{self.units:,} units of {self.pieces:,} planes over {height - 1:,} features are more than "
                f"{LARGEST:,} numbers; expected fewer units, pieces or features."
            )
        planes = aligned(height, self.units * self.pieces)
        return planes, np.zeros((2, height - 1 if self.standardized else 0))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        planes, self._planes = self._planes, aligned(*self._planes.shape)  # a copy may begin anywhere
        self._planes[:] = planes

    @property
    def planes(self) -> Floats:
        """The row of each feature, the constant one first."""
        return self._planes[: 1 + self.n_features]

    @property
    def moments(self) -> Floats:
        """Means of the features, and sums of squares about them; no columns where they are not needed."""
        return self._moments[:, : self.n_features]

    @property
    def size(self) -> int:
        return self._planes.size + self.weights.size

    def start(self, seed: int, n_first: int, bias: bool) -> None:
        """Draw all weights; those of the first features and the constant one are made orthonormal."""
        self.memory[:] = seed, 0.0
        self.first = np.arange(float(n_first))
        self._draw(0)
        used = self.planes[0 if bias else 1 : 1 + n_first]
        used[:] = orthonormal(used, self.units)
        self.planes[: 0 if bias else 1] = 0.0
        self.weights[:] = self._drawn_weights(self.n_columns)

    def _draw(self, first: int) -> None:
        """Draw the rows of planes from the one numbered `first` on."""
        width = self._planes.shape[1]
        self.planes[first:] = drawn(int(self.memory[SEED]), first, 1 + self.n_features - first, width)

    def _drawn_weights(self, n_columns: int) -> Floats:
        key = np.array([self.memory[SEED], 1], dtype=np.uint64)
        generator = np.random.Generator(np.random.Philox(key=key))
        return generator.uniform(-SPREAD, SPREAD, (n_columns, self.units))

    def grow_features(self, n_features: int) -> None:
        known = self.n_features
        if 1 + n_features > len(self._planes):
            self._move(range(known), max(1 + n_features, 2 * len(self._planes)))
        self.n_features = n_features
        if n_features > known:
            self.moments[:, known:] = 0.0
            self._draw(1 + known)

    def place_features(self, columns: Sequence[int], n_features: int) -> None:
        columns = list(columns)
        self._move(columns, 1 + n_features)
        self.n_features = n_features
        self.first = np.array(columns, dtype=np.float64)[self.first.astype(np.intp)]

    def _move(self, columns: Sequence[int], height: int) -> None:
        """Take tables of a height, in which feature j stands at `columns[j]`."""
        planes, moments = self._room(height)
        planes[[0, *(1 + column for column in columns)]] = self.planes
        if self.standardized:
            moments[:, list(columns)] = self.moments
        self._planes, self._moments = planes, moments

    def _regrouped(self, order: Sequence[int]) -> Self:
        state = type(self)(self.n_features, len(order), self.units, self.pieces, self.standardized)
        state.first = self.first
        state._planes[:], state._moments[:], state.memory[:] = self.planes, self.moments, self.memory
        if self.n_classes > 1:
            state.weights[:] = binary_to_columns(self.weights.T, order, 0.5).T
        else:
            state.weights[:] = state._drawn_weights(state.n_columns)
        return state

    def mix(self, states: Sequence[Self], shares: Floats) -> None:
        for state in states:
            if state.memory[SEED] != self.memory[SEED] or not np.array_equal(state.first, self.first):
                raise ValueError(
                    "Max-out models are merged plane by plane, and these began with other planes; expected "
                    "one random_state, and the same features in the same order when learning began."
                )
        self.planes[:] = sum(share * state.planes for share, state in zip(shares, states, strict=True))
        self.weights[:] = sum(share * state.weights for share, state in zip(shares, states, strict=True))
        self.memory[COUNTED] = 0.0
        self.moments[:] = 0.0
        for state in states:
            self._add_moments(state)

    def _add_moments(self, other: Self) -> None:
        """Count the rows of another state in (Chan, Golub, LeVeque, 1979)."""
        added = other.memory[COUNTED]
        if added == 0.0:
            return
        counted = self.memory[COUNTED]
        self.memory[COUNTED] += added
        share = added / self.memory[COUNTED]
        apart = other.moments[0] - self.moments[0]
        self.moments[0] += share * apart
        self.moments[1] += other.moments[1] + share * counted * apart**2

    def _model(self) -> tuple[Floats, ...]:
        return self.planes, self.weights, *self.moments, self.memory

    def run(
        self,
        rows: Dense | Sparse,
        plan: MaxOutPlan,
        y: Floats,
        margins: Floats,
        importance: Floats,
        scores: Floats,
        moved: Flags,
        asked: Flags,
    ) -> int:
        common = (
            y, margins, importance, plan.bias, *self._model(), plan.rules, plan.numbers,
            scores, moved, plan.ask, plan.asking, asked,
        )  # fmt: skip
        if isinstance(rows, Dense):
            done: int = learn_maxout_dense.run(rows.X, *common)
        else:
            done = learn_maxout_sparse.run(rows.values, rows.indices, rows.starts, rows.trusted, *common)
        return done

    def score_rows(self, rows: Dense | Sparse, bias: float) -> Floats | None:
        scores = np.empty((len(rows), self.n_columns))
        if isinstance(rows, Dense):
            done = score_maxout_dense.run(rows.X, bias, *self._model(), scores)
        else:
            done = score_maxout_sparse.run(
                rows.values, rows.indices, rows.starts, bias, *self._model(), scores
            )
        return scores if done == len(rows) else None

    def standardised(self, x: Floats) -> Floats:
        """A row as it is by the rows learned so far, in plain numpy; as it came where nothing is
        standardised.
        """
        if not self.standardized:
            return x
        means, squares = self.moments
        deviations = np.sqrt(squares / max(self.memory[COUNTED], 1.0))
        return (x - means) / np.where(deviations > CONSTANT * np.abs(means), deviations, 1.0)

    def arrays(self) -> dict[str, Floats]:
        return {name: getattr(self, name) for name in ARRAYS}

    @classmethod
    def restore(cls, header: dict[str, Any], arrays: dict[str, Floats]) -> Self:
        for name in cls.header:
            kind = bool if name == "standardized" else int
            if type(header[name]) is not kind or header[name] < (name in ("units", "pieces")):
                raise ValueError(f"{name} is {header[name]!r}, expected a {kind.__name__}")
        shape = (1 + header["n_features"], header["units"] * header["pieces"])
        if arrays["planes"].shape != shape:
            raise ValueError(f"planes of shape {arrays['planes'].shape} do not fit their header")
        state = cls(**{name: header[name] for name in cls.header})
        state.first = np.zeros(arrays["first"].size)
        for name, like in state.arrays().items():
            given = arrays[name]
            if given.shape != like.shape or given.dtype != like.dtype or not np.isfinite(given).all():
                raise ValueError(f"{name} has shape {given.shape}, expected {like.shape} finite numbers")
            like[:] = given
        state._check_values()
        return state

    def _check_values(self) -> None:
        """Raise a ValueError where numbers are not what they stand for."""
        for name, counts, most in (
            ("memory", self.memory, [2.0**32 - 1, 2.0**53]),
            ("first", self.first, self.n_features - 1),
        ):
            if (counts < 0).any() or (counts != np.floor(counts)).any() or (counts > most).any():
                raise ValueError(f"{name} holds a number that is no count, or too large")
        if len(np.unique(self.first)) < len(self.first):
            raise ValueError("a feature is among the first ones twice")
        if (self.moments[1] < 0).any():
            raise ValueError("a sum of squares is negative")
