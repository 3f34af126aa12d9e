"""The first-order family: a vector of weights a class, moved along x.

Two decisions: `binary` treats each column as a problem of its own (two classes, one-vs-rest, regression, a
column a grid point); `max_score` couples the columns of a group, one a class, through the best wrong class.
With averaging, a second set of columns keeps V so that the sum of the weights after each of T rounds is T·w +
V.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit

from tauten.kernels.loops import MOVE, STAY, best_wrong, signed_step
from tauten.kernels.pointers import COUNT, FLAGS, HANDLE, REAL, REALS, Rule, invoke, rule
from tauten.kernels.state import Floats, LinearState, binary_to_columns

DECISION = REAL(
    COUNT, REALS, REAL, REALS, REALS, REAL, REALS, REALS, HANDLE, HANDLE, COUNT, REALS, FLAGS
)  # row, s, sqnorm, y, margins, importance, C, memory, loss, step, n decisions, pull, moved

REPORT = REAL(REALS, REALS, COUNT, REALS)  # s, memory, n columns of weights, scores

GROUP, ROUNDS = 0, 1  # memory: columns a decision couples; rounds behind the average


@rule
def passive(score, y, margin):  # type: ignore[no-untyped-def]
    """No loss at all: what is learned while only one label is known."""
    return 0.0


@njit
def _binary(i, s, sqnorm, y, margins, importance, C, memory, loss, step, n, pull, moved):  # type: ignore[no-untyped-def]
    verdict = STAY
    for c in range(n):
        signed_loss = invoke(loss, (s[c], y[i * n + c], margins[i * n + c]))
        pull[c] = signed_step(signed_loss, sqnorm, C[c] * importance, step)
        moved[i * n + c] = pull[c] != 0.0
        if pull[c] != 0.0:
            verdict = MOVE
    return verdict


@njit
def _max_score(i, s, sqnorm, y, margins, importance, C, memory, loss, step, n, pull, moved):  # type: ignore[no-untyped-def]
    """The right class against the best wrong one, as two classes of which the later is the side y = 1.

    Moving both counts ‖x‖² twice.
    """
    group = int(memory[GROUP])
    verdict = STAY
    for g in range(n):
        first = g * group
        right = first + int(y[i * n + g])
        rival = best_wrong(s, first, first + group, right)
        for c in range(first, first + group):
            pull[c] = 0.0
        side = 1.0 if right > rival else -1.0
        signed_loss = invoke(loss, (side * (s[right] - s[rival]), side, margins[i * n + g]))
        tau = side * signed_step(signed_loss, 2.0 * sqnorm, C[g] * importance, step)
        moved[i * n + g] = tau != 0.0
        if tau != 0.0:
            pull[right] = tau
            pull[rival] = -tau
            verdict = MOVE
    return verdict


@njit
def _average(memory, n_columns, pull):  # type: ignore[no-untyped-def]
    """Keep the average in step with the weights."""
    for c in range(n_columns):
        pull[n_columns + c] = -memory[ROUNDS] * pull[c]
    memory[ROUNDS] += 1.0


def last(s, memory, n, scores):  # type: ignore[no-untyped-def]
    """The scores of the last weights."""
    for c in range(n):
        scores[c] = s[c]
    return 0.0


def averaged(s, memory, n, scores):  # type: ignore[no-untyped-def]
    """The scores of the average."""
    rounds = memory[ROUNDS]
    for c in range(n):
        scores[c] = s[c] + s[n + c] / rounds if rounds > 0.0 else 0.0
    return 0.0


def binary(i, s, sqnorm, y, margins, importance, C, memory, loss, step, n, pull, moved):  # type: ignore[no-untyped-def]
    return _binary(i, s, sqnorm, y, margins, importance, C, memory, loss, step, n, pull, moved)


def max_score(i, s, sqnorm, y, margins, importance, C, memory, loss, step, n, pull, moved):  # type: ignore[no-untyped-def]
    return _max_score(i, s, sqnorm, y, margins, importance, C, memory, loss, step, n, pull, moved)


def binary_averaged(i, s, sqnorm, y, margins, importance, C, memory, loss, step, n, pull, moved):  # type: ignore[no-untyped-def]
    verdict = _binary(i, s, sqnorm, y, margins, importance, C, memory, loss, step, n, pull, moved)
    _average(memory, n, pull)
    return verdict


def max_score_averaged(i, s, sqnorm, y, margins, importance, C, memory, loss, step, n, pull, moved):  # type: ignore[no-untyped-def]
    verdict = _max_score(i, s, sqnorm, y, margins, importance, C, memory, loss, step, n, pull, moved)
    _average(memory, n * int(memory[GROUP]), pull)
    return verdict


DECISIONS = {
    (coupled, averaged): Rule(function, DECISION)
    for (coupled, averaged), function in {
        (False, False): binary,
        (False, True): binary_averaged,
        (True, False): max_score,
        (True, True): max_score_averaged,
    }.items()
}


REPORTS = {False: Rule(last, REPORT), True: Rule(averaged, REPORT)}


class FirstOrder(LinearState):
    """Weights, and behind them the columns of the average where one is kept."""

    def _table_width(self) -> int:
        return self.n_columns * (2 if self.averaged else 1)

    def _new_memory(self) -> Floats:
        return np.array([float(max(self.n_classes, 1)), 0.0])

    def decide(self) -> Any:
        return DECISIONS[self.coupled and self.n_classes > 2, self.averaged].handle

    def report(self) -> Any:
        return REPORTS[self.averaged].handle

    def readout(self, table: Floats) -> Floats:
        if not self.averaged:
            return table
        return table[:, : self.n_columns] + table[:, self.n_columns :] / max(self.memory[ROUNDS], 1.0)

    def check_memory(self) -> None:
        if self.memory[GROUP] != max(self.n_classes, 1) or self.memory[ROUNDS] < 0:
            raise ValueError(f"its memory {self.memory.tolist()} does not fit {self.n_classes} classes")

    def split(self) -> list["FirstOrder"]:
        """The models of a state that holds several, each in a state of its own."""
        blocks = np.split(self.used, 2 if self.averaged else 1, axis=1)
        models = []
        for parts in zip(*(np.split(block, self.n_models, axis=1) for block in blocks), strict=True):
            model = FirstOrder(self.n_features, self.n_classes, self.coupled, self.averaged)
            model.used[:] = np.concatenate(parts, axis=1)
            model.memory[:] = self.memory
            models.append(model)
        return models

    def mix(self, states: Sequence["FirstOrder"], shares: Floats) -> None:
        weights = sum(
            share * state.used[:, : self.n_columns] for share, state in zip(shares, states, strict=True)
        )
        if self.averaged:
            average = sum(share * state.explicit().T for share, state in zip(shares, states, strict=True))
            self.memory[ROUNDS] = sum(state.memory[ROUNDS] for state in states)
            self.used[:, self.n_columns :] = self.memory[ROUNDS] * (average - weights)
        self.used[:, : self.n_columns] = weights

    def _regrouped(self, order: Sequence[int]) -> "FirstOrder":
        state = FirstOrder(self.n_features, len(order), self.coupled, self.averaged)
        share = 0.5 if self.coupled else 1.0
        blocks = np.split(self.used, 2 if self.averaged else 1, axis=1)
        state.used[:] = np.concatenate([binary_to_columns(block, order, share) for block in blocks], axis=1)
        state.memory[ROUNDS] = self.memory[ROUNDS]
        return state
