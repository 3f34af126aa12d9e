"""The pair family: a metric M and a threshold b, moved by pairs of rows.

    distance  d = vᵀMv,  v = x − x′         score  b − d
    move      M −= t·v vᵀ,  b += t          t = ±τ by the rules, with the side of the pair and 1 + ‖v‖⁴ as
                                            squared length: the move of (M, b) along (−v vᵀ, 1)

Where M ⪰ 0 is kept at every move, `cone` projects M after each subtraction (t > 0). Where that fails, and at
intervals, the loop ends after the pair and `PairState.clean` puts things in order. A pair costs O(d²), or
where only − is asked of it and v is sparse, the square of its non-zeros.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numba import njit, types
from numpy.typing import NDArray
from scipy.linalg import eigh

from tauten.kernels.cone import (
    ACCURACY,
    BROKEN,
    DUE,
    FIRST_SHIFT,
    INTERVAL,
    KRYLOV,
    MOVES,
    N_MEMORY,
    ROUNDS,
    SHIFT,
    SINCE,
    SOILED,
    SQUARES,
    USUAL_EIGENVALUE,
    USUAL_LOSS,
    WHOLE,
    B,
    add,
    add_one,
    distance,
    dot,
    invert,
    product,
    subtract,
)  # fmt: skip
from tauten.kernels.loops import MATRIX, REORDER, VECTOR, signed_step
from tauten.kernels.pointers import COUNT, HANDLE, REAL, invoke, kernel
from tauten.kernels.state import Dense, Flags, Floats, Sparse

Places = NDArray[np.int64]

FORGETTING = 0.01  # weight of the newest loss in the usual one
FIRST_INTERVAL, LONGEST_INTERVAL = 64, 4096  # moves between two cleanings: four times as many each time
NEAR = 1.5  # factor up to which a shift serves about as well as the usual eigenvalue
FARTHEST_SHIFT = 1e-6  # of the largest eigenvalue: G is no worse conditioned than that

INDEX = types.int64[::1]
FLAG_LIST = types.uint8[::1]
TARGETS = (INDEX, INDEX, VECTOR)  # rows of each pair, and its side
RULES = (REAL, REAL, REAL, types.boolean, HANDLE, HANDLE)  # C, tolerance, share, keep, loss, step
KEPT = (MATRIX, MATRIX, VECTOR)  # M, G, memory
RECORD = (VECTOR, VECTOR, FLAG_LIST)  # scores, losses, moved


@njit(error_model="numpy", fastmath=REORDER)
def learn_pair(  # type: ignore[no-untyped-def]
    i, v, at, y, C, tolerance, share, keep, loss, step, M, G, memory, scores, losses, moved, image, basis,
    g, u, h,
):  # fmt: skip
    """One pair: score, loss, step, move."""
    n = 0
    sqnorm = 0.0
    for j in range(len(v)):
        if v[j] != 0.0:
            at[n] = j
            n += 1
            sqnorm += v[j] * v[j]
    if keep:  # Mv is of use later
        product(M, v, image)
        d = dot(v, image)
    else:
        d = distance(M, v, at, n)
    scores[i] = memory[B] - d
    signed_loss = invoke(loss, (scores[i], y[i], 1.0))
    losses[i] = abs(signed_loss)
    t = signed_step(signed_loss, 1.0 + sqnorm * sqnorm, C, step)
    if abs(t) < tolerance or losses[i] < share * memory[USUAL_LOSS]:
        t = 0.0
    memory[ROUNDS] += 1.0
    if np.isfinite(losses[i]):
        rate = max(1.0 / memory[ROUNDS], FORGETTING)
        memory[USUAL_LOSS] += rate * (losses[i] - memory[USUAL_LOSS])
    moved[i] = t != 0.0
    if t == 0.0:
        return
    memory[B] += t
    if not keep:
        add_one(M, v, at, n, -t)
    else:
        memory[B] = max(memory[B], 1.0)
        if t > 0.0:
            subtract(M, G, memory, v, at, n, sqnorm, d, t, image, basis, g, u, h)
        else:
            add(M, G, memory, v, at, n, sqnorm, d, -t, g)
    memory[MOVES] += 1.0
    memory[SINCE] += 1.0
    if memory[SINCE] >= memory[INTERVAL]:
        memory[DUE] = max(memory[DUE], SOILED)


@kernel(COUNT(MATRIX, *TARGETS, *RULES, *KEPT, *RECORD), fastmath=REORDER)
def learn_pairs_dense(  # type: ignore[no-untyped-def]
    X, left, right, y, C, tolerance, share, keep, loss, step, M, G, memory, scores, losses, moved
):
    """Learn pairs of dense rows, up to the first that leaves a cleaning due; returns how many it learned."""
    d = len(M)
    v, at = np.zeros(d), np.zeros(d, dtype=np.int64)
    basis = np.zeros((min(d, KRYLOV) + 1, d if keep else 0))
    image, g, u, h = np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d)
    for i in range(len(y)):
        a, c = X[left[i]], X[right[i]]
        for j in range(d):
            v[j] = a[j] - c[j]
        learn_pair(i, v, at, y, C, tolerance, share, keep, loss, step, M, G, memory, scores, losses, moved,
                   image, basis, g, u, h)  # fmt: skip
        if memory[DUE] != WHOLE:
            return i + 1
    return len(y)


@kernel(
    COUNT(VECTOR, types.uint32[::1], types.uint64[::1], *TARGETS, *RULES, *KEPT, *RECORD), fastmath=REORDER
)
def learn_pairs_sparse(  # type: ignore[no-untyped-def]
    values, indices, starts, left, right, y, C, tolerance, share, keep, loss, step, M, G, memory, scores,
    losses, moved,
):  # fmt: skip
    """Learn pairs of sparse rows."""
    d = len(M)
    v, at = np.zeros(d), np.zeros(d, dtype=np.int64)
    basis = np.zeros((min(d, KRYLOV) + 1, d if keep else 0))
    image, g, u, h = np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d)
    for i in range(len(y)):
        for p in range(starts[left[i]], starts[left[i] + 1]):
            v[indices[p]] += values[p]
        for p in range(starts[right[i]], starts[right[i] + 1]):
            v[indices[p]] -= values[p]
        learn_pair(i, v, at, y, C, tolerance, share, keep, loss, step, M, G, memory, scores, losses, moved,
                   image, basis, g, u, h)  # fmt: skip
        for p in range(starts[left[i]], starts[left[i] + 1]):
            v[indices[p]] = 0.0
        for p in range(starts[right[i]], starts[right[i] + 1]):
            v[indices[p]] = 0.0
        if memory[DUE] != WHOLE:
            return i + 1
    return len(y)


@dataclass
class PairPlan:
    """What a learner tells the loop: its rules by handle, and the numbers that go with them."""

    C: float
    tolerance: float  # moves with a smaller τ are not made
    share: float  # nor moves for a loss below this share of the usual one
    loss: Any
    step: Any


@dataclass
class Record:
    """What happened at each pair: the score b − d before the move, the loss, and whether it moved."""

    scores: Floats
    losses: Floats
    moved: Flags


class PairState:
    """M and b, and what the loop keeps beside them.

    `every` says after how many moves M is made ⪰ 0: 1, n, or infinity for never.
    """

    read: tuple[Any, Floats] | None = None  # what was read out last, and of which state

    def __init__(self, M: Floats, every: float) -> None:
        self.keep = every == 1
        self.M = np.ascontiguousarray(M, dtype=np.float64)
        self.G = np.zeros(self.M.shape if self.keep else (0, 0))
        self.memory = np.zeros(N_MEMORY)
        self.memory[INTERVAL] = FIRST_INTERVAL if self.keep else every
        if self.keep:
            self.clean()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "read"}

    @property
    def every(self) -> float:
        """After how many moves M is made ⪰ 0."""
        return 1.0 if self.keep else float(self.memory[INTERVAL])

    def learn(self, rows: Dense | Sparse, left: Places, right: Places, y: Floats, plan: PairPlan) -> Record:
        """Learn pairs of rows in order."""
        record = Record(np.zeros(len(y)), np.zeros(len(y)), np.zeros(len(y), dtype=np.uint8))
        done = 0
        while done < len(y):
            rest = slice(done, len(y))
            numbers = float(plan.C), float(plan.tolerance), float(plan.share), self.keep
            kept = self.M, self.G, self.memory, record.scores[rest], record.losses[rest], record.moved[rest]
            common = left[rest], right[rest], y[rest], *numbers, plan.loss, plan.step, *kept
            if isinstance(rows, Dense):
                done += learn_pairs_dense.run(rows.X, *common)
            else:
                done += learn_pairs_sparse.run(rows.values, rows.indices, rows.starts, *common)
            if self.memory[DUE] != WHOLE:
                self.clean()
        return record

    def clean(self) -> None:
        """Make M ⪰ 0 and b at least 1, and G afresh."""
        memory = self.memory
        begun, longest = memory[MOVES] > 0.0, max(LONGEST_INTERVAL, 4 * len(self.M))
        broken, early = memory[DUE] == BROKEN, memory[INTERVAL] < longest
        if broken or not self.keep or not (early or self._is_positive()):
            self.M[:] = nearest_positive(self.M)
        memory[[SINCE, DUE]] = 0.0
        if begun:
            memory[B] = max(memory[B], 1.0)
        if not self.keep:
            return
        if begun:
            memory[INTERVAL] = min(4.0 * memory[INTERVAL], longest)
        usual = memory[USUAL_EIGENVALUE]
        if early and not broken and memory[SHIFT] / NEAR < usual < NEAR * memory[SHIFT]:
            return
        whole = self.whole()
        memory[SQUARES] = np.square(whole).sum()
        largest = np.abs(whole).sum(axis=1).max()  # no eigenvalue is above it
        memory[SHIFT] = np.clip(usual or FIRST_SHIFT * largest, FARTHEST_SHIFT * largest, largest)
        self.G[:] = np.tril(self.M)
        self.G.flat[:: len(whole) + 1] += memory[SHIFT]
        if memory[SHIFT] > 0.0:
            invert.run(self.G)

    def _is_positive(self) -> bool:
        """Whether no eigenvalue of M is farther below 0 than moves are accurate."""
        trial = self.M.copy()
        trial.flat[:: len(trial) + 1] += max(ACCURACY * np.linalg.norm(self.whole()), np.finfo(float).tiny)
        return bool(invert.run(trial))

    def whole(self) -> Floats:
        """M as it is, with both its triangles."""
        return np.tril(self.M) + np.tril(self.M, -1).T

    def arrays(self) -> dict[str, Floats]:
        """What a model file holds."""
        return {"metric": self.M, "inverse": self.G, "memory": self.memory}

    @classmethod
    def restore(cls, arrays: Mapping[str, Floats], every: float) -> Self:
        """The state that was saved; raises a ValueError where its parts do not fit."""
        state = cls.__new__(cls)
        state.keep = every == 1
        state.M, state.G, state.memory = (arrays[name] for name in ("metric", "inverse", "memory"))
        d = len(state.M)
        shapes = [(d, d), (d, d) if state.keep else (0, 0), (N_MEMORY,)]
        if [part.shape for part in (state.M, state.G, state.memory)] != shapes:
            raise ValueError(f"a metric of shape {state.M.shape} does not fit what is kept beside it")
        numbers = np.delete(state.memory, INTERVAL)
        if not all(np.isfinite(part).all() for part in (state.M, state.G, numbers)):
            raise ValueError("the metric holds values that are not finite")
        if (np.delete(state.memory, B) < 0).any() or not state.memory[INTERVAL] >= 1:
            raise ValueError("a count of the metric is negative")
        if not state.keep and state.memory[INTERVAL] != every:
            raise ValueError(f"the metric is kept ⪰ 0 every {state.memory[INTERVAL]:g} moves, not {every:g}")
        return state


def nearest_positive(M: Floats) -> Floats:
    """The matrix ⪰ 0 nearest to M, of which the lower triangle is read."""
    values, vectors = eigh(M, lower=True)
    return rebuilt(np.maximum(values, 0.0), vectors)


def rebuilt(values: Floats, vectors: Floats) -> Floats:
    """The symmetric matrix with these eigenvalues, none negative: a product that numpy leaves symmetric."""
    half = vectors * np.sqrt(values)
    return half @ half.T
