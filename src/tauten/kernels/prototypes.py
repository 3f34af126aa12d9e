"""The local family: prototypes found by online k-means, weights around each, and weights common to all.

A row x belongs to the prototype nearest to it, p, and is scored by (w₀ + wₚ)·x. A move goes along x in both:
wₚ += τ·x and w₀ += share·τ·x, which changes the score by (1 + share)·τ·‖x‖². Then x joins its prototype, the
mean of its rows; as long as there are fewer than there may be, a row unlike all of them founds one, with the
weights of the nearest.

A prototype is kept as the sum S of its rows, their number n and ‖S‖², so that a sparse row costs O(non-zeros)
for each prototype. Distances and scores are summed in one order for dense rows and for sparse ones, so that
they come out the same to the last bit: neither which prototype is nearest nor which of two equal classes is
the rival depends on the form of a row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numba import njit, types

from tauten.kernels.asking import ASKING, PASS, STOP, consider, note
from tauten.kernels.first_order import DECISIONS, GROUP
from tauten.kernels.loops import FLAG_ROWS, MATRIX, VECTOR, sparse_sqnorm
from tauten.kernels.pointers import COUNT, HANDLE, REAL, invoke, kernel
from tauten.kernels.state import Dense, Flags, Floats, LinearPlan, Sparse, State, binary_to_columns

PLANES = types.float64[:, :, ::1]  # 0 for what is common, then one a prototype; column; constant and features
LOCAL = (PLANES, MATRIX, MATRIX, VECTOR)  # planes, sums (feature, prototype), tallies, memory
RULES = (REAL, *[HANDLE] * 3)  # share, decide, loss, step
TARGETS = (MATRIX, MATRIX, VECTOR, VECTOR, REAL)  # y, margins, importance, C, bias
CSR = (VECTOR, types.uint32[::1], types.uint64[::1])

N_FOUND = 2  # memory: after what decisions keep there, how many prototypes there are
MEMBERS, SQNORM = 0, 1  # tallies of a prototype: its rows, and ‖S‖²
LONGEST_ROW = 1e100  # squared length: a longer row joins no prototype
ALIKE = 1e-12  # of ‖x‖² and ‖S/n‖²: a distance that rounding may have left


@njit
def _distance(k, products, tallies, sqnorm):  # type: ignore[no-untyped-def]
    """The squared distance of a row to prototype k, given its products with the sums."""
    n = tallies[k, MEMBERS]
    return sqnorm + tallies[k, SQNORM] / (n * n) - 2.0 * products[k] / n


@njit
def _nearest(products, tallies, memory, sqnorm):  # type: ignore[no-untyped-def]
    """The nearest prototype, of equals the first; 0 where there is none yet."""
    best = 0
    for k in range(1, int(memory[N_FOUND])):
        if _distance(k, products, tallies, sqnorm) < _distance(best, products, tallies, sqnorm):
            best = k
    return best


@njit
def _joins(k, products, tallies, memory, planes, sqnorm):  # type: ignore[no-untyped-def]
    """The prototype that a row joins, its tallies changed: the nearest, a new one, or -1 for none."""
    if not sqnorm <= LONGEST_ROW:
        return -1
    found = int(memory[N_FOUND])
    scale = sqnorm
    if found > 0:
        scale += tallies[k, SQNORM] / tallies[k, MEMBERS] ** 2
    if found == 0 or (found < len(tallies) and _distance(k, products, tallies, sqnorm) > ALIKE * scale):
        if found > 0:
            planes[1 + found] = planes[1 + k]
        memory[N_FOUND] += 1.0
        k = found
        products[k] = 0.0
    tallies[k, MEMBERS] += 1.0
    tallies[k, SQNORM] += 2.0 * products[k] + sqnorm
    return k


@njit
def _products_dense(x, sums, products):  # type: ignore[no-untyped-def]
    """Products of a row with the sums; returns ‖x‖²."""
    products[:] = 0.0
    sqnorm = 0.0
    for j in range(len(x)):
        sqnorm += x[j] * x[j]
        for k in range(len(products)):
            products[k] += x[j] * sums[j, k]
    return sqnorm


@njit
def _products_sparse(values, indices, start, end, sums, products):  # type: ignore[no-untyped-def]
    products[:] = 0.0
    for p in range(start, end):
        for k in range(len(products)):
            products[k] += values[p] * sums[indices[p], k]


@njit
def _score_dense(x, bias, common, own, s):  # type: ignore[no-untyped-def]
    """Scores, summed in four lanes: feature j in lane j mod 4."""
    width = len(x)
    fours = width - width % 4
    for c in range(len(s)):
        a, b = common[c, 1:], own[c, 1:]
        s0 = s1 = s2 = s3 = 0.0
        for j in range(0, fours, 4):
            s0 += (a[j] + b[j]) * x[j]
            s1 += (a[j + 1] + b[j + 1]) * x[j + 1]
            s2 += (a[j + 2] + b[j + 2]) * x[j + 2]
            s3 += (a[j + 3] + b[j + 3]) * x[j + 3]
        if fours < width:
            s0 += (a[fours] + b[fours]) * x[fours]
        if fours + 1 < width:
            s1 += (a[fours + 1] + b[fours + 1]) * x[fours + 1]
        if fours + 2 < width:
            s2 += (a[fours + 2] + b[fours + 2]) * x[fours + 2]
        s[c] = bias * (common[c, 0] + own[c, 0]) + ((s0 + s1) + (s2 + s3))


@njit
def _score_sparse(values, indices, start, end, bias, common, own, lanes, s):  # type: ignore[no-untyped-def]
    """The same sums in the same lanes."""
    for c in range(len(s)):
        a, b = common[c, 1:], own[c, 1:]
        lanes[:] = 0.0
        for p in range(start, end):
            j = indices[p]
            lanes[j % np.uint32(4)] += (a[j] + b[j]) * values[p]
        total = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
        s[c] = bias * (common[c, 0] + own[c, 0]) + total


@kernel(COUNT(MATRIX, *TARGETS, *LOCAL, *RULES, MATRIX, FLAG_ROWS, *ASKING))
def learn_dense(  # type: ignore[no-untyped-def]
    X, y, margins, importance, C, bias, planes, sums, tallies, memory, share, decide, loss, step,
    scores, moved, ask, asking, asked,
):  # fmt: skip
    """Learn dense rows."""
    n_rows, width = X.shape
    products, pull = np.zeros(len(tallies)), np.zeros(planes.shape[1])
    for i in range(n_rows):
        x = X[i]
        sqnorm = _products_dense(x, sums, products)
        if not np.isfinite(sqnorm) and not np.isfinite(x).all():
            return -1 - i
        near = _nearest(products, tallies, memory, sqnorm)
        common, own = planes[0], planes[1 + near]
        s = scores[i]
        _score_dense(x, bias, common, own, s)
        if ask != 0:
            choice = consider(i, scores, 0.0, sqnorm + bias, y[i, 0], ask, asking, asked, moved)
            if choice == PASS:
                continue
            if choice == STOP:
                return -1 - i
        reach = (1.0 + share) * (sqnorm + bias)
        invoke(decide, (i, s, reach, y, margins, importance[i], C, memory, loss, step, len(C), pull, moved))
        if ask != 0:
            note(i, moved, sqnorm + bias, asking)
        for c in range(len(pull)):
            if pull[c] != 0.0:
                a, b = common[c], own[c]
                b[0] += pull[c] * bias
                a[0] += share * pull[c] * bias
                for j in range(width):
                    b[1 + j] += pull[c] * x[j]
                    a[1 + j] += share * pull[c] * x[j]
        k = _joins(near, products, tallies, memory, planes, sqnorm)
        if k >= 0:
            for j in range(width):
                sums[j, k] += x[j]
    return n_rows


@kernel(COUNT(*CSR, types.boolean, *TARGETS, *LOCAL, *RULES, MATRIX, FLAG_ROWS, *ASKING))
def learn_sparse(  # type: ignore[no-untyped-def]
    values, indices, starts, trusted,
    y, margins, importance, C, bias, planes, sums, tallies, memory, share, decide, loss, step,
    scores, moved, ask, asking, asked,
):  # fmt: skip
    """Learn sparse rows."""
    n_rows = len(starts) - 1
    products, pull, lanes = np.zeros(len(tallies)), np.zeros(planes.shape[1]), np.zeros(4)
    for i in range(n_rows):
        start, end = starts[i], starts[i + 1]
        sqnorm = sparse_sqnorm(values, indices, start, end, trusted, len(sums), 0.0)
        if sqnorm < 0.0:
            return -1 - i
        _products_sparse(values, indices, start, end, sums, products)
        near = _nearest(products, tallies, memory, sqnorm)
        common, own = planes[0], planes[1 + near]
        s = scores[i]
        _score_sparse(values, indices, start, end, bias, common, own, lanes, s)
        if ask != 0:
            choice = consider(i, scores, 0.0, sqnorm + bias, y[i, 0], ask, asking, asked, moved)
            if choice == PASS:
                continue
            if choice == STOP:
                return -1 - i
        reach = (1.0 + share) * (sqnorm + bias)
        invoke(decide, (i, s, reach, y, margins, importance[i], C, memory, loss, step, len(C), pull, moved))
        if ask != 0:
            note(i, moved, sqnorm + bias, asking)
        for c in range(len(pull)):
            if pull[c] != 0.0:
                a, b = common[c], own[c]
                b[0] += pull[c] * bias
                a[0] += share * pull[c] * bias
                for p in range(start, end):
                    j = indices[p] + np.uint64(1)
                    b[j] += pull[c] * values[p]
                    a[j] += share * pull[c] * values[p]
        k = _joins(near, products, tallies, memory, planes, sqnorm)
        if k >= 0:
            for p in range(start, end):
                sums[indices[p], k] += values[p]
    return n_rows


@kernel(COUNT(MATRIX, REAL, *LOCAL, MATRIX))
def score_dense(X, bias, planes, sums, tallies, memory, scores):  # type: ignore[no-untyped-def]
    """Score rows by their nearest prototypes; -1 - i at a row i with a value that is not finite."""
    products = np.zeros(len(tallies))
    for i in range(len(X)):
        sqnorm = _products_dense(X[i], sums, products)
        if not np.isfinite(sqnorm) and not np.isfinite(X[i]).all():
            return -1 - i
        near = _nearest(products, tallies, memory, sqnorm)
        _score_dense(X[i], bias, planes[0], planes[1 + near], scores[i])
    return len(X)


@kernel(COUNT(*CSR, REAL, *LOCAL, MATRIX))
def score_sparse(values, indices, starts, bias, planes, sums, tallies, memory, scores):  # type: ignore[no-untyped-def]
    """The same for sparse rows."""
    products, lanes = np.zeros(len(tallies)), np.zeros(4)
    for i in range(len(starts) - 1):
        start, end = starts[i], starts[i + 1]
        sqnorm = sparse_sqnorm(values, indices, start, end, True, len(sums), 0.0)
        if sqnorm < 0.0:
            return -1 - i
        _products_sparse(values, indices, start, end, sums, products)
        near = _nearest(products, tallies, memory, sqnorm)
        _score_sparse(values, indices, start, end, bias, planes[0], planes[1 + near], lanes, scores[i])
    return len(starts) - 1


@dataclass(kw_only=True)
class LocalPlan(LinearPlan):
    """A plan with how much of a move is common to all prototypes."""

    share: float


class Local(State):
    """Prototypes, the weights around each, and those common to all."""

    header: ClassVar[tuple[str, ...]] = ("n_features", "n_classes", "n_prototypes")

    def __init__(self, n_features: int, n_classes: int, n_prototypes: int) -> None:
        self.n_features, self.n_classes, self.n_prototypes = n_features, n_classes, n_prototypes
        self.n_rounds = self.n_moves = 0
        self.planes: Floats = np.zeros((1 + n_prototypes, self.n_columns, 1 + n_features))
        self.sums: Floats = np.zeros((n_features, n_prototypes))
        self.tallies: Floats = np.zeros((n_prototypes, 2))
        self.memory: Floats = np.array([float(max(n_classes, 1)), 0.0, 0.0])

    @property
    def size(self) -> int:
        return self.planes.size + self.sums.size

    def settings(self) -> tuple[Any, ...]:
        return (self.n_prototypes,)

    @property
    def found(self) -> int:
        """How many prototypes there are."""
        return int(self.memory[N_FOUND])

    def decide(self) -> Any:
        """The handle of the decision."""
        return DECISIONS[self.n_classes > 2, False].handle

    def prototypes(self) -> Floats:
        """The means, a row each."""
        n = self.found
        return (self.sums[: self.n_features, :n] / self.tallies[:n, MEMBERS]).T

    def weights(self) -> Floats:
        """For what is common, then for each prototype, a row a column of the model, the bias first."""
        return self.planes[: 1 + self.found, :, : 1 + self.n_features]

    def _kept(self) -> tuple[Floats, Floats, Floats, Floats]:
        return self.planes, self.sums, self.tallies, self.memory

    def run(
        self,
        rows: Dense | Sparse,
        plan: Any,
        y: Floats,
        margins: Floats,
        importance: Floats,
        scores: Floats,
        moved: Flags,
        asked: Flags,
    ) -> int:
        common = (
            y, margins, importance, plan.C, plan.bias, *self._kept(), plan.share, plan.decide, plan.loss,
            plan.step, scores, moved, plan.ask, plan.asking, asked,
        )  # fmt: skip
        if isinstance(rows, Dense):
            done: int = learn_dense.run(rows.X, *common)
        else:
            done = learn_sparse.run(rows.values, rows.indices, rows.starts, rows.trusted, *common)
        return done

    def score_rows(self, rows: Dense | Sparse, bias: float) -> Floats | None:
        scores = np.empty((len(rows), self.n_columns))
        if isinstance(rows, Dense):
            done = score_dense.run(rows.X, bias, *self._kept(), scores)
        else:
            done = score_sparse.run(rows.values, rows.indices, rows.starts, bias, *self._kept(), scores)
        return scores if done == len(rows) else None

    def grow_features(self, n_features: int) -> None:
        room = len(self.sums)
        if n_features > room:
            self._widen(max(n_features, 2 * room))
        self.n_features = n_features

    def _widen(self, room: int) -> None:
        planes, sums = self.planes, self.sums
        self.planes = np.zeros((*planes.shape[:2], 1 + room))
        self.planes[:, :, : planes.shape[2]] = planes
        self.sums = np.zeros((room, self.n_prototypes))
        self.sums[: len(sums)] = sums

    def place_features(self, columns: Sequence[int], n_features: int) -> None:
        planes, sums, n = self.planes, self.sums, self.n_features
        places = [0, *(1 + column for column in columns)]
        self.planes = np.zeros((*planes.shape[:2], 1 + n_features))
        self.planes[:, :, places] = planes[:, :, : 1 + n]
        self.sums = np.zeros((n_features, self.n_prototypes))
        self.sums[list(columns)] = sums[:n]
        self.n_features = n_features

    def _regrouped(self, order: Sequence[int]) -> Self:
        state = type(self)(self.n_features, len(order), self.n_prototypes)
        known = self.planes[:, :, : 1 + self.n_features].transpose(0, 2, 1)
        state.planes[:] = binary_to_columns(known, order, 0.5).transpose(0, 2, 1)
        state.sums[:], state.tallies[:] = self.sums[: self.n_features], self.tallies
        state.memory[N_FOUND] = self.memory[N_FOUND]
        return state

    def mix(self, states: Sequence[Self], shares: Floats) -> None:
        raise ValueError(
            "Models that found prototypes of their own cannot be merged: one's prototype is not another's."
        )

    def arrays(self) -> dict[str, Floats]:
        n = self.n_features
        return {
            "planes": self.planes[:, :, : 1 + n], "sums": self.sums[:n],
            "tallies": self.tallies, "memory": self.memory,
        }  # fmt: skip

    @classmethod
    def restore(cls, header: dict[str, Any], arrays: dict[str, Floats]) -> Self:
        for name in cls.header:
            if type(header[name]) is not int or not 0 <= header[name] <= arrays["planes"].size:
                raise ValueError(f"{name} is {header[name]!r}, which does not fit its weights")
        state = cls(**{name: header[name] for name in cls.header})
        for name, like in state.arrays().items():
            if arrays[name].shape != like.shape:
                raise ValueError(f"{name} has shape {arrays[name].shape}, expected {like.shape}")
            if not np.isfinite(arrays[name]).all():
                raise ValueError("a number in its arrays is not finite")
            setattr(state, name, np.ascontiguousarray(arrays[name]))
        found = state.memory[N_FOUND]
        counts = state.tallies[: int(min(max(found, 0), state.n_prototypes)), MEMBERS]
        if state.memory[GROUP] != max(state.n_classes, 1) or found != len(counts) or (counts < 1).any():
            raise ValueError(f"its memory {state.memory.tolist()} does not fit its prototypes")
        return state
