"""What a learner has once it has learned: its weights and counts, their file, and how they are merged."""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from tauten import parameters
from tauten.io import model_file
from tauten.kernels.state import Floats, Plan, State
from tauten.merging import merge
from tauten.rows import check_distinct

COUNTERS = ("n_rounds", "n_moves")
PASSING = ("_plan", "_kept_gatherer", "_asked_by")  # made anew where it is missing


class Learned(BaseEstimator):
    """The learned part of a learner, apart from its parameters: a dataclass takes all names for those."""

    fit_intercept: bool
    hash_bits: int | None
    n_features_in_: int
    state_: State

    _kept: ClassVar[tuple[str, ...]] = (
        "n_features_in_",
        "_feature_index",
        "_n_framed",
    )  # saved, besides the state
    shape_parameters: ClassVar[str] = "average, window or covariance"  # what the state is shaped by

    def check_arrays(self, arrays: Mapping[str, Floats]) -> None:
        """Raise a ValueError where a parameter asks for more room than what was saved took."""

    def plan(self) -> Plan:
        """What the loop is told; raises a ValueError where parameters do not go with what was learned."""
        raise NotImplementedError

    def check_shape(self) -> None:
        """Raise a ValueError where a parameter was changed that what was learned depends on."""
        if "state_" not in self.__dict__:
            return
        named = self.feature_index is not None
        like = self.new_state(1, 2)
        if type(like) is not type(self.state_) or like.settings() != self.state_.settings():
            name = self.shape_parameters
        elif self.hash_bits is not None and (named or self.n_features_in_ != 1 << self.hash_bits):
            name = "hash_bits"
        else:
            return
        raise ValueError(f"{type(self).__name__}: {name} was changed after learning began; fit anew.")

    def new_state(self, n_features: int, n_classes: int) -> State:
        """A state that has seen nothing."""
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return "state_" in self.__dict__

    def _need_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            name = type(self).__name__
            raise NotFittedError(
                f"This {name} instance is not fitted yet: call fit, partial_fit or learn_one first."
            )

    @property
    def t_(self) -> int:
        """Rounds: rows learned."""
        return self._learned().n_rounds

    @property
    def n_updates_(self) -> int:
        """Rows at which the model moved."""
        return self._learned().n_moves

    def _learned(self) -> State:
        if "state_" not in self.__dict__:
            raise AttributeError(
                f"{type(self).__name__} has learned nothing yet: call fit, partial_fit or learn_one first."
            )
        return self.state_

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Names of the columns, where the examples had names."""
        if self.__dict__.get("_feature_index") is None:
            raise AttributeError(
                f"{type(self).__name__} has no feature_names_in_: its examples had no names."
            )
        return np.array(list(self._feature_index), dtype=object)

    @feature_names_in_.setter
    def feature_names_in_(self, names: Iterable[str]) -> None:
        names = [str(name) for name in names]
        check_distinct(names)
        self._feature_index: dict[str, int] = {name: column for column, name in enumerate(names)}
        self._n_framed = len(names)

    @feature_names_in_.deleter
    def feature_names_in_(self) -> None:
        del self.__dict__["_feature_index"]
        self.__dict__.pop("_n_framed", None)

    def _names_are_open(self) -> bool:
        """Whether dicts have brought names: frames are then read by name, and need not have all of them."""
        index = self.feature_index
        return index is not None and len(index) > self.__dict__.get("_n_framed", 0)

    @property
    def feature_index(self) -> Mapping[str, int] | None:
        """The column of each name, where the examples had names."""
        return self.__dict__.get("_feature_index")

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name not in PASSING}

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to one file, without pickle; loaded, it learns on as if it had never stopped."""
        model_file.write(path, *self.parts())

    def parts(self) -> tuple[dict[str, Any], dict[str, Floats]]:
        """The header and arrays of a model file; raises a ValueError where they could not be read again."""
        self._need_fitted()
        self.check_shape()
        header = {
            "class": type(self).__name__,
            "parameters": self.encoded(),
            "learned": model_file.encode(
                {name: self.__dict__[name] for name in self._kept if name in self.__dict__}
            ),
            "state": {name: getattr(self.state_, name) for name in (*self.state_.header, *COUNTERS)},
        }
        arrays = self.state_.arrays()
        try:
            self.restore(header, {**arrays, "memory": arrays["memory"].copy()})
        except ValueError as error:
            reason = str(error).rstrip(".")
            raise ValueError(f"The model cannot be saved as it is: {reason}.") from error
        return header, arrays

    def encoded(self) -> Any:
        """The parameters, as a model file can hold them."""
        return model_file.encode(self.get_params(deep=False))

    @classmethod
    def decoded(cls, encoded: Any) -> Self:
        """An untrained learner of the parameters that a model file holds."""
        return cls(**model_file.decode(encoded))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a model of this class from a file that `save` wrote."""
        return cls.from_file(path, *model_file.read(path))

    @classmethod
    def from_file(cls, path: str | PathLike[str], header: dict[str, Any], arrays: dict[str, Floats]) -> Self:
        """The learner that was read from a model file."""
        with model_file.readable(path):
            return cls.restore(header, arrays)

    @classmethod
    def restore(cls, header: dict[str, Any], arrays: dict[str, Floats]) -> Self:
        """The learner that a header and arrays describe, where all of it fits together."""
        if header["class"] != cls.__name__:
            raise ValueError(f"it holds a {header['class']}, expected a {cls.__name__}")
        learner = cls.decoded(header["parameters"])
        parameters.check(learner)
        learned = model_file.decode(header["learned"])
        if not set(learned) <= set(cls._kept):
            raise ValueError(f"unknown entries {sorted(set(learned) - set(cls._kept))}")
        if "_feature_index" in learned and not isinstance(learned["_feature_index"], dict):
            raise ValueError("the feature names are no dict")
        learner.__dict__.update(learned)
        learner.check_arrays(arrays)
        like = learner.new_state(1, 2)
        if set(arrays) != set(like.arrays()):
            raise ValueError(f"it holds arrays {sorted(arrays)}, expected {sorted(like.arrays())}")
        learner.state_ = like.restored(header["state"], arrays)
        for name in COUNTERS:
            setattr(learner.state_, name, header["state"][name])
        learner.check_learned()
        learner.check_shape()
        learner.plan()
        return learner

    def check_learned(self) -> None:
        """Raise a ValueError unless what was loaded fits together."""
        index = self.__dict__.get("_feature_index")
        if not parameters.is_count(self.n_features_in_):
            raise ValueError(f"n_features_in_ is {self.n_features_in_!r}, expected a count")
        if index is not None:
            if len(index) != self.n_features_in_:
                raise ValueError(f"{len(index)} feature names for {self.n_features_in_} columns")
            columns = list(index.values())
            plain = all(type(name) is str and type(column) is int for name, column in index.items())
            if not plain or columns != list(range(self.n_features_in_)):
                raise ValueError("the feature names do not match the columns")
        n_framed = self.__dict__.get("_n_framed", 0)
        if not parameters.is_count(n_framed) or not 0 <= n_framed <= (0 if index is None else len(index)):
            raise ValueError(f"{n_framed!r} names of a frame do not fit the feature names")
        if self.state_.n_features != self.n_features_in_:
            raise ValueError(f"weights of {self.state_.n_features} features, expected {self.n_features_in_}")
        for name in COUNTERS:
            value = getattr(self.state_, name)
            if not parameters.is_count(value) or value < 0:
                raise ValueError(f"{name} is {value!r}, expected a count")

    def merge(self, *others: Self, weights: Sequence[float] | None = None) -> Self:
        """A new model, the weighted mean of this one and the others; see `tauten.merge`."""
        return merge([self, *others], weights=weights)
