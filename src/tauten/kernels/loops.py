"""The loops over rows of every family whose moves lie along x: score each column, decide, move.

The state is one table: row 0 belongs to the constant feature (the bias), row 1 + j to feature j, and a column
to each vector that is kept (weights of a class, of a grid point; sums for means and averages). For every row
x

    score   s = xᵀ·table                    one number a column, and q = ‖x‖², both with the constant feature
    report  s → scores                      what the model as it is says of x
    ask     scores → whether to go on       see `asking`; most learners learn every label
    decide  s, q, label → pull              what to move
    move    table += x·pullᵀ                only if the decision says so

Report and decision are the family's, the asking rule is whoever's, all handed in by address (see `pointers`).

Arguments common to the loops, n rows and g decisions a row:
    y, margins   (n, g)   the side of each decision (±1; a class code; a real target) and the margin asked of
    it
    importance   (n,)     what multiplies C for this row
    C            (g,)     aggressiveness of each decision
    bias                  1 or 0: the constant feature
    memory                what a family keeps besides its table
    scores, moved (n, g') written: the model's scores before the update, and which decisions moved
    ask, asking, asked    see `asking`

A loop returns how many rows it has learned. It ends early after a row whose decision asks for upkeep (UPKEEP,
see `anchored`), and it returns -1 - i before a row i that it cannot learn: one with a value that is not
finite, a column out of range, (unless `trusted`) columns that do not ascend, or a label that was asked for
and is not known yet. A row whose squared length is zero or overflows is scored and passed over: there is no
direction to move in, or none that floats can follow.
A move longer than LONGEST_MOVE is not made: so no number of rows brings a weight, or a sum of weights over
the rounds, anywhere near infinity.
"""

import numpy as np
from numba import njit, types

from tauten.kernels.asking import ASKING, PASS, STOP, consider, note
from tauten.kernels.pointers import COUNT, HANDLE, REAL, invoke, kernel
from tauten.kernels.prefetch import AHEAD, fetch_row, fetch_sparse

VECTOR = types.float64[::1]
MATRIX = types.float64[:, ::1]
FLAG_ROWS = types.uint8[:, ::1]
_COMMON = (MATRIX, MATRIX, VECTOR, VECTOR, REAL, MATRIX, VECTOR, *[HANDLE] * 4, MATRIX, FLAG_ROWS, *ASKING)
DENSE = COUNT(MATRIX, *_COMMON)
SPARSE = COUNT(VECTOR, types.uint32[::1], types.uint64[::1], types.boolean, *_COMMON)

# What a decision returns.
STAY, MOVE, UPKEEP = 0.0, 1.0, 2.0

LONGEST_MOVE = 1e150

# Sums may be reordered so that SIMD can run; NaN and infinity keep their meaning, the checks below need it.
REORDER = {"reassoc", "contract", "nsz"}


@njit
def signed_step(signed_loss, sqnorm, C, step):  # type: ignore[no-untyped-def]
    """How far to move along x, with the sign of the loss; 0 where there is no step that floats can follow."""
    if signed_loss == 0.0 or sqnorm == 0.0 or not (np.isfinite(sqnorm) and np.isfinite(signed_loss)):
        return 0.0
    tau = invoke(step, (abs(signed_loss), sqnorm, C))
    return np.copysign(tau, signed_loss) if tau > 0.0 and tau * np.sqrt(sqnorm) <= LONGEST_MOVE else 0.0


@njit
def best_wrong(s, first, stop, right):  # type: ignore[no-untyped-def]
    """The column other than `right` that scores highest, of equals the first."""
    best = first if right != first else first + 1
    for c in range(first, stop):
        if c != right and s[c] > s[best]:
            best = c
    return best


