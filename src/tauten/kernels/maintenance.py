"""How a budget is kept: what becomes of a row that is to move the model, and which support vector goes.

Two questions, each answered by a function that the loop in `budget` calls by its address, with all that the
family keeps:

    absorb     PROJECTED where the row needs no place; LATER if it is to become a support vector once there is
               room; AT_ONCE if it is to be one before, because making room takes more than its kernel
    make room  where the budget is passed: the slot to give up; its share has been passed on

Both set `pull` to 0 where the row moves nothing after all. The newest support vector stands in the last
slot; `near` has its kernel with those before it, `own` with itself. With two classes a coefficient is a
number, with more a vector with a number a class, and its size the Euclidean one: the norm of f = (f₁, …,
f_K) is that of Σₖ‖fₖ‖². The paper's formula is a rule in the learner's file, `judge`.
"""

import numpy as np
from numba import njit, types

from tauten.kernels.asking import uniform
from tauten.kernels.loops import REORDER
from tauten.kernels.pointers import COUNT, HANDLE, REAL, REALS, Rule, invoke
from tauten.kernels.similarity import BUDGET, OWN, column_products

# memory: support vectors, rounds, moves, the seed and the draws so far, the serial number of the next support
# vector, and what the Forgetron has spent
N_SUPPORT, ROUNDS, MOVES, SEED, DRAWS, SERIAL, SPENT = range(7)
MEMORY = 7
BORN, SHRUNK = 0, 1  # marks of a support vector: its serial number; what it has been multiplied with

PROJECTED, LATER, AT_ONCE = 0.0, 1.0, 2.0  # what `absorb` says
EVEN = 1e-9  # of a weight: as many coefficients shrink alike, rounding must not choose among them
IN_SPAN = 1e-10  # squared distance from a span, of the squared length: what counts as none
MAINTENANCE = REAL(
    HANDLE, HANDLE, COUNT, COUNT, COUNT, REAL, REAL, REAL,
    REALS, REALS, REALS, REALS, REALS, REALS, REALS, REALS,
    types.CPointer(types.int64), types.CPointer(types.int64), REALS, REALS, REALS,
)  # fmt: skip
# judge, kernel, n columns, capacity, width, margin, own, C, pull, near, alpha, marks, owns, sqnorms, root,
# vectors, features, lengths, scratch, numbers, memory


def maintenance(function):  # type: ignore[no-untyped-def]
    """Make a function that loops can call of one of the following."""
    return Rule(function, MAINTENANCE)


@njit
def size(alpha, n_columns, capacity, i):  # type: ignore[no-untyped-def]
    """The squared size of a coefficient."""
    total = 0.0
    for c in range(n_columns):
        total += alpha[c * capacity + i] * alpha[c * capacity + i]
    return total


@njit
def stay(pull, n_columns):  # type: ignore[no-untyped-def]
    for c in range(n_columns):
        pull[c] = 0.0


@njit
def lightest(alpha, owns, n_columns, capacity, n):  # type: ignore[no-untyped-def]
    """The slot of the least ‖αᵢ‖²·k(xᵢ, xᵢ), of those that only rounding tells apart the first."""
    least = np.inf
    for i in range(n):
        least = min(least, size(alpha, n_columns, capacity, i) * owns[i])
    for i in range(n):
        if size(alpha, n_columns, capacity, i) * owns[i] <= least * (1.0 + EVEN):
            return i
    return 0


@maintenance
def store(  # type: ignore[no-untyped-def]
    judge, kernel, n_columns, capacity, width, margin, own, C, pull, near, alpha, marks, owns, sqnorms,
    root, vectors, features, lengths, scratch, numbers, memory,
):  # fmt: skip
    """Every row becomes a support vector."""
    return LATER


@maintenance
def store_at_once(  # type: ignore[no-untyped-def]
    judge, kernel, n_columns, capacity, width, margin, own, C, pull, near, alpha, marks, owns, sqnorms,
    root, vectors, features, lengths, scratch, numbers, memory,
):  # fmt: skip
    """Every row becomes a support vector, before one is chosen to leave."""
    return AT_ONCE


@njit(fastmath=REORDER)
def along(row, root, vector, at, n):  # type: ignore[no-untyped-def]
    """The inner product of a row of the root with n numbers of a vector."""
    total = 0.0
    for i in range(n):
        total += root[row + i] * vector[at + i]
    return total


