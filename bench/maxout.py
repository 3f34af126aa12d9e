"""Cost of a row of PAMO over units, planes and features: against numpy, and against what the machine can do.

Method: as in speed.py, the contenders take turns and the best round of each stands; one thread, float64, rows
in memory, no value is 0. Labels are random and the variant is II, so that every row moves: one pass over the
planes to score, and one to move them. Columns:

    score      µs a row of decision_function
    learn      µs a row of partial_fit
    numpy      the same row in numpy: one matrix-vector product, max over pieces, the winners' rows moved
    ns/hkd     learn over h·k·d
    memory     µs that the least traffic takes: reading the planes once, and reading and writing them once, at
               the speed at which plain loops over an array of that size do so, measured here
    FMA        µs that the products and sums take, 2·h·k·d of them, at the rate of a loop that does little
    else share      the larger of the two over learn
"""

import time
from functools import partial

import numba
import numpy as np
from rich.console import Console
from rich.table import Table
from speed import best_of
from threadpoolctl import threadpool_limits

import tauten as tt
from tauten.kernels.loops import REORDER
from tauten.kernels.maxout import aligned

SHAPES = ((64, 2, 22), (64, 2, 123), (64, 2, 300), (64, 4, 361), (256, 2, 22), (8, 2, 123))
PASSES = 100
CHAIN = 17  # products and sums for each number of `multiply_add`


def rows(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of d numbers and labels that nothing explains."""
    random = np.random.default_rng(d)
    n = max(1000, 400_000 // d)
    return random.standard_normal((n, d)), random.integers(2, size=n)


def numpy_pamo(X: np.ndarray, y: np.ndarray, h: int, k: int) -> None:
    """PAMO-II with planes as rows, unit by unit; C, C_r and α as tauten's defaults."""
    random = np.random.default_rng(0)
    U, w = random.uniform(-0.1, 0.1, (h * k, X.shape[1] + 1)), random.uniform(-0.1, 0.1, h)
    x, units = np.ones(X.shape[1] + 1), np.arange(h) * k
    for row, side in zip(X, 2.0 * y - 1, strict=True):
        x[:-1] = row
        x[-1] = 1.0
        x /= np.sqrt(x @ x)
        products = U @ x
        winners = units + products.reshape(h, k).argmax(axis=1)
        best = products[winners]
        z = best / np.sqrt(best @ best)
        loss = max(0.0, 1 - side * (w @ z))
        w += min(0.125, 0.1 * loss) * side * z
        z += max(0.0, 1 - side * (w @ z)) / (w @ w) * side * w
        U[winners] += np.clip(z - best, -0.125, 0.125)[:, None] * x


@numba.njit(fastmath=REORDER)
def read(a, passes):  # type: ignore[no-untyped-def]
    """Read an array again and again; each pass has a number of its own, so that none can be left out."""
    total = 0.0
    for p in range(passes):
        for i in range(len(a)):
            total += abs(a[i] - p)
    return total


@numba.njit(fastmath=REORDER)
def rewrite(a, passes):  # type: ignore[no-untyped-def]
    """Read and write an array again and again."""
    for _ in range(passes):
        for i in range(len(a)):
            a[i] += 1e-9


@numba.njit(fastmath=REORDER)
def polynomial(x, c):  # type: ignore[no-untyped-def]
    """Sixteen products and sums, each on the one before."""
    v = (((x * x + c) * x + c) * x + c) * x + c
    v = (((v * x + c) * x + c) * x + c) * x + c
    v = (((v * x + c) * x + c) * x + c) * x + c
    return (((v * x + c) * x + c) * x + c) * x + c


@numba.njit(fastmath=REORDER)
def multiply_add(a, passes):  # type: ignore[no-untyped-def]
    """Next to nothing but products and sums, four chains of them side by side and each of them in SIMD."""
    s0 = s1 = s2 = s3 = 0.0
    m = len(a) // 4
    for p in range(passes):
        for i in range(m):
            s0 += polynomial(a[i], p)
            s1 += polynomial(a[i + m], p)
            s2 += polynomial(a[i + 2 * m], p)
            s3 += polynomial(a[i + 3 * m], p)
    return s0 + s1 + s2 + s3


def measure(h: int, k: int, d: int) -> list[str]:
    """A line of the table."""
    X, y = rows(d)
    model = tt.make("pamo2", n_units=h, n_pieces=k, classes=[0, 1]).fit(X, y)
    planes, few = aligned(1, h * k * (d + 1))[0], np.full(2048, 0.5)
    scoring, learning, plain, reading, writing, counting = best_of(
        partial(model.decision_function, X), partial(model.partial_fit, X, y),
        partial(numpy_pamo, X, y, h, k), partial(read, planes, PASSES), partial(rewrite, planes, PASSES),
        partial(multiply_add, few, PASSES),
    )  # fmt: skip
    score, learn, other = (1e6 * seconds / len(X) for seconds in (scoring, learning, plain))
    memory = 1e6 * (reading + writing) / PASSES
    arithmetic = 1e6 * 2 * planes.size * counting / (PASSES * few.size * CHAIN)
    return [
        f"{h} × {k}", f"{d}", f"{score:.2f}", f"{learn:.2f}", f"{other:.1f}", f"{other / learn:.1f}",
        f"{1e3 * learn / planes.size:.3f}", f"{memory:.2f}", f"{arithmetic:.2f}",
        f"{max(memory, arithmetic) / learn:.0%}",
    ]  # fmt: skip


def main() -> None:
    """Run everything and print the table."""
    started = time.perf_counter()
    table = Table(title="PAMO-II, µs a row, best of 7 rounds in turn, one thread")
    for heading in ("h × k", "d", "score", "learn", "numpy", "ratio", "ns/hkd", "memory", "FMA", "share"):
        table.add_column(heading, justify="right")
    with threadpool_limits(1):
        for shape in SHAPES:
            table.add_row(*measure(*shape))
    console = Console(width=120)
    console.print(table)
    console.print(f"took {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
