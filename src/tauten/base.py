"""What every learner can do: learn and predict rows, grow, save, merge. Its rules and its state are the
learner's own.

A learner names a family (its state and compiled loop) and makes the plan of its loop; this file turns
examples into rows, runs the loop over them in blocks, and leaves the model as it was when something is wrong.
"""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_random_state, validate_data

from tauten import parameters
from tauten.kernels.gather import Gatherer
from tauten.kernels.pointers import Rule
from tauten.kernels.state import Dense, Floats, Plan, Sparse
from tauten.learned import Learned
from tauten.parameters import count, optional, switch
from tauten.rows import OpenRows, Rows, by_name, check_dict, dicts_in, hash_dicts, read_dicts
from tauten.stream import (
    Decisions,
    Outcome,
    Progress,
    Record,
    Stream,
    as_weights,
    learn_rows,
    one_row,
    progress_spans,
)


@dataclass
class LoopPlan:
    """What is worked out once from parameters and classes, and the buffers of `learn_one`."""

    loop: Plan
    gather: Gatherer | None  # for dicts
    learn_dict: Callable[..., bool] | None  # gathers and learns in one, where the state has one column
    one: Floats  # the importance of one example
    record: Record  # where what happened to it goes


@dataclass
class Problem:
    """One problem that a step solved: it went from `start` to `end`, and `value` is what it minimised."""

    start: Floats
    end: Floats
    value: Callable[[Floats], float]


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineLearner(Learned):
    """A learner that takes examples one after another; the base of classifiers and regressors."""

    fit_intercept: bool = switch(True)
    epochs: int = count(1, default=1)
    shuffle: bool = switch(False)
    random_state: int | np.random.RandomState | None = optional("a seed or a RandomState", parameters.is_seed)  # noqa: RUF009  a field
    warm_start: bool = switch(False)
    hash_bits: int | None = optional(
        "a whole number from 1 to 30", lambda bits: parameters.is_count(bits) and 1 <= bits <= 30
    )

    coupled: ClassVar[bool] = False  # whether classes compete in one decision, or have one each
    sweepable: ClassVar[frozenset[str]] = frozenset()  # what may differ among models of one pass
    rounding: ClassVar[float] = (
        1e-12  # what another order of a sum may change, relative to the largest number
    )
    _written: ClassVar[tuple[str, ...]] = ("state_",)  # what learning changes in place

    @property
    def moves_two_classes(self) -> bool:
        """Whether a move of many classes is one of the right class and the best wrong one."""
        return self.coupled

    @property
    def knows_columns(self) -> bool:
        """Whether something is drawn for each column, so that the order of the features matters."""
        return False

    @property
    def takes_weights(self) -> bool:
        """Whether there is a C for example weights to scale."""
        return True

    def unweighable(self) -> str:
        """What to call a learner that takes no weights."""
        variant = f" with variant {self.variant!r}" if hasattr(self, "variant") else ""
        return f"{type(self).__name__}{variant}"

    def expected_failed_checks(self) -> dict[str, str]:
        """The checks of scikit-learn's `check_estimator` that do not hold here, with the reason."""
        unequal = (
            "an example learned twice moves the model twice, which no larger C does; a weight multiplies C"
        )
        reasons = {
            "check_sample_weight_equivalence_on_dense_data": unequal,
            "check_sample_weight_equivalence_on_sparse_data": unequal,
        }
        if not self.takes_weights:
            refused = "there is no C for weights to scale, and they are refused"
            names = ("pandas_series", "not_an_array", "list", "shape", "not_overwritten")
            reasons |= {f"check_sample_weights_{name}": refused for name in names}
            reasons |= {
                "check_all_zero_sample_weights_error": refused,
                "check_classifiers_one_label_sample_weights": refused,
            }
        return reasons

    def pool(self, states: Sequence[Any], shares: Floats) -> None:
        """Become what several states have learned together."""
        self.state_.mix(states, shares)

    def settle(self, epoch: int) -> None:
        """Hand parameters that the family keeps in its state to it, before a pass."""

    def problems(self, before: Self, x: Floats, y: Any) -> Iterable[Problem]:
        """What the step on one example solved, given the model before it; only the checks call it."""
        raise NotImplementedError

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        if name == "state_" or not name.endswith("_"):  # a state or a parameter, which plans are made of
            self.__dict__.pop("_plan", None)

    def plan_now(self) -> Any:
        """What loops need of the parameters, kept until one of them or the classes change."""
        plan = self.__dict__.get("_plan")
        if plan is None:
            parameters.check(self)
            self.check_shape()
            plan = self._make_plan()
            self.settle(0)
            self.__dict__["_plan"] = plan
        return plan

    def plan(self) -> Plan:
        """What the loop is told; raises a ValueError where parameters do not go with what was learned."""
        return self.plan_now().loop  # type: ignore[no-any-return]

    def _make_plan(self) -> Any:
        raise NotImplementedError

    def attend(self, ask: Rule, asking: Floats) -> None:
        """Have loops ask by a rule, as long as `asking` does not say that labels are given."""
        self._asked_by = ask, asking

    def _loop_parts(self, learning: bool) -> dict[str, Any]:
        """What every loop is told; where not `learning`, only one label is known and nothing may move."""
        asked_by = self.__dict__.get("_asked_by")
        asks = {} if asked_by is None else {"ask": asked_by[0].handle, "asking": asked_by[1]}
        return {"bias": float(self.fit_intercept), **asks}

    def _loop_plan(self, learning: bool) -> Plan:
        """The plan of the learner's family."""
        raise NotImplementedError

    def _plan_gatherer(self) -> Gatherer | None:
        """What gathers dicts, where names have columns of their own."""
        return self._gatherer() if self.feature_index is not None and self.hash_bits is None else None

    def _plain_plan(self, learning: bool) -> dict[str, Any]:
        """What every plan has."""
        gather = self._plan_gatherer()
        return dict(
            loop=self._loop_plan(learning),
            gather=gather,
            learn_dict=gather.learn if gather is not None and gather.can_learn(self.state_) else None,
            one=np.ones(1),
            record=Record.empty(1, self.state_),
        )

    def _reset(self) -> None:
        for name in ("state_", "_feature_index", "_n_framed", "n_features_in_", "_plan", "_kept_gatherer"):
            self.__dict__.pop(name, None)

    def _begin(self, n_classes: int) -> None:
        self.state_ = self.new_state(self.n_features_in_, n_classes)

    @contextmanager
    def unchanged_on_error(self) -> Iterator[dict[str, Any]]:
        """Put back what is in the dict yielded when an error passes; callers add copies of what they will
        write to.
        """
        kept = dict(self.__dict__)
        index = kept.get("_feature_index") or {}
        n_names = len(index)
        try:
            yield kept
        except Exception:
            self.__dict__.clear()
            self.__dict__.update(kept)
            for name in ("_plan", "_kept_gatherer"):
                self.__dict__.pop(name, None)
            while len(index) > n_names:
                index.popitem()
            if "state_" in kept:
                kept["state_"].grow_features(self.n_features_in_)
            raise

    def protect(self, kept: dict[str, Any], rows: Rows, at_once: bool = True) -> None:
        """Make sure that an error can be undone: by a copy of the state, or, where that is larger, by
        looking first at the rows, if nothing else can fail once learning has begun (`at_once`).
        """
        if "state_" not in kept or kept["state_"] is not self.state_:  # a new one, which an error throws away
            return
        if at_once and rows.n_values < self.state_.size:
            rows.check(self.feature_index)
        else:
            kept.update(copy.deepcopy({name: kept[name] for name in self._written if name in kept}))

    def _read(self, X: Any, learning: bool) -> Rows:
        """A batch as rows of the model's columns; while learning, the first batch sets them and dicts add to
        them.
        """
        if isinstance(X, Mapping) and not sp.issparse(X):
            raise ValueError(
                f"{type(self).__name__} got one dict; expected a list of dicts (or use learn_one)."
            )
        self.check_shape()
        fitted = "n_features_in_" in self.__dict__
        if isinstance(X, OpenRows):
            return self._read_open(X, learning)
        if self._is_plain(X) and (fitted or learning):  # what follows costs more than learning some rows
            self.n_features_in_ = X.shape[1]
            return Rows(X)
        dicts = dicts_in(X)
        if dicts is not None:
            return self._read_dicts(dicts, learning)
        aligned = by_name(X, self._feature_index) if fitted and self._names_are_open() else None
        if aligned is not None:
            return aligned
        checked = validate_data(
            self, X, reset=learning and not fitted, accept_sparse="csr", dtype="numeric",
            ensure_all_finite=False,
        )  # fmt: skip
        if self.hash_bits is not None and learning and not fitted and checked.shape[1] != 1 << self.hash_bits:
            raise ValueError(
                f"X has {checked.shape[1]} columns; expected 2**hash_bits = {1 << self.hash_bits}, or dicts."
            )
        return Rows(checked)

    def _is_plain(self, X: Any) -> bool:
        """Whether a batch is a matrix of numbers that fits the model, whose columns have no names."""
        if type(X) is not np.ndarray or X.ndim != 2 or X.dtype.kind not in "fiu" or not X.size:
            return False
        width = self.__dict__.get("n_features_in_", X.shape[1] if self.hash_bits is None else None)
        return self.feature_index is None and X.shape[1] == width

    def _read_dicts(self, dicts: Sequence[Any], learning: bool) -> Rows:
        if self.hash_bits is not None:
            self.n_features_in_ = 1 << self.hash_bits
            return hash_dicts(dicts, self.hash_bits)
        fitted = "n_features_in_" in self.__dict__
        if fitted and self.__dict__.get("_feature_index") is None:
            raise ValueError(
                f"{type(self).__name__} learned {self.n_features_in_} unnamed columns; expected an array."
            )
        index = self.__dict__.setdefault("_feature_index", {})
        rows = read_dicts(dicts, self._gatherer(), grow=learning)
        if learning:
            self.n_features_in_ = len(index)
            if "state_" in self.__dict__:
                self.state_.grow_features(len(index))
        return rows

    def _read_open(self, X: OpenRows, learning: bool) -> Rows:
        """Rows of numbered columns: a learning model grows to take them, another knows those it has."""
        known = self.__dict__.get("n_features_in_", 0)
        if self.feature_index is not None or self.hash_bits is not None:
            what = "hashed" if self.feature_index is None else "named"
            raise ValueError(
                f"{type(self).__name__} has {what} features; expected rows with names, not with numbers."
            )
        if learning and (X.shape[1] > known or known == 0):
            if "state_" in self.__dict__:
                self.state_.grow_features(X.shape[1])
            self.n_features_in_ = known = X.shape[1]
        fits = X[:, :known] if X.shape[1] > known else X
        return Rows(sp.csr_matrix((fits.data, fits.indices, fits.indptr), shape=(X.shape[0], known)))

    def _gatherer(self) -> Gatherer:
        """What gathers dicts by the index, kept as long as that is the same."""
        kept: Gatherer | None = self.__dict__.get("_kept_gatherer")
        if kept is None or kept.index is not self._feature_index:
            kept = self.__dict__["_kept_gatherer"] = Gatherer(self._feature_index)
        return kept

    def _learn_fast(self, x: Any, plan: "LoopPlan", y: Floats, margins: Floats) -> bool:
        """Learn one example without any ceremony, where it is plainly one that the model can take."""
        state, record = self.state_, plan.record
        arguments = plan.loop, y, margins, plan.one, record.scores, record.moved, record.asked
        if plan.learn_dict is not None and type(x) is dict and plan.learn_dict(x, state, *arguments):
            return True
        row = self._fast_row(x, plan, learning=True)
        return row is not None and state.learn_row(row, *arguments)

    def _fast_row(self, x: Any, plan: "LoopPlan", learning: bool = False) -> Dense | Sparse | None:
        """One example without any ceremony, where it is plainly one that the model can take."""
        if plan.gather is not None and isinstance(x, dict):
            row = plan.gather(x, known_only=not learning)
            if row is None and learning:
                check_dict(x, 0)
                index = self._feature_index
                self.state_.grow_features(len(index) + sum(name not in index for name in x))  # may refuse
                plan.gather.add(x)
                self.n_features_in_ = len(index)
                row = plan.gather(x)
            return row
        if self.hash_bits is not None and isinstance(x, dict):
            return hash_dicts([x], self.hash_bits).block(0, 1)
        if type(x) is np.ndarray and x.ndim == 1 and x.dtype == np.float64 and x.flags.c_contiguous:
            return Dense(x[None]) if len(x) == self.n_features_in_ else None
        return None

    def read_one(self, x: Any) -> Dense | Sparse:
        """One example, checked, as a row for the loops, its names made known; it may be overwritten by the
        next.
        """
        plan = self.__dict__.get("_plan")
        row = None if plan is None else self._fast_row(x, plan, learning=True)
        if row is None or not row.is_finite():
            rows = self._read(one_row(x), learning=True)
            rows.check(self.feature_index)
            if rows.sparse:
                rows.sort()
            row = rows.block(0, 1)
        return row

    def as_learned(self, row: Dense | Sparse) -> Floats:
        """The numbers of a row that stand beside the constant feature when it is learned."""
        return row.X if isinstance(row, Dense) else row.values[int(row.starts[0]) : int(row.starts[-1])]

    def read_y(self, y: ArrayLike) -> NDArray[Any]:
        """Labels or targets, checked."""
        raise NotImplementedError

    def need_y(self, y: Any) -> None:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")

    def _read_stream(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Stream:
        """Rows to learn, checked, with all that they bring made known; after this there is a state."""
        raise NotImplementedError

    def join(self, other: Self) -> None:
        """Be ready, as an untrained learner, for the stream that another one of the same kind has read."""
        self.n_features_in_ = other.n_features_in_
        if "_feature_index" in other.__dict__:
            self.feature_names_in_ = other._feature_index
            self._n_framed = other.__dict__.get("_n_framed", 0)
        self._begin(other.state_.n_classes)
        self.settle(0)

    def stream_decisions(self, stream: Stream, start: int, stop: int) -> Decisions:
        """What the loop is to decide at rows of a stream, all rows before them counted."""
        raise NotImplementedError

    def decision_tables(self) -> tuple[Floats, Floats] | None:
        """Sides and margins by class code, where nothing else bears on them."""
        return None

    def misses(self, scores: Floats, y: NDArray[Any]) -> NDArray[Any]:
        """How wrong scores (last axis: columns) are: whether they predict another class, or by how much they
        miss.
        """
        raise NotImplementedError

    def weigh(self, stream: Stream) -> Stream:
        """Weigh the rows of a whole training set by what is known of all of it."""
        return stream

    def count(self, y: NDArray[Any]) -> None:
        """Count rows that were learned."""

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from the start, `epochs` passes over the rows, all labels known beforehand."""
        with self.unchanged_on_error() as kept:
            if not (self.warm_start and "state_" in self.__dict__):
                self._reset()
            stream = self.weigh(self._read_stream(X, y, sample_weight))
            if not stream.importance.any():
                raise ValueError("The weights of all rows are zero; expected one above 0.")
            self.protect(kept, stream.rows, at_once=self.epochs == 1)
            for epoch, order in enumerate(self._orders(len(stream.rows))):
                self.settle(epoch)
                self.learn_stream(stream if order is None else stream.take(order))
            self.settle(0)
        return self

    def learn_stream(
        self,
        stream: Stream,
        span: tuple[int, int] | None = None,
        after: Callable[[int, Record], None] | None = None,
    ) -> None:
        """Learn a stream, or a span of it."""

        def decisions(start: int, stop: int) -> Decisions:
            return self.stream_decisions(stream, start, stop)

        def count(start: int, record: Record) -> None:
            self.count(stream.y[start : start + len(record.moved)])
            if after is not None:
                after(start, record)

        learn_rows(self.state_, self.plan(), stream, span or (0, len(stream.rows)), decisions, count)

    def learn_recorded(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, progress: Progress | None = None
    ) -> tuple[NDArray[Any], Record]:
        """Learn rows once, in order, all labels known before: the labels, and what happened at each row."""
        with self.unchanged_on_error() as kept:
            stream = self.read_once(X, y, sample_weight)
            self.protect(kept, stream.rows, at_once=progress is None)
            record = Record.empty(len(stream.rows), self.state_)

            def write(start: int, block: Record) -> None:
                record.scores[start : start + len(block.scores)] = block.scores
                record.moved[start : start + len(block.moved)] = block.moved

            for span in progress_spans(len(stream.rows), progress):
                self.learn_stream(stream, span, write)
        return stream.labels, record

    def learn_tested(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Outcome:
        """Predict each row, then learn it, as `partial_fit` does: what was predicted, and what happened.

        Of a label that nobody has known there is no prediction.
        """
        raise NotImplementedError

    def read_once(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Stream:
        """A stream to be learned once, all labels known beforehand."""
        stream = self._read_stream(X, y, sample_weight)
        self.settle(0)
        return stream

    def _importance(self, sample_weight: ArrayLike | None, n_rows: int) -> Floats:
        """Example weights, checked."""
        if sample_weight is None:
            return np.ones(n_rows)
        if not self.takes_weights:
            raise ValueError(
                f"{self.unweighable()} has no C for weights to scale; expected no sample_weight."
            )
        return as_weights(sample_weight, n_rows)

    def _orders(self, n_rows: int) -> Iterator[NDArray[np.intp] | None]:
        """For each epoch the order of the rows, None as they come."""
        random = check_random_state(self.random_state)
        for _ in range(self.epochs):
            yield random.permutation(n_rows) if self.shuffle else None

    def _scores(self, X: Any) -> Floats:
        """Scores, a column a column of the model."""
        self._need_fitted()
        return self._score_rows(self._read(X, learning=False))

    def _score_rows(self, rows: Rows) -> Floats:
        rows.check(self.feature_index)
        if rows.sparse and not rows.trusted:
            rows.sort()
        state, bias = self.state_, float(self.fit_intercept)
        scores = np.empty((len(rows), state.n_columns))
        for start, block in rows.blocks(0, len(rows), state.per_row):
            scores[start : start + len(block)] = state.score_rows(block, bias)
        return scores

    def _score_one(self, x: Any) -> Floats:
        """Scores of one example, as a batch of one."""
        plan = self.plan_now()
        row = self._fast_row(x, plan)
        scores = self.state_.score_rows(row, plan.loop.bias) if row is not None else None
        return scores if scores is not None else self._score_rows(self._read(one_row(x), learning=False))