@njit
def project(n, capacity, own, near, root, scratch, triangular):  # type: ignore[no-untyped-def]
    """d = K⁻¹k into scratch, the row's nearest point in the span; returns its squared distance from there.

    Kept is a root of K⁻¹ = R·Rᵀ: with z = Rᵀk and d = R·z rounding is multiplied by the condition of K, and
    not by its square. R is triangular as long as support vectors only come.
    """
    z = capacity
    for i in range(n):
        scratch[z + i] = 0.0
    for j in range(n):
        a = near[j]
        row = j * capacity
        for i in range(j if triangular else 0, n):
            scratch[z + i] += a * root[row + i]
    apart = own
    for i in range(n):
        first = i if triangular else 0
        apart -= scratch[z + i] * scratch[z + i]
        scratch[i] = along(i * capacity + first, root, scratch, z + first, n - first)
    return max(apart, 0.0)


@njit
def extend(n, capacity, apart, root, scratch):  # type: ignore[no-untyped-def]
    """Take the row, at a distance from the span, into the root: a column (−d, 1)/‖δ‖."""
    distance = np.sqrt(apart)
    for j in range(n):
        root[j * capacity + n] = -scratch[j] / distance
    root[n * capacity + n] = 1.0 / distance


@njit
def add_to_all(alpha, n_columns, capacity, n, pull, share, scratch):  # type: ignore[no-untyped-def]
    """f += share·Σᵢ dᵢ·k(xᵢ, ·), the row projected onto the span."""
    for c in range(n_columns):
        a = share * pull[c]
        for i in range(n):
            alpha[c * capacity + i] += a * scratch[i]


@maintenance
def store_if_new(  # type: ignore[no-untyped-def]
    judge, kernel, n_columns, capacity, width, margin, own, C, pull, near, alpha, marks, owns, sqnorms,
    root, vectors, features, lengths, scratch, numbers, memory,
):  # fmt: skip
    """A row that the support vectors span already, up to rounding, becomes none: K has to have an inverse."""
    n = int(memory[N_SUPPORT])
    apart = project(n, capacity, own, near, root, scratch, False)
    if apart <= IN_SPAN * own:
        add_to_all(alpha, n_columns, capacity, n, pull, 1.0, scratch)
        return PROJECTED
    extend(n, capacity, apart, root, scratch)
    return AT_ONCE


@maintenance
def store_if_far(  # type: ignore[no-untyped-def]
    judge, kernel, n_columns, capacity, width, margin, own, C, pull, near, alpha, marks, owns, sqnorms,
    root, vectors, features, lengths, scratch, numbers, memory,
):  # fmt: skip
    """Projectron: a mistake is projected where it is within η of the span, or there is no room.

    A row that is right, but short of the margin, is projected as far as `judge` says.
    """
    n = int(memory[N_SUPPORT])
    vectors_that_move = 1.0 if n_columns == 1 else 2.0
    apart = project(n, capacity, own, near, root, scratch, True)
    distance = np.sqrt(vectors_that_move * apart)
    spread = vectors_that_move * max(own - apart, 0.0)
    if margin > 0.0:
        share = 0.0
        if spread > 0.0:
            share = invoke(judge, (1.0 - margin, spread, distance, numbers[OWN]))
        if share > 0.0:
            add_to_all(alpha, n_columns, capacity, n, pull, share, scratch)
        else:
            stay(pull, n_columns)
        return PROJECTED
    if distance <= numbers[OWN] or n >= numbers[BUDGET] or apart <= IN_SPAN * own:
        add_to_all(alpha, n_columns, capacity, n, pull, 1.0, scratch)
        if not spread > 0.0:
            stay(pull, n_columns)
        return PROJECTED
    extend(n, capacity, apart, root, scratch)
    return AT_ONCE


@maintenance
def give_up_any(  # type: ignore[no-untyped-def]
    judge, kernel, n_columns, capacity, width, margin, own, C, pull, near, alpha, marks, owns, sqnorms,
    root, vectors, features, lengths, scratch, numbers, memory,
):  # fmt: skip
    """One of the old support vectors at random, all alike."""
    n_old = int(memory[N_SUPPORT]) - 1
    drawn = uniform(memory[SEED], memory[DRAWS])
    memory[DRAWS] += 1.0
    return float(int(drawn * n_old))


