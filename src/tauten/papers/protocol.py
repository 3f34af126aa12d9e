"""What the protocols of the papers share: random orders, one pass each, and a grid of which the best is kept."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tauten as tt
from tauten.sweeping import in_threads

Orders = list[NDArray[np.intp]]
Figures = Callable[[Any], Sequence[float]]  # of a trace


@dataclass
class Setting:
    """A learner by registry name with a grid of one parameter, of which the best value is taken."""

    name: str
    grid: Mapping[str, Sequence[Any]]
    fixed: Mapping[str, Any]

    def points(self) -> list[dict[str, Any]]:
        """All parameters to try."""
        chosen = product(*self.grid.values())
        return [{**self.fixed, **dict(zip(self.grid, values, strict=True))} for values in chosen]


@dataclass
class Outcome:
    """The best point of a grid: what each order came to there, and the error of every point."""

    parameters: dict[str, Any]
    figures: NDArray[np.float64]  # order, figure
    curves: NDArray[np.float64]  # order, row: errors so far
    errors: NDArray[np.float64]  # of each point of the grid, mean over the orders


def setting(name: str, grid: Mapping[str, Sequence[Any]] | None = None, **fixed: Any) -> Setting:
    """A learner and what is tried of it."""
    return Setting(name, grid or {}, fixed)


def orders(n_rows: int, n_orders: int, seed: int) -> Orders:
    """Random orders of rows."""
    random = np.random.default_rng(seed)
    return [random.permutation(n_rows) for _ in range(n_orders)]


def best_of_grid(choice: Setting, X: Any, y: NDArray[Any], some: Orders, figures: Figures) -> Outcome:
    """Run each point of a grid over the same orders; the point with the fewest errors stands."""
    points = choice.points()

    def run(
        point: dict[str, Any], order: NDArray[np.intp]
    ) -> tuple[float, Sequence[float], NDArray[np.float64]]:
        trace = tt.progressive(tt.make(choice.name, **point), X[order], y[order])
        return trace.error_rate, figures(trace), trace.cumulative_error()

    done = in_threads(run, product(points, some), -1)
    errors = np.array([error for error, _, _ in done]).reshape(len(points), len(some)).mean(axis=1)
    best = int(errors.argmin())
    kept = done[best * len(some) : (best + 1) * len(some)]
    return Outcome(
        points[best],
        np.array([values for _, values, _ in kept]),
        np.array([curve for _, _, curve in kept]),
        errors,
    )
