"""Cost of a metric step at d = 256: the versions + and −, and the same loops in numpy.

Method: as in speed.py, the contenders take turns and the best round of each stands, in one thread. Rows are
two kinds of data with classes in 256 dimensions, standardised: `many`, ten classes and pairs drawn at
random as in the paper, a tenth of them similar; `half`, two classes. The numpy loops stop after 500 pairs,
and times are of a pair. They are

    numpy −    d = v @ M @ v;  M -= tau * y * np.outer(v, v)
    numpy +    the same, and after each similar pair `eigh` and negative eigenvalues set to 0

The paper's own + takes 47 times as long as its − at d = 256.
"""

import time
from functools import partial

import numpy as np
from rich.console import Console
from rich.table import Table
from speed import best_of
from threadpoolctl import threadpool_limits

import tauten as tt

D, N_PAIRS, N_NUMPY = 256, 4000, 500


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


def fit(name: str, pairs: np.ndarray, y: np.ndarray) -> None:
    """One pass over the pairs."""
    tt.make(name).fit(pairs, y)


def main() -> None:
    """Run everything and print the ratios."""
    started = time.perf_counter()
    table = Table(title=f"µs a pair, d = {D}, best of 7 rounds in turn, one thread")
    headings = "−", "+", "+ / −", "moves −", "moves +", "numpy −", "ratio", "numpy +", "ratio"
    for heading in ("pairs", *headings):
        table.add_column(heading, justify="left" if heading == "pairs" else "right")
    with threadpool_limits(1):
        for kind, n_classes in (("many", 10), ("half", 2)):
            pairs, y = pairs_of(n_classes)
            few = pairs[:N_NUMPY], y[:N_NUMPY]
            names = "metric-pa1-", "metric-pa1+"
            minus, plus = (
                1e6 * t / N_PAIRS for t in best_of(*(partial(fit, name, pairs, y) for name in names))
            )
            moves = [tt.make(name).fit(pairs, y).n_updates_ for name in names]
            jobs = [partial(fit, name, *few) for name in names]
            ours = [1e6 * t / N_NUMPY for t in best_of(*jobs)]
            theirs = [
                1e6 * t / N_NUMPY for t in best_of(*(partial(numpy_pa, *few, keep) for keep in (False, True)))
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
