"""Active learning: any asking rule on any classifier; a row that is not asked leaves the model as it was.

    score of x  →  ask for the label with the probability that the rule gives  →  if asked, the learner's step

With margin asking and PA's step it is PAA, with many classes MPAA, with CSPA's loss CSPAA (Lu, Zhao, Hoi,
2016, algorithms 1 to 4). A Perceptron learns from its mistakes alone; PA also from answers that were right
but unsure, and so wastes none that was paid for.
"""

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_random_state

from tauten import parameters
from tauten.ask import RULES
from tauten.ask.margin import MarginAsk
from tauten.ask.rule import Asking, AskRule
from tauten.classifier import OnlineClassifier
from tauten.io import model_file
from tauten.kernels.asking import ASKED, GIVEN, PARAMETERS, ROUNDS, SEED, uniform
from tauten.kernels.state import Dense, Flags, Floats, Sparse
from tauten.parameters import count, optional, parameter
from tauten.rows import Rows
from tauten.second_order import SecondOrder
from tauten.stream import Progress, Record, progress_spans
from tauten.wrappers.simulation import After, Labels, Simulation

WAITING = ("waiting_values", "waiting_columns", "waiting_starts")


@dataclass(eq=False, repr=False)
class ActiveClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier that asks for few labels: for whoever pays for them.

    Parameters
    ----------
    learner : classifier of tauten
        What learns; it is cloned, and not changed.
    ask : asking rule, optional
        When to ask; MarginAsk() by default.
    random_state : int, RandomState or None, default None
        The seed of what is asked. With None every new model draws one.
    max_waiting : int, 1 or above, default 1000
        How many examples may wait for labels that come later; beyond it the one that has waited longest is
        dropped.

    Attributes
    ----------
    learner_ : the classifier that learned; what it has learned is this one's too (`coef_`, `classes_`, …).
    n_seen_, n_asked_ : rows seen, and labels asked for.
    asked_ : of the last batch, whether each label was asked for.

    Examples
    --------
    >>> import numpy as np, tauten as tt
    >>> X = np.random.default_rng(0).standard_normal((2000, 5))
    >>> y = X[:, 0] > 0
    >>> active = tt.ActiveClassifier(tt.PAClassifier(), ask=tt.MarginAsk(delta=0.1), random_state=0)
    >>> active = active.partial_fit(X, y)
    >>> active.n_asked_ < 400, active.score(X, y) > 0.95
    (True, True)
    """

    learner: OnlineClassifier = parameter(  # noqa: RUF009  a field
        None, lambda learner: isinstance(learner, OnlineClassifier), "a classifier of tauten"
    )
    ask: AskRule | None = optional("an asking rule", lambda rule: isinstance(rule, AskRule))  # noqa: RUF009
    random_state: int | np.random.RandomState | None = optional("a seed or a RandomState", parameters.is_seed)  # noqa: RUF009
    max_waiting: int = count(1, default=1000)

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_") and not name.startswith("_") and "learner_" in self.__dict__:
            return getattr(self.learner_, name)
        raise AttributeError(f"{type(self).__name__} has no {name!r}, or has learned nothing yet.")

    def __sklearn_is_fitted__(self) -> bool:
        return "learner_" in self.__dict__ and self.learner_.__sklearn_is_fitted__()

    @property
    def n_seen_(self) -> int:
        """Rows seen."""
        return int(self.__dict__["asking_"][ROUNDS]) if "asking_" in self.__dict__ else 0

    @property
    def n_asked_(self) -> int:
        """Labels asked for."""
        return int(self.__dict__["asking_"][ASKED]) if "asking_" in self.__dict__ else 0

    @property
    def rule(self) -> AskRule:
        """What asks."""
        return MarginAsk() if self.ask is None else self.ask

    def _check(self) -> None:
        """Raise a ValueError for a parameter that is not allowed, or that another one rules out."""
        parameters.check(self)
        self.rule.check()
        if self.rule.curious and not isinstance(getattr(self.learner, "learner", self.learner), SecondOrder):
            raise ValueError(
                f"{type(self.rule).__name__} asks by the variance of a score, which "
                f"{type(self.learner).__name__} has not; expected a learner with a covariance."
            )
        if self.learner.epochs != 1 or self.learner.shuffle:
            raise ValueError(
                "ActiveClassifier sees each row once, in order; expected a learner with epochs=1 and "
                "shuffle=False."
            )

    def _start(self) -> OnlineClassifier:
        """The learner, ready to ask by the rule as it is now."""
        turns = None if self.ask is None else self.ask.__dict__["_turns"]
        if self.__dict__.get("_ready") == (self.ask, turns):
            learner: OnlineClassifier = self.__dict__["learner_"]
            return learner
        self._check()
        if "learner_" not in self.__dict__:
            self.learner_ = clone(self.learner)
            seed = check_random_state(self.random_state).randint(2**32, dtype=np.uint64)
            self.asking_: Asking = self.rule.begin(int(seed))
            self.waiting_: dict[Hashable, Dense | Sparse] = {}
        rule, asking = self.rule, self.asking_
        if len(asking) != len(rule.begin(0)):
            raise ValueError(
                "ActiveClassifier: ask was changed to another rule after learning began; fit anew."
            )
        rule.settle(asking)
        attended = self.learner_.__dict__.get("_asked_by", (None, None))
        if attended[0] is not rule.probability or attended[1] is not asking:
            self.learner_.attend(rule.probability, asking)
        self.__dict__["_ready"] = self.ask, turns
        return self.learner_

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        self.__dict__.pop("_ready", None)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_ready"}

    @contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        """Put everything back when an error passes; the learner sees to itself."""
        kept = dict(self.__dict__)
        asking = self.asking_.copy() if "asking_" in kept else None
        try:
            yield
        except Exception:
            self.__dict__.clear()
            self.__dict__.update(kept)
            if asking is not None:
                self.asking_[:] = asking
            raise

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from the start, the labels looked at only where they are asked for."""
        with self._unchanged_on_error():
            for name in ("learner_", "asking_", "waiting_", "asked_", "_ready"):
                self.__dict__.pop(name, None)
            return self.partial_fit(X, y, sample_weight=sample_weight)

    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Go through rows whose labels are at hand, but look at a label only where it is asked for: what
        `ask_one` on each row, and `learn_one` where it says yes, would leave.
        """
        with self._unchanged_on_error():
            self._simulate(X, y, classes, sample_weight)
        return self

    def learn_recorded(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, progress: Progress | None = None
    ) -> tuple[NDArray[Any], Record]:
        """The same, all labels known beforehand: the labels, and what happened at each row."""
        parts: list[Record] = []
        with self._unchanged_on_error():
            self._start()
            labels = self.read_y(y)
            self._simulate(X, labels, np.unique(labels), sample_weight, parts.append, progress)
        fields = ([getattr(part, name) for part in parts] for name in ("scores", "moved", "asked"))
        return labels, Record(*(np.concatenate(field) for field in fields))

    def _simulate(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None,
        sample_weight: ArrayLike | None,
        after: After = lambda record: None,
        progress: Progress | None = None,
    ) -> None:
        learner = self._start()
        with learner.unchanged_on_error() as kept:
            learner.need_y(y)
            labels = Labels(y)
            rows, weights = learner.read_rows(X, labels, sample_weight)
            learner.know_beforehand(classes)
            learner.protect(kept, rows, at_once=False)
            asked: list[Flags] = []

            def note(record: Record) -> None:
                asked.append(record.asked)
                after(record)

            simulation = Simulation(learner, self.wants, self.asking_, rows, labels, weights, note)
            for first, stop in progress_spans(len(rows), progress):
                simulation.run(first, stop)
        self.asked_ = np.concatenate([np.zeros(0, dtype=np.uint8), *asked]).astype(bool)

    def ask_one(self, x: Any, id: Hashable | None = None) -> bool:
        """Whether a label is worth asking for; with an `id` the example waits for `learn(id, label)`."""
        with self._unchanged_on_error():
            learner = self._start()
            if id is not None and id in self.waiting_:
                raise ValueError(f"An example waits under id {id!r} already; expected another id.")
            with learner.unchanged_on_error():
                row = learner.read_one(x)
                wanted = self.wants(row)
        if wanted and id is not None:
            self.waiting_[id] = row.copy()
            while len(self.waiting_) > self.max_waiting:
                del self.waiting_[next(iter(self.waiting_))]
        return wanted

    def learn_one(self, x: Any, y: Any, sample_weight: float | None = None) -> Self:
        """Learn an example whose label has come, asked for or not."""
        with self._unchanged_on_error():
            self._start().learn_one(x, y, sample_weight)
        return self

    def learn(self, id: Hashable, y: Any, sample_weight: float | None = None) -> Self:
        """Learn the example that waits under an id."""
        learner = self._start()
        if id not in self.waiting_:
            raise ValueError(
                f"No example waits under id {id!r}: it was not asked for, has been learned, or was dropped "
                f"after {self.max_waiting} others."
            )
        rows = Rows.of(self.waiting_[id], learner.n_features_in_)
        learner.learn_read(rows, [y], None if sample_weight is None else [sample_weight])
        del self.waiting_[id]
        return self

    def wants(self, row: Dense | Sparse) -> bool:
        """Ask, or do not, and count it."""
        learner, asking = self.learner_, self.asking_
        if "classes_" not in learner.__dict__:  # nothing can be predicted: a score of 0, Σ = I
            sqnorm = float(np.square(learner.as_learned(row)).sum()) + float(learner.fit_intercept)
            with np.errstate(over="ignore"):
                drawn = getattr(uniform, "py_func", uniform)(asking[SEED], asking[ROUNDS])
            wanted = bool(drawn < self.rule.chance(0.0, sqnorm, sqnorm, asking))
            asking[ROUNDS] += float(not wanted)
        else:
            asking[GIVEN] = 0.0
            try:
                wanted = learner.is_stopped_at(row)
            finally:
                asking[GIVEN] = 1.0
        asking[[ROUNDS, ASKED]] += float(wanted)  # the loop itself counts the rows that it passes over
        return wanted

    def read_y(self, y: ArrayLike) -> NDArray[Any]:
        """Labels, checked."""
        return self.learner.read_y(y)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the highest score."""
        return self._fitted().predict(X)

    def decision_function(self, X: Any) -> Floats:
        """Scores: for two classes that of the second, else a column a class."""
        return self._fitted().decision_function(X)

    def predict_one(self, x: Any) -> Any:
        """The label of one example; None before any label is known."""
        return self.learner_.predict_one(x) if "learner_" in self.__dict__ else None

    def winners(self, scores: Floats) -> NDArray[np.intp]:
        """The class code that scores predict."""
        return self._fitted().winners(scores)

    def _fitted(self) -> OnlineClassifier:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                "This ActiveClassifier instance is not fitted yet: call fit, partial_fit or learn_one first."
            )
        return self.learner_

    def pool(self, others: list["ActiveClassifier"], learner: OnlineClassifier) -> None:
        """Become what several have learned together; what waits there is not taken over."""
        self.learner_, self.waiting_ = learner, {}
        self.asking_[[ROUNDS, ASKED]] = np.sum([other.asking_[[ROUNDS, ASKED]] for other in others], axis=0)

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to one file, without pickle; loaded, it asks and learns on as if never stopped."""
        header, arrays = self._fitted().parts()
        width = self.learner_.n_features_in_
        waiting = [sp.csr_matrix(Rows.of(row, width).X) for row in self.waiting_.values()]
        for row in waiting:
            row.resize(1, width)
        own = {
            "class": type(self).__name__,
            "random_state": model_file.encode(self.random_state),
            "max_waiting": self.max_waiting,
            "ask": None if self.ask is None else [type(self.ask).__name__, self.rule.plain()],
            "waiting": model_file.encode([[id, isinstance(row, Dense)] for id, row in self.waiting_.items()]),
            "learner": header,
        }
        rows = sp.vstack(waiting, format="csr") if waiting else sp.csr_matrix((0, width))
        kept = dict(zip(WAITING, (rows.data, rows.indices, rows.indptr), strict=True))
        model_file.write(path, own, {**arrays, "asking": self.asking_, **kept})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a model from a file that `save` wrote."""
        model = import_module("tauten.registry").load(path)
        if not isinstance(model, cls):
            raise model_file.ModelFileError(
                f"{path} holds a {type(model).__name__}, expected a {cls.__name__}."
            )
        return model

    @classmethod
    def restore(
        cls, header: dict[str, Any], arrays: dict[str, Floats], learner_class: type[OnlineClassifier]
    ) -> Self:
        """The model that a header and arrays describe, where all of it fits together."""
        own = {name: arrays.pop(name) for name in ("asking", *WAITING)}
        learner = learner_class.restore(header["learner"], arrays)
        ask = None if header["ask"] is None else RULES[header["ask"][0]](**header["ask"][1])
        seed = model_file.decode(header["random_state"])
        model = cls(clone(learner), ask, random_state=seed, max_waiting=header["max_waiting"])
        model._check()
        like = model.rule.begin(0)
        if own["asking"].shape != like.shape or not (own["asking"][:PARAMETERS] >= 0).all():
            raise ValueError(f"what was asked has shape {own['asking'].shape}, expected {like.shape} counts")
        model.learner_, model.asking_ = learner, own["asking"]
        values, columns, starts = (own[name] for name in WAITING)
        parts = values, columns.astype(np.int32), starts.astype(np.int32)
        rows = Rows(sp.csr_matrix(parts, shape=(len(starts) - 1, learner.n_features_in_)))
        rows.check(learner.feature_index)
        waiting = model_file.decode(header["waiting"])
        if len(waiting) != len(rows):
            raise ValueError(f"{len(waiting)} examples wait, expected {len(rows)}")
        rows.sort()
        model.waiting_ = {}
        for place, (id, dense) in enumerate(waiting):
            row = rows.block(place, place + 1)
            model.waiting_[id] = Dense(rows.X[place].toarray()) if dense else row.copy()
        return model
