"""The anchored family: weights drawn toward the difference of the class means, at O(non-zeros) a row.

A move w ← (w + γm̃ + αyx)/(1+γ) touches every weight, so w is kept as a combination of vectors that rows
change sparsely,

    w = scale·u + p·S₊ + q·S₋            S₊, S₋: sums of the rows of a column's class and of all other classes

and a move changes three numbers a column, and u along x. A new row enters S, so u gives way to leave w as it
was. The table holds u for each column, then S for each class, then V where an average is kept: the sum of w
over the rounds is a·u + b·S₊ + c·S₋ + V. As u grows like 1/scale, the combination is written out afresh
before precision goes.
"""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit

from tauten.kernels.first_order import DECISION, REPORT
from tauten.kernels.loops import LONGEST_MOVE, MOVE, STAY, UPKEEP
from tauten.kernels.pointers import Rule, invoke
from tauten.kernels.state import Floats, LinearState, binary_to_columns

# memory: four numbers, the count of rows of each class, then six numbers a column
GAMMA, KAPPA, FROZEN, ROUNDS, COUNTS = 0, 1, 2, 3, 4
SCALE, P, Q, SUM_SCALE, SUM_P, SUM_Q = range(6)
PER_COLUMN = 6

# Below it u is written out. The average multiplies u by sums of old scales, and cannot spare as many digits.
SMALLEST_SCALE = 1e-100
SMALLEST_SCALE_AVERAGED = 1e-3


@njit
def _counted(memory, sqnorm):  # type: ignore[no-untyped-def]
    """1 where a row counts into the means: not while they are frozen, nor where it would drown all others."""
    return 0.0 if memory[FROZEN] == 1.0 or not np.isfinite(sqnorm) else 1.0


@njit
def _combined(s, memory, n, c, scale):  # type: ignore[no-untyped-def]
    """u, S₊ and S₋ at x with the factors of column c that stand from `scale` on."""
    n_classes = n if n > 1 else 2
    own = n + (c if n > 1 else 1)
    total = 0.0
    for k in range(n, n + n_classes):
        total += s[k]
    f = COUNTS + n_classes + PER_COLUMN * c + scale
    return memory[f] * s[c] + memory[f + 1] * s[own] + memory[f + 2] * (total - s[own])


@njit
def _anchored(i, s, sqnorm, y, margins, importance, C, memory, loss, step, n, pull, moved):  # type: ignore[no-untyped-def]
    """Count x into its class, then move each column whose loss is positive."""
    gamma, kappa = memory[GAMMA], memory[KAPPA]
    n_classes = n if n > 1 else 2
    own = 1 if y[i * n] > 0.0 else 0
    total = 0.0  # ⟨sum of all rows, x⟩
    n_rows = 0.0
    for k in range(n_classes):
        if n > 1 and y[i * n + k] > 0.0:
            own = k
        total += s[n + k]
        n_rows += memory[COUNTS + k]
    counted = _counted(memory, sqnorm)
    memory[COUNTS + own] += counted
    n_rows += counted
    verdict = STAY
    for k in range(n_classes):
        pull[n + k] = counted if k == own else 0.0
        if counted > 0.0:
            verdict = MOVE
    for c in range(n):
        k = c if n > 1 else 1
        f = COUNTS + n_classes + PER_COLUMN * c
        scale, p, q = memory[f + SCALE], memory[f + P], memory[f + Q]
        inside, outside = s[n + k], total - s[n + k]
        score = _combined(s, memory, n, c, SCALE)
        pull[c] = -counted * (p if y[i * n + c] > 0.0 else q) / scale
        moved[i * n + c] = False
        if sqnorm == 0.0 or not np.isfinite(sqnorm):
            continue
        signed_loss = invoke(loss, (score, y[i * n + c], margins[i * n + c]))
        if signed_loss == 0.0 or not np.isfinite(signed_loss):
            continue
        to_inside = kappa / memory[COUNTS + k] if memory[COUNTS + k] > 0.0 else 0.0
        n_outside = n_rows - memory[COUNTS + k]
        to_outside = kappa / n_outside if n_outside > 0.0 else 0.0
        if y[i * n + c] > 0.0:
            inside += counted * sqnorm
        else:
            outside += counted * sqnorm
        anchor_score = to_inside * inside - to_outside * outside
        numerator = abs(signed_loss) + gamma * (margins[i * n + c] - y[i * n + c] * anchor_score)
        alpha = invoke(step, (numerator, sqnorm, C[c] * importance, gamma))
        if not (np.isfinite(numerator) and alpha * np.sqrt(sqnorm) <= LONGEST_MOVE):
            continue
        memory[f + SCALE] = scale / (1.0 + gamma)
        memory[f + P] = (p + gamma * to_inside) / (1.0 + gamma)
        memory[f + Q] = (q - gamma * to_outside) / (1.0 + gamma)
        pull[c] = (alpha * y[i * n + c] - counted * (p if y[i * n + c] > 0.0 else q)) / scale
        moved[i * n + c] = True
        verdict = MOVE
    for c in range(n):
        if memory[COUNTS + n_classes + PER_COLUMN * c + SCALE] < SMALLEST_SCALE:
            verdict = UPKEEP
    memory[ROUNDS] += 1.0
    return verdict


