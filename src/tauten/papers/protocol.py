"""What the protocols of the papers share: random orders, a pass over each, a grid of which the best stays."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tauten as tt
from tauten.sweeping import in_threads

ALL_CORES = -1

Orders = list[NDArray[np.intp]]
Streams = list[tuple[NDArray[np.intp], NDArray[Any]]]  # rows of a data set in an order, and their labels
Figures = Callable[[tt.Trace], Sequence[float]]


@dataclass(frozen=True)
class Setting:
    """A learner by registry name, what is fixed of it, and a grid of which the best is taken."""

    name: str
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def points(self) -> list[dict[str, Any]]:
        """All parameters to try."""
        chosen = product(*self.grid.values())
        return [{**self.fixed, **dict(zip(self.grid, values, strict=True))} for values in chosen]


@dataclass
class Outcome:
    """The best point of a grid: what each order came to there, and the error of every point."""

    parameters: dict[str, Any]
    figures: NDArray[np.float64]  # order, figure
    curves: NDArray[np.float64]  # order, row: error rate so far, up to the end of the shortest
    errors: NDArray[np.float64]  # of each point of the grid, mean over the orders it was tried on


def orders(n_rows: int, n_orders: int, seed: int) -> Orders:
    """Random orders of rows."""
    random = np.random.default_rng(seed)
    return [random.permutation(n_rows) for _ in range(n_orders)]


def best_of_grid(
    setting: Setting, X: Any, streams: Streams, figures: Figures, n_tried: int | None = None
) -> Outcome:
    """Try a grid over the first `n_tried` streams; the point with the fewest errors runs over all."""
    points = setting.points()
    n_tried = len(streams) if n_tried is None else min(n_tried, len(streams))

    def run(
        point: dict[str, Any], stream: tuple[Any, Any]
    ) -> tuple[float, Sequence[float], NDArray[np.float64]]:
        order, labels = stream
        trace = tt.progressive(tt.make(setting.name, **point), X[order], labels)
        return trace.error_rate, figures(trace), trace.cumulative_error()

    tried = in_threads(run, list(product(points, streams[:n_tried])), ALL_CORES)
    errors = np.array([error for error, _, _ in tried]).reshape(len(points), n_tried).mean(axis=1)
    best = int(errors.argmin())
    kept = tried[best * n_tried : (best + 1) * n_tried]
    kept += in_threads(run, list(product([points[best]], streams[n_tried:])), ALL_CORES)
    shortest = min(len(curve) for _, _, curve in kept)
    curves = np.array([curve[:shortest] for _, _, curve in kept])
    return Outcome(points[best], np.array([values for _, values, _ in kept]), curves, errors)


def listed(names: Sequence[str]) -> str:
    """Names in a sentence."""
    return ", ".join(names) or "none"
