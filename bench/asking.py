"""What asking costs: a pass with MarginAsk against a pass of the same learner without it.

Method: as in speed.py, the contenders take turns and the best round of each stands. Rows are in memory, in
two classes with noise; times are of one thread. δ is set so that about a tenth, or a half, of the labels is
asked. With few questions there are fewer moves, so a pass may take less time than without asking; with
AlwaysAsk every label is asked, so that what is added is the cost of asking alone. Jobs:

    dense      50,000 rows of 100 numbers, PA-I
    sparse     50,000 rows of 75 non-zeros in 50,000 columns, PA-I
    PAM        2,000 rows of 100 numbers, PAM-II with the whole of Σ
    PAM, diag  50,000 rows of 100 numbers, PAM-II with the diagonal
    ask_one    `ask_one` on each of 5,000 dense rows, and `learn_one` where it says yes, against `learn_one`
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.table import Table
from sklearn.base import clone
from speed import ROUNDS, best_of
from threadpoolctl import threadpool_limits

import tauten as tt

SHARES = (0.1, 0.5)


def one_pass(models: Iterator[Any], X: Any, y: np.ndarray) -> None:
    """The next fresh model's pass over the rows."""
    next(models).partial_fit(X, y, classes=[False, True])


def one_by_one(models: Iterator[Any], X: np.ndarray, y: np.ndarray) -> None:
    """The same row by row."""
    model = next(models)
    ask = getattr(model, "ask_one", lambda x: True)
    for x, label in zip(X, y.tolist(), strict=True):
        if ask(x):
            model.learn_one(x, label)


def labels(X: Any, random: np.random.Generator) -> np.ndarray:
    """What a plane says of the rows, one in ten at random."""
    scores = X @ random.standard_normal(X.shape[1])
    return np.where(random.random(len(scores)) < 0.1, random.random(len(scores)) < 0.5, scores > 0)


def main() -> None:
    """Print the ratios."""
    random = np.random.default_rng(0)
    dense = random.standard_normal((50_000, 100))
    columns = np.sort(random.integers(50_000, size=(50_000, 75)), axis=1).ravel()
    parts = random.standard_normal(len(columns)), columns, np.arange(0, len(columns) + 1, 75)
    sparse = sp.csr_matrix(parts, shape=(50_000, 50_000))
    sparse.sum_duplicates()
    pam = tt.MahalanobisPAClassifier(variant="II")
    jobs: dict[str, tuple[Callable[..., None], Any, Any]] = {
        "dense": (one_pass, tt.PAClassifier(), dense),
        "sparse": (one_pass, tt.PAClassifier(), sparse),
        "PAM": (one_pass, pam, dense[:2000]),
        "PAM, diag": (one_pass, clone(pam).set_params(covariance="diag"), dense),
        "ask_one": (one_by_one, tt.PAClassifier(), dense[:5000]),
    }
    table = Table("job", "without, ms", *(f"{share:.0%} asked" for share in SHARES), "all asked")
    for name, (job, learner, X) in jobs.items():
        y = labels(X, random)
        rules = [tt.at_rate(learner, tt.MarginAsk(), X, y, rate=share) for share in SHARES]
        rules.append(tt.ActiveClassifier(learner, tt.AlwaysAsk(), random_state=0))
        fresh = [[clone(model) for _ in range(ROUNDS + 1)] for model in (learner, *rules)]
        alone, *asking = best_of(*(partial(job, iter(models), X, y) for models in fresh))
        table.add_row(name, f"{1e3 * alone:.2f}", *(f"× {time / alone:.2f}" for time in asking))
    Console(width=100).print(table)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
