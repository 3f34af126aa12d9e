"""Tables 1 and 2 of the PAMO paper on the sets at hand, ours beside the published ones; and, beyond the
paper, mistakes on letter, which has 26 classes.

python bench/published_pamo.py DATA [--orders N]

DATA is the folder with a9a, w7a, svmguide1 and letter. Features are standardised over all rows in use (table
1: over the training rows), a constant one is appended, one pass; mean and standard deviation over random
orders, each with a start of its own. Table 2 counts mistakes over all rows (w7a: over the training rows).
`standardize=True` is fed the rows as they come instead.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import StandardScaler

import tauten as tt

WIDTHS = {"a9a": 123, "w7a": 300, "svmguide1": 4, "letter": 16}
PUBLISHED = {
    ("a9a", "pamo1"): "16.99 ± 0.07", ("a9a", "pamo2"): "17.11 ± 0.10",
    ("w7a", "pamo1"): "1.72 ± 0.04", ("w7a", "pamo2"): "1.76 ± 0.04",
    ("svmguide1", "pamo1"): "4.13 ± 0.59", ("svmguide1", "pamo2"): "4.35 ± 0.67",
    ("svmguide1", "pa1"): "25.19 ± 7.12",
}  # fmt: skip
LEARNERS: dict[str, Callable[[int], Any]] = {
    "pamo1": lambda seed: tt.make("pamo1", random_state=seed),
    "pamo2": lambda seed: tt.make("pamo2", random_state=seed),
    "pa1": lambda seed: tt.make("pa1", C=0.01),
}
MANY_CLASSES: dict[str, Callable[[int], Any]] = {
    "pamo1": LEARNERS["pamo1"],
    "pamo1, C=1, C_r=0.05, alpha=0.3": lambda s: tt.make("pamo1", C=1, C_r=0.05, alpha=0.3, random_state=s),
    "pa1, C=0.01": LEARNERS["pa1"],
    "arow": lambda seed: tt.make("arow"),
}
Data = tuple[np.ndarray, np.ndarray]


def load(folder: Path, name: str) -> list[Data]:
    """Training and test rows as they come."""
    files = [str(folder / name / f"{part}.svm.gz") for part in ("train", "test")]
    parts = (load_svmlight_file(file, n_features=WIDTHS[name]) for file in files)
    return [(X.toarray(), y) for X, y in parts]


def used(folder: Path, name: str) -> Data:
    """The rows that table 2 counts mistakes over."""
    parts = load(folder, name)[: 1 if name == "w7a" else 2]
    return np.vstack([X for X, _ in parts]), np.concatenate([y for _, y in parts])


def mistakes(make: Callable[[int], Any], X: np.ndarray, y: np.ndarray, seed: int) -> float:
    """Mistakes in one pass over an order of the rows, in %."""
    order = np.random.default_rng(seed).permutation(len(y))
    return 100 * tt.progressive(make(seed), np.ascontiguousarray(X[order]), y[order]).error_rate


def test_error(make: Callable[[int], Any], train: Data, test: Data, seed: int) -> float:
    """Error on the test rows after one pass over an order of the training rows, in %."""
    order = np.random.default_rng(seed).permutation(len(train[1]))
    return 100 * (1 - make(seed).fit(train[0][order], train[1][order]).score(*test))


def tables(folder: Path, orders: int) -> Table:
    """Both tables."""
    table = Table(title=f"mean ± sd over {orders} orders, in %")
    for heading in ("data", "figure", "learner", "ours", "published"):
        table.add_column(heading)

    def add(data: str, figure: str, learner: str, values: list[float]) -> None:
        ours = f"{np.mean(values):.2f} ± {np.std(values, ddof=1):.2f}"
        table.add_row(data, figure, learner, ours, PUBLISHED.get((data, learner), ""))

    def online(seed: int) -> Any:
        return tt.make("pamo1", standardize=True, random_state=seed)

    for data in ("a9a", "w7a"):
        X, y = used(folder, data)
        scaled = StandardScaler().fit_transform(X)
        for name, make in LEARNERS.items():
            add(data, "mistakes", name, [mistakes(make, scaled, y, seed) for seed in range(orders)])
        add(data, "mistakes", "pamo1, standardize=True", [mistakes(online, X, y, s) for s in range(orders)])
    train, test = load(folder, "svmguide1")
    scaler = StandardScaler().fit(train[0])
    near = [(scaler.transform(X), y) for X, y in (train, test)]
    for name, make in LEARNERS.items():
        errors = [test_error(make, *near, seed) for seed in range(orders)]
        add("svmguide1", "test error", name, errors)
    errors = [test_error(online, train, test, seed) for seed in range(orders)]
    add("svmguide1", "test error", "pamo1, standardize=True", errors)
    X, y = used(folder, "letter")
    scaled = StandardScaler().fit_transform(X)
    for name, make in MANY_CLASSES.items():
        add("letter", "mistakes", name, [mistakes(make, scaled, y, seed) for seed in range(orders)])
    return table


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, metavar="DATA", help="folder with a9a, w7a, svmguide1 and letter")
    parser.add_argument("--orders", type=int, default=10, help="random orders; the paper has 20")
    arguments = parser.parse_args()
    Console(width=120).print(tables(arguments.data, arguments.orders))


if __name__ == "__main__":
    main()