def anchored(i, s, sqnorm, y, margins, importance, C, memory, loss, step, n, pull, moved):  # type: ignore[no-untyped-def]
    return _anchored(i, s, sqnorm, y, margins, importance, C, memory, loss, step, n, pull, moved)


def anchored_averaged(i, s, sqnorm, y, margins, importance, C, memory, loss, step, n, pull, moved):  # type: ignore[no-untyped-def]
    """The same moves; V gives way as u and S grow."""
    n_classes = n if n > 1 else 2
    counted = _counted(memory, sqnorm)
    verdict = _anchored(i, s, sqnorm, y, margins, importance, C, memory, loss, step, n, pull, moved)
    verdict = max(verdict, MOVE)
    for c in range(n):
        f = COUNTS + n_classes + PER_COLUMN * c
        entering = memory[f + SUM_P] if y[i * n + c] > 0.0 else memory[f + SUM_Q]
        pull[n + n_classes + c] = -memory[f + SUM_SCALE] * pull[c] - counted * entering
        memory[f + SUM_SCALE] += memory[f + SCALE]
        memory[f + SUM_P] += memory[f + P]
        memory[f + SUM_Q] += memory[f + Q]
        if memory[f + SCALE] < SMALLEST_SCALE_AVERAGED:
            verdict = UPKEEP
    return verdict


def last(s, memory, n, scores):  # type: ignore[no-untyped-def]
    """The scores of the last weights."""
    for c in range(n):
        scores[c] = _combined(s, memory, n, c, SCALE)
    return 0.0


def averaged(s, memory, n, scores):  # type: ignore[no-untyped-def]
    """The scores of the average."""
    first = n + (n if n > 1 else 2)
    for c in range(n):
        total = _combined(s, memory, n, c, SUM_SCALE) + s[first + c]
        scores[c] = total / memory[ROUNDS] if memory[ROUNDS] > 0.0 else 0.0
    return 0.0


DECISIONS = {False: Rule(anchored, DECISION), True: Rule(anchored_averaged, DECISION)}
REPORTS = {False: Rule(last, REPORT), True: Rule(averaged, REPORT)}


class ClassMeans(LinearState):
    """What the anchored families share: the sums and counts of each class behind the columns of weights."""

    @property
    def n_sums(self) -> int:
        return max(self.n_classes, 2)

    def _table_width(self) -> int:
        return self.n_columns * (2 if self.averaged else 1) + self.n_sums

    @property
    def counts(self) -> Floats:
        """Rows counted into the mean of each class."""
        return self.memory[COUNTS : COUNTS + self.n_sums]

    @property
    def sums(self) -> Floats:
        """The sum of the rows of each class, a column a class."""
        return self.used[:, self.n_columns : self.n_columns + self.n_sums]

    def settle(self, gamma: float, kappa: float, frozen: bool) -> None:
        """Take the learner's parameters: the pull of the anchor, its scale, and whether the means still
        follow.
        """
        self.memory[[GAMMA, KAPPA, FROZEN]] = gamma, kappa, float(frozen)

    def check_memory(self) -> None:
        frozen, rounds = self.memory[[FROZEN, ROUNDS]]
        if frozen not in (0.0, 1.0) or rounds < 0 or (self.counts < 0).any():
            raise ValueError("a count in its memory is negative")

    def in_and_out(self, table: Floats) -> tuple[Floats, Floats]:
        """For each column the sum of its own class and of all others."""
        sums = table[:, self.n_columns : self.n_columns + self.n_sums]
        own = sums if self.n_columns > 1 else sums[:, 1:]
        return own, sums.sum(axis=1, keepdims=True) - own

    def anchor(self) -> Floats:
        """κ(m₊ − m₋), one row a column of the model; the mean of a class not seen yet is 0."""
        inside, outside = self.in_and_out(self.used)
        n_inside = self.counts if self.n_columns > 1 else self.counts[1:]
        n_outside = self.counts.sum() - n_inside
        means = inside / np.maximum(n_inside, 1.0) - outside / np.maximum(n_outside, 1.0)
        return self.memory[KAPPA] * means.T

    def _mix_means(self, states: Sequence["ClassMeans"]) -> None:
        """Sums, counts and rounds add up: the means are those of all rows together."""
        self.sums[:] = np.sum([state.sums for state in states], axis=0)
        self.counts[:] = np.sum([state.counts for state in states], axis=0)
        self.memory[ROUNDS] = sum(state.memory[ROUNDS] for state in states)

    def _regroup_means(self, source: "ClassMeans", order: Sequence[int]) -> None:
        """Take over the sums, counts and rounds of a state whose classes had another order."""
        self.memory[:COUNTS] = source.memory[:COUNTS]
        for new, old in enumerate(order):
            if old >= 0:
                self.sums[:, new] = source.sums[:, old]
                self.counts[new] = source.counts[old]


