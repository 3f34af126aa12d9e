"""The max-out family: h units of k planes make a row x into z, zᵢ the largest product of x with a plane of unit
i, and weights over z score it. Each update moves the weights, then the planes.

    x̂ = x/‖x‖      zᵢ = maxⱼ uᵢⱼ·x̂      ẑ = z/‖z‖      score w·ẑ, one w a column of the model

All planes are one table: row 0 is the constant feature, row 1 + j feature j, and column j·h + i is plane j of
unit i. So all products of a row are one pass over the rows of the table that it has values for, SIMD goes over
planes whatever the form of the examples, and a feature met later is a row more. Values of 0 are left out, of
dense rows too.

Lengths are worked out so that neither huge nor tiny rows overflow: every row with a value other than 0 has a
direction, and is learned.

With `standardized` the mean and the sum of squares of each feature are kept, over the rows learned so far, and
a row is standardised by those of the rows before it. Then all features have a value, and sparse rows cost what
dense ones do.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numba import njit, types

from tauten.kernels.asking import ASKING, LEARN, STOP, consider, note
from tauten.kernels.loops import (
    FLAG_ROWS,
    LONGEST_MOVE,
    MATRIX,
    REORDER,
    VECTOR,
    best_wrong,
    signed_step,
    sparse_sqnorm,
)
from tauten.kernels.pointers import COUNT, HANDLE, REAL, REALS, Rule, invoke, kernel
from tauten.kernels.state import Dense, Flags, Floats, Plan, Sparse, State, binary_to_columns

SPREAD = 0.1  # weights start uniform in ±SPREAD
SEED, FIRST, COUNTED = range(3)  # memory: what the start was drawn from; rows in the means
LARGEST_MOMENT = 1e100  # of values that count in means, for their squares are added up
LARGEST_VALUE = 1e150  # after standardising
CONSTANT = 1e-12  # a standard deviation that is less, relative to the mean, is rounding

ARRAYS = ("planes", "weights", "origins", "moments", "memory")
MODEL = (MATRIX, MATRIX, VECTOR, VECTOR, VECTOR)  # planes, weights, means, squares, memory
RULES = (types.UniTuple(HANDLE, 5), VECTOR)  # loss, step, whole, when, approach; C, C_r, 1 − α, ε
APPROACH = REAL(REALS, REALS, COUNT, COUNT, REAL, REAL, REALS)
ROW = (types.uint32[::1], types.uint64[::1], types.boolean)


def approach_rule(function):  # type: ignore[no-untyped-def]
    """Make a rule of a function (products, targets, n units, n planes, C, ε, pull) that writes into pull, which is
    0, how far each plane moves along x̂.
    """
    return Rule(function, APPROACH)


@njit(error_model="numpy", fastmath=REORDER)
def unit_length(v, n):  # type: ignore[no-untyped-def]
    """Bring the first n numbers of v to length 1; returns 1, or 0 where all of them are 0."""
    squared = 0.0
    for i in range(n):
        squared += v[i] * v[i]
    if not 1e-200 < squared < 1e200:
        largest = 0.0
        for i in range(n):
            largest = max(largest, abs(v[i]))
        if largest == 0.0:
            return 0.0
        squared = 0.0
        for i in range(n):
            v[i] /= largest
            squared += v[i] * v[i]
    scale = 1.0 / np.sqrt(squared)
    for i in range(n):
        v[i] *= scale
    return 1.0


@njit(error_model="numpy", fastmath=REORDER)
def project(planes, at, v, n, s):  # type: ignore[no-untyped-def]
    """Write s, the products of a row with all planes, four features at a time."""
    for p in range(len(s)):
        s[p] = 0.0
    fours = n - n % 4
    for q in range(0, fours, 4):
        v0, v1, v2, v3 = v[q], v[q + 1], v[q + 2], v[q + 3]
        u0, u1, u2, u3 = planes[at[q]], planes[at[q + 1]], planes[at[q + 2]], planes[at[q + 3]]
        for p in range(len(s)):
            s[p] += v0 * u0[p] + v1 * u1[p] + v2 * u2[p] + v3 * u3[p]
    for q in range(fours, n):
        u0 = planes[at[q]]
        for p in range(len(s)):
            s[p] += v[q] * u0[p]


@njit(error_model="numpy", fastmath=REORDER)
def shift(planes, at, v, n, pull):  # type: ignore[no-untyped-def]
    """Move each plane along a row."""
    for q in range(n):
        u = planes[at[q]]
        along = v[q]
        for p in range(len(pull)):
            u[p] += along * pull[p]


@njit(error_model="numpy", fastmath=REORDER)
def add_moments(x, means, squares, memory):  # type: ignore[no-untyped-def]
    """Count a row in the means and squares (Welford, 1962), unless its values are too large to be squared."""
    largest = 0.0
    for j in range(len(x)):
        largest = max(largest, abs(x[j]))
    if largest > LARGEST_MOMENT:
        return
    memory[COUNTED] += 1.0
    for j in range(len(x)):
        apart = x[j] - means[j]
        means[j] += apart / memory[COUNTED]
        squares[j] += apart * (x[j] - means[j])


@njit(error_model="numpy")
def read_dense(x, bias, means, squares, memory, at, v):  # type: ignore[no-untyped-def]
    """Write the values of a dense row other than 0, and where they are; returns how many.

    A row that is standardised is so by the rows before it. A feature that no row has had yet has the value 0, so
    that it makes no difference, to the last bit, whether it is known already.
    """
    at[0] = 0
    v[0] = bias
    n = 1 if bias != 0.0 else 0
    for j in range(len(x)):
        value = x[j]
        if len(means) > 0:
            value -= means[j]
            deviation = np.sqrt(squares[j] / max(memory[COUNTED], 1.0))
            if deviation > CONSTANT * abs(means[j]):
                value = min(max(value / deviation, -LARGEST_VALUE), LARGEST_VALUE)
        if value != 0.0:
            at[n] = 1 + j
            v[n] = value
            n += 1
    return n


@njit(error_model="numpy")
def read_sparse(values, indices, start, end, bias, at, v):  # type: ignore[no-untyped-def]
    """The same of a sparse row."""
    at[0] = 0
    v[0] = bias
    n = 1 if bias != 0.0 else 0
    for p in range(start, end):
        if values[p] != 0.0:
            at[n] = np.int64(indices[p]) + 1
            v[n] = values[p]
            n += 1
    return n


@njit(error_model="numpy", fastmath=REORDER)
def embed(planes, at, v, n, s, z):  # type: ignore[no-untyped-def]
    """Write s and ẑ of a row, and bring it to length 1; returns the lengths of x̂ and ẑ, 1 or 0 each."""
    length = unit_length(v, n)
    project(planes, at, v, n, s)
    units = len(z)
    for i in range(units):
        z[i] = s[i]
    for p in range(units, len(s), units):
        for i in range(units):
            z[i] = max(z[i], s[p + i])
    return length, unit_length(z, units)


@njit(error_model="numpy", fastmath=REORDER)
def report(weights, z, scores):  # type: ignore[no-untyped-def]
    """Write the scores of ẑ."""
    for c in range(len(scores)):
        total = 0.0
        for i in range(len(z)):
            total += weights[c, i] * z[i]
        scores[c] = total


@njit(error_model="numpy", fastmath=REORDER)
def aim(z, g, loss, whole, side, margin):  # type: ignore[no-untyped-def]
    """Move ẑ along g as far as it takes for no loss to be left."""
    score = 0.0
    squared = 0.0
    for i in range(len(z)):
        score += g[i] * z[i]
        squared += g[i] * g[i]
    tau = signed_step(invoke(loss, (score, side, margin)), squared, 1.0, whole)
    for i in range(len(z)):
        z[i] += tau * g[i]


@njit(error_model="numpy")
def pull_planes(s, z, C, epsilon, approach, pull):  # type: ignore[no-untyped-def]
    """What brings planes to the targets z; returns whether any of it is a move that floats can follow."""
    for p in range(len(pull)):
        pull[p] = 0.0
    invoke(approach, (s, z, len(z), len(s), C, epsilon, pull))
    moves = False
    for p in range(len(pull)):
        if not abs(pull[p]) <= LONGEST_MOVE:
            pull[p] = 0.0
        moves |= pull[p] != 0.0
    return moves


@njit(error_model="numpy", fastmath=REORDER)
def learn_row(  # type: ignore[no-untyped-def]
    i, at, v, n, y, margins, importance, planes, weights, rules, numbers,
    scores, moved, ask, asking, asked, s, z, g, pull,
):  # fmt: skip
    """All that follows once the values of a row are read; returns what comes of asking."""
    loss, step, whole, when, approach = rules
    length, visible = embed(planes, at, v, n, s, z)
    report(weights, z, scores[i])
    if ask != 0:
        choice = consider(i, scores, 0.0, length, y[i, 0], ask, asking, asked, moved)
        if choice != LEARN:
            return choice
    units, columns = len(z), scores.shape[1]
    side = y[i, 0]
    blocks = 1.0
    right = rival = 0
    for m in range(units):
        g[m] = weights[0, m]
    if columns > 1:  # the right class against the best wrong one, as two classes of which the later is y = 1
        right = int(y[i, 0])
        rival = best_wrong(scores[i], 0, columns, right)
        side = 1.0 if right > rival else -1.0
        blocks = 2.0
        for m in range(units):
            g[m] = side * (weights[right, m] - weights[rival, m])
    score = scores[i, 0] if columns == 1 else side * (scores[i, right] - scores[i, rival])
    signed_loss = invoke(loss, (score, side, margins[i, 0]))
    tau = signed_step(numbers[2] * signed_loss, blocks * visible, numbers[0] * importance[i], step)
    for m in range(units):
        change = tau * z[m]
        g[m] += blocks * change
        if columns == 1:
            weights[0, m] += change
        else:
            weights[right, m] += side * change
            weights[rival, m] -= side * change
    moves = False
    if length != 0.0 and invoke(when, (abs(signed_loss),)) != 0.0:
        aim(z, g, loss, whole, side, margins[i, 0])
        moves = pull_planes(s, z, numbers[1] * importance[i], numbers[3], approach, pull)
        if moves:
            shift(planes, at, v, n, pull)
    moved[i, 0] = moves or tau != 0.0
    if ask != 0:
        note(i, moved, length, asking)
    return LEARN


@kernel(COUNT(MATRIX, MATRIX, MATRIX, VECTOR, REAL, *MODEL, *RULES, MATRIX, FLAG_ROWS, *ASKING))
def learn_maxout_dense(  # type: ignore[no-untyped-def]
    X, y, margins, importance, bias, planes, weights, means, squares, memory,
    rules, numbers, scores, moved, ask, asking, asked,
):  # fmt: skip
    """Learn dense rows."""
    at, v = np.empty(len(planes), np.int64), np.empty(len(planes))
    s, pull = np.empty(planes.shape[1]), np.empty(planes.shape[1])
    z, g = np.empty(weights.shape[1]), np.empty(weights.shape[1])
    for i in range(len(X)):
        if not np.isfinite(X[i]).all():
            return -1 - i
        n = read_dense(X[i], bias, means, squares, memory, at, v)
        choice = learn_row(
            i, at, v, n, y, margins, importance, planes, weights, rules, numbers,
            scores, moved, ask, asking, asked, s, z, g, pull,
        )  # fmt: skip
        if choice == STOP:
            return -1 - i
        if choice == LEARN and len(means) > 0:
            add_moments(X[i], means, squares, memory)
    return len(X)


@kernel(COUNT(VECTOR, *ROW, MATRIX, MATRIX, VECTOR, REAL, *MODEL, *RULES, MATRIX, FLAG_ROWS, *ASKING))
def learn_maxout_sparse(  # type: ignore[no-untyped-def]
    values, indices, starts, trusted, y, margins, importance, bias, planes, weights, means, squares, memory,
    rules, numbers, scores, moved, ask, asking, asked,
):  # fmt: skip
    """Learn sparse rows."""
    at, v = np.empty(len(planes), np.int64), np.empty(len(planes))
    s, pull = np.empty(planes.shape[1]), np.empty(planes.shape[1])
    z, g = np.empty(weights.shape[1]), np.empty(weights.shape[1])
    x = np.zeros(len(means))  # a row with its zeros, where it is standardised
    for i in range(len(starts) - 1):
        start, end = starts[i], starts[i + 1]
        if sparse_sqnorm(values, indices, start, end, trusted, len(planes) - 1, bias) < 0.0:
            return -1 - i
        if len(means) > 0:
            for p in range(start, end):
                x[indices[p]] = values[p]
            n = read_dense(x, bias, means, squares, memory, at, v)
        else:
            n = read_sparse(values, indices, start, end, bias, at, v)
        choice = learn_row(
            i, at, v, n, y, margins, importance, planes, weights, rules, numbers,
            scores, moved, ask, asking, asked, s, z, g, pull,
        )  # fmt: skip
        if choice == STOP:
            return -1 - i
        if len(means) > 0:
            if choice == LEARN:
                add_moments(x, means, squares, memory)
            for p in range(start, end):
                x[indices[p]] = 0.0
    return len(starts) - 1


@kernel(COUNT(MATRIX, REAL, *MODEL, MATRIX))
def score_maxout_dense(X, bias, planes, weights, means, squares, memory, scores):  # type: ignore[no-untyped-def]
    """Score dense rows; -1 - i at a row i with a value that is not finite."""
    at, v = np.empty(len(planes), np.int64), np.empty(len(planes))
    s, z = np.empty(planes.shape[1]), np.empty(weights.shape[1])
    for i in range(len(X)):
        if not np.isfinite(X[i]).all():
            return -1 - i
        n = read_dense(X[i], bias, means, squares, memory, at, v)
        embed(planes, at, v, n, s, z)
        report(weights, z, scores[i])
    return len(X)


@kernel(COUNT(VECTOR, types.uint32[::1], types.uint64[::1], REAL, *MODEL, MATRIX))
def score_maxout_sparse(  # type: ignore[no-untyped-def]
    values, indices, starts, bias, planes, weights, means, squares, memory, scores
):
    """Score sparse rows."""
    at, v = np.empty(len(planes), np.int64), np.empty(len(planes))
    s, z = np.empty(planes.shape[1]), np.empty(weights.shape[1])
    x = np.zeros(len(means))
    for i in range(len(starts) - 1):
        start, end = starts[i], starts[i + 1]
        if sparse_sqnorm(values, indices, start, end, True, len(planes) - 1, bias) < 0.0:
            return -1 - i
        if len(means) > 0:
            for p in range(start, end):
                x[indices[p]] = values[p]
            n = read_dense(x, bias, means, squares, memory, at, v)
            for p in range(start, end):
                x[indices[p]] = 0.0
        else:
            n = read_sparse(values, indices, start, end, bias, at, v)
        embed(planes, at, v, n, s, z)
        report(weights, z, scores[i])
    return len(starts) - 1


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
    """The planes of each unit made orthogonal (Gram, Schmidt) and of length 1; a plane for which there are too
    few features to be orthogonal gets the length only.
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
    """What the loop is told: the rules loss, step, the step that leaves no loss, when planes move, and how; and
    the numbers C, C_r, 1 − α, ε.
    """

    rules: tuple[Any, ...]
    numbers: Floats


