"""The windowed anchored family: a step is taken from the mean of the last Q classifiers, not from the last
one.

A row that moves nothing costs O(non-zeros); a move costs O(Q·d), for the mean of Q whole classifiers has to
be formed. The table holds w for each column, then the sum of the rows of each class, then V where an average
is kept (the sum of w over T rounds is T·w + V). `memory` is as in `anchored`, with one number a column: how
many classifiers went into its queue.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import types

from tauten.kernels.anchored import COUNTS, FROZEN, GAMMA, KAPPA, ROUNDS, ClassMeans
from tauten.kernels.asking import ASKING, PASS, STOP, consider, note
from tauten.kernels.loops import FLAG_ROWS, LONGEST_MOVE, MATRIX, VECTOR, sparse_sqnorm
from tauten.kernels.pointers import COUNT, HANDLE, REAL, invoke, kernel
from tauten.kernels.state import Dense, Flags, Floats, LinearPlan, Sparse, binary_to_columns

QUEUE = types.float64[:, :, ::1]


@kernel(
    COUNT(
        VECTOR, types.uint32[::1], types.uint64[::1], types.boolean, MATRIX, MATRIX, VECTOR, VECTOR, REAL,
        MATRIX, VECTOR, QUEUE, VECTOR, types.boolean, HANDLE, HANDLE, MATRIX, FLAG_ROWS, *ASKING,
    )
)  # fmt: skip
def learn_windowed(  # type: ignore[no-untyped-def]
    values, indices, starts, trusted, y, margins, importance, C, bias,
    table, memory, queue, shares, averaged, loss, step, scores, moved, ask, asking, asked,
):  # fmt: skip
    """Learn sparse rows; `queue` is a ring of classifiers and `shares` weighs them, the oldest first."""
    n_rows = len(starts) - 1
    height = len(table)
    n = len(C)
    n_classes = n if n > 1 else 2
    first_average = n + n_classes
    window = len(queue)
    gamma, kappa = memory[GAMMA], memory[KAPPA]
    fresh = np.empty(height)
    last = np.empty(n)
    for i in range(n_rows):
        start, end = starts[i], starts[i + 1]
        sqnorm = sparse_sqnorm(values, indices, start, end, trusted, height - 1, bias)
        if sqnorm < 0.0:
            return -1 - i
        rounds = memory[ROUNDS]
        for c in range(n):
            score = bias * table[0, c]
            average = bias * table[0, first_average + c] if averaged else 0.0
            for p in range(start, end):
                score += table[1 + indices[p], c] * values[p]
                if averaged:
                    average += table[1 + indices[p], first_average + c] * values[p]
            last[c] = score
            scores[i, c] = score
            if averaged:
                scores[i, c] = score + average / rounds if rounds > 0.0 else 0.0
        if ask != 0:
            choice = consider(i, scores, 0.0, sqnorm, y[i, 0], ask, asking, asked, moved)
            if choice == PASS:
                continue
            if choice == STOP:
                return -1 - i
        finite = np.isfinite(sqnorm)
        counted = 1.0 if finite and memory[FROZEN] == 0.0 else 0.0
        own = 1 if y[i, 0] > 0.0 else 0
        for k in range(n):
            if n > 1 and y[i, k] > 0.0:
                own = k
        memory[COUNTS + own] += counted
        if counted == 1.0:
            table[0, n + own] += bias
            for p in range(start, end):
                table[1 + indices[p], n + own] += values[p]
        n_counted = 0.0
        for k in range(n_classes):
            n_counted += memory[COUNTS + k]
        for c in range(n):
            moved[i, c] = False
            score = last[c]
            signed_loss = invoke(loss, (score, y[i, c], margins[i, c]))
            if sqnorm == 0.0 or not finite or signed_loss == 0.0 or not np.isfinite(signed_loss):
                continue
            k = c if n > 1 else 1
            pushes = COUNTS + n_classes + c
            newest = int(memory[pushes]) % window
            filled = min(int(memory[pushes]) + 1, window)
            for j in range(height):
                queue[newest, j, c] = table[j, c]
            share = 0.0
            for age in range(filled):
                share += shares[window - 1 - age]
            n_in = max(memory[COUNTS + k], 1.0)
            n_out = max(n_counted - memory[COUNTS + k], 1.0)
            for j in range(height):
                mean = 0.0
                for age in range(filled):
                    mean += shares[window - 1 - age] / share * queue[(newest - age) % window, j, c]
                outside = 0.0
                for other in range(n_classes):
                    if other != k:
                        outside += table[j, n + other]
                fresh[j] = mean + gamma * kappa * (table[j, n + k] / n_in - outside / n_out)
            reach = bias * fresh[0]  # ⟨w̄ + γm̃, x⟩
            for p in range(start, end):
                reach += fresh[1 + indices[p]] * values[p]
            numerator = (1.0 + gamma) * margins[i, c] - y[i, c] * reach
            alpha = invoke(step, (numerator, sqnorm, C[c] * importance[i], gamma))
            if not (np.isfinite(numerator) and alpha * np.sqrt(sqnorm) <= LONGEST_MOVE):
                continue
            memory[pushes] += 1.0
            moved[i, c] = True
            fresh[0] += alpha * y[i, c] * bias
            for p in range(start, end):
                fresh[1 + indices[p]] += alpha * y[i, c] * values[p]
            for j in range(height):
                fresh[j] /= 1.0 + gamma
                if averaged:
                    table[j, first_average + c] -= rounds * (fresh[j] - table[j, c])
                table[j, c] = fresh[j]
        memory[ROUNDS] += 1.0
        if ask != 0:
            note(i, moved, sqnorm, asking)
    return n_rows


class Windowed(ClassMeans):
    """Weights, class sums and the queue of each column's last classifiers."""

    header = (*ClassMeans.header, "window")

    def __init__(self, n_features: int, n_classes: int, coupled: bool, averaged: bool, window: int) -> None:
        super().__init__(n_features, n_classes, coupled, averaged)
        self.window = int(window)
        self.shares = np.full(self.window, 1.0)
        self.queue = np.zeros((self.window, len(self.table), self.n_columns))

    def _new_memory(self) -> Floats:
        return np.zeros(COUNTS + self.n_sums + self.n_columns)

    def run(
        self,
        rows: Dense | Sparse,
        plan: LinearPlan,
        y: Floats,
        margins: Floats,
        importance: Floats,
        scores: Floats,
        moved: Flags,
        asked: Flags,
    ) -> int:
        if isinstance(rows, Dense):
            rows = _as_sparse(rows)
        done: int = learn_windowed.run(
            rows.values, rows.indices, rows.starts, rows.trusted, y, margins, importance, plan.C, plan.bias,
            self.table, self.memory, self.queue, self.shares, self.averaged,
            plan.loss, plan.step, scores, moved, plan.ask, plan.asking, asked,
        )  # fmt: skip
        return done

    def decide(self) -> int:
        """The loop decides for itself."""
        return 0

    def report(self) -> int:
        """And reports."""
        return 0

    def readout(self, table: Floats) -> Floats:
        weights = table[:, : self.n_columns]
        if self.averaged:
            weights = weights + table[:, self.n_columns + self.n_sums :] / max(self.memory[ROUNDS], 1.0)
        return weights

    def check_memory(self) -> None:
        super().check_memory()
        pushes = self.memory[-self.n_columns :]
        if (pushes != np.floor(pushes)).any() or pushes.min() < 0 or pushes.max() > 2**53:
            raise ValueError("a count of its queue is no count")

    def mean_classifier(self) -> Floats:
        """w̄, the weighted mean of each column's queue, a row a column of the model."""
        pushes = self.memory[-self.n_columns :].astype(np.intp)
        means = np.zeros((self.n_columns, 1 + self.n_features))
        for c in range(self.n_columns):
            filled = min(pushes[c], self.window)
            newest_first = (pushes[c] - 1 - np.arange(filled)) % self.window
            shares = self.shares[::-1][:filled]
            means[c] = shares / shares.sum() @ self.queue[newest_first, : 1 + self.n_features, c]
        return means

    def grow_features(self, n_features: int) -> None:
        super().grow_features(n_features)
        if len(self.table) == self.queue.shape[1]:
            return
        grown = np.zeros((self.window, len(self.table), self.n_columns))
        grown[:, : self.queue.shape[1]] = self.queue
        self.queue = grown

    def place_features(self, columns: Sequence[int], n_features: int) -> None:
        queue = np.zeros((self.window, 1 + n_features, self.n_columns))
        queue[:, [0, *(1 + column for column in columns)]] = self.queue[:, : 1 + self.n_features]
        super().place_features(columns, n_features)
        self.queue = queue

    def mix(self, states: Sequence["Windowed"], shares: Floats) -> None:
        """The queues of different streams have no common order, so the mean starts with an empty one."""
        weights = sum(
            share * state.used[:, : self.n_columns] for share, state in zip(shares, states, strict=True)
        )
        average = sum(share * state.explicit().T for share, state in zip(shares, states, strict=True))
        self._mix_means(states)
        self.used[:, : self.n_columns] = weights
        if self.averaged:
            self.used[:, self.n_columns + self.n_sums :] = self.memory[ROUNDS] * (average - weights)
        self.memory[-self.n_columns :] = 0.0

    @classmethod
    def restore(cls, header: dict[str, Any], arrays: dict[str, Floats]) -> "Windowed":
        if header["window"] != len(arrays["queue"]):
            raise ValueError(f"a queue of {len(arrays['queue'])} does not fit a window of {header['window']}")
        return super().restore(header, arrays)

    def arrays(self) -> dict[str, Floats]:
        return {**super().arrays(), "queue": np.ascontiguousarray(self.queue[:, : 1 + self.n_features])}

    def _regrouped(self, order: Sequence[int]) -> "Windowed":
        state = Windowed(self.n_features, len(order), self.coupled, self.averaged, self.window)
        state.shares = self.shares
        state._regroup_means(self, order)
        n = state.n_columns
        state.used[:, :n] = binary_to_columns(self.used[:, : self.n_columns], order, 1.0)
        if self.averaged:
            old = self.used[:, self.n_columns + self.n_sums :]
            state.used[:, n + state.n_sums :] = binary_to_columns(old, order, 1.0)
        if self.n_classes == 2:
            state.memory[-n:] = self.memory[-1]
        elif self.n_classes > 2:
            for new, k in enumerate(order):
                state.memory[new - n] = self.memory[k - self.n_columns] if k >= 0 else 0.0
        state.queue = binary_to_columns(self.queue[:, : 1 + self.n_features], order, 1.0)
        return state


def _as_sparse(rows: Dense) -> Sparse:
    """Dense rows in the form that the windowed loop reads: its moves touch every weight anyway."""
    n_rows, width = rows.X.shape
    return Sparse(
        rows.X.reshape(-1),
        np.tile(np.arange(width, dtype=np.uint32), n_rows),
        np.arange(n_rows + 1, dtype=np.uint64) * np.uint64(width),
        trusted=True,
    )
