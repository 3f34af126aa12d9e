"""The pair family: a metric M and a threshold b, moved by pairs of rows.

    distance  d = vᵀMv,  v = x − x′         score  b − d
    move      M −= t·v vᵀ,  b += t          t = ±τ by the rules, with the side of the pair and 1 + ‖v‖⁴ as
                                            squared length: the move of (M, b) along (−v vᵀ, 1)

Where M ⪰ 0 is kept at every move, a subtraction (t > 0) is followed by the projection on that cone. It leaves
one negative eigenvalue −μ at most, with the eigenvector u, where

    t·vᵀ(M + μI)⁻¹v = 1,    u ∝ (M + μI)⁻¹v       M + μI = G⁻¹(I + (μ − σ)G),  G = (M + σI)⁻¹

G is kept beside M and changed with it (Sherman, Morrison, Woodbury). Lanczos' method on G from v makes a
tridiagonal T of a few rows that stands for G in all of this: f(μ) = 1 is solved on T, by Newton's method on
1/f, a concave function. Six to ten products with G do at d = 256, where Lanczos' method on M takes 25 to
30 with M, and `eigh` the time of 2,000. A pair costs O(d²).

That there is no negative eigenvalue is shown by the Gauss–Radau rule, which bounds f from above as M ⪰ 0.
Each u is checked against Mv. Where it fails, and at intervals, the loop ends after the pair and
`PairState.clean` puts M and G in order. Of M and G the lower triangle is kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numba import njit, types
from numpy.typing import NDArray
from scipy.linalg import eigh

from tauten.kernels.loops import MATRIX, REORDER, VECTOR, signed_step
from tauten.kernels.pointers import COUNT, HANDLE, REAL, invoke, kernel
from tauten.kernels.state import Dense, Flags, Floats, Sparse

Places = NDArray[np.int64]

# memory
B, ROUNDS, MOVES, SINCE, INTERVAL, DUE, SHIFT, USUAL_EIGENVALUE, SQUARES, USUAL_LOSS = range(10)
N_MEMORY = 10

WHOLE, SOILED, BROKEN = 0.0, 1.0, 2.0  # DUE: nothing; G anew, and M if need be; M is not ⪰ 0

KRYLOV = 48  # products with G before `clean` is called in
ACCURACY = 1e-9  # of the projected M, relative to its Frobenius norm
TRUST = 1e-7  # the residual of u, so measured, at which G is held to have drifted
FORGETTING = 0.01  # weight of the newest loss, and eigenvalue, in their running means
FIRST_INTERVAL, LONGEST_INTERVAL = 64, 4096  # moves between two cleanings: four times as many each time
FIRST_SHIFT = 0.3  # of the first eigenvalue
FARTHEST_SHIFT = 1e-6  # of the largest eigenvalue: G is no worse conditioned than that

INDEX = types.int64[::1]
FLAG_LIST = types.uint8[::1]
TARGETS = (INDEX, INDEX, VECTOR)  # rows of each pair, and its side
RULES = (REAL, REAL, REAL, types.boolean, HANDLE, HANDLE)  # C, tolerance, share, keep, loss, step
KEPT = (MATRIX, MATRIX, VECTOR)  # M, G, memory
RECORD = (VECTOR, VECTOR, FLAG_LIST)  # scores, losses, moved


@njit(error_model="numpy", fastmath=REORDER)
def distance(M, v, at, n):  # type: ignore[no-untyped-def]
    """vᵀMv, where only the n entries of v named in `at` are not zero."""
    total = 0.0
    if 3 * n < len(v):
        for a in range(n):
            row = M[at[a]]
            inner = 0.0
            for c in range(a):
                inner += row[at[c]] * v[at[c]]
            total += v[at[a]] * (2.0 * inner + row[at[a]] * v[at[a]])
        return total
    fours = len(v) // 4 * 4
    for i in range(0, fours, 4):
        r0, r1, r2, r3 = M[i], M[i + 1], M[i + 2], M[i + 3]
        v0, v1, v2, v3 = v[i], v[i + 1], v[i + 2], v[i + 3]
        inner = 0.0
        for j in range(i):
            inner += (r0[j] * v0 + r1[j] * v1 + r2[j] * v2 + r3[j] * v3) * v[j]
        inner += r1[i] * v1 * v0 + (r2[i] * v0 + r2[i + 1] * v1) * v2
        inner += (r3[i] * v0 + r3[i + 1] * v1 + r3[i + 2] * v2) * v3
        total += 2.0 * inner
        total += r0[i] * v0 * v0 + r1[i + 1] * v1 * v1 + r2[i + 2] * v2 * v2 + r3[i + 3] * v3 * v3
    for i in range(fours, len(v)):
        row = M[i]
        inner = 0.0
        for j in range(i):
            inner += row[j] * v[j]
        total += v[i] * (2.0 * inner + row[i] * v[i])
    return total


@njit(error_model="numpy", fastmath=REORDER)
def add_one(M, v, at, n, factor):  # type: ignore[no-untyped-def]
    """M += factor·v vᵀ."""
    if 3 * n < len(v):
        for a in range(n):
            row = M[at[a]]
            pull = factor * v[at[a]]
            for c in range(a + 1):
                row[at[c]] += pull * v[at[c]]
        return
    for i in range(len(v)):
        row = M[i]
        pull = factor * v[i]
        for j in range(i + 1):
            row[j] += pull * v[j]


@njit(error_model="numpy", fastmath=REORDER)
def add_two(M, v, u, p, q, r):  # type: ignore[no-untyped-def]
    """M += p·v vᵀ + q·(v uᵀ + u vᵀ) + r·u uᵀ."""
    for i in range(len(v)):
        row = M[i]
        along_v = p * v[i] + q * u[i]
        along_u = q * v[i] + r * u[i]
        for j in range(i + 1):
            row[j] += along_v * v[j] + along_u * u[j]


@njit(error_model="numpy", fastmath=REORDER)
def product(M, x, y):  # type: ignore[no-untyped-def]
    """Write y = Mx; four rows at a time, so that y is gone through d/4 times."""
    d = len(x)
    fours = d // 4 * 4
    for i in range(d):
        y[i] = 0.0
    for i in range(0, fours, 4):
        r0, r1, r2, r3 = M[i], M[i + 1], M[i + 2], M[i + 3]
        x0, x1, x2, x3 = x[i], x[i + 1], x[i + 2], x[i + 3]
        y0 = y1 = y2 = y3 = 0.0
        for j in range(i):
            m0, m1, m2, m3, xj = r0[j], r1[j], r2[j], r3[j], x[j]
            y0 += m0 * xj
            y1 += m1 * xj
            y2 += m2 * xj
            y3 += m3 * xj
            y[j] += m0 * x0 + m1 * x1 + m2 * x2 + m3 * x3
        y[i] += y0 + r0[i] * x0 + r1[i] * x1 + r2[i] * x2 + r3[i] * x3
        y[i + 1] += y1 + r1[i] * x0 + r1[i + 1] * x1 + r2[i + 1] * x2 + r3[i + 1] * x3
        y[i + 2] += y2 + r2[i] * x0 + r2[i + 1] * x1 + r2[i + 2] * x2 + r3[i + 2] * x3
        y[i + 3] += y3 + r3[i] * x0 + r3[i + 1] * x1 + r3[i + 2] * x2 + r3[i + 3] * x3
    for i in range(fours, d):
        row = M[i]
        total = 0.0
        for j in range(i):
            total += row[j] * x[j]
            y[j] += row[j] * x[i]
        y[i] += total + row[i] * x[i]


@njit(error_model="numpy", fastmath=REORDER)
def dot(x, y):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(len(x)):
        total += x[j] * y[j]
    return total


@njit(error_model="numpy")
def square_of(w, k):  # type: ignore[no-untyped-def]
    """Squared length of the first k numbers."""
    total = 0.0
    for i in range(k):
        total += w[i] * w[i]
    return total


@njit(error_model="numpy")
def resolvent(diagonal, side, k, delta, w, pivots):  # type: ignore[no-untyped-def]
    """Write w = (I + delta·T)⁻¹T·e₁ for the first k rows of T; False where the matrix is not positive."""
    w[0] = diagonal[0]
    pivots[0] = 1.0 + delta * diagonal[0]
    if pivots[0] <= 0.0:
        return False
    for i in range(1, k):
        ratio = delta * side[i - 1] / pivots[i - 1]
        w[i] = (side[0] if i == 1 else 0.0) - ratio * w[i - 1]
        pivots[i] = 1.0 + delta * diagonal[i] - ratio * delta * side[i - 1]
        if pivots[i] <= 0.0:
            return False
    w[k - 1] /= pivots[k - 1]
    for i in range(k - 2, -1, -1):
        w[i] = (w[i] - delta * side[i] * w[i + 1]) / pivots[i]
    return True


@njit(error_model="numpy")
def newton(diagonal, side, k, shift, pull, floor, mu, accuracy, w, pivots):  # type: ignore[no-untyped-def]
    """Steps from μ toward the root of pull·w₁ = 1, until one is below `accuracy` of μ; returns the last μ at
    which w was evaluated and its successor, which is 0 where the root lies below the floor.
    """
    for _ in range(100):
        if not resolvent(diagonal, side, k, mu - shift, w, pivots):
            mu *= 2.0
            continue
        f = pull * w[0]
        if mu == floor and f <= 1.0:
            return mu, 0.0
        change = (f - 1.0) * f / (pull * square_of(w, k))
        if abs(change) <= accuracy * mu:
            return mu, max(mu + change, floor)
        mu = max(mu + change, floor)
    return mu, mu


@njit(error_model="numpy", fastmath=REORDER)
def ritz_vector(diagonal, side, k, w, basis, u, h):  # type: ignore[no-untyped-def]
    """Write u, the vector w in the basis at length 1, and h = Gu; the next of the basis is not scaled yet."""
    scale = 1.0 / np.sqrt(square_of(w, k))
    newest = basis[k]
    for j in range(len(u)):
        u[j] = 0.0
        h[j] = scale * w[k - 1] * newest[j]
    for i in range(k):
        past = basis[i]
        inner = diagonal[i] * w[i]
        if i > 0:
            inner += side[i - 1] * w[i - 1]
        if i < k - 1:
            inner += side[i] * w[i + 1]
        for j in range(len(u)):
            u[j] += scale * w[i] * past[j]
            h[j] += scale * inner * past[j]


@njit(error_model="numpy", fastmath=REORDER)
def negative_pair(G, shift, v, sqnorm, t, floor, guess, basis, g, u, h):  # type: ignore[no-untyped-def]
    """The negative eigenvalue −μ of M − t·v vᵀ: returns μ, and writes u, g = Gv and h = Gu.

    0 where there is none beyond the floor, and −1 where the Krylov space is exhausted before it is found.
    """
    d = len(v)
    most = min(d, KRYLOV)
    length, pull = np.sqrt(sqnorm), t * sqnorm
    diagonal, side = np.zeros(most + 1), np.zeros(most + 1)
    w, pivots = np.zeros(most + 1), np.zeros(most + 1)
    following, negative = max(guess, floor), 0.0
    for j in range(d):
        basis[0, j] = v[j] / length
    for k in range(1, most + 1):
        newest = basis[k]
        product(G, basis[k - 1], newest)
        if k == 1:
            for j in range(d):
                g[j] = length * newest[j]
        diagonal[k - 1] = dot(basis[k - 1], newest)
        for i in range(k):
            past = basis[i]
            along = dot(past, newest)
            for j in range(d):
                newest[j] -= along * past[j]
        beta = np.sqrt(dot(newest, newest))
        if k == d or beta * shift <= 1e-14:
            beta = 0.0
        side[k - 1] = beta
        negative = diagonal[k - 1] - 1.0 / shift - (side[k - 2] ** 2 / negative if k > 1 else 0.0)
        for accuracy in (np.inf, 1e-12):  # one step is enough as long as T grows
            mu, following = newton(
                diagonal, side, k, shift, pull, floor, max(following, floor), accuracy, w, pivots
            )
            off = abs((mu - shift) * beta * w[k - 1]) / np.sqrt(square_of(w, k))
            if following == 0.0 or max(mu, shift) * off > floor:
                break
        if following == 0.0:
            if beta == 0.0:
                return 0.0
            if negative < 0.0:  # T with the eigenvalue 1/σ, at which M has 0, added
                diagonal[k] = 1.0 / shift + beta * beta / negative
                if resolvent(diagonal, side, k + 1, floor - shift, w, pivots) and pull * w[0] <= 1.0:
                    return 0.0
        elif max(mu, shift) * off <= floor:
            ritz_vector(diagonal, side, k, w, basis, u, h)
            return mu
        if beta == 0.0:
            break
        for j in range(d):
            newest[j] /= beta
    return -1.0


@njit(error_model="numpy", fastmath=REORDER)
def subtract(M, G, memory, v, at, n, sqnorm, d, t, image, basis, g, u, h):  # type: ignore[no-untyped-def]
    """M = the nearest matrix ⪰ 0 to M − t·v vᵀ, and G with it, given Mv and d = vᵀMv; sets DUE where that is
    left to `clean`.
    """
    shift = memory[SHIFT]
    if shift == 0.0 or sqnorm == 0.0:  # M = 0, and stays; or there is no direction
        return
    frobenius = np.sqrt(memory[SQUARES])
    memory[SQUARES] = max(memory[SQUARES] + t * (t * sqnorm * sqnorm - 2.0 * d), 0.0)
    mu = 0.0
    if t * sqnorm > ACCURACY * frobenius:
        floor = ACCURACY * frobenius
        mu = negative_pair(G, shift, v, sqnorm, t, floor, memory[USUAL_EIGENVALUE], basis, g, u, h)
    else:
        product(G, v, g)
    inside, kept = dot(v, g), 1.0
    if mu > 0.0:
        along, across, own = dot(v, u), dot(v, h), dot(u, h)
        residual = dot(u, image) + (mu - t * sqnorm) * along  # vᵀ(M − t·v vᵀ + μI)u
        kept = (1.0 - t * inside) * (1.0 + mu * own) + t * mu * across * across
        if kept > 0.0 and abs(residual) <= TRUST * frobenius * np.sqrt(sqnorm):
            memory[SQUARES] = max(memory[SQUARES] - mu * mu, 0.0)
            usual = memory[USUAL_EIGENVALUE]
            memory[USUAL_EIGENVALUE] = mu if usual == 0.0 else usual * (mu / usual) ** 0.05
            add_two(M, v, u, -t, 0.0, mu)
            p, r = t * (1.0 + mu * own) / kept, -mu * (1.0 - t * inside) / kept
            add_two(G, g, h, p, -t * mu * across / kept, r)
            return
        mu = -1.0
    add_one(M, v, at, n, -t)
    kept = 1.0 - t * inside
    if mu == 0.0 and kept > 0.0:
        add_one(G, g, at, len(v), t / kept)
    else:
        memory[DUE] = BROKEN


@njit(error_model="numpy", fastmath=REORDER)
def add(M, G, memory, v, at, n, sqnorm, d, t, g):  # type: ignore[no-untyped-def]
    """M += t·v vᵀ, and G with it, given d = vᵀMv."""
    if t * sqnorm * sqnorm == 0.0:  # M is the same up to floats
        return
    add_one(M, v, at, n, t)
    memory[SQUARES] += t * (t * sqnorm * sqnorm + 2.0 * d)
    if memory[SHIFT] == 0.0:  # M was 0
        memory[SHIFT] = FIRST_SHIFT * t * sqnorm
        for j in range(len(v)):
            G[j, j] = 1.0 / memory[SHIFT]
    product(G, v, g)
    add_one(G, g, at, len(v), -t / (1.0 + t * dot(v, g)))


@kernel(types.boolean(MATRIX), fastmath=REORDER)
def invert(A):  # type: ignore[no-untyped-def]
    """Turn a positive matrix into its inverse by sweeps; False where a pivot shows that it is not positive.

    Not LAPACK, whose threads wait for each other on a machine with other work.
    """
    d = len(A)
    column = np.zeros(d)
    for k in range(d):
        pivot = A[k, k]
        if not pivot > 0.0:
            return False
        for i in range(d):
            column[i] = A[max(i, k), min(i, k)]
        column[k] = 0.0
        for i in range(d):
            row = A[i]
            pull = column[i] / pivot
            for j in range(i + 1):
                row[j] -= pull * column[j]
        for i in range(d):
            A[max(i, k), min(i, k)] = column[i] / pivot
        A[k, k] = -1.0 / pivot
    for i in range(d):
        row = A[i]
        for j in range(i + 1):
            row[j] = -row[j]
    return True


@njit(error_model="numpy", fastmath=REORDER)
def learn_pair(  # type: ignore[no-untyped-def]
    i,
    v,
    at,
    y,
    C,
    tolerance,
    share,
    keep,
    loss,
    step,
    M,
    G,
    memory,
    scores,
    losses,
    moved,
    image,
    basis,
    g,
    u,
    h,
):
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
    values,
    indices,
    starts,
    left,
    right,
    y,
    C,
    tolerance,
    share,
    keep,
    loss,
    step,
    M,
    G,
    memory,
    scores,
    losses,
    moved,
):
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
        doubtful = memory[DUE] == BROKEN or (memory[INTERVAL] == longest and not self._is_positive())
        if doubtful or not self.keep:
            self.M[:] = nearest_positive(self.M)
        memory[[SINCE, DUE]] = 0.0
        if begun:
            memory[B] = max(memory[B], 1.0)
        if not self.keep:
            return
        if begun:
            memory[INTERVAL] = min(4.0 * memory[INTERVAL], longest)
        whole = self.whole()
        memory[SQUARES] = np.square(whole).sum()
        largest = np.abs(whole).sum(axis=1).max()  # no eigenvalue is above it
        usual = memory[USUAL_EIGENVALUE] or FIRST_SHIFT * largest
        memory[SHIFT] = np.clip(usual, FARTHEST_SHIFT * largest, largest)
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