class MaxOut(State):
    """Planes and weights, where each feature's part of the planes came from, and the moments of features where
    they are standardised.
    """

    header = ("n_features", "n_classes", "units", "pieces", "standardized")

    def __init__(self, n_features: int, n_classes: int, units: int, pieces: int, standardized: bool) -> None:
        self.n_features, self.n_classes = n_features, n_classes
        self.units, self.pieces, self.standardized = units, pieces, bool(standardized)
        self.n_rounds = self.n_moves = 0
        self.memory: Floats = np.zeros(3)
        self.weights: Floats = np.zeros((self.n_columns, units))
        self._make_room(1 + n_features)

    def _make_room(self, height: int) -> None:
        """Tables for features to come, doubled; what they had is kept by the caller."""
        self._planes = aligned(height, self.units * self.pieces)
        self._origins = np.full(height - 1, -1.0)
        self._moments = np.zeros((2, height - 1 if self.standardized else 0))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        planes, self._planes = self._planes, aligned(*self._planes.shape)  # a copy may begin anywhere
        self._planes[:] = planes

    @property
    def planes(self) -> Floats:
        """The row of each feature, the constant one first."""
        return self._planes[: 1 + self.n_features]

    @property
    def origins(self) -> Floats:
        """The number by which a feature's first weights were drawn; -1 where they were not."""
        return self._origins[: self.n_features]

    @property
    def moments(self) -> Floats:
        """Means of the features, and sums of squares about them; without columns where they are not needed."""
        return self._moments[:, : self.n_features]

    @property
    def n_columns(self) -> int:
        return self.n_classes if self.n_classes > 2 else 1

    @property
    def n_decisions(self) -> int:
        return 1

    @property
    def per_row(self) -> int:
        return self.n_columns

    @property
    def size(self) -> int:
        return self._planes.size + self.weights.size

    def start(self, seed: int, n_first: int, bias: bool) -> None:
        """Draw all weights; those of the first features and the constant one are made orthonormal."""
        self.memory[:] = seed, n_first, 0.0
        self._draw(0)
        used = self.planes[0 if bias else 1 : 1 + n_first]
        used[:] = orthonormal(used, self.units)
        self.planes[: 0 if bias else 1] = 0.0
        self.weights[:] = self._drawn_weights(self.n_columns)

    def _draw(self, first: int) -> None:
        """Draw the rows of planes from the one numbered `first` on."""
        seed, width = int(self.memory[SEED]), self._planes.shape[1]
        self.planes[first:] = drawn(seed, first, 1 + self.n_features - first, width)
        self.origins[max(first - 1, 0) :] = np.arange(max(first - 1, 0), self.n_features)

    def _drawn_weights(self, n_columns: int) -> Floats:
        key = np.array([self.memory[SEED], 1], dtype=np.uint64)
        generator = np.random.Generator(np.random.Philox(key=key))
        return generator.uniform(-SPREAD, SPREAD, (n_columns, self.units))

    def grow_features(self, n_features: int) -> None:
        known, self.n_features = self.n_features, n_features
        if n_features <= known:
            return
        planes, origins, moments = self._planes, self._origins, self._moments
        if 1 + n_features > len(planes):
            self._make_room(max(1 + n_features, 2 * len(planes)))
            self._planes[: len(planes)], self._origins[: len(origins)] = planes, origins
            self._moments[:, : moments.shape[1]] = moments
        self.moments[:, known:] = 0.0
        self._draw(1 + known)

    def place_features(self, columns: Sequence[int], n_features: int) -> None:
        planes, origins, moments = self.planes, self.origins, self.moments
        self.n_features = n_features
        self._make_room(1 + n_features)
        self._planes[[0, *(1 + column for column in columns)]] = planes
        self._origins[list(columns)] = origins
        if self.standardized:
            self._moments[:, list(columns)] = moments

    def _regrouped(self, order: Sequence[int]) -> Self:
        state = type(self)(self.n_features, len(order), self.units, self.pieces, self.standardized)
        state._planes[:], state._origins[:], state._moments[:] = self.planes, self.origins, self.moments
        state.memory[:] = self.memory
        old = self.weights if self.n_classes > 1 else state._drawn_weights(state.n_columns)
        known = self.n_classes > 1 and len(order) > 2
        state.weights[:] = binary_to_columns(old.T, order, 0.5).T if known else old
        return state

    def mix(self, states: Sequence[Self], shares: Floats) -> None:
        origins = np.max([state.origins for state in states], axis=0)
        for state in states:
            state._complete(self.memory, origins)
        self.planes[:] = sum(share * state.planes for share, state in zip(shares, states, strict=True))
        self.weights = sum(share * state.weights for share, state in zip(shares, states, strict=True))
        self.origins[:] = origins
        self.memory[COUNTED] = 0.0
        self.moments[:] = 0.0
        for state in states:
            self._add_moments(state)

    def _complete(self, memory: Floats, origins: Floats) -> None:
        """Draw what features that others know would have started with; raises a ValueError where the start
        was another.
        """
        lacking = np.flatnonzero(self.origins < 0)
        same = np.array_equal(np.delete(self.origins, lacking), np.delete(origins, lacking))
        if not same or (self.memory[:COUNTED] != memory[:COUNTED]).any() or (origins[lacking] < memory[FIRST]).any():
            raise ValueError(
                "Max-out models are merged plane by plane, and these began with other planes; expected one "
                "random_state, and the same features in the same order when learning began."
            )
        for j in lacking:
            self.planes[1 + j] = drawn(int(memory[SEED]), 1 + int(origins[j]), 1, self._planes.shape[1])[0]

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
        """A row as it is by the rows learned so far, in plain numpy; as it came where nothing is standardised."""
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
        for name, like in state.arrays().items():
            given = arrays[name]
            if given.shape != like.shape or given.dtype != like.dtype or not np.isfinite(given).all():
                raise ValueError(f"{name} has shape {given.shape}, expected {like.shape} finite numbers")
            like[:] = given
        state._check_values()
        return state

    def _check_values(self) -> None:
        """Raise a ValueError where numbers are not what they stand for."""
        for name, whole in (("memory", self.memory), ("origins", self.origins)):
            if (whole < 0).any() or (whole != np.floor(whole)).any() or (whole >= 2.0**53).any():
                raise ValueError(f"{name} holds a number that is no count")
        if self.memory[SEED] >= 2.0**32 or self.memory[FIRST] > self.n_features:
            raise ValueError(f"its memory {self.memory.tolist()} does not fit {self.n_features} features")
        if (self.moments[1] < 0).any():
            raise ValueError("a sum of squares is negative")
