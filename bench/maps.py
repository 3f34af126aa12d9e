"""Cost of a row behind a feature map, of LOL and of OS-ELM: against a careful numpy loop and scikit-learn.

Method: as in speed.py, the contenders take turns and the best round of each stands; µs of one row in CPU time
of the one thread that all use, rows dense and in memory, a bias, labels that follow rings with noise.
Contenders:

    numpy         a loop that maps a row (or, where that is faster, a block) and learns it as the paper prints
    scikit-learn  RBFSampler or Nystroem over the whole batch, then SGDClassifier(learning_rate="pa1") on it

scikit-learn's Nystroem is given its landmarks beforehand; its RBFSampler has one cosine a feature.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.kernel_approximation import Nystroem, RBFSampler
from speed import best_of, sgd
from threadpoolctl import threadpool_limits

import tauten as tt

BLOCK = 256


def rows(d: int, n: int = 5000) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose label follows their length, with noise."""
    random = np.random.default_rng(d)
    X = random.standard_normal((n, d))
    return X, ((X**2).sum(axis=1) + 0.3 * np.sqrt(d) * random.standard_normal(n) > d).astype(int)


def numpy_fogd(X: np.ndarray, y: np.ndarray, n_components: int, gamma: float, eta: float) -> None:
    """FOGD, mapped a block of rows at a time."""
    random = np.random.default_rng(0)
    omega = np.sqrt(2 * gamma) * random.standard_normal((X.shape[1], n_components // 2))
    w, b, amplitude = np.zeros(n_components), 0.0, np.sqrt(2 / n_components)
    for first in range(0, len(X), BLOCK):
        phases = X[first : first + BLOCK] @ omega
        Z = amplitude * np.hstack([np.cos(phases), np.sin(phases)])
        for z, side in zip(Z, 2 * y[first : first + BLOCK] - 1, strict=True):
            if side * (w @ z + b) < 1:
                w += eta * side * z
                b += eta * side


def numpy_nogd(X: np.ndarray, y: np.ndarray, budget: int, gamma: float, eta: float) -> None:
    """NOGD with the first rows as landmarks, mapped a block of rows at a time."""
    landmarks = X[:budget]
    lengths = (landmarks**2).sum(axis=1)

    def kernel(part: np.ndarray) -> np.ndarray:
        squares = (part**2).sum(axis=1)[:, None] + lengths - 2 * part @ landmarks.T
        return np.exp(-gamma * np.maximum(squares, 0.0))

    values, vectors = np.linalg.eigh(kernel(landmarks))
    basis = vectors / np.sqrt(np.maximum(values, 1e-12))
    w, b = np.zeros(budget), 0.0
    for first in range(0, len(X), BLOCK):
        Z = kernel(X[first : first + BLOCK]) @ basis
        for z, side in zip(Z, 2 * y[first : first + BLOCK] - 1, strict=True):
            if side * (w @ z + b) < 1:
                w += eta * side * z
                b += eta * side


def numpy_oselm(X: np.ndarray, y: np.ndarray, n_hidden: int, C: float) -> None:
    """OS-ELM, one row at a time, as the paper prints it."""
    random = np.random.default_rng(0)
    a, offsets = random.uniform(-1, 1, (X.shape[1], n_hidden)), random.uniform(-1, 1, n_hidden)
    P, beta = C * np.eye(n_hidden + 1), np.zeros(n_hidden + 1)
    H = np.hstack([1 / (1 + np.exp(-(X @ a + offsets))), np.ones((len(X), 1))])
    for h, side in zip(H, 2 * y - 1, strict=True):
        g = P @ h
        q = 1 + h @ g
        P -= np.outer(g, g) / q
        beta += (side - h @ beta) / q * g


def numpy_lol(X: np.ndarray, y: np.ndarray, n_prototypes: int, C: float) -> None:
    """LOL with a share of 1."""
    centres, members = X[:n_prototypes].copy(), np.ones(n_prototypes)
    rows = np.hstack([X, np.ones((len(X), 1))])
    common, own = np.zeros(rows.shape[1]), np.zeros((n_prototypes, rows.shape[1]))
    for row, x, side in zip(X, rows, 2 * y - 1, strict=True):
        p = int(((centres - row) ** 2).sum(axis=1).argmin())
        loss = 1 - side * ((common + own[p]) @ x)
        if loss > 0:
            change = min(C, loss / (2 * (x @ x))) * side * x
            common += change
            own[p] += change
        members[p] += 1
        centres[p] += (row - centres[p]) / members[p]


def scikit_learn(approximation: Any, X: np.ndarray, y: np.ndarray) -> None:
    """A kernel approximation, then PA-I."""
    sgd(approximation.fit_transform(X), y)


Job = Callable[[np.ndarray, np.ndarray], Any]


def jobs(d: int, D: int, B: int) -> dict[str, tuple[Any, Job, Any]]:
    """Of each learner ours, the numpy loop, and scikit-learn's way where it has one."""
    gamma, eta = 1.0 / d, 0.2
    waves = RBFSampler(gamma=gamma, n_components=D, random_state=0)
    landmarks = Nystroem(gamma=gamma, n_components=B, random_state=0)
    return {
        f"FOGD, d = {d}, D = {D}": (
            tt.make("fogd", gamma=gamma, n_components=D),
            partial(numpy_fogd, n_components=D, gamma=gamma, eta=eta),
            waves,
        ),
        f"NOGD, d = {d}, B = {B}": (
            tt.make("nogd", gamma=gamma, n_landmarks=B),
            partial(numpy_nogd, budget=B, gamma=gamma, eta=eta),
            landmarks,
        ),
        f"OS-ELM, d = {d}, {B} neurons": (
            tt.make("oselm", n_hidden=B, C=10.0), partial(numpy_oselm, n_hidden=B, C=10.0), None,
        ),
        f"LOL, d = {d}, 16 prototypes": (
            tt.make("lol", n_prototypes=16), partial(numpy_lol, n_prototypes=16, C=1.0), None,
        ),
    }  # fmt: skip


def batches(table: Table) -> None:
    """A pass over rows in memory."""
    for d, D, B in ((22, 400, 100), (123, 400, 100), (784, 400, 100), (123, 2000, 500)):
        X, y = rows(d)
        for name, (model, loop, approximation) in jobs(d, D, B).items():
            if D > 400 and "OGD" not in name:
                continue
            contenders = [partial(model.fit, X, y), partial(loop, X, y)]
            if approximation is not None:
                contenders.append(partial(scikit_learn, approximation, X, y))
            ours, plain, *theirs = best_of(*contenders, clock=time.thread_time)
            unit = 1e6 / len(X)
            cells = [f"{theirs[0] * unit:.1f}", f"{theirs[0] / ours:.1f}"] if theirs else ["", ""]
            table.add_row(name, f"{ours * unit:.2f}", f"{plain * unit:.1f}", f"{plain / ours:.1f}", *cells)


def single_rows() -> str:
    """learn_one on rows of 123 numbers."""
    X, y = rows(123)
    labels = y.tolist()
    times = []
    for name in ("fogd", "nogd", "oselm", "lol"):
        model = tt.make(name).partial_fit(X, y)

        def run(model: Any = model) -> None:
            for i in range(1000):
                model.learn_one(X[i], labels[i])

        times.append(f"{name} {best_of(run, clock=time.thread_time)[0] * 1e3:.1f}")
    return "learn_one on an array of 123 numbers, µs: " + ", ".join(times)


def main() -> None:
    """Run everything and print the ratios."""
    started = time.perf_counter()
    table = Table(title="µs a row, best of 7 rounds in turn, one thread")
    for heading in ("job", "tauten", "numpy", "ratio", "scikit-learn", "ratio"):
        table.add_column(heading, justify="left" if heading == "job" else "right")
    with threadpool_limits(1):
        batches(table)
        note = single_rows()
    console = Console(width=120)
    console.print(table)
    console.print(note)
    console.print(f"took {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
