"""Passive and Aggressive Algorithm with Class Mean Information: tables II to VI and figures 1 to 3."""

import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

import tauten as tt
from tauten.papers.drawing import lines
from tauten.papers.protocol import orders
from tauten.papers.report import Cell, Report, Table
from tauten.papers.sets import Sets

TITLE = "Passive and Aggressive Algorithm with Class Mean Information (PAm)"
CLAIM = (
    "Claimed: leaning toward the difference of the class means makes for fewer updates, fewer errors and less "
    "dependence on the order of the rows. One pass over the training rows, errors on the test rows."
)
LEARNERS: dict[str, dict[str, dict[str, Any]]] = {
    "adult": {
        "PA": {"name": "pa"},
        "PA-1": {"name": "pa1", "C": 0.01},
        "PA-2": {"name": "pa2", "C": 0.01},
        "PAm": {"name": "pamean", "gamma": 0.003, "anchor_scale": 100.0},
        "PAm-1": {"name": "pamean1", "C": 0.3, "gamma": 0.001, "anchor_scale": 100.0},
        "PAm-2": {"name": "pamean2", "C": 0.003, "gamma": 0.0003, "anchor_scale": 100.0},
        "PAm, κ = 1": {"name": "pamean", "gamma": 0.003},
    },
    "svmguide1": {
        "PA": {"name": "pa"},
        "PA-1": {"name": "pa1", "C": 1.0},
        "PA-2": {"name": "pa2", "C": 1.0},
        "PAm": {"name": "pamean", "gamma": 0.01, "anchor_scale": 10.0},
        "PAm-1": {"name": "pamean1", "C": 1.0, "gamma": 0.01, "anchor_scale": 10.0},
        "PAm-2": {"name": "pamean2", "C": 1.0, "gamma": 0.01, "anchor_scale": 10.0},
        "PAm, κ = 1": {"name": "pamean", "gamma": 0.01},
    },
}
PUBLISHED = {  # error, its sd, least error, updates
    "svmguide1": (
        (0.0788, 0.0830, 0.0731, 0.0778, 0.0716, 0.0712),
        (0.0447, 0.0644, 0.0599, 0.0437, 0.0362, 0.0238),
        (0.0458, 0.0443, 0.0443, 0.0438, 0.0430, 0.0428),
        (1053.7, 1069.0, 1231.9, 737.9, 728.3, 774.4),
    ),
    "adult": (
        (0.2013, 0.1654, 0.1715, 0.1788, 0.1606, 0.1629),
        (0.0329, 0.0070, 0.0102, 0.0141, 0.0062, 0.0079),
        (0.1666, 0.1603, 0.1582, 0.1589, 0.1526, 0.1540),
        (13020.6, 12378.2, 17343.3, 6436.3, 5485.0, 5565.3),
    ),
}
FOLDERS = {"svmguide1": ("svmguide1", 4), "adult": ("a9a", 123)}
N_ORDERS, N_EPOCHS = 10, 20


def run(sets: Sets, quick: bool, seed: int) -> Report:
    """Everything that the paper reports of the data sets that are public."""
    report = Report("pamean", TITLE, CLAIM, missing=sets.missing)
    names = [name for name in LEARNERS["adult"] if not (quick and "κ" in name)]
    headings = ("error", "its sd", "least error", "updates", "seconds")
    tables = [
        Table(f"{heading} (tables IV, V, VI, III, II)" if heading == "error" else heading.capitalize(), names, {}, decimals)
        for heading, decimals in zip(headings, (4, 4, 4, 1, 4), strict=True)
    ]
    drawn = []
    for title, (folder, n_features) in FOLDERS.items():
        parts = sets.parts(folder, n_features)
        if parts is None:
            continue
        (X, y), (X_test, y_test) = parts
        some = orders(len(y), 3 if quick else N_ORDERS, seed)
        found = {name: one_pass(LEARNERS[title][name], X, y, X_test, y_test, some) for name in names}
        published = [(*row, None) for row in PUBLISHED[title]] + [(None,) * len(names)]
        for table, cells in zip(tables, cells_of(found, published), strict=True):
            table.rows[title] = cells
        if not quick:
            drawn += by_epoch(title, X, y, X_test, y_test, some)
    report.parts = [NOTE, *tables, *drawn]
    return report


def one_pass(
    choice: dict[str, Any], X: Any, y: NDArray[Any], X_test: Any, y_test: NDArray[Any], some: list[NDArray[np.intp]]
) -> NDArray[np.float64]:
    """Test error, updates and seconds of each order."""
    figures = []
    for order in some:
        model, rows, labels = tt.make(**choice), X[order], y[order]
        started = time.perf_counter()
        model.fit(rows, labels)
        seconds = time.perf_counter() - started
        figures.append((1.0 - model.score(X_test, y_test), model.n_updates_, seconds))
    return np.array(figures)


def cells_of(found: dict[str, NDArray[np.float64]], published: list[Any]) -> list[list[Cell]]:
    """For each table its cells: error, sd of the error, least error, updates, seconds."""
    errors, spreads, least, updates, _ = published
    runs = list(found.values())
    return [
        [Cell(run[:, 0], error, spread or 0.0) for run, error, spread in zip(runs, errors, spreads, strict=False)],
        [Cell(run[:, 0].std(ddof=1, keepdims=True), spread) for run, spread in zip(runs, spreads, strict=False)],
        [Cell(run[:, 0].min(keepdims=True), low) for run, low in zip(runs, least, strict=False)],
        [Cell(run[:, 1], count) for run, count in zip(runs, updates, strict=False)],
        [Cell(run[:, 2]) for run in runs],
    ]