class Anchored(ClassMeans):
    """The combination of u and S, and V behind them where an average is kept."""

    def _new_memory(self) -> Floats:
        per_column = np.zeros((self.n_columns, PER_COLUMN))
        per_column[:, SCALE] = 1.0
        return np.concatenate([np.zeros(COUNTS + self.n_sums), per_column.ravel()])

    def decide(self) -> Any:
        return DECISIONS[self.averaged].handle

    def report(self) -> Any:
        return REPORTS[self.averaged].handle

    @property
    def _factors(self) -> Floats:
        return self.memory[COUNTS + self.n_sums :].reshape(self.n_columns, PER_COLUMN)

    def _combination(self, table: Floats, scale: int) -> Floats:
        """Combine w (scale = SCALE), or the part of its sum over the rounds that u and S hold (SUM_SCALE)."""
        inside, outside = self.in_and_out(table)
        u_factor, inside_factor, outside_factor = self._factors[:, scale : scale + 3].T
        return u_factor * table[:, : self.n_columns] + inside_factor * inside + outside_factor * outside

    def readout(self, table: Floats) -> Floats:
        if self.averaged and self.memory[ROUNDS] > 0:
            total = self._combination(table, SUM_SCALE) + table[:, self.n_columns + self.n_sums :]
            return total / self.memory[ROUNDS]
        return self._combination(table, SCALE)

    def check_memory(self) -> None:
        super().check_memory()
        if (self._factors[:, SCALE] <= 0).any():
            raise ValueError("a scale in its memory is not above 0")

    def upkeep(self) -> None:
        smallest = SMALLEST_SCALE_AVERAGED if self.averaged else SMALLEST_SCALE
        if (self._factors[:, SCALE] < smallest).any():
            self._write_out()

    def _write_out(self) -> None:
        """Make u the weights themselves, and V the whole of their sum."""
        if self.averaged:
            self.used[:, self.n_columns + self.n_sums :] += self._combination(self.used, SUM_SCALE)
        self.used[:, : self.n_columns] = self._combination(self.used, SCALE)
        self._factors[:] = 0.0
        self._factors[:, SCALE] = 1.0

    def mix(self, states: Sequence["Anchored"], shares: Floats) -> None:
        for state in (self, *states):
            state._write_out()
        weights = sum(
            share * state.used[:, : self.n_columns] for share, state in zip(shares, states, strict=True)
        )
        average = sum(share * state.explicit().T for share, state in zip(shares, states, strict=True))
        self._mix_means(states)
        self.used[:, : self.n_columns] = weights
        if self.averaged:
            self.used[:, self.n_columns + self.n_sums :] = self.memory[ROUNDS] * average

    def _regrouped(self, order: Sequence[int]) -> "Anchored":
        source = copy.deepcopy(self)
        source._write_out()
        state = Anchored(self.n_features, len(order), self.coupled, self.averaged)
        state._regroup_means(self, order)
        state.used[:, : state.n_columns] = binary_to_columns(source.used[:, : self.n_columns], order, 1.0)
        if self.averaged:
            old = source.used[:, self.n_columns + self.n_sums :]
            state.used[:, state.n_columns + state.n_sums :] = binary_to_columns(old, order, 1.0)
        return state
