"""Cost of a metric step at d = 256: the versions + and −, and the same loops in numpy.

Method: the contenders take turns, seven rounds after one that does not count, and the least CPU time of each
stands, in one thread: a job of a second meets other work on the machine sooner than one of a hundredth. Pairs
are of two kinds of data with classes in 256 dimensions, standardised, drawn at random: `many`, ten classes, a
tenth of the pairs similar, as in the paper; `half`, two classes. The numpy loops stop after 500 pairs. Times
are of a pair.

    numpy −    d = v @ M @ v;  M -= tau * y * np.outer(v, v)
    numpy +    the same, and after each similar pair `eigh` and negative eigenvalues set to 0

The paper's own + takes 47 times as long as its − at d = 256.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

import tauten as tt

D, N_PAIRS, N_NUMPY, ROUNDS = 256, 4000, 500, 7


def pairs_of(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of rows of overlapping classes, and whether they are similar."""
    random = np.random.default_rng(n_classes)
    codes = random.integers(n_classes, size=2000)
    X = random.standard_normal((2000, D)) * np.linspace(0.2, 2, D)
    X += random.standard_normal((n_classes, D))[codes]
    X /= X.std(axis=0)
    left, right = random.integers(2000, size=(2, N_PAIRS))
    return np.stack([X[left], X[right]], axis=1), np.where(codes[left] == codes[right], 1, -1)


def numpy_pa(pairs: np.ndarray, y: np.ndarray, keep: bool) -> None:
    """PA-I, C = 1, as the paper prints it."""
    M, b = np.zeros((D, D)), 0.0
    for v, side in zip(pairs[:, 0] - pairs[:, 1], y, strict=True):
        loss = 1 - side * (b - v @ M @ v)
        if loss <= 0:
            continue
        tau = min(1.0, loss / (1 + (v @ v) ** 2))
        M -= tau * side * np.outer(v, v)
        b += tau * side
        if keep and side > 0:
            values, vectors = np.linalg.eigh(M)
            if values[0] < 0:
                M = (vectors * np.maximum(values, 0)) @ vectors.T
        b = max(b, 1.0) if keep else b


def cpu_of(*jobs: Callable[[], Any]) -> list[float]:
    """The least CPU time of each job, in seconds, the jobs taking turns."""
    times: list[list[float]] = [[] for _ in jobs]
    for _ in range(ROUNDS + 1):
        for job, taken in zip(jobs, times, strict=True):
            start = time.process_time()
            job()
            taken.append(time.process_time() - start)
    return [min(taken[1:]) for taken in times]


def fit(name: str, pairs: np.ndarray, y: np.ndarray) -> None:
    """One pass over the pairs."""
    tt.make(name).fit(pairs, y)


def main() -> None:
    """Run everything and print the ratios."""
    started = time.perf_counter()
    table = Table(title=f"µs a pair, d = {D}, least CPU time of 7 rounds in turn, one thread")
    headings = "−", "+", "+ / −", "moves −", "moves +", "numpy −", "ratio", "numpy +", "ratio"
    for heading in ("pairs", *headings):
        table.add_column(heading, justify="left" if heading == "pairs" else "right")
    with threadpool_limits(1):
        for kind, n_classes in (("many", 10), ("half", 2)):
            pairs, y = pairs_of(n_classes)
            few = pairs[:N_NUMPY], y[:N_NUMPY]
            names = "metric-pa1-", "metric-pa1+"
            minus, plus = (
                1e6 * t / N_PAIRS for t in cpu_of(*(partial(fit, name, pairs, y) for name in names))
            )
            moves = [tt.make(name).fit(pairs, y).n_updates_ for name in names]
            jobs = [partial(fit, name, *few) for name in names]
            ours = [1e6 * t / N_NUMPY for t in cpu_of(*jobs)]
            theirs = [
                1e6 * t / N_NUMPY for t in cpu_of(*(partial(numpy_pa, *few, keep) for keep in (False, True)))
            ]
            cells = f"{minus:.1f}", f"{plus:.1f}", f"{plus / minus:.1f}", *map(str, moves)
            for numpy, own in zip(theirs, ours, strict=True):
                cells = *cells, f"{numpy:.0f}", f"{numpy / own:.1f}"
            table.add_row(kind, *cells)
    console = Console(width=120)
    console.print(table)
    console.print(f"took {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
