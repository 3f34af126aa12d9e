"""What the second-order families share: decisions that know how sure a score is.

A second-order learner holds a belief N(w, Σ) about its weights, with Σ = I at first and one Σ for all
classes. A row x is scored as ever; the margin demanded may depend on the variance V of the margin; a
move goes along Σx, and what it has told about the direction x is kept:

    w ← w ± α·Σx          Σ⁻¹ ← Σ⁻¹ + c·x xᵀ

Five rules say all of it, each a formula of the learner's paper:

    demand(margin, V)                    the margin demanded of this row
    loss(score, y, demand)               the loss, with the sign of the direction
    step(loss, V, blocks, margin, C)     α
    gain(α, V, blocks, margin, C)        c

`blocks` counts the vectors that a move changes: 1, or 2 where the right class and the best wrong one part,
one by +x and one by −x. Each has the same Σ, so V = blocks·xᵀΣx. Σ only ever shrinks, and ‖x‖² bounds xᵀΣx:
a row is first decided with that bound, and its variance is worked out only where it might move.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numba import njit, types

from tauten.kernels.asking import ASKING
from tauten.kernels.loops import FLAG_ROWS, LONGEST_MOVE, MATRIX, VECTOR, best_wrong
from tauten.kernels.pointers import COUNT, HANDLE, REAL, REALS, Rule, invoke, rule
from tauten.kernels.state import Dense, Flags, Floats, LinearPlan, LinearState, Sparse, binary_to_columns

DECISION = REAL(
    REALS, COUNT, REAL, REAL, REAL, REAL, HANDLE, HANDLE, HANDLE, HANDLE, REALS
)  # s, n columns, xᵀΣx, y, margin, C, demand, loss, step, gain, pull; returns c, or 0 to stay
TARGETS = (MATRIX, MATRIX, VECTOR, VECTOR, REAL)  # y, margins, importance, C, bias
RULES = (types.boolean, types.UniTuple(HANDLE, 5), MATRIX, FLAG_ROWS, *ASKING)
# averaged, rules (decide, demand, loss, step, gain), scores, moved, ask, asking, asked

ROUNDS = 0  # memory: rounds behind the average
LONGEST_ROW = 1e100  # squared length of a row: what follows multiplies squares of squares
ROUNDING = 1e-12  # of score and margin: a loss below it is none


@rule
def as_given(margin, variance):  # type: ignore[no-untyped-def]
    """The margin demanded does not depend on how sure the score is."""
    return margin


@njit
def _alpha(signed_loss, scale, variance, blocks, margin, C, step):  # type: ignore[no-untyped-def]
    """How far to move along Σx, with the sign of the loss; 0 where there is no step that floats can follow.

    A move adds to Σ⁻¹ however small the loss, so one that rounding left of a margin just reached must not
    count: `scale` is the size of the numbers that it is a difference of.
    """
    if abs(signed_loss) <= ROUNDING * scale or not np.isfinite(signed_loss):
        return 0.0
    alpha = invoke(step, (abs(signed_loss), variance, blocks, margin, C))
    followed = alpha > 0.0 and alpha * np.sqrt(variance) <= LONGEST_MOVE  # ‖Σx‖² ≤ xᵀΣx, as Σ ≤ I
    return np.copysign(alpha, signed_loss) if followed else 0.0


@njit
def _information(alpha, variance, blocks, margin, C, gain):  # type: ignore[no-untyped-def]
    """What a move adds to the precision along x; 0 where floats cannot follow."""
    if alpha == 0.0:
        return 0.0
    c = invoke(gain, (abs(alpha), variance, blocks, margin, C))
    return c if 0.0 < c < np.inf and np.isfinite(1.0 / c) else 0.0


def binary(s, n, variance, y, margin, C, demand, loss, step, gain, pull):  # type: ignore[no-untyped-def]
    wanted = invoke(demand, (margin, variance))
    scale = abs(s[0]) + abs(wanted)
    pull[0] = _alpha(invoke(loss, (s[0], y, wanted)), scale, variance, 1.0, margin, C, step)
    return _information(pull[0], variance, 1.0, margin, C, gain)


def max_score(s, n, variance, y, margin, C, demand, loss, step, gain, pull):  # type: ignore[no-untyped-def]
    """The right class against the best wrong one, as two classes of which the later is the side y = 1."""
    right = int(y)
    rival = best_wrong(s, 0, n, right)
    side = 1.0 if right > rival else -1.0
    both = 2.0 * variance
    wanted = invoke(demand, (margin, both))
    scale = abs(s[right]) + abs(s[rival]) + abs(wanted)
    signed_loss = invoke(loss, (side * (s[right] - s[rival]), side, wanted))
    alpha = side * _alpha(signed_loss, scale, both, 2.0, margin, C, step)
    for k in range(n):
        pull[k] = 0.0
    pull[right] = alpha
    pull[rival] = -alpha
    return _information(alpha, both, 2.0, margin, C, gain)


def least_squares(s, n, variance, y, margin, C, demand, loss, step, gain, pull):  # type: ignore[no-untyped-def]
    """Where the loss is not 0, each column moves toward a target: y, or of many classes 1 for the right one,
    -1 for the best wrong one and 0 for all others.
    """
    right = int(y) if n > 1 else 0
    rival = best_wrong(s, 0, n, right) if n > 1 else 0
    apart = s[right] - s[rival] if n > 1 else y * s[0]
    if invoke(loss, (apart, 1.0, margin)) == 0.0:
        return 0.0
    for k in range(n):
        target = 0.0
        if k == rival:
            target = -1.0
        if k == right:
            target = 1.0 if n > 1 else y
        pull[k] = _alpha(target - s[k], 0.0, variance, 1.0, margin, C, step)
    return _information(1.0, variance, 1.0, margin, C, gain)


def one_hot(s, n, variance, y, margin, C, demand, loss, step, gain, pull):  # type: ignore[no-untyped-def]
    """At every row each column moves toward its target: y, or of many classes 1 for the right one and -1 for
    all others.
    """
    if invoke(loss, (0.0, 1.0, margin)) == 0.0:  # only one label is known
        return 0.0
    for k in range(n):
        target = y
        if n > 1:
            target = 1.0 if k == int(y) else -1.0
        pull[k] = _alpha(invoke(loss, (s[k], target, margin)), 0.0, variance, 1.0, margin, C, step)
    return _information(1.0, variance, 1.0, margin, C, gain)


BINARY, MAX_SCORE, LEAST_SQUARES, ONE_HOT = (
    Rule(f, DECISION) for f in (binary, max_score, least_squares, one_hot)
)


@njit
def decide_row(s, n, variance, y, margin, C, rules, pull):  # type: ignore[no-untyped-def]
    """c, or 0 to stay."""
    decide, demand, loss, step, gain = rules
    return invoke(decide, (s, n, variance, y, margin, C, demand, loss, step, gain, pull))


@njit
def may_move(s, n, sqnorm, y, margin, C, rules, pull):  # type: ignore[no-untyped-def]
    """Whether a row moves anything where its variance is as large as it can be."""
    if sqnorm == 0.0 or not sqnorm <= LONGEST_ROW:
        return False
    return decide_row(s, n, sqnorm, y, margin, C, rules, pull) > 0.0


@njit
def report(i, s, averaged, memory, scores):  # type: ignore[no-untyped-def]
    """Write down what the model, or its average, says of a row."""
    rounds = memory[ROUNDS]
    n = scores.shape[1]
    for k in range(n):
        scores[i, k] = s[k]
        if averaged:
            scores[i, k] = s[k] + s[n + k] / rounds if rounds > 0.0 else 0.0


@njit
def conclude(i, n, moves, averaged, memory, pull, moved):  # type: ignore[no-untyped-def]
    """Write down whether a row moves; the columns of the average give way to the move."""
    moved[i, 0] = moves
    if averaged:
        for k in range(n):
            pull[n + k] = -memory[ROUNDS] * pull[k]
    memory[ROUNDS] += 1.0


@dataclass(kw_only=True)
class BeliefPlan(LinearPlan):
    """A plan with the rules that a belief needs besides."""

    demand: Any
    gain: Any


class Belief(LinearState):
    """Weights, behind them the columns of the average where one is kept, and Σ, which a family keeps in its
    own way.
    """

    @property
    def n_linear(self) -> int:
        """Columns that a score is made of."""
        return self.n_columns * (2 if self.averaged else 1)

    def _table_width(self) -> int:
        return self.n_linear

    def _new_memory(self) -> Floats:
        return np.zeros(1)

    def decide(self) -> Any:
        return (MAX_SCORE if self.n_columns > 1 else BINARY).handle

    def report(self) -> int:
        """The loops report for themselves."""
        return 0

    def run(
        self,
        rows: Dense | Sparse,
        plan: BeliefPlan,
        y: Floats,
        margins: Floats,
        importance: Floats,
        scores: Floats,
        moved: Flags,
        asked: Flags,
    ) -> int:
        rules = plan.decide, plan.demand, plan.loss, plan.step, plan.gain
        targets = y, margins, importance, plan.C, plan.bias
        return self._run(rows, targets, (self.averaged, rules, scores, moved, plan.ask, plan.asking, asked))

    def _run(self, rows: Dense | Sparse, targets: tuple[Any, ...], rules: tuple[Any, ...]) -> int:
        """The family's loop for dense or for sparse rows."""
        raise NotImplementedError

    def covariance(self) -> Floats:
        """Σ, the constant feature first: a matrix, or its diagonal."""
        raise NotImplementedError

    def precision(self) -> Floats:
        """Σ⁻¹ in the same form."""
        raise NotImplementedError

    def believe(self, precision: Floats) -> None:
        """Take Σ⁻¹ in the same form."""
        raise NotImplementedError

    def take_belief(self, source: Self) -> None:
        """Take Σ from a state of the same features."""
        raise NotImplementedError

    def readout(self, table: Floats) -> Floats:
        n = self.n_columns
        if not self.averaged:
            return table[:, :n]
        return table[:, :n] + table[:, n : 2 * n] / max(self.memory[ROUNDS], 1.0)

    def check_memory(self) -> None:
        if self.memory[ROUNDS] < 0:
            raise ValueError("a count in its memory is negative")

    def pool(self, states: Sequence[Self], shares: Floats, additive: bool) -> None:
        """Become one belief out of several: information added up (the prior's counted once), or its mean."""
        n = self.n_columns
        factors = len(states) * shares if additive else shares
        parts = [factor * state.precision() for factor, state in zip(factors, states, strict=True)]
        reached = np.sum(
            [_times(part, state.used[:, :n]) for part, state in zip(parts, states, strict=True)], axis=0
        )
        average = sum(share * state.explicit().T for share, state in zip(shares, states, strict=True))
        self.memory[ROUNDS] = sum(state.memory[ROUNDS] for state in states)
        prior = np.ones(len(self.used)) if parts[0].ndim == 1 else np.eye(len(self.used))
        self.believe(np.sum(parts, axis=0) + (1.0 - factors.sum()) * prior)
        self.used[:, :n] = _times(self.covariance(), reached)
        if self.averaged:
            self.used[:, n : 2 * n] = self.memory[ROUNDS] * (average - self.used[:, :n])

    def _regrouped(self, order: Sequence[int]) -> Self:
        state = type(self)(self.n_features, len(order), self.coupled, self.averaged)
        n, new = self.n_columns, state.n_columns
        state.used[:, :new] = binary_to_columns(self.used[:, :n], order, 0.5)
        if self.averaged:
            state.used[:, new : 2 * new] = binary_to_columns(self.used[:, n : 2 * n], order, 0.5)
        state.memory[:] = self.memory
        state.take_belief(self)
        return state


def _times(matrix: Floats, columns: Floats) -> Floats:
    """A matrix, or a diagonal, times columns."""
    return matrix[:, None] * columns if matrix.ndim == 1 else matrix @ columns
