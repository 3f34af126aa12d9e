"""The diagonal family: a variance for each feature, at O(non-zeros) a row.

The table holds the columns of weights (and of their average), and last the information about each feature,
1/σⱼ − 1, which is 0 for one not seen yet and only grows: σⱼ = 1/(1 + information) lies in (0, 1] whatever the
stream. A row adds c·xⱼ², the diagonal of Σ⁻¹ + c·x xᵀ ("project"; it is the best diagonal approximation by
Kullback–Leibler divergence). The other reduction in use, the diagonal of Σ itself ("drop"), is not offered.
"""

from typing import Any

import numpy as np
from numba import njit, types

from tauten.kernels.asking import CURIOUS, PASS, STOP, consider, note
from tauten.kernels.covariance import RULES, TARGETS, Belief, conclude, decide_row, may_move, report
from tauten.kernels.loops import MATRIX, REORDER, VECTOR, sparse_sqnorm
from tauten.kernels.pointers import COUNT, kernel
from tauten.kernels.state import Dense, Floats, Sparse

LARGEST = 1e300  # information, so that no variance vanishes


@njit(error_model="numpy")
def _variance(values, indices, start, end, features, bias, constant):  # type: ignore[no-untyped-def]
    """xᵀΣx of a sparse row."""
    last = features.shape[1] - 1
    variance = bias / (1.0 + constant)
    for p in range(start, end):
        variance += values[p] * values[p] / (1.0 + features[indices[p], last])
    return variance


@njit(error_model="numpy", fastmath=REORDER)
def _dense_variance(x, information, bias, constant):  # type: ignore[no-untyped-def]
    """xᵀΣx of a dense row."""
    variance = bias / (1.0 + constant)
    for j in range(len(x)):
        variance += x[j] * x[j] / (1.0 + information[j])
    return variance


@kernel(
    COUNT(
        VECTOR, types.uint32[::1], types.uint64[::1], types.boolean, *TARGETS, MATRIX, VECTOR, *RULES
    )
)  # fmt: skip
def learn_diagonal_sparse(  # type: ignore[no-untyped-def]
    values, indices, starts, trusted, y, margins, importance, C, bias, table, memory,
    averaged, rules, scores, moved, ask, asking, asked,
):  # fmt: skip
    """Learn sparse rows; a feature's columns lie side by side."""
    n = scores.shape[1]
    last = table.shape[1] - 1
    features = table[1:]
    s = np.empty(last)
    pull = np.zeros(last)
    for i in range(len(starts) - 1):
        start, end = starts[i], starts[i + 1]
        sqnorm = sparse_sqnorm(values, indices, start, end, trusted, len(features), bias)
        if sqnorm < 0.0:
            return -1 - i
        for k in range(last):
            total = bias * table[0, k]
            for p in range(start, end):
                total += values[p] * features[indices[p], k]
            s[k] = total
        report(i, s, averaged, memory, scores)
        if ask != 0:
            variance = 0.0
            if asking[CURIOUS] == 1.0:
                variance = _variance(values, indices, start, end, features, bias, table[0, last])
            choice = consider(i, scores, variance, sqnorm, y[i, 0], ask, asking, asked, moved)
            if choice == PASS:
                continue
            if choice == STOP:
                return -1 - i
        rate = C[0] * importance[i]
        c = 0.0
        if may_move(s, n, sqnorm, y[i, 0], margins[i, 0], rate, rules, pull):
            variance = _variance(values, indices, start, end, features, bias, table[0, last])
            c = decide_row(s, n, variance, y[i, 0], margins[i, 0], rate, rules, pull)
        moves = 0.0 < c * sqnorm < np.inf
        conclude(i, n, moves, averaged, memory, pull, moved)
        if ask != 0:
            note(i, moved, sqnorm, asking)
        if moves:
            along = bias / (1.0 + table[0, last])
            for k in range(last):
                table[0, k] += pull[k] * along
            table[0, last] = min(table[0, last] + c * bias, LARGEST)
            for p in range(start, end):
                feature = features[indices[p]]
                along = values[p] / (1.0 + feature[last])
                for k in range(last):
                    feature[k] += pull[k] * along
                feature[last] = min(feature[last] + c * values[p] * values[p], LARGEST)
    return len(starts) - 1


