"""The max-out family: h units of k planes make a row x into z, zᵢ the largest product of x with a plane of
unit i, and weights over z score it. Each update moves the weights, then the planes.

    x̂ = x/‖x‖      zᵢ = maxⱼ uᵢⱼ·x̂      ẑ = z/‖z‖      score w·ẑ, one w a column of the model

All planes are one table: row 0 is the constant feature, row 1 + j feature j, and column j·h + i is plane j of
unit i. So all products of a row are one pass over the rows of the table that it has values for, SIMD goes
over planes whatever the form of the examples, and a feature met later is a row more. Values of 0 are left
out, of dense rows too.

Lengths are worked out so that neither huge nor tiny rows overflow: every row with a value other than 0 has a
direction, and is learned.

With `standardized` the mean and the sum of squares of each feature are kept, over the rows learned so far,
and a row is standardised by those of the rows before it. Then all features have a value, and sparse rows cost
what dense ones do.
"""

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

SEED, COUNTED = range(2)  # memory: what the start was drawn from; rows in the moments
LARGEST_MOMENT = 1e100  # of values that count in means, for their squares are added up
LARGEST_VALUE = 1e150  # after standardising
CONSTANT = 1e-12  # a standard deviation that is less, relative to the mean, is rounding

MODEL = (MATRIX, MATRIX, VECTOR, VECTOR, VECTOR)  # planes, weights, means, squares, memory
RULES = (types.UniTuple(HANDLE, 5), VECTOR)  # loss, step, whole, when, approach; C, C_r, 1 − α, ε
APPROACH = REAL(REALS, REALS, COUNT, COUNT, REAL, REAL, REALS)
ROW = (types.uint32[::1], types.uint64[::1], types.boolean)


def approach_rule(function):  # type: ignore[no-untyped-def]
    """Make a rule of a function (products, targets, n units, n planes, C, ε, pull) that writes into pull,
    which is 0, how far each plane moves along x̂.
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

    A row that is standardised is so by the rows before it. A feature that no row has had yet has the value 0,
    so that it makes no difference, to the last bit, whether it is known already.
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
