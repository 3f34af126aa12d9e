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
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags
from sklearn.utils.validation import check_random_state

from tauten import parameters
from tauten.ask import RULES
from tauten.ask.margin import MarginAsk
from tauten.ask.rule import Asking, AskRule
from tauten.classifier import OnlineClassifier
from tauten.io import model_file
from tauten.kernels.asking import ASKED, GIVEN, ROUNDS, SEED, uniform
from tauten.kernels.state import Dense, Flags, Floats, Sparse
from tauten.parameters import count, optional, parameter
from tauten.rows import Rows
from tauten.second_order import SecondOrder
from tauten.stream import Outcome, Progress, Record, progress_spans
from tauten.wrappers.simulation import After, Labels, Simulation
from tauten.wrappers.waiting import ARRAYS, Waiting, pack, unpack


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

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def expected_failed_checks(self) -> dict[str, str]:
        """The checks of scikit-learn's `check_estimator` that do not hold here, with the reason."""
        few = "of so few rows too few labels are asked for"
        return {**self.learner.expected_failed_checks(), "check_classifiers_train": few}

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
        self.learner._check_parameters()
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

    @property
    def _as_it_is(self) -> tuple[AskRule | None, dict[str, Any]]:
        """What asks, and its parameters as they are now."""
        return self.ask, dict(getattr(self.ask, "__dict__", {}))

    def _is_ready(self) -> bool:
        return self.__dict__.get("_ready") == self._as_it_is

    def _start(self) -> OnlineClassifier:
        """The learner, ready to ask by the rule as it is now."""
        if not self._is_ready():
            self._check()
            if "learner_" not in self.__dict__:
                self.learner_: OnlineClassifier = clone(self.learner)
                seed = check_random_state(self.random_state).randint(2**32, dtype=np.uint64)
                self.asking_: Asking = self.rule.begin(int(seed))
                self.waiting_: Waiting = {}
            self.asking_ = self.rule.settle(self.asking_)
            self.learner_.attend(self.rule.probability, self.asking_)
            self.__dict__["_ready"] = self._as_it_is
        return self.learner_

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        if not name.endswith("_"):
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
        """Learn from the start; what labels there are is known beforehand, those of rows only where asked."""
        with self._unchanged_on_error():
            for name in ("learner_", "asking_", "waiting_", "asked_", "_ready"):
                self.__dict__.pop(name, None)
            self.learn_recorded(X, y, sample_weight)
            if sample_weight is not None and not np.asarray(sample_weight).any():
                raise ValueError("The weights of all rows are zero; expected one above 0.")
        return self

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

    def learn_tested(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Outcome:
        """Predict each row, then go on as `partial_fit` does: what was predicted, asked and learned."""
        with self._unchanged_on_error():
            predictions = self._start().predictions(classes)
            labels = self.read_y(y)
            self._simulate(X, labels, classes, None, predictions)
        return Outcome.of(labels, predictions.parts)

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
        if id is not None and id in self.__dict__.get("waiting_", ()):
            raise ValueError(f"An example waits under id {id!r} already; expected another id.")
        row, wanted = self._ask_fast(x) if self._is_ready() else (None, None)
        if row is None or wanted is None:
            with self._unchanged_on_error():
                learner = self._start()
                with learner.unchanged_on_error():
                    row = learner.read_one(x)
                    if "classes_" not in learner.__dict__:
                        learner.know_beforehand(None)
                    wanted = self.wants(row)
        if wanted and id is not None:
            self.waiting_[id] = row.copy()
            while len(self.waiting_) > self.max_waiting:
                del self.waiting_[next(iter(self.waiting_))]
        return wanted

    def _ask_fast(self, x: Any) -> tuple[Dense | Sparse | None, bool | None]:
        """An example as a row, and the answer, where it is plainly one that the model can take."""
        plan = self.learner_.__dict__.get("_plan")
        row = None if plan is None else self.learner_._fast_row(x, plan, learning=True)
        return row, None if row is None else self._question(row)

    def learn_one(self, x: Any, y: Any, sample_weight: float | None = None) -> Self:
        """Learn an example whose label has come, asked for or not."""
        if self._is_ready():
            self.learner_.learn_one(x, y, sample_weight)
        else:
            with self._unchanged_on_error():
                self._start().learn_one(x, y, sample_weight)
        return self

    def learn(self, id: Hashable, y: Any, sample_weight: float | None = None) -> Self:
        """Learn the example that waits under an id."""
        if id not in self.__dict__.get("waiting_", ()):
            raise ValueError(
                f"No example waits under id {id!r}: it was not asked for, has been learned, or was dropped "
                f"after {self.max_waiting} others."
            )
        learner = self._start()
        rows = Rows.of(self.waiting_[id], learner.n_features_in_)
        learner.learn_read(rows, [y], None if sample_weight is None else [sample_weight])
        del self.waiting_[id]
        return self

    def wants(self, row: Dense | Sparse) -> bool:
        """Ask about a row that the model can take, or do not, and count it."""
        if "classes_" in self.learner_.__dict__:
            wanted = self._question(row)
            assert wanted is not None
        else:
            wanted = self._wants_unscored(row)
            self.asking_[ROUNDS] += 1.0
            self.asking_[ASKED] += float(wanted)
        return wanted

    def _question(self, row: Dense | Sparse) -> bool | None:
        """The same in the loop; None where it cannot take the row."""
        asking = self.asking_
        asking[GIVEN] = 0.0
        try:
            wanted = self.learner_.wants_label(row)
        finally:
            asking[GIVEN] = 1.0
        if wanted:  # the loop itself counts the rows that it passes over
            asking[ROUNDS] += 1.0
            asking[ASKED] += 1.0
        return wanted

    def _wants_unscored(self, row: Dense | Sparse) -> bool:
        """Whether to ask before any label is known: every score is 0, and Σ = I."""
        values = self.learner_.as_learned(row)
        with np.errstate(over="ignore"):  # of integers it is meant, of rows too long to square it is infinite
            sqnorm = float(np.square(values).sum()) + float(self.learner_.fit_intercept)
            drawn = getattr(uniform, "py_func", uniform)(self.asking_[SEED], self.asking_[ROUNDS])
            return bool(drawn < self.rule.chance(0.0, sqnorm, sqnorm, self.asking_))

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
        model_file.write(path, *self.parts())

    def parts(self) -> tuple[dict[str, Any], dict[str, Floats]]:
        """The header and arrays of a model file."""
        header, arrays = self._fitted().parts()
        if type(self.rule) not in RULES.values():
            raise ValueError(f"The model cannot be saved: {type(self.rule).__name__} is no rule of tauten.")
        waiting, arrays_waiting = pack(self.waiting_, self.learner_.n_features_in_)
        own = {
            "class": type(self).__name__,
            "random_state": model_file.encode(self.random_state),
            "max_waiting": self.max_waiting,
            "ask": None if self.ask is None else [type(self.ask).__name__, self.rule.plain()],
            "waiting": waiting,
            "learner": header,
        }
        return own, {**arrays, **arrays_waiting, "asking": self.asking_}

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
        own = {name: arrays.pop(name) for name in ("asking", *ARRAYS)}
        learner = learner_class.restore(header["learner"], arrays)
        ask = None if header["ask"] is None else RULES[header["ask"][0]](**header["ask"][1])
        seed = model_file.decode(header["random_state"])
        model = cls(clone(learner), ask, random_state=seed, max_waiting=header["max_waiting"])
        model._check()
        model.rule.check_asking(own["asking"])
        model.learner_, model.asking_ = learner, own["asking"]
        model.waiting_ = unpack(header["waiting"], own, learner.n_features_in_, learner.feature_index)
        return model


Model = TypeVar("Model")


def seeded(model: Model, seed: int = 0) -> Model:
    """A model, untrained, that asks the same questions every time, unless it was given a seed."""
    if isinstance(model, ActiveClassifier) and model.random_state is None:
        model.set_params(random_state=seed)
    return model
