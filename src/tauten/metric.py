"""What a learned metric can do, and how one is learned from pairs; its rules are the learner's own.

A metric is a matrix A ⪰ 0 and a threshold b: rows are at the squared distance (x − x′)ᵀA(x − x′), and similar
where that is at most b. With A = LᵀL it is the plain distance between Lx and Lx′.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length, check_random_state, validate_data

from tauten import parameters
from tauten.io import model_file
from tauten.kernels.cone import MOVES, ROUNDS, B
from tauten.kernels.pairs import PairPlan, PairState, Record
from tauten.kernels.pointers import Rule
from tauten.kernels.state import Floats
from tauten.labels import read_labels
from tauten.neighbours import neighbour_errors
from tauten.pairing import (
    Pairs,
    are_pairs,
    read_pairs,
    read_sides,
    sample_pairs,
    usual_n_pairs,
    usual_n_steps,
)
from tauten.rows import Rows

C_GRID = 10.0 ** np.arange(-4.0, 2.25, 0.5)  # what C="auto" chooses from, the paper's range
MOST_VALIDATED = 2000  # rows on which it looks at neighbours
USUAL_SHARE = 0.75  # of the usual loss, that an adaptive tolerance lets pass
PROGRESS = 0.01  # by which a pass must lower the mean loss


class Metric(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A metric that was learned. Pairs are arrays of shape (n, 2, d), or tuples of two sparse matrices."""

    n_features_in_: int
    components_: Any  # L, with A = LᵀL
    b_: Any  # the threshold of squared distances

    def expected_failed_checks(self) -> dict[str, str]:
        """The checks of scikit-learn's `check_estimator` that do not hold here, with the reason."""
        pairs = "predict, decision_function and partial_fit take pairs, as metric-learn's do, and not rows"
        names = (
            "dict_unchanged", "dtype_object", "estimator_sparse_array", "estimator_sparse_matrix",
            "estimators_dtypes", "estimators_nan_inf", "estimators_pickle", "f_contiguous_array_estimator",
            "fit2d_predict1d", "fit_idempotent", "fit_score_takes_y", "methods_sample_order_invariance",
            "methods_subset_invariance", "n_features_in_after_fitting",
        )  # fmt: skip
        return {f"check_{name}": pairs for name in names}

    def get_mahalanobis_matrix(self) -> Floats:
        """A, symmetric to the last bit and ⪰ 0."""
        L = self._components()
        return np.asarray(L.T @ L)

    def transform(self, X: Any) -> Floats:
        """Rows between which the plain distance is the learned one: XLᵀ."""
        L = self._components()
        return np.asarray(validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64) @ L.T)

    def pair_distance(self, pairs: Any) -> Floats:
        """The distance √((x − x′)ᵀA(x − x′)) of each pair."""
        L = self._components()
        return np.linalg.norm(read_pairs(pairs, self.n_features_in_).differences() @ L.T, axis=1)

    def pair_score(self, pairs: Any) -> Floats:
        """How similar each pair is: its distance, negative."""
        return -self.pair_distance(pairs)

    def decision_function(self, pairs: Any) -> Floats:
        """By how much the squared distance of each pair is below the threshold: b − d."""
        squares = self.pair_distance(pairs) ** 2
        return np.asarray(self.b_ - squares)

    def predict(self, pairs: Any) -> NDArray[np.int64]:
        """Whether each pair is similar (1: its squared distance is at most b) or not (-1)."""
        return np.where(self.decision_function(pairs) >= 0, 1, -1)

    def effective_dimension(self, tol: float = 1e-3) -> int:
        """How many eigenvalues of A are above `tol` times the largest."""
        values = np.square(self._components()).sum(axis=1)
        return int((values > tol * values.max()).sum())

    @property
    def _n_features_out(self) -> int:
        return len(self._components())

    def _components(self) -> Floats:
        if not self.__sklearn_is_fitted__():
            name = type(self).__name__
            raise NotFittedError(f"This {name} instance is not fitted yet: call fit or partial_fit first.")
        return np.asarray(self.components_)

    def __sklearn_is_fitted__(self) -> bool:
        return "n_features_in_" in self.__dict__

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    @contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        """Put everything back when an error passes; what is learned in place must not fail."""
        kept = dict(self.__dict__)
        try:
            yield
        except Exception:
            self.__dict__.clear()
            self.__dict__.update(kept)
            raise

    def _read_training(
        self, X: Any, y: ArrayLike, n_pairs: int | None, random: np.random.RandomState
    ) -> "Training":
        """Explicit pairs and their sides, or pairs sampled from labelled rows."""
        if y is None:
            name = type(self).__name__
            raise ValueError(f"{name} requires y to be passed, but the target y is None.")
        if are_pairs(X):
            pairs = read_pairs(X)
            self.n_features_in_ = pairs.rows.width
            self.__dict__.pop("feature_names_in_", None)
            return Training(pairs, read_sides(y, len(pairs)), None)
        labels = read_labels(y)
        X = validate_data(
            self, X, reset=True, accept_sparse="csr", dtype=np.float64, order="C", ensure_min_samples=2
        )
        check_consistent_length(X, labels)
        wanted = usual_n_pairs(max(2, len(np.unique(labels)))) if n_pairs is None else n_pairs
        left, right, sides = sample_pairs(labels, wanted, random)
        return Training(Pairs(Rows(X), left, right), sides, labels)


