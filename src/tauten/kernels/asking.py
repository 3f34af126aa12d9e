"""Whether a label is asked for, decided inside the loops, after a row is scored and before its label is read.

A rule gives the probability of asking, from what is known before the label: the score (two classes) or the
gap between the two best scores (more), the variance xᵀΣx of a score where there is one, ‖x‖², and the vector
`asking`, which holds what has happened so far and the rule's own parameters. A row that is not asked leaves
the model as it was.

Randomness is a function of the seed and the number of the row, so a batch draws what the loop draws, and a
run that was saved and resumed what an uninterrupted one does.
"""

import numpy as np
from numba import njit, types

from tauten.kernels.pointers import HANDLE, REAL, REALS, Rule, invoke, pointed

ASK = REAL(REAL, REAL, REAL, REALS)  # score or gap, variance, sqnorm, asking; returns a probability
ASKING = (HANDLE, types.float64[::1], types.uint8[::1])  # ask (0: every label is learned), asking, asked

# asking: the seed, rows seen, labels asked, moves, the largest ‖x‖² that moved; whether the rule wants the
# variance; whether the label is given, so that nothing is asked; then the parameters of the rule
SEED, ROUNDS, ASKED, MOVES, LONGEST, CURIOUS, GIVEN, PARAMETERS = range(8)

# What comes of considering a row: go on to the next, learn it, or stop, for its label is not known yet.
PASS, LEARN, STOP = 0, 1, 2


def ask_rule(function):  # type: ignore[no-untyped-def]
    """Make a rule for asking of a function (score, variance, sqnorm, asking) that returns a probability."""
    return Rule(function, ASK)


@njit
def uniform(seed, round_):  # type: ignore[no-untyped-def]
    """A number in [0, 1) for each seed and round (SplitMix64: Steele, Lea, Flood, 2014)."""
    z = np.uint64(np.int64(seed)) * np.uint64(0xD1342543DE82EF95)
    z += np.uint64(np.int64(round_) + 1) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * 2.0**-53


@njit
def _certainty(s, first, n):  # type: ignore[no-untyped-def]
    """The score of two classes, or the gap between the two best of more; a row's scores start at `first`."""
    if n == 1:
        return s[first]
    best = max(s[first], s[first + 1])
    second = min(s[first], s[first + 1])
    for k in range(first + 2, first + n):
        if s[k] > best:
            second = best
            best = s[k]
        elif s[k] > second:
            second = s[k]
    return best - second


def _consider(  # type: ignore[no-untyped-def]
    i, scores, n, variance, sqnorm, label, ask, asking, asked, moved, n_decisions
):
    """Ask, or do not; a label of NaN is one that is not known yet."""
    if asking[GIVEN] == 1.0:
        return LEARN
    p = invoke(ask, (_certainty(scores, i * n, n), variance, sqnorm, asking))
    wanted = uniform(asking[SEED], asking[ROUNDS]) < p
    asked[i] = wanted
    if wanted and np.isnan(label):
        return STOP
    asking[ROUNDS] += 1.0
    if wanted:
        asking[ASKED] += 1.0
        return LEARN
    for g in range(i * n_decisions, (i + 1) * n_decisions):
        moved[g] = 0
    return PASS


def _note(i, moved, n_decisions, sqnorm, asking):  # type: ignore[no-untyped-def]
    """Keep count of moves, and of how long the rows were that made them."""
    for g in range(i * n_decisions, (i + 1) * n_decisions):
        if moved[g] != 0:
            asking[MOVES] += 1.0
            asking[LONGEST] = max(asking[LONGEST], sqnorm)
            break
    return 0


consider, note = pointed(_consider, 9), pointed(_note, 4)
