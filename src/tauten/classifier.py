"""What every classifier adds: labels that come as they come, their weights, and one decision a row and
column.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length

from tauten import parameters
from tauten.base import LoopPlan, OnlineLearner
from tauten.kernels.state import Dense, Floats, Sparse
from tauten.labels import check_types, distinct, put_together, read_labels
from tauten.parameters import is_list, is_weight_map, optional
from tauten.rows import Rows
from tauten.stream import Decisions, Outcome, Record, Stream, one_row

Codes = NDArray[np.intp]
UNKNOWN = (-1, None, None)


@dataclass
class ClassPlan(LoopPlan):
    """The loop's plan, and tables with a row a class."""

    labels: list[Any]
    sides: dict[Any, tuple[int, Floats, Floats]]  # label -> code, and its rows of the tables
    y: Floats
    margins: Floats
    importance: Floats | None  # class weights; None where they are all 1
    unknown: Floats  # a row of NaN in the place of one of a table
    question: NDArray[np.uint8]  # where the loop writes whether it wants a label
    fixed: bool  # the label alone says what margin and importance are, and no class is still to be made
    plain: bool  # besides, all are of importance 1
    pace: Callable[[Floats], None] | None = None  # writes the importance of the next row, all else plain


class LearnedClasses:
    """What a classifier has besides, once it has learned."""

    classes_: NDArray[Any]  # sorted
    class_count_: NDArray[np.int64]  # rows of each


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineClassifier(LearnedClasses, ClassifierMixin, OnlineLearner):
    """A classifier of two classes or many, known beforehand or met on the way."""

    classes: Sequence[Any] | None = optional("a list of labels", is_list)
    class_weight: Mapping[Any, float] | Literal["balanced"] | None = optional(
        "'balanced' or a dict from labels to weights, 0 or above",
        lambda w: is_weight_map(w) or (isinstance(w, str) and w == "balanced"),
    )

    _written: ClassVar[tuple[str, ...]] = ("state_", "class_count_")
    _kept: ClassVar[tuple[str, ...]] = (*OnlineLearner._kept, "classes_", "class_count_")

    def expected_failed_checks(self) -> dict[str, str]:
        weak = "in one pass weights bound how far each row pulls; there is no sum of losses that they weigh"
        return {**super().expected_failed_checks(), "check_class_weight_classifiers": weak}

    def margins(self, y: Floats) -> Floats:
        """The margin asked at each side y = ±1 of a decision, or where classes are coupled, of each class."""
        return np.ones_like(y)

    def running_margins(self, y: Floats, inside: Floats, outside: Floats) -> Floats | None:
        """The margins, where they follow the counts of a column's own class and of all others."""
        return None

    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn the rows once, in order, exactly as `learn_one` on each would; new labels join where they
        appear.
        """
        self._learn_batch(X, y, classes, sample_weight)
        return self

    def learn_tested(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Outcome:
        predictions = self.predictions(classes)
        labels = self._learn_batch(X, y, classes, None, lambda _, record: predictions(record))
        return Outcome.of(labels, predictions.parts)

    def predictions(self, classes: ArrayLike | None) -> "Predictions":
        """What the rows of a batch will have been predicted to be, `classes` known beforehand."""
        parts = self.__dict__.get("classes_"), beforehand(self.classes), beforehand(classes)
        known = [part for part in parts if part is not None and len(part)]
        return Predictions(self, len(np.unique(np.concatenate(known))) if known else 0)

    def _learn_batch(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None,
        sample_weight: ArrayLike | None,
        after: Callable[[int, Record], None] | None = None,
    ) -> NDArray[Any]:
        """The work of `partial_fit`: the labels, as they were read."""
        with self.unchanged_on_error() as kept:
            rows, weights, labels = self._read_batch(X, y, sample_weight)
            self.know_beforehand(classes)
            self._learn_rows(kept, rows, labels, weights, after)
        return labels

    def learn_read(self, rows: Rows, y: ArrayLike, sample_weight: ArrayLike | None) -> None:
        """Learn rows that were read before."""
        with self.unchanged_on_error() as kept:
            labels, weights = self.read_y(y), self._importance(sample_weight, len(rows))
            self.know_beforehand(None)
            self._learn_rows(kept, rows, labels, weights)

    def _learn_rows(
        self,
        kept: dict[str, Any],
        rows: Rows,
        labels: NDArray[Any],
        weights: Floats,
        after: Callable[[int, Record], None] | None = None,
    ) -> None:
        spans = list(self._spans(labels))
        self.protect(kept, rows, at_once=len(spans) == 1)
        self.learn_spans(rows, labels, weights, spans, after)

    def wants_label(self, row: Dense | Sparse) -> bool | None:
        """Whether the loop wants a label before it goes on past a row; None where it cannot take the row.

        Where it wants none it does nothing to the model.
        """
        plan = self.plan_now()
        plan.question[0] = 0
        record = plan.record.scores, plan.record.moved, plan.question
        passed = self.state_.run(row, plan.loop, plan.unknown, plan.unknown, plan.one, *record) == 1
        return False if passed else True if plan.question[0] else None

    def learn_spans(
        self,
        rows: Rows,
        labels: NDArray[Any],
        weights: Floats,
        spans: Sequence[tuple[int, int]],
        after: Callable[[int, Record], None] | None = None,
    ) -> None:
        """Learn stretches of rows in each of which only the first may bring a label that is new."""
        codes = np.zeros(len(labels), dtype=np.intp)
        for first, stop in spans:
            self.know(labels[first : first + 1])
            self.settle(0)
            codes[first:stop] = self.encode(labels[first:stop])
            self.learn_stream(self._stream(rows, labels, codes, weights), (first, stop), after)

    def learn_one(self, x: Any, y: Any, sample_weight: float | None = None) -> Self:
        """Learn one example: a dict, a vector or a sparse row."""
        plan = self.__dict__.get("_plan")
        if plan is not None and (plan.plain or plan.pace is not None) and sample_weight is None:
            try:
                code, side, margins = plan.sides.get(y, UNKNOWN)
            except TypeError:  # not even hashable: the slow way says what is wrong
                code, side, margins = UNKNOWN
            if side is not None and plan.pace is not None:
                plan.pace(plan.one)
            if side is not None and self._learn_fast(x, plan, side, margins):
                self.class_count_[code] += 1
                return self
        return self.partial_fit(
            one_row(x), [y], sample_weight=None if sample_weight is None else [sample_weight]
        )

    def _read_stream(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Stream:
        rows, weights, labels = self._read_batch(X, y, sample_weight)
        self.know_beforehand(labels)
        return self._stream(rows, labels, self.encode(labels), weights)

    def _stream(self, rows: Rows, labels: NDArray[Any], codes: Codes, weights: Floats) -> Stream:
        if isinstance(self.class_weight, Mapping):
            weights = weights * self.plan_now().importance[codes]
        return Stream(rows, labels, codes, weights, self.feature_index)

    def _read_batch(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Rows, Floats, NDArray[Any]]:
        self._check_parameters()
        labels = self.read_y(y)
        return (*self.read_rows(X, labels, sample_weight), labels)

    def read_rows(self, X: Any, labels: Sized, sample_weight: ArrayLike | None) -> tuple[Rows, Floats]:
        """Rows to learn, and their weights."""
        check_consistent_length(X, labels)
        rows = self._read(X, learning=True)
        return rows, self._importance(sample_weight, len(rows))

    def read_y(self, y: ArrayLike) -> NDArray[Any]:
        self.need_y(y)
        return read_labels(y)

    def encode(self, labels: NDArray[Any]) -> Codes:
        """The place of each label among the classes."""
        if len(self.classes_) == 2:
            return (labels == self.classes_[1]).astype(np.intp)
        return np.searchsorted(self.classes_, labels)

    def _spans(self, labels: NDArray[Any]) -> Iterator[tuple[int, int]]:
        """Stretches of rows in each of which only the first may bring a label that is new."""
        if "classes_" in self.__dict__:
            check_types(self.classes_, labels)
            if np.array_equal(self.classes_.take(self.encode(labels), mode="clip"), labels):
                yield 0, len(labels)
                return
        seen = distinct(labels)
        new = seen[~np.isin(seen, self.classes_)] if "classes_" in self.__dict__ else seen
        starts = sorted({0, *(int(np.argmax(labels == label)) for label in new)})
        yield from zip(starts, [*starts[1:], len(labels)], strict=True)

    def know_beforehand(self, classes: ArrayLike | None) -> None:
        """Make classes of the labels that are given beforehand."""
        for known in (self.classes, classes):
            self.know(beforehand(known))

    def know(self, labels: NDArray[Any]) -> None:
        """Make a class of every label, in sorted order."""
        labels = distinct(labels)
        if not len(labels):
            return
        if "classes_" not in self.__dict__:
            self.classes_ = labels
            self.class_count_ = np.zeros(len(self.classes_), dtype=np.int64)
            self._begin(len(self.classes_))
            return
        classes = np.unique(put_together(self.classes_, labels))
        if len(classes) == len(self.classes_):
            return
        order = np.full(len(classes), -1)
        order[np.searchsorted(classes, self.classes_)] = np.arange(len(self.classes_))
        self.state_ = self.state_.regrouped(order.tolist())
        self.class_count_ = np.where(order >= 0, self.class_count_[order], 0)
        self.classes_ = classes
        self.__dict__.pop("_plan", None)

    def _reset(self) -> None:
        super()._reset()
        for name in ("classes_", "class_count_"):
            self.__dict__.pop(name, None)

    def _make_plan(self) -> ClassPlan:
        n_classes = len(self.classes_)
        if n_classes <= 2:
            y = np.array([[-1.0], [1.0]])[:n_classes]
        elif self.coupled:
            y = np.arange(n_classes, dtype=np.float64)[:, None]
        else:
            y = 2.0 * np.eye(n_classes) - 1.0
        labels = self.classes_.tolist()
        importance = None
        if isinstance(self.class_weight, Mapping):
            importance = np.array([float(self.class_weight.get(label, 1.0)) for label in labels])
        margins = self.margins(y)
        fixed = (
            self.class_weight != "balanced"
            and self.running_margins(y, y, y) is None
            and set(() if self.classes is None else self.classes) <= set(labels)
        )
        return ClassPlan(
            **self._plain_plan(learning=n_classes > 1),
            labels=labels,
            sides={label: (k, y[k : k + 1], margins[k : k + 1]) for k, label in enumerate(labels)},
            y=y,
            margins=margins,
            importance=importance,
            unknown=np.full((1, self.state_.n_decisions), np.nan),
            question=np.zeros(1, dtype=np.uint8),
            fixed=fixed,
            plain=fixed and importance is None,
        )

    def _check_parameters(self) -> None:
        """Raise a ValueError for a parameter that is not allowed, or that another one rules out."""
        parameters.check(self)
        if self.class_weight is not None and not self.takes_weights:
            raise ValueError(f"{self.unweighable()} has no C for class_weight to scale; expected None.")

    def join(self, other: Self) -> None:
        self.classes_, self.class_count_ = other.classes_, np.zeros_like(other.class_count_)
        super().join(other)

    def stream_decisions(self, stream: Stream, start: int, stop: int) -> Decisions:
        plan, codes = self.plan_now(), stream.y[start:stop]
        y, importance = plan.y.take(codes, axis=0), stream.importance[start:stop]
        if plan.plain:
            return y, plan.margins.take(codes, axis=0), importance
        counts = np.cumsum(np.eye(len(self.classes_))[codes], axis=0) + self.class_count_.astype(np.float64)
        inside = counts if len(self.classes_) > 2 else counts[:, -1:]
        margins = self.running_margins(y, inside, counts.sum(axis=1, keepdims=True) - inside)
        if self.class_weight == "balanced" and not stream.balanced:
            importance = (
                importance * counts.sum(axis=1) / (len(self.classes_) * counts[np.arange(len(codes)), codes])
            )
        return y, plan.margins.take(codes, axis=0) if margins is None else margins, importance

    def decision_tables(self) -> tuple[Floats, Floats] | None:
        plan = self.plan_now()
        return (plan.y, plan.margins) if plan.plain else None

    def weigh(self, stream: Stream) -> Stream:
        if self.class_weight != "balanced":
            return stream
        counts = np.bincount(stream.y, minlength=len(self.classes_))
        factors = len(stream.y) / (len(self.classes_) * np.maximum(counts, 1))
        return replace(stream, importance=stream.importance * factors[stream.y], balanced=True)

    def count(self, y: Codes) -> None:
        self.class_count_ += np.bincount(y, minlength=len(self.classes_))

    def decision_function(self, X: Any) -> Floats:
        """Scores: for two classes that of the second, else a column a class."""
        scores = self._scores(X)
        if len(self.classes_) == 1:
            return np.zeros(len(scores))
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the highest score; of two classes the second only where its score is above 0."""
        scores = self._scores(X)
        return self.classes_[self.winners(scores)]  # type: ignore[no-any-return]

    def predict_one(self, x: Any) -> Any:
        """The label of one example; None before any label is known."""
        if "classes_" not in self.__dict__:
            return next(iter(np.unique(beforehand(self.classes)).tolist()), None)
        plan = self.plan_now()
        return plan.labels[int(self.winners(self._score_one(x))[0])]

    def winners(self, scores: Floats) -> Codes:
        """The class code that scores (last axis: columns) predict."""
        if len(self.classes_) == 2:
            return (scores[..., 0] > 0).astype(np.intp)
        return (
            np.zeros(scores.shape[:-1], dtype=np.intp) if len(self.classes_) == 1 else scores.argmax(axis=-1)
        )

    def misses(self, scores: Floats, y: Codes) -> NDArray[np.bool_]:
        return self.winners(scores) != y

    def check_learned(self) -> None:
        super().check_learned()
        for name, kinds in (("classes_", "biufU"), ("class_count_", "i")):
            value = getattr(self, name)
            if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind not in kinds:
                raise ValueError(f"{name} is no plain array")
        n_classes = len(self.classes_)
        if (self.class_count_ < 0).any():
            raise ValueError("a class count is negative")
        if self.state_.n_classes != n_classes or len(self.class_count_) != n_classes:
            raise ValueError(f"weights of {self.state_.n_classes} classes, expected {n_classes}")
        if not np.array_equal(np.unique(self.classes_), self.classes_):
            raise ValueError("the classes are not sorted")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class Predictions:
    """Records of a batch, each with the labels that its scores predict; None where no class was known, or
    where a row brought a class that nobody knew.
    """

    def __init__(self, learner: OnlineClassifier, n_known: int) -> None:
        self.learner, self.n_known = learner, n_known
        self.parts: list[tuple[NDArray[Any] | None, Record]] = []

    def __call__(self, record: Record) -> None:
        """Take what happened at the next rows."""
        classes = self.learner.__dict__.get("classes_")
        if classes is None:
            self.parts.append((None, record))
            return
        n_new = int(len(classes) > self.n_known)
        self.n_known = len(classes)
        if n_new:
            self.parts.append((None, record.part(0, 1)))
        predicted = classes[self.learner.winners(record.scores[n_new:])]
        self.parts.append((predicted, record.part(n_new, len(record.moved))))


def beforehand(classes: Any) -> NDArray[Any]:
    """The labels in a list, of which there are none where it is None."""
    if classes is None or (is_list(classes) and not len(classes)):
        return np.zeros(0)
    if not is_list(classes):
        raise ValueError(f"classes is {classes!r}; expected a list of labels.")
    return read_labels(classes, "classes")