@kernel(COUNT(MATRIX, *TARGETS, MATRIX, VECTOR, *RULES), fastmath=REORDER)
def learn_diagonal_dense(  # type: ignore[no-untyped-def]
    X, y, margins, importance, C, bias, table, memory,
    averaged, rules, scores, moved, ask, asking, asked,
):  # fmt: skip
    """Learn dense rows; the columns are turned into rows while it runs, so that SIMD goes along x."""
    n_rows, width = X.shape
    n = scores.shape[1]
    last = table.shape[1] - 1
    columns = np.ascontiguousarray(table[1:].T)
    information = columns[last]
    constant = table[0]
    s = np.empty(last)
    pull = np.zeros(last)
    done = n_rows
    for i in range(n_rows):
        x = X[i]
        sqnorm = bias
        for j in range(width):
            sqnorm += x[j] * x[j]
        if not np.isfinite(sqnorm) and not np.isfinite(x).all():
            done = -1 - i
            break
        for k in range(last):
            w = columns[k]
            total = 0.0
            for j in range(width):
                total += w[j] * x[j]
            s[k] = bias * constant[k] + total
        report(i, s, averaged, memory, scores)
        if ask != 0:
            variance = 0.0
            if asking[CURIOUS] == 1.0:
                variance = _dense_variance(x, information, bias, constant[last])
            choice = consider(i, scores, variance, sqnorm, y[i, 0], ask, asking, asked, moved)
            if choice == PASS:
                continue
            if choice == STOP:
                done = -1 - i
                break
        rate = C[0] * importance[i]
        c = 0.0
        if may_move(s, n, sqnorm, y[i, 0], margins[i, 0], rate, rules, pull):
            variance = _dense_variance(x, information, bias, constant[last])
            c = decide_row(s, n, variance, y[i, 0], margins[i, 0], rate, rules, pull)
        moves = 0.0 < c * sqnorm < np.inf
        conclude(i, n, moves, averaged, memory, pull, moved)
        if ask != 0:
            note(i, moved, sqnorm, asking)
        if moves:
            for k in range(last):
                a = pull[k]
                if a != 0.0:
                    w = columns[k]
                    constant[k] += a * bias / (1.0 + constant[last])
                    for j in range(width):
                        w[j] += a * x[j] / (1.0 + information[j])
            constant[last] = min(constant[last] + c * bias, LARGEST)
            for j in range(width):
                information[j] = min(information[j] + c * x[j] * x[j], LARGEST)
    for k in range(last + 1):
        for j in range(width):
            table[1 + j, k] = columns[k, j]
    return done


class Diagonal(Belief):
    """Weights and the information about each feature."""

    def _table_width(self) -> int:
        return self.n_linear + 1

    @property
    def information(self) -> Floats:
        return self.used[:, -1]

    def _run(self, rows: Dense | Sparse, targets: tuple[Any, ...], rules: tuple[Any, ...]) -> int:
        common = *targets, self.used, self.memory, *rules
        if isinstance(rows, Dense):
            done: int = learn_diagonal_dense.run(rows.X, *common)
        else:
            done = learn_diagonal_sparse.run(rows.values, rows.indices, rows.starts, rows.trusted, *common)
        return done

    def covariance(self) -> Floats:
        return 1.0 / (1.0 + self.information)

    def precision(self) -> Floats:
        return 1.0 + self.information

    def believe(self, precision: Floats) -> None:
        self.information[:] = np.maximum(precision - 1.0, 0.0)

    def take_belief(self, source: "Diagonal") -> None:
        self.information[:] = source.information

    def check_memory(self) -> None:
        super().check_memory()
        if (self.information < 0).any():
            raise ValueError("a variance is above 1")
