"""The rivals' rows of the PAMO paper's tables: learners on a budget of 100 beside the published figures.

python bench/published_budget.py DATA [NAME ...]

DATA is the folder with a9a, w7a and svmguide1. Online error in % of one pass over all rows (a9a: training
and test rows joined; w7a: training rows), and for svmguide1, standardised, the error on its test rows
after one pass. Rows are as they come otherwise, with the RBF kernel. Each learner's grid is tried on one
random order of the rows to learn, and the table shows mean ± sd over five others at the point with the
least online error. A second table has BPA-S and BOGD at the constants of the libraries of the time, over
the kernel's width.
"""

import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import StandardScaler

import tauten as tt

BUDGET = 100
TUNED, ORDERS = 100, range(5)
GAMMAS = [2.0**k for k in (-9, -7, -5, -4, -3, -1, 1)]
GRIDS: dict[str, dict[str, list[Any]]] = {
    "rbp": {},
    "forgetron": {},
    "projectron": {"eta": [0.1, 0.5]},
    "projectron++": {"eta": [0.1, 0.5]},
    "bpas": {"C": [2.0**k for k in (-8, -6, -4, -2, 0, 4)]},
    "bogd": {"eta": [2.0**k for k in (-6, -4, -2, 0)], "lam": [1e-4, 1e-2], "clip": [2.0, 10.0]},
    "bogd++": {"eta": [2.0**k for k in (-6, -4, -2, 0)], "lam": [1e-4, 1e-2], "clip": [2.0, 10.0]},
    "bsgd": {"lam": [1e-5, 1e-4, 1e-3, 1e-2]},
}
# What the libraries of the time have as constants: KOL and OKL C = 1, OKL eta = 0.2 and clip = 10, no fading.
CONSTANTS: dict[str, dict[str, Any]] = {"bpas": {"C": 1.0}, "bogd": {"eta": 0.2, "lam": 0.0, "clip": 10.0}}
PUBLISHED = {
    "a9a": {"bpas": "21.1", "bogd": "27.9"},
    "w7a": {"bpas": "2.99", "bogd": "3.49"},
    "svmguide1": {"bsgd": "5.73"},
}
WIDTHS = {"a9a": 123, "w7a": 300, "svmguide1": 4}
Data = tuple[Any, np.ndarray]


def load(folder: Path, name: str) -> tuple[Data, Data | None]:
    """The rows to learn and, where the figure is a test error, the rows to test on."""
    (X, y), (X_test, y_test) = (
        load_svmlight_file(str(folder / name / f"{part}.svm.gz"), n_features=WIDTHS[name])
        for part in ("train", "test")
    )
    if name == "svmguide1":
        scaler = StandardScaler().fit(X.toarray())
        return (scaler.transform(X.toarray()), y), (scaler.transform(X_test.toarray()), y_test)
    joined = (sp.vstack([X, X_test]).tocsr(), np.concatenate([y, y_test])) if name == "a9a" else (X, y)
    return joined, None


def error(learner: str, train: Data, test: Data | None, order: int, **parameters: Any) -> float:
    """The error in % of one pass, online or on test rows."""
    rows = np.random.default_rng(order).permutation(len(train[1]))
    model = tt.make(learner, budget=BUDGET, random_state=order, **parameters)
    trace = tt.progressive(model, train[0][rows], train[1][rows])
    return 100 * (trace.error_rate if test is None else 1 - model.score(*test))


def over_orders(learner: str, train: Data, test: Data | None, **parameters: Any) -> str:
    """Mean and standard deviation."""
    figures = np.array([error(learner, train, test, order, **parameters) for order in ORDERS])
    return f"{figures.mean():.2f} ± {figures.std(ddof=1):.2f}"


def main() -> None:
    """Print the tables."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tuned = Table(title=f"tuned: error in %, budget {BUDGET}, mean ± sd over {len(ORDERS)} orders")
    for heading in ("data", "learner", "grid point", "ours", "published"):
        tuned.add_column(heading)
    fixed = Table("data", "learner", *(f"gamma {gamma:.3g}" for gamma in GAMMAS), title="at constants")
    for name in sys.argv[2:] or list(PUBLISHED):
        train, test = load(Path(sys.argv[1]), name)
        for learner, grid in GRIDS.items():
            axes = {"gamma": GAMMAS, **grid}
            points = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
            best = min(points, key=lambda point: error(learner, train, None, TUNED, **point))
            point = ", ".join(f"{key} {value:.4g}" for key, value in best.items())
            published = PUBLISHED[name].get(learner, "")
            tuned.add_row(name, learner, point, over_orders(learner, train, test, **best), published)
        for learner, constants in CONSTANTS.items():
            figures = [over_orders(learner, train, test, gamma=gamma, **constants) for gamma in GAMMAS]
            fixed.add_row(name, learner, *(figure.partition(" ")[0] for figure in figures))
    Console(width=120).print(tuned, fixed)


if __name__ == "__main__":
    main()
