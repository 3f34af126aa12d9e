"""What a learner costs an example, and how it errs on several kinds of streams: tables of docs/choosing.md.

python bench/choosing.py [DATA]

Costs: µs an example to learn in batches, and to predict, best of five rounds in turn, one thread; rows of 75
non-zeros in 50,000 columns, and dense rows of 100 and of 300 numbers, a tenth of the labels wrong. A learner
that is not made for such rows has no figure.

Errors, where DATA is given: % of mistakes in one pass, each row predicted before it is learned; on w7a, where
3 % are positive, 100 less the mean of sensitivity and specificity. C (for AROW r) is the best of five values.
elec2, sea and the spam come in the order of their stream, all others in one random order.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.preprocessing import StandardScaler, normalize
from speed import best_of, sparse_rows
from threadpoolctl import threadpool_limits

import tauten as tt
from tauten.papers.paa_sets import Words
from tauten.papers.pamo import xor_stream
from tauten.papers.sets import Rows, Sets

GRID = [2.0**power for power in (-10, -7, -4, -1, 2)]
N_COVTYPE = 50_000
TOO_WIDE = 400  # columns for a full matrix or for many planes in a table that should not take all day


@dataclass(frozen=True)
class Contender:
    """A learner, the parameter whose best value is taken, and whether wide rows are too dear for it."""

    name: str
    parameter: str | None = "C"
    heavy: bool = False
    options: tuple[tuple[str, Any], ...] = ()

    def make(self, **parameters: Any) -> Any:
        """A fresh one."""
        return tt.make(self.name, **dict(self.options), **parameters)

    def tried(self) -> list[Any]:
        """One for each value of its parameter."""
        return [self.make()] if self.parameter is None else [self.make(**{self.parameter: C}) for C in GRID]


CONTENDERS = {
    "Perceptron": Contender("perceptron", None),
    "PA-I": Contender("pa1"),
    "PA-I, averaged": Contender("pa1", options=(("average", True),)),
    "PAm-1": Contender("pamean1", options=(("gamma", 1e-6), ("anchor_scale", 1e5))),
    "cost-sensitive PA-I": Contender("cspa", options=(("rho", "balanced"),)),
    "AROW, diagonal": Contender("arow-diag", "r"),
    "PAM-II, diagonal": Contender("pam2-diag"),
    "SCW-I, diagonal": Contender("scw1-diag"),
    "AROW": Contender("arow", "r", heavy=True),
    "PAM-II": Contender("pam2", heavy=True),
    "PAMO-I, 64 × 2": Contender("pamo1", None, heavy=True),
    "PAMO-I, standardize": Contender("pamo1", None, heavy=True, options=(("standardize", True),)),
}


def dense_rows(d: int) -> Rows:
    """Rows that a plane separates but for a tenth of the labels."""
    random = np.random.default_rng(d)
    X = random.standard_normal((5_000, d))
    y = (X @ random.standard_normal(d) > 0) ^ (random.random(len(X)) < 0.1)
    return X, y.astype(int)


def cost(contender: Contender, rows: Rows) -> tuple[str, str]:
    """µs an example, learning and predicting."""
    X, y = rows
    if contender.heavy and X.shape[1] > TOO_WIDE:
        return "–", "–"
    trained = contender.make().fit(X, y)
    with threadpool_limits(1):
        learning, predicting = best_of(lambda: contender.make().fit(X, y), partial(trained.predict, X))
    return f"{1e6 * learning / len(y):.2f}", f"{1e6 * predicting / len(y):.2f}"


def costs() -> Table:
    """A line a learner."""
    table = Table(title="µs an example, one thread")
    X, y = sparse_rows()
    forms = {
        "sparse, 75 non-zeros": (X[:20_000], y[:20_000]),
        "100 numbers": dense_rows(100),
        "300 numbers": dense_rows(300),
    }
    for heading in ("learner", *(f"{form}: {what}" for form in forms for what in ("learn", "predict"))):
        table.add_column(heading, justify="left" if heading == "learner" else "right")
    for name, contender in CONTENDERS.items():
        table.add_row(name, *(figure for rows in forms.values() for figure in cost(contender, rows)))
    return table


def shuffled(rows: Rows) -> Rows:
    """Rows in one random order."""
    order = np.random.default_rng(0).permutation(len(rows[1]))
    return rows[0][order], rows[1][order]


def covtype(sets: Sets, scaled: bool) -> Rows | None:
    """Cover type 2 against the rest."""
    loaded = sets.load("covtype")
    if loaded is None:
        return None
    X, y = shuffled(loaded)
    X = X[:N_COVTYPE]
    return StandardScaler().fit_transform(X) if scaled else X, y[:N_COVTYPE] == "2"


def words(sets: Sets) -> Rows | None:
    """Newsgroups on computers against those on recreation."""
    loaded = Words("20newsgroups", "comp.", "rec.")(sets)
    return None if loaded is None else shuffled(loaded)


def plain(
    sets: Sets,
    name: str,
    n_features: int | None,
    mixed: bool = False,
    unit: bool = False,
    scaled: bool = False,
) -> Rows | None:
    """A data set as it lies there, in random order or with rows of one length, or features of one scale."""
    loaded = sets.load(name, n_features)
    if loaded is None:
        return None
    X, y = shuffled(loaded) if mixed else loaded
    X = StandardScaler().fit_transform(X) if scaled else X
    return (normalize(X) if unit else X), y


STREAMS: dict[str, Callable[[Sets], Rows | None]] = {
    "text: 20 newsgroups": words,
    "badly scaled: covtype": partial(covtype, scaled=False),
    "the same standardised": partial(covtype, scaled=True),
    "one-hot: a9a": partial(plain, name="a9a", n_features=123, mixed=True),
    "rare: w7a, balanced": partial(plain, name="w7a", n_features=300, mixed=True),
    "drift: elec2": partial(plain, name="elec2", n_features=None, scaled=True),
    "drift: sea": partial(plain, name="sea", n_features=None),
    "drift: spam": partial(plain, name="spamassassin_stream", n_features=39916, unit=True),
    "drift: turning XOR": lambda sets: xor_stream(0),
}


def errors(sets: Sets) -> Table:
    """A line a learner, a column a stream."""
    streams = {title: rows for title, read in STREAMS.items() if (rows := read(sets)) is not None}
    table = Table(title="mistakes, %")
    for heading in ("learner", *streams):
        table.add_column(heading, justify="left" if heading == "learner" else "right")
    for name, contender in CONTENDERS.items():
        cells = []
        for title, (X, y) in streams.items():
            if contender.heavy and X.shape[1] > TOO_WIDE:
                cells.append("–")
                continue
            traces = (tt.progressive(model, X, y) for model in contender.tried())
            cells.append(f"{min(mistakes(trace, 'balanced' in title) for trace in traces):.1f}")
        table.add_row(name, *cells)
    return table


def mistakes(trace: tt.Trace, balanced: bool) -> float:
    """In %."""
    return 100 * (1 - trace.balanced_accuracy if balanced else trace.error_rate)


def main() -> None:
    """Print the tables."""
    console = Console(width=200)
    console.print(costs())
    if len(sys.argv) > 1:
        console.print(errors(Sets(Path(sys.argv[1]))))


if __name__ == "__main__":
    main()
