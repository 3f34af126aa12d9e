"""The loop of the budget family: f(x) = Σᵢ αᵢ·k(xᵢ, x) over at most B support vectors that all classes share.

For every row

    score     s = Σᵢ αᵢ·k(xᵢ, x)               one number a column; k by `similarity`
    ask       whether to go on                  see `asking`
    margin    m = y·s, or of many classes s_y − s_r, r the best wrong class
    step      m → τ                             a rule in the learner's file
    keep      αᵢ ← keep·αᵢ                      what a round leaves of all that is there; a rule too
    move      f_y += τ·k(x, ·), f_r −= τ·k(x, ·)
    maintain  see `maintenance`

Many classes compete in one decision, as in the first-order family. They share support vectors, each with a
coefficient a class: so a row is compared with B vectors, and not with B a class, and a support vector leaves
for all classes at once. With two classes there is one column.

The kernel, the step and what keeps the budget are reached by address (see `pointers`), so the loop is
compiled once for all learners.
"""

import numpy as np
from numba import njit, types

from tauten.kernels.asking import ASKING, PASS, STOP, consider, note
from tauten.kernels.loops import FLAG_ROWS, LONGEST_MOVE, MATRIX, REORDER, VECTOR, best_wrong
from tauten.kernels.maintenance import (
    AT_ONCE,
    BORN,
    LATER,
    MOVES,
    N_SUPPORT,
    PROJECTED,
    ROUNDS,
    SERIAL,
    SHRUNK,
)
from tauten.kernels.pointers import COUNT, HANDLE, REAL, invoke, kernel
from tauten.kernels.similarity import BUDGET, FADE, row_products

LONGEST_ROW = 1e100  # ‖x‖² and k(x, x): what follows multiplies squares of squares

ROWS = (VECTOR, types.uint32[::1], types.uint64[::1], types.boolean)  # values, indices, starts, alike
TABLES = (MATRIX, MATRIX, MATRIX, VECTOR, VECTOR, MATRIX, types.int64[:, ::1], types.int64[::1])


@njit
def in_order(indices, start, end, skip, width, trusted):  # type: ignore[no-untyped-def]
    """Whether the columns of a row are in range, and ascend unless they are `trusted`."""
    previous = np.int64(-1)
    ascending = True
    for p in range(start, end):
        j = indices[p - skip]
        if j >= width:
            return False
        ascending &= np.int64(j) > previous
        previous = np.int64(j)
    return ascending or trusted


@njit(fastmath=REORDER)
def expand(alpha, near, n, scores):  # type: ignore[no-untyped-def]
    """Σᵢ αᵢ·k(xᵢ, x) of each column."""
    for c in range(len(scores)):
        total = 0.0
        for i in range(n):
            total += alpha[c, i] * near[i]
        scores[c] = total


@njit
def write(values, indices, start, end, skip, vectors, features, lengths, slot):  # type: ignore[no-untyped-def]
    """Put a row into an empty slot."""
    taken = 0
    for p in range(start, end):
        if values[p] != 0.0:
            j = np.int64(indices[p - skip])
            vectors[j, slot] = values[p]
            features[slot, taken] = j
            taken += 1
    lengths[slot] = taken


@njit
def vacate(slot, last, alpha, marks, owns, sqnorms, root, vectors, features, lengths):  # type: ignore[no-untyped-def]
    """Give up a slot: the last support vector moves there."""
    for p in range(lengths[slot]):
        vectors[features[slot, p], slot] = 0.0
    if slot != last:
        for p in range(lengths[last]):
            j = features[last, p]
            features[slot, p] = j
            vectors[j, slot] = vectors[j, last]
            vectors[j, last] = 0.0
        lengths[slot] = lengths[last]
        owns[slot] = owns[last]
        sqnorms[slot] = sqnorms[last]
        alpha[:, slot] = alpha[:, last]
        marks[:, slot] = marks[:, last]
        if len(root) > 1:
            root[slot] = root[last]
    if len(root) > 1:
        root[last] = 0.0
    alpha[:, last] = 0.0
    marks[:, last] = 0.0
    lengths[last] = 0


