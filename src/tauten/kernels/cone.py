"""M ⪰ 0 kept at O(d²) a move: sums and products with a symmetric matrix, and the nearest matrix on the cone.

A subtraction of t·v vᵀ from M ⪰ 0 leaves one negative eigenvalue −μ at most, with the eigenvector u, where

    f(μ) = t·vᵀ(M + μI)⁻¹v = 1,   u ∝ (M + μI)⁻¹v      M + μI = G⁻¹(I + (μ − σ)G),  G = (M + σI)⁻¹

G is kept beside M and changed with it (Sherman, Morrison, Woodbury). Lanczos' method on G from v makes a
tridiagonal T of a few rows that stands for G in all of this: f(μ) = 1 is solved on T, by Newton's method on
1/f, a concave function. Six to ten products with G do at d = 256, where Lanczos' method on M takes 25 to
30 with M, and `eigh` the time of 2,000.

That there is no negative eigenvalue is shown by the Gauss–Radau rule, which bounds f from above as M ⪰ 0.
Each u is checked against Mv. Of M and G the lower triangle is kept.
"""

import numpy as np
from numba import njit, types

from tauten.kernels.loops import MATRIX, REORDER
from tauten.kernels.pointers import kernel

# What is kept beside M and G, in a vector `memory`.
B, ROUNDS, MOVES, SINCE, INTERVAL, DUE, SHIFT, USUAL_EIGENVALUE, SQUARES, USUAL_LOSS = range(10)
N_MEMORY = 10

WHOLE, SOILED, BROKEN = 0.0, 1.0, 2.0  # DUE: nothing; G anew, and M if need be; M is not ⪰ 0

KRYLOV = 48  # products with G before `PairState.clean` is called in
ACCURACY = 1e-9  # of the projected M, relative to its Frobenius norm
TRUST = 1e-7  # the residual of u, so measured, at which G is held to have drifted
FIRST_SHIFT = 0.15  # of the first eigenvalue
RECENT = 0.05  # weight of the newest eigenvalue in the usual one


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
            memory[USUAL_EIGENVALUE] = mu if usual == 0.0 else usual * (mu / usual) ** RECENT
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