@maintenance
def give_up_unbiased(  # type: ignore[no-untyped-def]
    judge, kernel, n_columns, capacity, width, margin, own, C, pull, near, alpha, marks, owns, sqnorms,
    root, vectors, features, lengths, scratch, numbers, memory,
):  # fmt: skip
    """One of the old at random, with the probabilities pᵢ that `judge` gives; the others grow by 1/(1 − pᵢ),
    so that the mean of f stays, up to the ceiling in `numbers`.
    """
    n_old = int(memory[N_SUPPORT]) - 1
    total = 0.0
    for i in range(n_old):
        scratch[i] = np.sqrt(size(alpha, n_columns, capacity, i) * owns[i])
        total += scratch[i]
    whole = 0.0
    for i in range(n_old):
        scratch[i] = invoke(judge, (scratch[i], total, float(n_old)))
        whole += scratch[i]
    drawn = uniform(memory[SEED], memory[DRAWS]) * whole
    memory[DRAWS] += 1.0
    victim = -1
    passed = 0.0
    for i in range(n_old):
        passed += scratch[i]
        if scratch[i] > 0.0 and (victim < 0 or passed - scratch[i] <= drawn):
            victim = i
    for i in range(n_old):
        p = scratch[i] / whole
        if i != victim and p < 1.0:
            length = np.sqrt(size(alpha, n_columns, capacity, i))
            grown = min(length / (1.0 - p), numbers[OWN])
            for c in range(n_columns):
                alpha[c * capacity + i] *= grown / length if length > 0.0 else 0.0
    return float(victim)


@maintenance
def give_up_oldest(  # type: ignore[no-untyped-def]
    judge, kernel, n_columns, capacity, width, margin, own, C, pull, near, alpha, marks, owns, sqnorms,
    root, vectors, features, lengths, scratch, numbers, memory,
):  # fmt: skip
    """Forgetron: all shrink by the φ of `judge`, then the oldest goes."""
    n = int(memory[N_SUPPORT])
    oldest = 0
    for i in range(n):
        if marks[BORN * capacity + i] < marks[BORN * capacity + oldest]:
            oldest = i
    column_products(oldest, vectors, features, lengths, capacity, width, n, scratch)
    invoke(kernel, (n, sqnorms[oldest], sqnorms, numbers, scratch))
    scratch[n - 1] = near[oldest]
    sigma = marks[SHRUNK * capacity + oldest]
    mu = 0.0  # the margin of the oldest, now
    for c in range(n_columns):
        score = 0.0
        for i in range(n):
            score += alpha[c * capacity + i] * scratch[i]
        if sigma > 0.0:
            mu += alpha[c * capacity + oldest] / sigma * score
    phi = invoke(judge, (sigma, mu, memory[SPENT], memory[MOVES]))
    memory[SPENT] += (sigma * phi) ** 2 + 2.0 * sigma * phi - 2.0 * sigma * phi * phi * mu
    for c in range(n_columns):
        for i in range(n):
            alpha[c * capacity + i] *= phi
    for i in range(n):
        marks[SHRUNK * capacity + i] *= phi
    return float(oldest)


@maintenance
def give_to_newest(  # type: ignore[no-untyped-def]
    judge, kernel, n_columns, capacity, width, margin, own, C, pull, near, alpha, marks, owns, sqnorms,
    root, vectors, features, lengths, scratch, numbers, memory,
):  # fmt: skip
    """BPA-S: the one that costs least by `judge` when the newest takes over its share; none of the old, and
    the row is not learned, where that costs more than the step gains.
    """
    newest = int(memory[N_SUPPORT]) - 1
    squared = 0.0
    for c in range(n_columns):
        squared += pull[c] * pull[c]
    vectors_that_move = 1.0 if n_columns == 1 else 2.0
    tau = np.sqrt(squared / vectors_that_move)
    least = (
        tau * vectors_that_move * own * (C - 0.5 * tau)
    )  # what the step takes off the loss, less its length
    victim = newest
    for i in range(newest):
        cost = invoke(judge, (size(alpha, n_columns, capacity, i), owns[i], near[i], own))
        if cost < least:
            least = cost
            victim = i
    if victim == newest:
        stay(pull, n_columns)
        return float(newest)
    for c in range(n_columns):
        alpha[c * capacity + newest] += alpha[c * capacity + victim] * near[victim] / own
    return float(victim)


@maintenance
def give_up_lightest(  # type: ignore[no-untyped-def]
    judge, kernel, n_columns, capacity, width, margin, own, C, pull, near, alpha, marks, owns, sqnorms,
    root, vectors, features, lengths, scratch, numbers, memory,
):  # fmt: skip
    """BSGD, removal: the one of the least ‖αᵢ‖²·k(xᵢ, xᵢ), the newest not excepted."""
    n = int(memory[N_SUPPORT])
    victim = lightest(alpha, owns, n_columns, capacity, n)
    if victim == n - 1:
        stay(pull, n_columns)
    return float(victim)
