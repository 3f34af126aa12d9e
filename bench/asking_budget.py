"""How closely BudgetAsk holds its rate: real streams in their own order, and one that turns around.

python bench/asking_budget.py DATA

DATA is the folder with the public data sets; the text messages come with the package. `turn` is 20,000 rows
of 20 numbers, two classes by a plane; in the middle the classes change sides and all numbers grow tenfold.
For each stream and rate: the share asked in the end, the furthest that the labels asked ever were from
rate·rows, the least and the largest share in any 1,000 rows on end, and the error rate. Beside it MarginAsk
with the δ that asks the rate of the first 2,000 rows, and asking at random. PA-I, C = 0.1, seed 0.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import StandardScaler

import tauten as tt
from tauten.data import sms_spam, words

FIRST, WINDOW = 2000, 1000
Data = tuple[Any, np.ndarray]


def elec2(folder: Path) -> Data:
    """Prices of electricity, standardised by the first rows; time of the year aside, which only grows."""
    frame = pd.read_csv(folder / "elec2" / "data.csv.gz")
    rows = frame.iloc[:, 1:-1].to_numpy(dtype=float)
    kept = rows[:FIRST].std(axis=0) > 0
    return StandardScaler().fit(rows[:FIRST, kept]).transform(rows[:, kept]), frame.iloc[:, -1].to_numpy()


def spam(folder: Path) -> Data:
    """Mails as bags of words."""
    X, y = load_svmlight_file(str(folder / "spamassassin_stream" / "data.svm.gz"))
    return X, y


def sms(folder: Path) -> Data:
    """Text messages as bags of words."""
    texts, labels = sms_spam()
    return [words(text) for text in texts], np.array(labels)


def turn(folder: Path) -> Data:
    """A plane that turns around in the middle, while all numbers grow tenfold."""
    random = np.random.default_rng(0)
    X = random.standard_normal((20_000, 20))
    y = X @ random.standard_normal(20) > 0
    y[10_000:] ^= True
    X[10_000:] *= 10.0
    return X, y


STREAMS = {"elec2": elec2, "spamassassin": spam, "text messages": sms, "turn": turn}


def figures(ask: tt.AskRule, X: Any, y: np.ndarray, rate: float) -> dict[str, float]:
    """What a rule asked over a stream."""
    active = tt.ActiveClassifier(tt.PAClassifier(C=0.1), ask, random_state=0)
    trace = tt.progressive(active, X, y)
    asked = np.concatenate([[0], np.cumsum(trace.asked)])
    shares = (asked[WINDOW:] - asked[:-WINDOW]) / WINDOW
    apart = np.abs(asked - rate * np.arange(len(asked))).max()
    return {
        "share": trace.share_asked,
        "apart": float(apart),
        "least": float(shares.min()),
        "most": float(shares.max()),
        "error": trace.error_rate,
    }


def main() -> None:
    """Print a row a stream and rate."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    table = Table("stream", "rows", "rate", "asks", "asked", "apart", "in 1,000 rows", "error rate")
    for name, read in STREAMS.items():
        X, y = read(Path(sys.argv[1]))
        for rate in (0.02, 0.1, 0.2):
            tuned = tt.at_rate(tt.PAClassifier(C=0.1), tt.MarginAsk(), X[:FIRST], y[:FIRST], rate).ask
            rules = {"budget": tt.BudgetAsk(rate), "margin": tuned, "random": tt.RandomAsk(rate)}
            for what, rule in rules.items():
                f = figures(rule, X, y, rate)
                shares = f"{f['least']:.3f} to {f['most']:.3f}"
                cells = (f"{f['share']:.4f}", f"{f['apart']:.0f}", shares, f"{f['error']:.4f}")
                table.add_row(name, f"{len(y):,}", f"{rate:g}", what, *cells)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
