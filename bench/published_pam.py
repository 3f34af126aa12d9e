"""Table 1 of the PAM paper on BUPA and CRX: F1 of both classes, ours beside the published ones.

python bench/published_pam.py DATA

DATA is the folder with bupa/data.csv.gz and crx/data.csv.gz: a header, the label last, "?" where a value is
missing. Rows with missing values are dropped, nominal features one-hot; nothing is scaled.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

import tauten as tt

ORDERS = 10
GRIDS: dict[str, dict[str, Any]] = {
    "pa2": {"C": 2.0 ** np.arange(-24, 9)},
    "pam2": {"C": 2.0 ** np.arange(-8, 9)},
    "cw": {"eta": np.linspace(0.55, 0.95, 9).round(2)},
}
POSITIVE = {"bupa": "1", "crx": "+"}
PUBLISHED = {
    "bupa": {"pa2": ("61.21", "57.85"), "pam2": ("64.28", "60.20"), "cw": ("61.79", "57.61")},
    "crx": {"pa2": ("68.54", "77.83"), "pam2": ("80.37", "84.13"), "cw": ("78.28", "82.54")},
}


def load(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels of a data set."""
    frame = pd.read_csv(folder / name / "data.csv.gz", na_values="?").dropna()
    rows = pd.get_dummies(frame.iloc[:, :-1], dtype=float).to_numpy()
    return rows, frame.iloc[:, -1].astype(str).to_numpy()


def best_of_grid(learner: str, X: np.ndarray, y: np.ndarray, positive: str) -> tuple[Any, np.ndarray]:
    """The grid point with the fewest errors, and for each order its error, F1 of + and F1 of -, in %."""
    orders = [np.random.default_rng(seed).permutation(len(y)) for seed in range(ORDERS)]
    ((name, values),) = GRIDS[learner].items()
    found = []
    for value in values.tolist():
        traces = [tt.progressive(tt.make(learner, **{name: value}), X[order], y[order]) for order in orders]
        (negative,) = (label for label in traces[0].classes if label != positive)
        found.append([(t.error_rate, t.f1(positive), t.f1(negative)) for t in traces])
    figures = 100 * np.array(found)
    best = int(figures[:, :, 0].mean(axis=1).argmin())
    return {name: values[best].item()}, figures[best]


def main() -> None:
    """Print the table."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    table = Table(title=f"mean ± sd over {ORDERS} orders, in %; published F1 in brackets")
    for heading in ("data", "learner", "grid point", "error", "F1 +", "F1 -"):
        table.add_column(heading)
    for data, positive in POSITIVE.items():
        X, y = load(Path(sys.argv[1]), data)
        for learner in GRIDS:
            point, figures = best_of_grid(learner, X, y, positive)
            cells = [
                f"{mean:.2f} ± {sd:.2f}"
                for mean, sd in zip(figures.mean(axis=0), figures.std(axis=0, ddof=1), strict=True)
            ]
            plus, minus = PUBLISHED[data][learner]
            table.add_row(
                data, learner, str(point), cells[0], f"{cells[1]} [{plus}]", f"{cells[2]} [{minus}]"
            )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
