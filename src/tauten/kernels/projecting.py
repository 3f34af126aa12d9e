"""BSGD's ways to make room: the lightest support vector is projected onto the others, or merged with one.

Wang, Crammer, Vucetic (JMLR 13, 2012). See `maintenance` for what these functions are given.
"""

import numpy as np
from numba import njit

from tauten.kernels.maintenance import N_SUPPORT, along, lightest, maintenance, size
from tauten.kernels.pointers import invoke
from tauten.kernels.similarity import column_products

SAME = 1e-12  # γ·distance² of support vectors that are one and the same
ONE_LINE = 1e-12  # of the product of two lengths: how far below it vectors along one line may come
EDGE = 1e-4  # of a search: how close to its end nobody looks
ROUGH, FINE = 1e-6, 1e-15  # how exactly mergers are compared, and the chosen one is made


@maintenance
def give_up_projected(  # type: ignore[no-untyped-def]
    judge, kernel, n_columns, capacity, width, margin, own, C, pull, near, alpha, marks, owns, sqnorms,
    root, vectors, features, lengths, scratch, numbers, memory,
):  # fmt: skip
    """BSGD, projection: the lightest, p, is projected onto the span of the others, αᵢ −= αₚ·(K⁻¹)ᵢₚ/(K⁻¹)ₚₚ.

    A reflection turns row p of the root into one number in the last column; without the row and the column
    R is a root for the others. Reflections do not add up errors.
    """
    n = int(memory[N_SUPPORT])
    victim = lightest(alpha, owns, n_columns, capacity, n)
    row = victim * capacity
    squared = along(row, root, root, row, n)
    for i in range(n):
        scratch[i] = -along(i * capacity, root, root, row, n) / squared if i != victim else 0.0
    for c in range(n_columns):
        share = alpha[c * capacity + victim]
        for i in range(n):
            alpha[c * capacity + i] += share * scratch[i]
    mirror = capacity
    for i in range(n):
        scratch[mirror + i] = root[row + i]
    norm = np.sqrt(squared)  # either sign does where nothing cancels; rounding about 0 must not choose it
    scratch[mirror + n - 1] += norm if root[row + n - 1] > -0.5 * norm else -norm
    length = 0.0
    for i in range(n):
        length += scratch[mirror + i] * scratch[mirror + i]
    for j in range(n):
        a = 2.0 / length * along(j * capacity, root, scratch, mirror, n)
        for i in range(n):
            root[j * capacity + i] -= a * scratch[mirror + i]
        root[j * capacity + n - 1] = 0.0
    return float(victim)


@njit
def kept(h, apart, heavy, light, both):  # type: ignore[no-untyped-def]
    """‖α‖² of the merged support vector at h·p + (1 − h)·q; `apart` is γ‖p − q‖²."""
    to_q = np.exp(-apart * h * h)
    to_p = np.exp(-apart * (1.0 - h) * (1.0 - h))
    return heavy * to_q * to_q + light * to_p * to_p + 2.0 * both * to_q * to_p


@njit
def slope(h, apart, heavy, light, both):  # type: ignore[no-untyped-def]
    """Its derivative, over 4·apart."""
    to_q = np.exp(-apart * h * h)
    to_p = np.exp(-apart * (1.0 - h) * (1.0 - h))
    return (1.0 - h) * light * to_p * to_p - h * heavy * to_q * to_q + (1.0 - 2.0 * h) * both * to_q * to_p


