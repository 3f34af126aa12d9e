"""The full family: Σ whole, at O(d²) a move, kept as a factor that no rounding can make indefinite.

    Σ = Lᵀ·D·L      L unit lower triangular, D diagonal and positive

so that f = Lx is x with its directions made independent, xᵀΣx = Σⱼ Dⱼfⱼ², and Σ⁻¹ + c·x xᵀ is one pass over L
(Bierman's measurement update, 1975; Σ = U·D·Uᵀ there, U = Lᵀ). A difference of matrices as in the papers,
Σ − β·Σx xᵀΣ, loses its last digits on badly scaled features and with them its sign; here Dⱼ is only ever
multiplied by numbers in (0, 1] and kept from vanishing, and symmetry needs no keeping.

L lies row after row without its diagonal, so a feature met later adds zeros at the end, which are the
identity. Four rows at a time have one length, that of the longest, filled up with zeros: block b of four
starts at 8b(b + 1) with a width of 4(b + 1). The last block is filled up with features that no row has.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numba import njit, types
from scipy.linalg import cholesky, solve_triangular

from tauten.kernels.asking import CURIOUS, LEARN, STOP, consider, note
from tauten.kernels.covariance import RULES, TARGETS, Belief, conclude, decide_row, may_move, report
from tauten.kernels.loops import MATRIX, REORDER, VECTOR, sparse_sqnorm
from tauten.kernels.pointers import COUNT, kernel
from tauten.kernels.state import Dense, Floats, Sparse

LARGEST = 32_768  # features: their L alone takes 4 GB
SMALLEST = 1e-300  # of D, which CW squares at every wrong label
BELIEF = (MATRIX, VECTOR, VECTOR, VECTOR)  # table, L, D, memory


@njit(error_model="numpy", fastmath=REORDER)
def whiten(factor, spread, x, f):  # type: ignore[no-untyped-def]
    """Write f = Lx; returns xᵀΣx."""
    variance = 0.0
    for j in range(0, len(x), 4):
        width = j + 4
        start = j * width // 2
        r0 = factor[start : start + width]
        r1 = factor[start + width : start + 2 * width]
        r2 = factor[start + 2 * width : start + 3 * width]
        r3 = factor[start + 3 * width : start + 4 * width]
        f0 = f1 = f2 = f3 = 0.0
        for i in range(j):
            f0 += r0[i] * x[i]
            f1 += r1[i] * x[i]
            f2 += r2[i] * x[i]
            f3 += r3[i] * x[i]
        f[j] = x[j] + f0
        f[j + 1] = x[j + 1] + f1 + r1[j] * x[j]
        f[j + 2] = x[j + 2] + f2 + r2[j] * x[j] + r2[j + 1] * x[j + 1]
        f[j + 3] = x[j + 3] + f3 + r3[j] * x[j] + r3[j + 1] * x[j + 1] + r3[j + 2] * x[j + 2]
        for i in range(j, j + 4):
            variance += spread[i] * f[i] * f[i]
    return variance


@njit(error_model="numpy", fastmath=REORDER)
def inform(factor, spread, f, c, g, along, back):  # type: ignore[no-untyped-def]
    """Σ⁻¹ += c·x xᵀ, given f = Lx; writes g = Σx as it was before, and uses `along` and `back` for itself."""
    reach = 1.0 / c
    for j in range(len(f)):
        along[j] = spread[j] * f[j]
        back[j] = -f[j] / reach
        grown = reach + f[j] * along[j]
        spread[j] = max(spread[j] * (reach / grown), SMALLEST)
        reach = grown
        g[j] = 0.0
    for j in range(0, len(f), 4):
        width = j + 4
        start = j * width // 2
        r0 = factor[start : start + width]
        r1 = factor[start + width : start + 2 * width]
        r2 = factor[start + 2 * width : start + 3 * width]
        r3 = factor[start + 3 * width : start + 4 * width]
        a0, a1, a2, a3 = along[j], along[j + 1], along[j + 2], along[j + 3]
        b0, b1, b2, b3 = back[j], back[j + 1], back[j + 2], back[j + 3]
        for i in range(j):
            gi = g[i]
            k0, k1, k2, k3 = r0[i], r1[i], r2[i], r3[i]
            r0[i] = k0 + gi * b0
            gi += k0 * a0
            r1[i] = k1 + gi * b1
            gi += k1 * a1
            r2[i] = k2 + gi * b2
            gi += k2 * a2
            r3[i] = k3 + gi * b3
            gi += k3 * a3
            g[i] = gi
        for q in range(4):  # the corner, where a row's own end is on the diagonal
            row = factor[start + q * width : start + (q + 1) * width]
            for i in range(j, j + q):
                kept = row[i]
                row[i] = kept + g[i] * back[j + q]
                g[i] += kept * along[j + q]
            g[j + q] = along[j + q]


@njit(error_model="numpy")
def _learn_row(  # type: ignore[no-untyped-def]
    i, x, s, sqnorm, y, margins, importance, C, table, factor, spread, memory,
    averaged, rules, scores, moved, ask, asking, asked, pull, f, g, along, back,
):  # fmt: skip
    """What follows once x is scored, in the order of every family: report, ask, decide, move."""
    n = scores.shape[1]
    report(i, s, averaged, memory, scores)
    if ask != 0:
        variance = whiten(factor, spread, x, f) if asking[CURIOUS] == 1.0 else 0.0
        choice = consider(i, scores, variance, sqnorm, y[i, 0], ask, asking, asked, moved)
        if choice != LEARN:
            return choice
    rate = C[0] * importance[i]
    c = 0.0
    if may_move(s, n, sqnorm, y[i, 0], margins[i, 0], rate, rules, pull):
        variance = whiten(factor, spread, x, f)
        c = decide_row(s, n, variance, y[i, 0], margins[i, 0], rate, rules, pull)
    moves = 0.0 < c * sqnorm < np.inf
    conclude(i, n, moves, averaged, memory, pull, moved)
    if ask != 0:
        note(i, moved, sqnorm, asking)
    if moves:
        inform(factor, spread, f, c, g, along, back)
        for j in range(len(table)):
            for k in range(len(s)):
                table[j, k] += pull[k] * g[j]
    return LEARN


@kernel(COUNT(MATRIX, *TARGETS, *BELIEF, *RULES), fastmath=REORDER)
def learn_full_dense(  # type: ignore[no-untyped-def]
    X, y, margins, importance, C, bias, table, factor, spread, memory,
    averaged, rules, scores, moved, ask, asking, asked,
):  # fmt: skip
    """Learn dense rows."""
    n_rows, width = X.shape
    height = len(spread)
    x, f, g = np.zeros(height), np.zeros(height), np.zeros(height)  # of their own: SIMD needs to know
    along, back = np.zeros(height), np.zeros(height)
    x[0] = bias
    s, pull = np.empty(table.shape[1]), np.zeros(table.shape[1])
    for i in range(n_rows):
        for j in range(width):
            x[1 + j] = X[i, j]
        sqnorm = bias
        for j in range(1, 1 + width):  # nothing is written here: else SIMD would depend on where rows lie
            sqnorm += x[j] * x[j]
        if not np.isfinite(sqnorm) and not np.isfinite(x).all():
            return -1 - i
        for k in range(len(s)):
            total = 0.0
            for j in range(1 + width):
                total += table[j, k] * x[j]
            s[k] = total
        choice = _learn_row(
            i, x, s, sqnorm, y, margins, importance, C, table, factor, spread, memory,
            averaged, rules, scores, moved, ask, asking, asked, pull, f, g, along, back,
        )  # fmt: skip
        if choice == STOP:
            return -1 - i
    return n_rows


@kernel(
    COUNT(VECTOR, types.uint32[::1], types.uint64[::1], types.boolean, *TARGETS, *BELIEF, *RULES)
)  # fmt: skip
def learn_full_sparse(  # type: ignore[no-untyped-def]
    values, indices, starts, trusted, y, margins, importance, C, bias, table, factor, spread, memory,
    averaged, rules, scores, moved, ask, asking, asked,
):  # fmt: skip
    """Learn sparse rows: scored at O(non-zeros), moved like dense ones, for Σx is dense."""
    height = len(spread)
    x, f, g = np.zeros(height), np.zeros(height), np.zeros(height)  # of their own: SIMD needs to know
    along, back = np.zeros(height), np.zeros(height)
    x[0] = bias
    s, pull = np.empty(table.shape[1]), np.zeros(table.shape[1])
    for i in range(len(starts) - 1):
        start, end = starts[i], starts[i + 1]
        sqnorm = sparse_sqnorm(values, indices, start, end, trusted, len(table) - 1, bias)
        if sqnorm < 0.0:
            return -1 - i
        for k in range(len(s)):
            s[k] = bias * table[0, k]
        for p in range(start, end):
            j = np.int64(indices[p]) + 1
            x[j] = values[p]
            for k in range(len(s)):
                s[k] += values[p] * table[j, k]
        choice = _learn_row(
            i, x, s, sqnorm, y, margins, importance, C, table, factor, spread, memory,
            averaged, rules, scores, moved, ask, asking, asked, pull, f, g, along, back,
        )  # fmt: skip
        if choice == STOP:
            return -1 - i
        for p in range(start, end):
            x[np.int64(indices[p]) + 1] = 0.0
    return len(starts) - 1


class Full(Belief):
    """Weights, L and D."""

    def __init__(self, n_features: int, n_classes: int, coupled: bool, averaged: bool) -> None:
        self.factor: Floats = np.zeros(0)
        self.spread: Floats = np.zeros(0)
        super().__init__(n_features, n_classes, coupled, averaged)

    @property
    def in_one_column(self) -> bool:
        return False

    def _place(self, table: Floats, n_features: int) -> None:
        """Room for Σ goes with room for weights."""
        if n_features > LARGEST:
            raise ValueError(
                f"covariance='full' keeps {n_features:,}² / 2 numbers; expected at most {LARGEST:,} features "
                "or covariance='diag'."
            )
        super()._place(table, n_features)
        height = _filled(1 + n_features)
        if height > len(self.spread):
            room = max(height, min(2 * len(self.spread), _filled(LARGEST + 1)))
            factor, spread = np.zeros(room * (room + 4) // 2), np.ones(room)
            factor[: len(self.factor)], spread[: len(self.spread)] = self.factor, self.spread
            self.factor, self.spread = factor, spread

    def place_features(self, columns: Sequence[int], n_features: int) -> None:
        if list(columns) == list(range(n_features)):
            return
        places = [0, *(1 + column for column in columns)]
        precision = np.eye(1 + n_features)
        precision[np.ix_(places, places)] = self.precision()
        super().place_features(columns, n_features)
        self.believe(precision)

    def _run(self, rows: Dense | Sparse, targets: tuple[Any, ...], rules: tuple[Any, ...]) -> int:
        common = *targets, self.used, *self._parts(), self.memory, *rules
        if isinstance(rows, Dense):
            done: int = learn_full_dense.run(rows.X, *common)
        else:
            done = learn_full_sparse.run(rows.values, rows.indices, rows.starts, rows.trusted, *common)
        return done

    def _parts(self) -> tuple[Floats, Floats]:
        """L and D without the room kept for features to come."""
        height = _filled(1 + self.n_features)
        return self.factor[: height * (height + 4) // 2], self.spread[:height]

    def arrays(self) -> dict[str, Floats]:
        factor, spread = self._parts()
        return {**super().arrays(), "factor": factor, "spread": spread}

    def check_memory(self) -> None:
        super().check_memory()
        if not ((self.spread > 0) & (self.spread <= 1)).all():
            raise ValueError("a variance is not in (0, 1]")

    def _rows(self) -> Iterator[tuple[int, Floats]]:
        """The rows of L, each up to its diagonal."""
        for j in range(1 + self.n_features):
            block, row = divmod(j, 4)
            start = 8 * block * (block + 1) + row * 4 * (block + 1)
            yield j, self.factor[start : start + j]

    def _roots(self) -> tuple[Floats, Floats]:
        """L as a matrix, and the roots of D."""
        lower = np.eye(1 + self.n_features)
        for j, row in self._rows():
            lower[j, :j] = row
        return lower, np.sqrt(self.spread[: len(lower)])

    def covariance(self) -> Floats:
        lower, roots = self._roots()
        half = roots[:, None] * lower
        return half.T @ half  # numpy makes a product of this form symmetric to the last bit

    def precision(self) -> Floats:
        lower, roots = self._roots()
        half = solve_triangular(lower, np.eye(len(roots)), lower=True, unit_diagonal=True) / roots
        return half @ half.T

    def believe(self, precision: Floats) -> None:
        half = cholesky(precision, lower=True)
        roots = np.diag(half)
        lower = solve_triangular(half / roots, np.eye(len(roots)), lower=True, unit_diagonal=True)
        for j, row in self._rows():
            row[:] = lower[j, :j]
        self.spread[: len(roots)] = np.minimum(1.0 / roots**2, 1.0)

    def take_belief(self, source: "Full") -> None:
        for mine, known in zip(self._parts(), source._parts(), strict=True):
            mine[:] = known


def _filled(height: int) -> int:
    """A number of rows, filled up to fours."""
    return -(-height // 4) * 4