@kernel(
    COUNT(
        *ROWS, types.boolean, MATRIX, VECTOR, REAL, *TABLES, VECTOR, VECTOR, VECTOR, VECTOR,
        types.boolean, types.UniTuple(HANDLE, 6), MATRIX, FLAG_ROWS, *ASKING,
    )
)  # fmt: skip
def learn_expansion(  # type: ignore[no-untyped-def]
    values, indices, starts, alike, trusted, y, importance, C,
    vectors, alpha, marks, owns, sqnorms, root, features, lengths, near, scratch, numbers, memory,
    learning, rules, scores, moved, ask, asking, asked,
):  # fmt: skip
    """Learn rows, until there is no room for another support vector; the columns of rows that are `alike`
    stand in `indices` once.
    """
    similar, step, keep, judge, absorb, make_room = rules
    n_rows = len(starts) - 1
    n_columns, capacity = alpha.shape
    width = features.shape[1]
    pull = np.empty(n_columns)
    own = np.empty(1)
    length = np.empty(1)
    blocks = 1.0 if n_columns == 1 else 2.0
    for i in range(n_rows):
        n = int(memory[N_SUPPORT])
        if n == capacity:
            return i
        start, end = starts[i], starts[i + 1]
        skip = start if alike else np.uint64(0)
        if not (alike or in_order(indices, start, end, skip, len(vectors), trusted)):
            return -1 - i
        sqnorm = row_products(values, indices, start, end, skip, vectors, n, near)
        if not np.isfinite(sqnorm) and not np.isfinite(values[start:end]).all():
            return -1 - i
        invoke(similar, (n, sqnorm, sqnorms, numbers, near))
        expand(alpha, near, n, scores[i])
        own[0] = length[0] = sqnorm
        invoke(similar, (1, sqnorm, length, numbers, own))
        if ask != 0:
            choice = consider(i, scores, 0.0, own[0], y[i, 0], ask, asking, asked, moved)
            if choice == PASS:
                continue
            if choice == STOP:
                return -1 - i
        moved[i, 0] = False
        if not learning or not (sqnorm <= LONGEST_ROW and own[0] <= LONGEST_ROW):
            continue
        memory[ROUNDS] += 1.0
        pull[:] = 0.0
        if n_columns == 1:
            right = rival = 0
            margin = y[i, 0] * scores[i, 0]
        else:
            right = int(y[i, 0])
            rival = best_wrong(scores[i], 0, n_columns, right)
            margin = scores[i, right] - scores[i, rival]
        aggressiveness = C * importance[i]
        kept = invoke(keep, (memory[ROUNDS], numbers[FADE]))
        if kept != 1.0:
            for c in range(n_columns):
                for k in range(n):
                    alpha[c, k] *= kept
        if own[0] < 1.0 / LONGEST_ROW:
            continue
        tau = invoke(step, (margin, blocks * own[0], aggressiveness, memory[ROUNDS]))
        if not (tau > 0.0 and tau * np.sqrt(own[0]) <= LONGEST_MOVE):
            continue
        pull[right] = tau * y[i, 0] if n_columns == 1 else tau
        if n_columns > 1:
            pull[rival] = -tau
        memory[MOVES] += 1.0
        stored = invoke(
            absorb,
            (
                judge, similar, n_columns, capacity, width, margin, own[0], aggressiveness, pull, near,
                alpha, marks, owns, sqnorms, root, vectors, features, lengths, scratch, numbers, memory,
            ),
        )  # fmt: skip
        if stored != PROJECTED:
            slot = n
            owns[n] = own[0]
            sqnorms[n] = sqnorm
            alpha[:, n] = pull
            marks[BORN, n] = memory[SERIAL]
            marks[SHRUNK, n] = 1.0
            memory[SERIAL] += 1.0
            memory[N_SUPPORT] = n + 1
            if stored == AT_ONCE:
                write(values, indices, start, end, skip, vectors, features, lengths, n)
            if n + 1 > numbers[BUDGET]:
                slot = int(
                    invoke(
                        make_room,
                        (
                            judge, similar, n_columns, capacity, width, margin, own[0], aggressiveness, pull,
                            near, alpha, marks, owns, sqnorms, root, vectors, features, lengths, scratch,
                            numbers, memory,
                        ),
                    )
                )  # fmt: skip
                vacate(slot, n, alpha, marks, owns, sqnorms, root, vectors, features, lengths)
                memory[N_SUPPORT] = n
            if stored == LATER and slot < memory[N_SUPPORT]:
                write(values, indices, start, end, skip, vectors, features, lengths, slot)
        for c in range(n_columns):
            if pull[c] != 0.0:
                moved[i, 0] = True
        if ask != 0:
            note(i, moved, own[0], asking)
    return n_rows


@kernel(COUNT(*ROWS, MATRIX, MATRIX, VECTOR, VECTOR, VECTOR, COUNT, HANDLE, MATRIX))
def score_expansion(  # type: ignore[no-untyped-def]
    values, indices, starts, alike, vectors, alpha, sqnorms, near, numbers, n, similar, scores
):  # fmt: skip
    """Scores of rows whose columns are in range; -1 - i at a row i with a value that is not finite."""
    for i in range(len(starts) - 1):
        start, end = starts[i], starts[i + 1]
        skip = start if alike else np.uint64(0)
        sqnorm = row_products(values, indices, start, end, skip, vectors, n, near)
        if not np.isfinite(sqnorm) and not np.isfinite(values[start:end]).all():
            return -1 - i
        invoke(similar, (n, sqnorm, sqnorms, numbers, near))
        expand(alpha, near, n, scores[i])
    return len(starts) - 1