@njit
def sparse_sqnorm(values, indices, start, end, trusted, width, bias):  # type: ignore[no-untyped-def]
    """The squared length of a sparse row; negative where the row cannot be learned."""
    sqnorm = bias
    ascending = True
    previous = np.int64(-1)
    for p in range(start, end):
        j = indices[p]
        if j >= width:
            return -1.0
        ascending &= np.int64(j) > previous
        previous = np.int64(j)
        sqnorm += values[p] * values[p]
    if not (ascending or trusted):
        return -1.0
    if not np.isfinite(sqnorm) and not np.isfinite(values[start:end]).all():
        return -1.0
    return sqnorm


@kernel(DENSE, fastmath=REORDER)
def learn_dense(  # type: ignore[no-untyped-def]
    X, y, margins, importance, C, bias, table, memory, report, decide, loss, step, scores, moved,
    ask, asking, asked,
):  # fmt: skip
    """Learn dense rows; the columns are turned into rows while it runs, so that SIMD goes along x."""
    n_rows, width = X.shape
    n_columns = table.shape[1]
    columns = np.ascontiguousarray(table[1 : width + 1].T)
    intercepts = table[0]
    s = np.empty(n_columns)
    pull = np.zeros(n_columns)
    done = n_rows
    for i in range(n_rows):
        if i + 1 < n_rows:
            fetch_row(X, i + 2)
        total = 0.0
        sqnorm = bias
        for j in range(width):
            total += columns[0, j] * X[i, j]
            sqnorm += X[i, j] * X[i, j]
        s[0] = bias * intercepts[0] + total
        for c in range(1, n_columns):
            total = 0.0
            for j in range(width):
                total += columns[c, j] * X[i, j]
            s[c] = bias * intercepts[c] + total
        if not np.isfinite(sqnorm) and not np.isfinite(X[i]).all():
            done = -1 - i
            break
        invoke(report, (s, memory, scores.shape[1], scores[i]))
        if ask != 0:
            choice = consider(i, scores, 0.0, sqnorm, y[i, 0], ask, asking, asked, moved)
            if choice == PASS:
                continue
            if choice == STOP:
                done = -1 - i
                break
        verdict = invoke(
            decide, (i, s, sqnorm, y, margins, importance[i], C, memory, loss, step, len(C), pull, moved)
        )
        if ask != 0:
            note(i, moved, sqnorm, asking)
        if verdict != STAY:
            for c in range(n_columns):
                a = pull[c]
                if a != 0.0:
                    intercepts[c] += a * bias
                    for j in range(width):
                        columns[c, j] += a * X[i, j]
        if verdict == UPKEEP:
            done = i + 1
            break
    for c in range(n_columns):
        for j in range(width):
            table[1 + j, c] = columns[c, j]
    return done