@dataclass
class Training:
    """Pairs, their sides, and, where they were sampled, the labels of all rows."""

    pairs: Pairs
    sides: Floats
    labels: NDArray[Any] | None

    def __len__(self) -> int:
        return len(self.sides)

    def usual_n_steps(self) -> int:
        """How many steps `fit` takes if not told otherwise."""
        return len(self) if self.labels is None else usual_n_steps(len(self.labels), len(self))

    def order(self, random: np.random.RandomState) -> NDArray[np.int64]:
        """The order of a pass: as given, or for sampled pairs a new one each time."""
        return np.arange(len(self)) if self.labels is None else random.permutation(len(self))


class OnlineMetric(Metric):
    """A metric that takes pairs one after another. M and b are what its steps move; A and b_ are read from
    them, under the constraints.
    """

    C: float | str
    psd: str | int
    tolerance: float | str
    init: Any
    sparsity: float
    n_pairs: int | None
    epochs: int | None
    patience: int | None
    random_state: int | np.random.RandomState | None

    state_: PairState
    C_: float  # C, or what was chosen
    n_passes_: int  # passes over the pairs that `fit` began

    _kept: ClassVar[tuple[str, ...]] = ("n_features_in_", "feature_names_in_", "C_", "n_passes_")

    @property
    def loss(self) -> Rule:
        """The signed loss, given the score b − d, the side of the pair and the margin 1."""
        raise NotImplementedError

    @property
    def step(self) -> Rule:
        """How far to move, given the loss, 1 + ‖v‖⁴ and C."""
        raise NotImplementedError

    @property
    def soft(self) -> bool:
        """Whether slack is allowed, at the price C."""
        raise NotImplementedError

    @property
    def t_(self) -> int:
        """Rounds: pairs learned."""
        return int(self._learned().memory[ROUNDS])

    @property
    def n_updates_(self) -> int:
        """Pairs at which the metric moved."""
        return int(self._learned().memory[MOVES])

    @property
    def b_(self) -> float:
        """The threshold of squared distances, at least 1 once anything was learned."""
        memory = self._learned().memory
        return float(max(memory[B], 1.0) if memory[MOVES] else memory[B])

    @property
    def components_(self) -> Floats:
        """L, with A = LᵀL: a row for each eigenvalue that is not 0, the largest first; one row at least."""
        state = self._learned()
        key = state.memory[MOVES], self.sparsity
        if state.read is None or state.read[0] != key:
            state.read = key, _roots(state.M, self.sparsity)
        return state.read[1].copy()

    def _learned(self) -> PairState:
        if "state_" not in self.__dict__:
            name = type(self).__name__
            raise AttributeError(f"{name} has learned nothing yet: call fit or partial_fit first.")
        return self.state_

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learn from the start: from pairs and whether they are similar (1) or not (-1), in order; or from
        rows and their labels, by pairs sampled from them.
        """
        for _ in self.fit_recorded(X, y):
            pass
        return self

    def fit_recorded(
        self, X: Any, y: ArrayLike, stops: Sequence[int] = ()
    ) -> Iterator[tuple[Record, Floats]]:
        """The same, by and by: after each pass, and after each number of pairs in `stops`, what happened
        since and the sides of those pairs.
        """
        with self._unchanged_on_error():
            parameters.check(self)
            random = check_random_state(self.random_state)
            training = self._read_training(X, y, self.n_pairs, random)
            self.C_ = self._choose(training, random) if self.C == "auto" else float(self.C)
            self.state_, self.n_passes_ = self._new_state(), 0
        left = training.usual_n_steps() if self.epochs is None else self.epochs * len(training)
        best, idle, done = np.inf, 0, 0
        while left > 0 and idle != self.patience:
            order = training.order(random)[:left]
            self.n_passes_ += 1
            total = 0.0
            within = [stop - done for stop in stops if 0 < stop - done < len(order)]
            for part in np.split(order, within):
                sides = training.sides[part]
                record = self._learn(training.pairs.take(part), sides)
                total += float(record.losses.sum())
                yield record, sides
            left, done = left - len(order), done + len(order)
            idle = 0 if total / len(order) < (1.0 - PROGRESS) * best else idle + 1
            best = min(best, total / len(order))

    def partial_fit(self, pairs: Any, y: ArrayLike) -> Self:
        """Learn pairs once, in order, exactly as `learn_one` on each would."""
        with self._unchanged_on_error():
            parameters.check(self)
            known = self.n_features_in_ if "state_" in self.__dict__ else None
            read = read_pairs(pairs, known)
            sides = read_sides(y, len(read))
            if self.C == "auto" and "C_" not in self.__dict__:
                raise ValueError(
                    f"{type(self).__name__}: C='auto' is chosen by fit; expected a number for partial_fit."
                )
            if self.C != "auto":
                self.C_ = float(self.C)
            if known is None:
                self.n_features_in_ = read.rows.width
                self.state_ = self._new_state()
            elif self.state_.every != self._every:
                raise ValueError(f"{type(self).__name__}: psd was changed after learning began; fit anew.")
            self._learn(read, sides)
        return self

    def learn_one(self, pair: Any, y: int) -> Self:
        """Learn one pair of rows (x, x′), y = 1 for similar, -1 for dissimilar."""
        if np.shape(pair)[:1] != (2,) and not (isinstance(pair, tuple | list) and len(pair) == 2):
            raise ValueError("learn_one expected a pair of two rows.")
        if any(sp.issparse(row) for row in pair):
            return self.partial_fit(tuple(sp.csr_matrix(row) for row in pair), [y])
        return self.partial_fit([[np.asarray(row) for row in pair]], [y])

    @property
    def _every(self) -> float:
        return {"always": 1.0, "end": np.inf}.get(str(self.psd)) or float(self.psd)

    def _new_state(self) -> PairState:
        d = self.n_features_in_
        if isinstance(self.init, str):
            return PairState(np.zeros((d, d)) if self.init == "zero" else np.eye(d), self._every)
        M = np.asarray(self.init, dtype=np.float64)
        if M.shape != (d, d) or not np.isfinite(M).all() or np.abs(M - M.T).max() > 1e-9 * np.abs(M).max():
            raise ValueError(f"init has shape {M.shape}; expected a finite symmetric matrix of {d} rows.")
        M = (M + M.T) / 2
        values = eigh(M, eigvals_only=True)
        if values[0] < -1e-9 * abs(values).max():
            raise ValueError(f"init has the eigenvalue {values[0]:g}; expected none below 0.")
        return PairState(M, self._every)

    def _plan(self) -> PairPlan:
        adaptive = self.tolerance == "adaptive"
        tolerance, least = (0.0, USUAL_SHARE) if adaptive else (float(self.tolerance), 0.0)
        return PairPlan(self.C_, tolerance, least, self.loss.handle, self.step.handle)

    def _learn(self, pairs: Pairs, sides: Floats) -> Record:
        return self.state_.learn(pairs.block(), pairs.left, pairs.right, sides, self._plan())

    def _choose(self, training: Training, random: np.random.RandomState) -> float:
        """The C of the grid that serves best in one pass over the pairs: by the neighbours that the metric
        gives the labelled rows, each left out in its turn; of equals, and without labels, by the mean loss.
        """
        if not self.soft:
            return 1.0
        order = training.order(random)
        pairs, sides = training.pairs.take(order), training.sides[order]
        labels = training.labels
        some = np.arange(0) if labels is None else random.permutation(len(labels))[:MOST_VALIDATED]
        trials = []
        for C in C_GRID.tolist():
            self.C_, self.state_ = C, self._new_state()
            loss = float(self._learn(pairs, sides).losses.mean())
            error = 0.0
            if labels is not None:
                moved = np.asarray(pairs.rows.X[some] @ self.components_.T)
                error = float(neighbour_errors(moved, labels[some]).min())
            trials.append((error, loss, C))
        return min(trials)[2]

    def save(self, path: str | PathLike[str]) -> None:
        """Write the metric to one file, without pickle; loaded, it learns on as if it had never stopped."""
        self._components()
        learned = {name: self.__dict__[name] for name in self._kept if name in self.__dict__}
        header = {
            "class": type(self).__name__,
            "parameters": model_file.encode(self.get_params(deep=False)),
            "learned": model_file.encode(learned),
        }
        model_file.write(path, header, self.state_.arrays())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a metric of this class from a file that `save` wrote."""
        return cls.from_file(path, *model_file.read(path))

    @classmethod
    def from_file(
        cls, path: str | PathLike[str], header: dict[str, Any], arrays: Mapping[str, Floats]
    ) -> Self:
        """The metric that was read from a model file, where all of it fits together."""
        with model_file.readable(path):
            if header["class"] != cls.__name__:
                raise ValueError(f"it holds a {header['class']}, expected a {cls.__name__}")
            metric = cls(**model_file.decode(header["parameters"]))
            parameters.check(metric)
            learned = model_file.decode(header["learned"])
            if not {"n_features_in_", "C_"} <= set(learned) <= set(cls._kept):
                raise ValueError(f"it holds the entries {sorted(learned)}, expected {sorted(cls._kept)}")
            metric.__dict__.update(learned)
            metric.state_ = PairState.restore(arrays, metric._every)
            names = learned.get("feature_names_in_", ())
            d = len(metric.state_.M)
            if learned["n_features_in_"] != d or len(names) not in (0, d) or not learned["C_"] > 0:
                raise ValueError(f"a metric of {d} features does not fit what is known of them")
        return metric


def _roots(M: Floats, sparsity: float) -> Floats:
    """L of the A ⪰ 0 that minimises ½‖A − M‖² + sparsity·λ₁·tr A, λ₁ being M's largest eigenvalue."""
    values, vectors = eigh(M, lower=True)
    values, vectors = values[::-1], vectors[:, ::-1]
    rounding = len(M) * np.finfo(float).eps * np.abs(values).max()
    values = np.where(values > rounding, np.maximum(values - sparsity * values[0], 0.0), 0.0)
    n_kept = max(1, int((values > 0).sum()))
    L = (vectors[:, :n_kept] * np.sqrt(values[:n_kept])).T
    return np.ascontiguousarray(L * np.sign(L[np.arange(n_kept), np.abs(L).argmax(axis=1)])[:, None])
