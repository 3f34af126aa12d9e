"""Speed side by side with scikit-learn and river, in one process; ratios are what counts.

Method: each contender runs the same job in turn, seven rounds one after the other, after one round that does
not count (compilation, caches); the best round of each stands. Times are of one thread. Rows are in memory.
Jobs:

    dense      30,000 rows of 500 numbers, two classes with noise, one pass of PA-I with a bias
    sparse     100,000 rows of 75 non-zeros in 50,000 columns, uniform, the same
    array      learn_one on one of those dense rows
    dict       learn_one on dicts of 75 names out of 5,000, all names seen before
    new names  the same, from an empty model
    sweep      16 values of C on the sparse rows: one pass for all, against a pass each, on one core and on
    all
    import     `import tauten`, and the first fit of a new process with what was compiled before in the cache
"""

import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.table import Table
from sklearn import linear_model

import tauten as tt

ROUNDS = 7
C = 1.0


def best_of(*jobs: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> list[float]:
    """The best time of each job, in seconds, the jobs taking turns."""
    times: list[list[float]] = [[] for _ in jobs]
    for _ in range(ROUNDS + 1):
        for job, taken in zip(jobs, times, strict=True):
            start = clock()
            job()
            taken.append(clock() - start)
    return [min(taken[1:]) for taken in times]


def sgd(X: Any, y: Any) -> Any:
    """scikit-learn's passive-aggressive classifier as it is spelt since 1.8."""
    model = linear_model.SGDClassifier(
        loss="hinge", penalty=None, learning_rate="pa1", eta0=C, shuffle=False, max_iter=1, tol=None
    )
    return model.partial_fit(X, y, classes=[0, 1])


def passive_aggressive(X: Any, y: Any) -> None:
    """The class that scikit-learn is dropping."""
    linear_model.PassiveAggressiveClassifier(C=C, shuffle=False, max_iter=1, tol=None).partial_fit(
        X, y, classes=[0, 1]
    )


def dense_rows() -> tuple[np.ndarray, np.ndarray]:
    """Rows of 500 numbers and labels that follow a plane with noise."""
    random = np.random.default_rng(0)
    X = random.standard_normal((30_000, 500))
    return X, (X @ random.standard_normal(500) + 3 * random.standard_normal(30_000) > 0).astype(int)


def sparse_rows() -> tuple[sp.csr_matrix, np.ndarray]:
    """Rows of 75 non-zeros in 50,000 columns, and labels in the same way."""
    random = np.random.default_rng(0)
    columns = np.sort(random.integers(50_000, size=(100_000, 75)), axis=1)
    parts = random.random(columns.size), columns.ravel(), np.arange(0, columns.size + 1, 75)
    X = sp.csr_matrix(parts, shape=(100_000, 50_000))
    X.sum_duplicates()
    scores = X @ random.standard_normal(50_000)
    return X, (scores + 0.3 * scores.std() * random.standard_normal(len(scores)) > 0).astype(int)


def batches() -> list[tuple[str, str, float, float, str]]:
    """Whole batches against scikit-learn."""
    found = []
    for name, (X, y), target in (("dense", dense_rows(), "6"), ("sparse", sparse_rows(), "1.8")):
        ours, theirs, old = best_of(
            lambda X=X, y=y: tt.PAClassifier(C=C).partial_fit(X, y, classes=[0, 1]),
            lambda X=X, y=y: sgd(X, y),
            lambda X=X, y=y: passive_aggressive(X, y),
        )
        found.append((name, "SGDClassifier(pa1)", ours, theirs, target))
        found.append((name, "PassiveAggressiveClassifier", ours, old, target))
    return found


def single_examples() -> list[tuple[str, str, float, float, str]]:
    """One example at a time against river and scikit-learn."""
    from river import linear_model as river

    X, y = dense_rows()
    model = tt.PAClassifier(C=C).partial_fit(X, y)
    theirs = sgd(X, y)
    labels = y.tolist()

    def array() -> None:
        for i in range(2000):
            model.learn_one(X[i], labels[i])

    def array_scikit_learn() -> None:
        for i in range(200):
            theirs.partial_fit(X[i : i + 1], y[i : i + 1])

    ours_array, theirs_array = best_of(array, array_scikit_learn)

    random = np.random.default_rng(0)
    plane = random.standard_normal(5000)
    dicts, sides = [], []
    for _ in range(2000):
        columns, values = random.choice(5000, 75, replace=False), random.random(75)
        dicts.append(
            {f"word{column}": value for column, value in zip(columns.tolist(), values.tolist(), strict=True)}
        )
        sides.append(bool(plane[columns] @ values > 0))

    def learn(learner: Any) -> Any:
        for x, side in zip(dicts, sides, strict=True):
            learner.learn_one(x, side)
        return learner

    def predict(learner: Any) -> None:
        for x in dicts:
            learner.predict_one(x)

    warm, warm_river = learn(tt.PAClassifier(C=C)), learn(river.PAClassifier(C=C, mode=1))
    seen, seen_river, new, new_river, predicted, predicted_river = best_of(
        lambda: learn(warm),
        lambda: learn(warm_river),
        lambda: learn(tt.PAClassifier(C=C)),
        lambda: learn(river.PAClassifier(C=C, mode=1)),
        lambda: predict(warm),
        lambda: predict(warm_river),
    )
    n = len(dicts)
    return [
        ("array, one row", "SGDClassifier.partial_fit", ours_array / 2000, theirs_array / 200, "≤ 5 µs"),
        ("dict, one row", "river", seen / n, seen_river / n, "5"),
        ("dict, new names", "river", new / n, new_river / n, ""),
        ("dict, predict_one", "river", predicted / n, predicted_river / n, ""),
    ]


def sweeps() -> list[tuple[str, str, float, float, str]]:
    """A grid in one pass against a pass each."""
    grid = {"C": 2.0 ** np.arange(-8, 8)}
    found = []
    for name, (X, y), target in (("sparse", sparse_rows(), "2.5"), ("dense", dense_rows(), "")):
        one, both, each = best_of(
            lambda X=X, y=y: tt.sweep("pa1", grid, X, y, n_jobs=1),
            lambda X=X, y=y: tt.sweep("pa1", grid, X, y),
            lambda X=X, y=y: [tt.progressive(tt.make("pa1", C=value), X, y) for value in grid["C"]],
        )
        found.append((f"sweep of 16, {name}, one core", "16 passes", one, each, target))
        found.append((f"sweep of 16, {name}, all cores", "16 passes", both, each, "4.5" if target else ""))
    return found


def starts(console: Console) -> None:
    """What a new process waits for."""
    program = """
import time; start = time.perf_counter()
import tauten; imported = time.perf_counter()
import numpy as np
X = np.random.default_rng(0).standard_normal((100, 5)); made = time.perf_counter()
tauten.PAClassifier().fit(X, X[:, 0] > 0)
print(imported - start, time.perf_counter() - made)
"""
    runs = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout
        for _ in range(4)
    ]
    imported, fitted = min(tuple(map(float, run.split())) for run in runs[1:])
    console.print(
        f"import tauten: {imported:.3f} s (target ≤ 0.6); first fit of a process: {fitted:.2f} s (target ≤ 1)"
    )


def main() -> None:
    """Run everything and print the ratios."""
    warnings.simplefilter("ignore")
    console = Console(width=120)
    table = Table(title="time of tauten, time of the peer, ratio; each the best of 7 rounds in turn")
    for heading in ("job", "peer", "tauten", "peer's", "ratio", "target"):
        table.add_column(heading, justify="left" if heading in ("job", "peer") else "right")
    for part in (batches, single_examples, sweeps):
        for job, peer, ours, theirs, target in part():
            unit, scale = ("µs", 1e6) if ours < 1e-3 else ("ms", 1e3)
            times = (f"{ours * scale:.1f} {unit}", f"{theirs * scale:.1f} {unit}")
            table.add_row(job, peer, *times, f"{theirs / ours:.1f}", target)
    console.print(table)
    starts(console)


if __name__ == "__main__":
    main()