@kernel(SPARSE, slp=True)
def learn_sparse(  # type: ignore[no-untyped-def]
    values, indices, starts, trusted,
    y, margins, importance, C, bias, table, memory, report, decide, loss, step, scores, moved,
    ask, asking, asked,
):  # fmt: skip
    """Learn sparse rows; a feature's columns lie side by side, and are scored and moved eight at a time."""
    n_rows = len(starts) - 1
    n_columns = np.uint64(table.shape[1])
    eights = n_columns - n_columns % np.uint64(8)
    features = table[1:]
    width = len(features)
    s = np.empty(n_columns)
    pull = np.zeros(n_columns)
    for i in range(n_rows):
        if starts[i] + AHEAD < starts[n_rows]:
            fetch_sparse(values, indices, starts[i], starts[i + 1])
        sqnorm = sparse_sqnorm(values, indices, starts[i], starts[i + 1], trusted, width, bias)
        if sqnorm < 0.0:
            return -1 - i
        for c in range(0, eights, 8):
            s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
            for p in range(starts[i], starts[i + 1]):
                v = values[p]
                w = features[indices[p]]
                s0 += v * w[c]
                s1 += v * w[c + 1]
                s2 += v * w[c + 2]
                s3 += v * w[c + 3]
                s4 += v * w[c + 4]
                s5 += v * w[c + 5]
                s6 += v * w[c + 6]
                s7 += v * w[c + 7]
            s[c], s[c + 1], s[c + 2], s[c + 3] = s0, s1, s2, s3
            s[c + 4], s[c + 5], s[c + 6], s[c + 7] = s4, s5, s6, s7
        for c in range(eights, n_columns):
            total = 0.0
            for p in range(starts[i], starts[i + 1]):
                total += values[p] * features[indices[p], c]
            s[c] = total
        for c in range(n_columns):
            s[c] += bias * table[0, c]
        invoke(report, (s, memory, scores.shape[1], scores[i]))
        if ask != 0:
            choice = consider(i, scores, 0.0, sqnorm, y[i, 0], ask, asking, asked, moved)
            if choice == PASS:
                continue
            if choice == STOP:
                return -1 - i
        verdict = invoke(
            decide, (i, s, sqnorm, y, margins, importance[i], C, memory, loss, step, len(C), pull, moved)
        )
        if ask != 0:
            note(i, moved, sqnorm, asking)
        if verdict != STAY:
            for c in range(n_columns):
                table[0, c] += pull[c] * bias
            for c in range(0, eights, 8):
                a0, a1, a2, a3 = pull[c], pull[c + 1], pull[c + 2], pull[c + 3]
                a4, a5, a6, a7 = pull[c + 4], pull[c + 5], pull[c + 6], pull[c + 7]
                for p in range(starts[i], starts[i + 1]):
                    v = values[p]
                    w = features[indices[p]]
                    w[c] += v * a0
                    w[c + 1] += v * a1
                    w[c + 2] += v * a2
                    w[c + 3] += v * a3
                    w[c + 4] += v * a4
                    w[c + 5] += v * a5
                    w[c + 6] += v * a6
                    w[c + 7] += v * a7
            for c in range(eights, n_columns):
                if pull[c] != 0.0:
                    for p in range(starts[i], starts[i + 1]):
                        features[indices[p], c] += values[p] * pull[c]
        if verdict == UPKEEP:
            return i + 1
    return n_rows


@kernel(COUNT(MATRIX, REAL, MATRIX, MATRIX), fastmath=REORDER)
def score_dense(X, bias, table, raw):  # type: ignore[no-untyped-def]
    """Score rows on every column of the table; -1 - i at a row i with a value that is not finite."""
    n_rows, width = X.shape
    for i in range(n_rows):
        if not np.isfinite(X[i]).all():
            return -1 - i
        for c in range(table.shape[1]):
            total = bias * table[0, c]
            for j in range(width):
                total += X[i, j] * table[1 + j, c]
            raw[i, c] = total
    return n_rows


@kernel(COUNT(VECTOR, types.uint32[::1], types.uint64[::1], REAL, MATRIX, MATRIX))
def score_sparse(values, indices, starts, bias, table, raw):  # type: ignore[no-untyped-def]
    """The same for sparse rows, whose columns must be in range."""
    n_rows = len(starts) - 1
    features = table[1:]
    one = np.uint64(1)
    two = np.uint64(2)
    for i in range(n_rows):
        start = starts[i]
        end = starts[i + 1]
        even = end - (end - start) % two
        if start + AHEAD < starts[n_rows]:
            fetch_sparse(values, indices, start, end)
        for c in range(table.shape[1]):
            total = bias * table[0, c]
            odd = 0.0
            for p in range(start, even, two):
                total += values[p] * features[indices[p], c]
                odd += values[p + one] * features[indices[p + one], c]
            if even < end:
                total += values[even] * features[indices[even], c]
            raw[i, c] = total + odd
        if not np.isfinite(raw[i, 0]) and not np.isfinite(values[start:end]).all():
            return -1 - i
    return n_rows


