"""ITML (Davis, Kulis, Jain, Sra, Dhillon, ICML 2007) as the package metric-learn has it: the baseline.

    minimise  KL(N(A₀) ‖ N(A)) + γ·KL(ξ ‖ ξ₀)   subject to  d ≤ ξ for similar, d ≥ ξ for dissimilar pairs

Needs metric-learn: pip install 'tauten[metric]'.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from types import ModuleType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_random_state

from tauten import parameters
from tauten.metric import Metric
from tauten.parameters import above, count, is_count, optional


@dataclass(eq=False, repr=False)
class ITMLMetric(Metric):
    """Information-theoretic metric learning, with the surface of PAMetric, on pairs sampled as it samples
    them.

    Parameters
    ----------
    gamma : float, above 0, default 1.0
        How far the wanted distances weigh against those that are found.
    max_iter : int, 1 or above, default 1000
        Passes over the pairs.
    tol : float, above 0, default 1e-3
        Passes end when the multipliers change by less.
    n_pairs : int, optional
        Pairs that `fit` samples from labelled rows; by default 40c(c − 1) for c classes.
    random_state : int, RandomState or None, default None
        The seed of the pairs.
    """

    gamma: float = above(0, default=1.0)
    max_iter: int = count(1, default=1000)
    tol: float = above(0, default=1e-3)
    n_pairs: int | None = optional("a whole number, 1 or above", lambda n: is_count(n) and n >= 1)
    random_state: int | np.random.RandomState | None = optional("a seed or a RandomState", parameters.is_seed)  # noqa: RUF009  a field

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learn from pairs and whether they are similar (1) or not (-1), or from rows and their labels."""
        with self._unchanged_on_error():
            parameters.check(self)
            package = metric_learn()
            random = check_random_state(self.random_state)
            training = self._read_training(X, y, self.n_pairs, random)
            X = training.pairs.rows.X
            X = X.toarray() if training.pairs.rows.sparse else X
            apart = np.any(X[training.pairs.left] != X[training.pairs.right], axis=1)  # it divides by d
            pairs = np.stack([X[training.pairs.left[apart]], X[training.pairs.right[apart]]], axis=1)
            model = package.ITML(gamma=self.gamma, max_iter=self.max_iter, tol=self.tol)
            model.fit(pairs, training.sides[apart].astype(np.int64))
            self.components_ = model.components_
            self.b_ = float(model.threshold_) ** 2
            self.n_iter_ = int(model.n_iter_)
        return self


def metric_learn() -> ModuleType:
    """The package, made to work with a scikit-learn of today."""
    try:
        import metric_learn as package
    except ImportError as error:
        raise ImportError(
            f"ITML needs metric-learn, pip install 'tauten[metric]'; importing it says: {error}."
        ) from error
    package.base_metric.stable_cumsum = np.cumsum  # scikit-learn 1.8 is dropping it
    for name in ("check_array", "check_X_y"):
        check = getattr(package._util, name)
        if not hasattr(check, "adapted"):
            setattr(package._util, name, _renamed(check))
    return package


def _renamed(check: Callable[..., Any]) -> Callable[..., Any]:
    """scikit-learn 1.6 renamed the option `force_all_finite`, by which metric-learn 0.7 still calls it."""

    @wraps(check)
    def call(*args: Any, **options: Any) -> Any:
        if "force_all_finite" in options:
            options["ensure_all_finite"] = options.pop("force_all_finite")
        return check(*args, **options)

    call.adapted = True  # type: ignore[attr-defined]
    return call
