"""Tables of the active PA paper: F-measure at 10 % and 20 % of the labels asked, and CSPAA's weighted sum.

python bench/published_paa.py DATA [NAME ...]

DATA is the folder with the public data sets. A constant feature is added and every row scaled to length 1
(svmguide1 and covtype are standardised before). For each algorithm and C the setting of its rule is found
that asks for the share wanted, C is taken with the best mean F over five orders, and the table shows mean ±
sd over twenty others. With more than two classes the figure is the accuracy, and the names are those of the
paper's MRPE, MPEA, MRPA, MPAA. CSPAA: C = ρ = T₋/T₊ as in the paper, five orders, at 1 to 20 % of the labels.
"""

import gzip
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from rich.console import Console
from rich.table import Table
from sklearn.base import clone
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import StandardScaler, normalize

import tauten as tt
from tauten.sweeping import in_threads

RATES = (0.1, 0.2)
COST_RATES = (0.01, 0.02, 0.05, 0.1, 0.2)
GRID = 2.0 ** np.arange(-9, 4)
ALGORITHMS = ("pea", "sel-ada", "sel-2nd", "rpe", "rpa", "rpa1", "rpa2", "paa", "paa1", "paa2")
OURS = {"pa1, budget": tt.BudgetAsk, "pam2, margin": tt.MarginAsk}  # what the paper does not have
EVERY = ("perceptron", "pa1", "pa2", "cw-diag")  # what learns all labels
WIDE = 1000  # features beyond which Σ of sel-2nd is its diagonal
TUNED, ORDERS = range(100, 105), range(20)
PUBLISHED = {
    ("a8a", 0.1): (0.572, 0.568, 0.569, 0.510, 0.512, 0.606, 0.603, 0.571, 0.621, 0.623),
    ("a8a", 0.2): (0.567, 0.565, 0.574, 0.514, 0.516, 0.608, 0.606, 0.566, 0.626, 0.628),
}

Data = tuple[sp.csr_matrix, np.ndarray]


def svmlight(folder: Path, name: str, width: int) -> Data:
    """The training rows of a data set in svmlight form."""
    X, y = load_svmlight_file(str(folder / name / "train.svm.gz"), n_features=width)
    return X, y > 0


def phishing(folder: Path) -> Data:
    """Phishing web sites, values one-hot coded as LIBSVM has them."""
    frame = pd.read_csv(folder / "phishing_websites" / "data.csv.gz")
    rows = pd.get_dummies(frame.iloc[:, :-1].astype(str), dtype=float)
    return sp.csr_matrix(rows.to_numpy()), (frame.iloc[:, -1] > 0).to_numpy()


def newsgroups(folder: Path) -> Data:
    """Computers against recreation."""
    with gzip.open(folder / "20newsgroups" / "train.tsv.gz", "rt") as file:
        parts = [line.rstrip("\n").split("\t", 1) for line in file][1:]
    chosen = [(label, text) for label, text in parts if label.startswith(("comp.", "rec."))]
    labels, texts = zip(*chosen, strict=True)
    X = CountVectorizer(dtype=np.float64).fit_transform(texts)
    return X, np.array([label.startswith("comp.") for label in labels])


def svmguide1(folder: Path) -> Data:
    """Astroparticle data, standardised."""
    X, y = svmlight(folder, "svmguide1", 4)
    return sp.csr_matrix(StandardScaler().fit_transform(X.toarray())), y


def usps(folder: Path) -> Data:
    """Ten digits."""
    frame = pd.read_csv(folder / "usps" / "train.csv.gz")
    return sp.csr_matrix(frame.iloc[:, :-1].to_numpy(dtype=float)), frame.iloc[:, -1].to_numpy()


def letter(folder: Path) -> Data:
    """Twenty-six letters."""
    return load_svmlight_file(str(folder / "letter" / "train.svm.gz"), n_features=16)


SETS: dict[str, Callable[[Path], Data]] = {
    "a8a": lambda folder: svmlight(folder, "a8a", 123),
    "svmguide1": svmguide1,
    "a9a": lambda folder: svmlight(folder, "a9a", 123),
    "w7a": lambda folder: svmlight(folder, "w7a", 300),
    "phishing_websites": phishing,
    "20newsgroups": newsgroups,
    "usps": usps,
    "letter": letter,
}


def covtype(folder: Path) -> Data:
    """Forest cover, class 4 against the rest, standardised."""
    frame = pd.read_csv(folder / "covtype" / "data.csv.gz")
    rows = StandardScaler().fit_transform(frame.iloc[:, :-1].to_numpy(dtype=float))
    return rows, (frame.iloc[:, -1] == 4).to_numpy()


RARE = {"w7a": SETS["w7a"], "covtype": covtype}


def unit(X: Any) -> Any:
    """Rows with a constant feature, of length 1."""
    one = np.ones((X.shape[0], 1))
    return normalize(sp.hstack([X, one]).tocsr() if sp.issparse(X) else np.hstack([X, one]))


def base_of(algorithm: str) -> str:
    """The registry name that an algorithm starts with."""
    return algorithm.partition(",")[0]