@kernel(DENSE, fastmath=REORDER)
def learn_dense_column(  # type: ignore[no-untyped-def]
    X, y, margins, importance, C, bias, table, memory, report, decide, loss, step, scores, moved,
    ask, asking, asked,
):  # fmt: skip
    """`learn_dense` for a table of one column: its one decision is spelt out."""
    n_rows, width = X.shape
    w = table[1 : width + 1, 0].copy()  # aligned, as the table is not
    intercept = table[0, 0]
    done = n_rows
    for i in range(n_rows):
        if i + 1 < n_rows:
            fetch_row(X, i + 2)
        score = 0.0
        sqnorm = bias
        for j in range(width):
            score += w[j] * X[i, j]
            sqnorm += X[i, j] * X[i, j]
        score += bias * intercept
        if not np.isfinite(sqnorm) and not np.isfinite(X[i]).all():
            done = -1 - i
            break
        scores[i, 0] = score
        if ask != 0:
            choice = consider(i, scores, 0.0, sqnorm, y[i, 0], ask, asking, asked, moved)
            if choice == PASS:
                continue
            if choice == STOP:
                done = -1 - i
                break
        a = signed_step(invoke(loss, (score, y[i, 0], margins[i, 0])), sqnorm, C[0] * importance[i], step)
        moved[i, 0] = a != 0.0
        if ask != 0:
            note(i, moved, sqnorm, asking)
        if a != 0.0:
            intercept += a * bias
            for j in range(width):
                w[j] += a * X[i, j]
    table[0, 0] = intercept
    for j in range(width):
        table[1 + j, 0] = w[j]
    return done


@kernel(SPARSE)
def learn_sparse_column(  # type: ignore[no-untyped-def]
    values, indices, starts, trusted,
    y, margins, importance, C, bias, table, memory, report, decide, loss, step, scores, moved,
    ask, asking, asked,
):  # fmt: skip
    """`learn_sparse` for a table of one column: its one decision is spelt out, two sums run abreast."""
    n_rows = len(starts) - 1
    w = table.reshape(-1)[1:]
    width = len(w)
    intercept = table[0, 0]
    last = starts[n_rows]
    one = np.uint64(1)
    two = np.uint64(2)
    for i in range(n_rows):
        start = starts[i]
        end = starts[i + 1]
        if start + AHEAD < last:
            fetch_sparse(values, indices, start, end)
        even = end - (end - start) % two
        ascending = True
        previous = np.int64(-1)
        score = bias * intercept
        sqnorm = bias
        score_odd = 0.0
        sqnorm_odd = 0.0
        for p in range(start, even, two):
            j = indices[p]
            k = indices[p + one]
            if j >= width or k >= width:
                return -1 - i
            ascending &= (np.int64(j) > previous) & (k > j)
            previous = np.int64(k)
            score += w[j] * values[p]
            score_odd += w[k] * values[p + one]
            sqnorm += values[p] * values[p]
            sqnorm_odd += values[p + one] * values[p + one]
        if even < end:
            j = indices[even]
            if j >= width:
                return -1 - i
            ascending &= np.int64(j) > previous
            score += w[j] * values[even]
            sqnorm += values[even] * values[even]
        if not (ascending or trusted):
            return -1 - i
        score += score_odd
        sqnorm += sqnorm_odd
        if not np.isfinite(sqnorm) and not np.isfinite(values[start:end]).all():
            return -1 - i
        scores[i, 0] = score
        if ask != 0:
            choice = consider(i, scores, 0.0, sqnorm, y[i, 0], ask, asking, asked, moved)
            if choice == PASS:
                continue
            if choice == STOP:
                return -1 - i
        a = signed_step(invoke(loss, (score, y[i, 0], margins[i, 0])), sqnorm, C[0] * importance[i], step)
        moved[i, 0] = a != 0.0
        if ask != 0:
            note(i, moved, sqnorm, asking)
        if a != 0.0:
            intercept += a * bias
            table[0, 0] = intercept
            for p in range(start, end):
                w[indices[p]] += a * values[p]
    return n_rows
