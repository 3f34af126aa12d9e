"""Cost of a second-order step: against the same step in numpy and in BLAS, over the number of features.

Method: as in speed.py, the contenders take turns and the best round of each stands; times are of one move,
every row moves (labels are random), rows are in memory, no bias. Contenders:

    numpy     g = S @ x; S -= np.outer(g, g) / (1 + q), the step as the paper prints it
    BLAS      dsymv and dsyr by way of scipy, in place, on one triangle of S: the least that the formula needs
    olpy      AROW of the package olpy, where it is installed; it has no diagonal, and no other package has

The diagonal is compared with the same step written with numpy's fancy indexing.
"""

import time
from functools import partial

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.table import Table
from scipy.linalg import blas
from speed import best_of
from threadpoolctl import threadpool_limits

import tauten as tt

WIDTHS = (20, 123, 300, 784)


def rows(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of d numbers and labels that nothing explains."""
    random = np.random.default_rng(d)
    return random.standard_normal((max(200, 200_000 // d), d)), random.integers(
        2, size=max(200, 200_000 // d)
    )


def numpy_pam(X: np.ndarray, y: np.ndarray) -> int:
    """The paper's algorithm 1, hard; returns the number of moves."""
    w, S, moves = np.zeros(X.shape[1]), np.eye(X.shape[1]), 0
    for x, side in zip(X, 2 * y - 1, strict=True):
        loss = 1 - side * (w @ x)
        if loss > 0:
            g = S @ x
            q = x @ g
            w += loss / q * side * g
            S -= np.outer(g, g) / (1 + q)
            moves += 1
    return moves


def blas_pam(X: np.ndarray, y: np.ndarray) -> int:
    """The same, on one triangle and in place."""
    w, S, moves = np.zeros(X.shape[1]), np.asfortranarray(np.eye(X.shape[1])), 0
    for x, side in zip(X, 2 * y - 1, strict=True):
        loss = 1 - side * (w @ x)
        if loss > 0:
            g = blas.dsymv(1.0, S, x)
            q = x @ g
            w += loss / q * side * g
            blas.dsyr(-1 / (1 + q), g, a=S, overwrite_a=True)
            moves += 1
    return moves


def numpy_arow_diag(X: sp.csr_matrix, y: np.ndarray) -> None:
    """AROW with a diagonal, r = 1, on sparse rows."""
    w, s = np.zeros(X.shape[1]), np.ones(X.shape[1])
    for i, side in enumerate(2 * y - 1):
        span = slice(X.indptr[i], X.indptr[i + 1])
        at, x = X.indices[span], X.data[span]
        loss = 1 - side * (w[at] @ x)
        if loss > 0:
            g = s[at] * x
            w[at] += loss / (x @ g + 1) * side * g
            s[at] /= 1 + s[at] * x * x


def full(table: Table) -> None:
    """PAM with the whole covariance."""
    for d in WIDTHS:
        X, y = rows(d)
        moves = numpy_pam(X, y)
        model = tt.make("pam", fit_intercept=False)
        ours, plain, fast = best_of(
            partial(model.fit, X, y), partial(numpy_pam, X, y), partial(blas_pam, X, y)
        )
        unit = 1e6 / moves
        table.add_row(
            f"pam, d = {d}", f"{ours * unit:.1f}", f"{plain * unit:.1f}", f"{plain / ours:.1f}",
            f"{fast * unit:.1f}", f"{fast / ours:.1f}", f"{1e9 * ours / moves / d**2:.2f}",
        )  # fmt: skip


def diagonal(table: Table) -> None:
    """AROW with the diagonal."""
    random = np.random.default_rng(0)
    X = sp.random(4000, 50_000, 75 / 50_000, "csr", rng=random)
    y = random.integers(2, size=4000)
    ours, plain = best_of(
        lambda: tt.make("arow-diag", fit_intercept=False).fit(X, y), lambda: numpy_arow_diag(X, y)
    )
    unit = 1e6 / 4000
    cells = f"{ours * unit:.2f}", f"{plain * unit:.1f}", f"{plain / ours:.1f}"
    table.add_row("arow-diag, 75 non-zeros", *cells, "", "", "")


def olpy_arow() -> str:
    """AROW as olpy has it, at d = 123."""
    try:
        from olpy.classifiers import AROW
    except ImportError:
        return "olpy is not installed: pip install --pre olpy"
    X, y = rows(123)
    ours, theirs = best_of(
        lambda: tt.make("arow", fit_intercept=False).fit(X, y),
        lambda: AROW(r=1, num_iterations=1, random_state=0).fit(X, 2 * y - 1),
    )
    times = f"{ours * 1e3:.1f} ms, olpy {theirs * 1e3:.0f} ms, ratio {theirs / ours:.0f}"
    return f"AROW, d = 123, a whole pass: {times}"


def main() -> None:
    """Run everything and print the ratios."""
    started = time.perf_counter()
    table = Table(title="µs a move, best of 7 rounds in turn, one thread; ns is a move over d²")
    for heading in ("job", "tauten", "numpy", "ratio", "BLAS", "ratio", "ns/d²"):
        table.add_column(heading, justify="left" if heading == "job" else "right")
    with threadpool_limits(1):
        full(table)
        diagonal(table)
        note = olpy_arow()
    console = Console(width=120)
    console.print(table)
    console.print(note)
    console.print(f"took {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
