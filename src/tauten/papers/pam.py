"""Passive-Aggressive Mahalanobis: table 1, the curves of figures 1 to 3, and what the paper leaves open."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

import tauten as tt
from tauten.papers.drawing import curves, lines, panels
from tauten.papers.protocol import Outcome, Setting, Streams, best_of_grid, listed, orders
from tauten.papers.report import Cell, Figure, Report, Table
from tauten.papers.sets import Sets

TITLE = "Passive-Aggressive Mahalanobis (PAM)"
SOURCE = "The paper of PAM (IJCAI), table 1 and figures 1 to 3."
CLAIM = (
    "Claimed: PAM-II, which moves along Σx, makes fewer mistakes than CW, and CW fewer than PA-II; F1 gains of 1 to "
    "12 points. Left open: the diagonal of Σ, and AROW."
)
PROTOCOL = (
    "One pass, each row predicted before it is learned, over ten random orders. C (for CW η, for AROW r) is that of a "
    "grid with the fewest errors; on USPS and MNIST it is chosen on the first three orders, on WebKB on five. Rows with "
    "missing values are dropped, nominal features become one for each value. USPS and MNIST: each digit in its turn "
    "against as many rows of the others, so that what varies is the digit, not the order alone; WebKB: 218 course pages "
    "of 877 against the rest."
)
POWERS = (2.0 ** np.arange(-8, 9, 2)).tolist()
LEARNERS = {
    "PA-II": Setting("pa2", {"C": (2.0 ** np.arange(-24, 9, 2)).tolist()}),
    "PAM-II": Setting("pam2", {"C": POWERS}),
    "CW": Setting("cw", {"eta": [0.55, 0.65, 0.75, 0.85, 0.95]}),
    "AROW": Setting("arow", {"r": POWERS}),
    "PAM-II diagonal": Setting("pam2-diag", {"C": POWERS}),
}
PUBLISHED = {  # F1 and its sd: PA-II, PAM-II, CW
    "BUPA +": ((61.21, 2.78), (64.28, 1.13), (61.79, 2.43)),
    "BUPA −": ((57.85, 1.31), (60.20, 2.55), (57.61, 2.00)),
    "CRX +": ((68.54, 0.40), (80.37, 0.51), (78.28, 0.93)),
    "CRX −": ((77.83, 0.62), (84.13, 0.62), (82.54, 0.60)),
    "USPS +": ((94.08, 2.77), (95.26, 2.56), (94.81, 2.79)),
    "USPS −": ((93.84, 2.78), (95.05, 2.56), (94.57, 2.79)),
    "MNIST +": ((57.85, 3.43), (59.51, 1.72), (58.64, 0.90)),
    "MNIST −": ((58.97, 2.47), (60.47, 1.48), (58.52, 1.12)),
    "WebKB +": ((77.02, 1.14), (78.90, 1.63), (76.49, 1.40)),
    "WebKB −": ((90.98, 0.66), (92.94, 0.84), (90.78, 0.74)),
}
WEBKB_COURSE = 1  # 218 of 877 rows: the class of the size of the paper's "course"
N_ORDERS = 10
DEVIATIONS = (
    "The paper says neither how features were scaled nor which class is positive. BUPA comes out with features "
    "standardised, no constant feature and the larger class (2) positive; but CW does not come out there: on these "
    "features it loses to PA-II. As it comes, BUPA leaves PA-II next to nothing: the best of all C is so small that it "
    "nearly always predicts the larger class.",
    "CRX comes out in part, on features as they come. Scaled to [0, 1] or [−1, 1], CW at η = 0.55 and PAM-II at C = 4 come "
    "near the published figures, but PA-II at its best then reaches 84 / 86, where 68.54 / 77.83 is published.",
    "MNIST: 58 % F1 on two classes of equal size is little more than guessing. No linear learner that reads the pixels "
    "does so badly; ours err a few percent. What was learned there, we cannot know.",
    "USPS and MNIST: the paper speaks of one random class; its spreads are those of many classes and not of many orders, "
    "so each digit is taken once.",
    "The public form of WebKB has 877 pages in 5 classes where the paper has 1,051 in two; ours is easier for all.",
    "Theorem 2 as printed has C·Σℓ* where only 2C·Σℓ* holds, and theorem 3 a factor 1 + 1/(2C) that must be 2C, and it holds "
    "for C ≥ ½ only; Σ in the bounds is that before the update. Derivation and counterexamples: docs/second-order.md.",
)


@dataclass
class Task:
    """Rows, and streams of them with the labels 1 and −1."""

    X: Any
    streams: Streams
    bias: bool = True
    n_tried: int | None = None  # streams on which the grid is tried; all where there is no number


def run(sets: Sets, quick: bool, seed: int) -> Report:
    """Everything that the paper reports, and AROW and the diagonal beside it."""
    scores = Table("F1 of both classes, % (table 1)", list(LEARNERS))
    errors = Table("Error, %", list(LEARNERS))
    error_curves, grids = {}, {}
    for title, task in tasks(sets, quick, seed).items():
        found = outcomes(task)
        errors.rows[title] = [Cell(100 * outcome.figures[:, 0]) for outcome in found.values()]
        for place, sign in enumerate("+−", start=1):
            scores.rows[f"{title} {sign}"] = cells(f"{title} {sign}", found, place)
        error_curves[title] = curves({name: outcome.curves for name, outcome in found.items()})
        over_c = {name: 100 * found[name].errors for name in ("PA-II", "PAM-II")}
        grids[title] = lines({name: LEARNERS[name].grid["C"] for name in over_c}, over_c, "C", "error, %", log=True)
    parts: list[Table | Figure | str] = [scores, errors]
    if grids:
        parts.append(panels("Error so far (figures 1 to 3)", error_curves))
        parts.append(panels("Error over C", grids, "On the orders that C was chosen on."))
    findings = [order_of_claim(errors), of_arow(errors), of_diagonal(errors)] if errors.rows else []
    sets.lack("Twitter Sentiment (figure 4)", "was never published.")
    return Report(
        "pam", TITLE, SOURCE, CLAIM, PROTOCOL, parts, findings, DEVIATIONS, missing=sets.missing
    )


def tasks(sets: Sets, quick: bool, seed: int) -> dict[str, Task]:
    """What is learned, of the data sets that are there."""
    n_orders = 3 if quick else N_ORDERS
    found = {}
    if (loaded := sets.load("bupa")) is not None:
        X, streams = loaded[0], against_rest(loaded[1] == "2", n_orders, seed)
        found["BUPA"] = Task(StandardScaler().fit_transform(X), streams, bias=False)
        found["BUPA as it comes"] = Task(X, streams)
    if (loaded := sets.load("crx")) is not None:
        X, streams = loaded[0], against_rest(loaded[1] == "+", n_orders, seed)
        found["CRX"] = Task(X, streams)
        found["CRX standardised"] = Task(StandardScaler().fit_transform(X), streams)
    for title, name in (("USPS", "usps"), ("MNIST", "mnist")) if not quick else ():
        if (loaded := sets.load(name)) is not None:
            random = np.random.default_rng(seed)
            classes = random.permutation(np.unique(loaded[1]))
            streams = [against_sample(loaded[1] == positive, random) for positive in classes]
            found[title] = Task(loaded[0], streams, n_tried=3)
    if not quick and (loaded := sets.load("webkb877")) is not None:
        streams = against_rest(loaded[1] == WEBKB_COURSE, n_orders, seed)
        found["WebKB"] = Task(loaded[0].toarray(), streams, n_tried=5)
    return found


def against_rest(positive: NDArray[np.bool_], n_orders: int, seed: int) -> Streams:
    """A class against all others, in random orders."""
    y = np.where(positive, 1, -1)
    return [(order, y[order]) for order in orders(len(y), n_orders, seed)]


def against_sample(positive: NDArray[np.bool_], random: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[np.int_]]:
    """A class against as many rows of all others, in a random order."""
    inside, outside = np.flatnonzero(positive), np.flatnonzero(~positive)
    others = random.choice(outside, size=min(len(inside), len(outside)), replace=False)
    rows = random.permutation(np.concatenate([inside, others]))
    return rows, np.where(positive[rows], 1, -1)


def outcomes(task: Task) -> dict[str, Outcome]:
    """Each learner at its best."""
    found = {}
    for name, setting in LEARNERS.items():
        setting = Setting(setting.name, setting.grid, {"fit_intercept": task.bias})
        found[name] = best_of_grid(setting, task.X, task.streams, figures, task.n_tried)
    return found


def figures(trace: tt.Trace) -> tuple[float, float, float]:
    """Error, F1 of the positive and of the negative class."""
    return trace.error_rate, trace.f1(1), trace.f1(-1)


def cells(row: str, found: dict[str, Outcome], place: int) -> list[Cell]:
    """A row of table 1; AROW and the diagonal have nothing beside them."""
    published = PUBLISHED.get(row, ())
    beside = [*published, *[(None, 0.0)] * (len(found) - len(published))]
    return [
        Cell.of(100 * outcome.figures[:, place], mean, sd, more_is_better=True)
        for outcome, (mean, sd) in zip(found.values(), beside, strict=True)
    ]


def order_of_claim(errors: Table) -> str:
    """Where the order of the claim appears."""
    means = {name: [cell.mean for cell in row if isinstance(cell, Cell)] for name, row in errors.rows.items()}
    first = {name for name, (pa2, pam2, cw, *_) in means.items() if pam2 < cw < pa2}
    ahead = {name for name, (pa2, pam2, cw, *_) in means.items() if pam2 < min(pa2, cw)} - first
    behind = [name for name in means if name not in first | ahead]
    return (
        f"The claimed order of errors, PAM-II < CW < PA-II, appears on {listed(sorted(first))}; PAM-II leads, but CW is "
        f"behind PA-II, on {listed(sorted(ahead))}; PAM-II does not lead on {listed(behind)}."
    )


def of_arow(errors: Table) -> str:
    """The question that the paper leaves open."""
    apart = {name: cells_of(errors, name)["AROW"] - cells_of(errors, name)["PAM-II"] for name in errors.rows}
    told = ", ".join(f"{name} {difference:+.2f}" for name, difference in apart.items())
    return f"AROW against PAM-II, which the paper leaves open, error in points (below 0: AROW errs less): {told}."


def of_diagonal(errors: Table) -> str:
    """What the diagonal costs."""
    apart = {
        name: cells_of(errors, name)["PAM-II diagonal"] - cells_of(errors, name)["PAM-II"] for name in errors.rows
    }
    told = ", ".join(f"{name} {difference:+.2f}" for name, difference in apart.items())
    return f"The diagonal of Σ against the whole, error in points (below 0: the diagonal errs less): {told}."


def cells_of(table: Table, row: str) -> dict[str, float]:
    """The means of a row by column."""
    cells = zip(table.columns, table.rows[row], strict=True)
    return {name: cell.mean for name, cell in cells if isinstance(cell, Cell)}