def make(algorithm: str, width: int = 0, **parameters: Any) -> Any:
    """A learner without a bias of its own."""
    if width > WIDE and algorithm in ("sel-2nd", "pam2"):
        parameters["covariance"] = "diag"
    if algorithm in OURS:
        return tt.ActiveClassifier(make(base_of(algorithm), width, **parameters), OURS[algorithm]())
    return tt.make(algorithm, fit_intercept=False, **parameters)


def scores(active: Any, X: sp.csr_matrix, y: np.ndarray, seeds: range) -> np.ndarray:
    """F, of many classes the accuracy, and the share asked, a row an order."""

    def run(seed: int) -> tuple[float, float]:
        order = np.random.default_rng(seed).permutation(len(y))
        model = clone(active).set_params(random_state=seed)
        trace = tt.progressive(model, X[order], y[order])
        return trace.f1(True) if y.dtype == bool else trace.accuracy, trace.share_asked

    return np.array(in_threads(run, ((seed,) for seed in seeds), 1))


def best(algorithm: str, X: sp.csr_matrix, y: np.ndarray, rate: float) -> tuple[float | None, np.ndarray]:
    """The best C, where there is one, and F and share asked of the orders that were not tuned on."""
    order = np.random.default_rng(99).permutation(len(y))
    name = base_of(algorithm)
    grid = GRID[:: 2 if name == "pam2" else 1].tolist() if name[-1] in "12" else [None]

    def tune(C: float | None) -> tuple[float, Any]:
        active = make(algorithm, X.shape[1], **({} if C is None else {"C": C}))
        if isinstance(active, tt.ActiveClassifier):
            active = tt.at_rate(active, None, X[order], y[order], rate)
        return scores(active, X, y, TUNED)[:, 0].mean(), active

    found = [tune(C) for C in grid]
    place = int(np.argmax([figure for figure, _ in found]))
    return grid[place], scores(found[place][1], X, y, ORDERS)


def cost_table(name: str, X: Any, y: np.ndarray) -> Table:
    """Half sensitivity, half specificity, with one label in a hundred to one in five, and with all."""
    rho = float((~y).sum() / y.sum())
    costly = {"C": rho, "rho": rho}
    askers = {
        "LEPE": make("pea"),
        "CSRND": make("csrnd", **costly),
        "CSPAA": make("cspaa", **costly),
        "CSPAA(a)": tt.ActiveClassifier(make("cspa", **costly), tt.DecayingAsk()),
    }
    table = Table(title=f"{name}: {len(y):,} rows, {y.sum():,} positive, sum over five orders")
    for heading in ("algorithm", *(f"{rate:.0%}" for rate in COST_RATES), "all"):
        table.add_column(heading, justify="right", no_wrap=True)

    def figures(learner: Any, rate: float | None) -> str:
        found = []
        for seed in range(5):
            order = np.random.default_rng(seed).permutation(len(y))
            rows, labels = X[order], y[order]
            model = learner if rate is None else tt.at_rate(learner, None, rows, labels, rate, seed)
            found.append(tt.progressive(clone(model), rows, labels).weighted_sum())
        return f"{np.mean(found):.3f} ± {np.std(found, ddof=1):.3f}"

    for what, learner in askers.items():
        table.add_row(what, *(figures(learner, rate) for rate in COST_RATES))
    supervised = {"CSPA": ("cspa", costly), "CPA": ("cpa", {"C": rho, "rho": {True: rho}})}
    supervised |= {"PAUM": ("paum", {"tau_plus": rho}), "PE": ("perceptron", {}), "PA": ("pa1", {})}
    for what, (base, parameters) in supervised.items():
        table.add_row(what, *([""] * len(COST_RATES)), figures(make(base, **parameters), None))
    return table


def main() -> None:
    """Print a table for each data set, and for two with a rare class a second one."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    console = Console(width=132)
    folder, chosen = Path(sys.argv[1]), sys.argv[2:]
    for name, read in RARE.items():
        if name in (chosen or RARE):
            X, y = read(folder)
            console.print(cost_table(name, unit(X), y))
    for name in [name for name in SETS if name in (chosen or SETS)]:
        X, y = SETS[name](folder)
        X = unit(X)
        measure = "F" if y.dtype == bool else "acc."
        table = Table(title=f"{name}: {len(y):,} rows, {len(ORDERS)} orders")
        headings = [f"{part} {rate:.0%}" for rate in RATES for part in ("C", "asked", measure, "paper")]
        for heading in ("algorithm", *headings):
            table.add_column(heading, justify="right", no_wrap=True)
        for place, algorithm in enumerate((*ALGORITHMS, *OURS, *EVERY)):
            cells = [algorithm]
            for rate in RATES if algorithm not in EVERY else RATES[:1]:
                C, figures = best(algorithm, X, y, rate)
                published = PUBLISHED.get((name, rate))
                cells += [
                    "" if C is None else f"{C:.3g}",
                    f"{figures[:, 1].mean():.3f}",
                    f"{figures[:, 0].mean():.3f} ± {figures[:, 0].std(ddof=1):.3f}",
                    "" if published is None or place >= len(ALGORITHMS) else f"{published[place]:.3f}",
                ]
            table.add_row(*cells)
        console.print(table)


if __name__ == "__main__":
    main()