@njit
def place_of_merger(apart, heavy, light, both, tolerance):  # type: ignore[no-untyped-def]
    """The h at which most is kept, q being the heavier: up to ½, and below 0 only where the signs differ.

    kept(h) − kept(1 − h) has the sign of ½ − h, so the best is not beyond ½. Where the coefficients point the
    same way, both kernels grow up to h = 0; where they are opposed, the derivative has one zero, and that not
    beyond −1/√(2·apart). Numbers α_p, α_q make one peak there, where apart > 2 not beyond the one place at
    which the derivative may touch 0 again; vectors may make two, and the highest of nine points says at which
    to look. The zero of the derivative is found by false position (Illinois).
    """
    a = 0.0 if both >= 0.0 else -1.0 / np.sqrt(2.0 * apart)
    b = 0.5
    if both * both < heavy * light * (1.0 - ONE_LINE):
        stride = (b - a) / 8.0
        best = a
        most = kept(a, apart, heavy, light, both)
        for k in range(1, 9):
            value = kept(a + k * stride, apart, heavy, light, both)
            if value > most:
                best = a + k * stride
                most = value
        a, b = max(best - stride, a), min(best + stride, 0.5)
        if slope(best, apart, heavy, light, both) <= 0.0:
            b = best
        else:
            a = best
    elif both < 0.0:
        b = 0.0
    elif apart > 2.0:
        b = 0.5 - 0.5 * np.sqrt(1.0 - 2.0 / apart)
    width = b - a
    rising = slope(a, apart, heavy, light, both)
    falling = slope(b, apart, heavy, light, both)
    if not rising > 0.0:
        return a
    if not falling < 0.0:  # by symmetry 0 at ½, be it a peak or a dip
        falling = slope(b - EDGE * width, apart, heavy, light, both)
        if not falling < 0.0:
            return b
        b -= EDGE * width
    side = 0
    for _ in range(100):
        h = (a * falling - b * rising) / (falling - rising)
        at_h = slope(h, apart, heavy, light, both)
        if at_h > 0.0:
            a = h
            rising = at_h
            if side == 1:
                falling *= 0.5
            side = 1
        else:
            b = h
            falling = at_h
            if side == -1:
                rising *= 0.5
            side = -1
        if b - a <= tolerance * width or abs(at_h) <= tolerance * heavy:
            break
    return h


@njit
def combine(h, p, q, capacity, width, vectors, features, lengths):  # type: ignore[no-untyped-def]
    """q ← h·p + (1 − h)·q; returns its squared length. The list of features holds those that are not 0."""
    length = 0
    for k in range(q * width, q * width + lengths[q]):
        j = features[k]
        vectors[j * capacity + q] *= 1.0 - h
        if vectors[j * capacity + q] != 0.0:
            features[q * width + length] = j
            length += 1
    for k in range(p * width, p * width + lengths[p]):
        j = features[k]
        if vectors[j * capacity + q] == 0.0:
            features[q * width + length] = j
            length += 1
        vectors[j * capacity + q] += h * vectors[j * capacity + p]
    lengths[q] = 0
    sqnorm = 0.0
    for k in range(q * width, q * width + length):
        j = features[k]
        value = vectors[j * capacity + q]
        sqnorm += value * value
        if value != 0.0:
            features[q * width + lengths[q]] = j
            lengths[q] += 1
    return sqnorm


@maintenance
def give_up_merged(  # type: ignore[no-untyped-def]
    judge, kernel, n_columns, capacity, width, margin, own, C, pull, near, alpha, marks, owns, sqnorms,
    root, vectors, features, lengths, scratch, numbers, memory,
):  # fmt: skip
    """BSGD, merging (RBF only): the lightest, p, becomes one with the q that loses least by it."""
    n = int(memory[N_SUPPORT])
    p = lightest(alpha, owns, n_columns, capacity, n)
    column_products(p, vectors, features, lengths, capacity, width, n, scratch)
    light = size(alpha, n_columns, capacity, p)
    least = np.inf
    partner = 0 if p != 0 else 1
    best = 0.0
    invoke(kernel, (n, sqnorms[p], sqnorms, numbers, scratch))
    for q in range(n):
        if q == p:
            continue
        heavy = size(alpha, n_columns, capacity, q)
        both = 0.0
        for c in range(n_columns):
            both += alpha[c * capacity + p] * alpha[c * capacity + q]
        apart = -np.log(scratch[q]) if scratch[q] > 0.0 else np.inf
        h = 0.0
        lost = light
        if apart <= SAME:
            lost = 0.0
        elif np.isfinite(apart):
            h = place_of_merger(apart, heavy, light, both, ROUGH)
            lost = heavy + light + 2.0 * scratch[q] * both - kept(h, apart, heavy, light, both)
        if lost < least:
            least = lost
            partner = q
            best = h
    q = partner
    apart = -np.log(scratch[q]) if scratch[q] > 0.0 else np.inf
    if best != 0.0:
        heavy = size(alpha, n_columns, capacity, q)
        both = 0.0
        for c in range(n_columns):
            both += alpha[c * capacity + p] * alpha[c * capacity + q]
        best = place_of_merger(apart, heavy, light, both, FINE)
    to_q = np.exp(-apart * best * best) if best != 0.0 else 1.0
    to_p = np.exp(-apart * (1.0 - best) * (1.0 - best))
    for c in range(n_columns):
        alpha[c * capacity + q] = alpha[c * capacity + p] * to_p + alpha[c * capacity + q] * to_q
    if best != 0.0:
        sqnorms[q] = combine(best, p, q, capacity, width, vectors, features, lengths)
    return float(p)
