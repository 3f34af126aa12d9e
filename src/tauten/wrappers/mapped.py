"""Feature maps in front of any learner: it learns what the map makes of a row, and so becomes non-linear.

    x  →  z = map(x)  →  the learner's score, loss and step on z

PA-I on Fourier features, PAM on Nyström features (PAm's reduced kernel), cost-sensitive PA on either are a
line each.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Self

from sklearn.base import MetaEstimatorMixin

from tauten.base import OnlineLearner
from tauten.classifier import OnlineClassifier
from tauten.io import model_file
from tauten.mapped import Mapped
from tauten.maps import MAPS, FeatureMap
from tauten.parameters import parameter
from tauten.regressor import OnlineRegressor


def _of_the_learner(name: str) -> Any:
    default = OnlineClassifier.__dataclass_fields__[
        name
    ].default  # where the learner is none, as a check will say
    return property(lambda self: getattr(self.learner, name, default), doc=f"`{name}` of the learner.")


class OnAnyLearner(MetaEstimatorMixin, Mapped):
    """What the parameters of the learner, and a model file of both parts, look like from outside."""

    fit_intercept = _of_the_learner("fit_intercept")
    epochs = _of_the_learner("epochs")
    shuffle = _of_the_learner("shuffle")
    random_state = _of_the_learner("random_state")
    warm_start = _of_the_learner("warm_start")
    hash_bits = _of_the_learner("hash_bits")

    @property
    def sweepable(self) -> frozenset[str]:  # type: ignore[override]
        return frozenset(f"learner__{name}" for name in self.learner.sweepable)

    def encoded(self) -> Any:
        return {
            "learner": {"class": type(self.learner).__name__, "parameters": self.learner.encoded()},
            "map": {
                "class": type(self.map).__name__,
                "parameters": model_file.encode(self.map.get_params()),
            },
        }

    @classmethod
    def decoded(cls, encoded: Any) -> Self:
        learner, feature_map = encoded["learner"], encoded["map"]
        learner_class = import_module("tauten.registry").learner_class(learner["class"])
        return cls(
            learner_class.decoded(learner["parameters"]),  # type: ignore[call-arg]
            MAPS[feature_map["class"]](**model_file.decode(feature_map["parameters"])),
        )


def _learner(kind: type[OnlineLearner], words: str) -> Any:
    return parameter(None, lambda learner: isinstance(learner, kind), f"{words} of tauten")


def _map() -> Any:
    return parameter(
        None, lambda made: isinstance(made, FeatureMap), "a feature map: FourierMap, NystromMap or LayerMap"
    )


@dataclass(init=False, eq=False, repr=False)
class MappedClassifier(OnAnyLearner, OnlineClassifier):
    """Any classifier behind a feature map: for classes that no plane separates.

    Parameters
    ----------
    learner : classifier of tauten
        What learns; it is cloned, and not changed. The parameters that all classifiers share are its own.
    map : feature map
        What rows become: FourierMap, NystromMap or LayerMap.

    Attributes
    ----------
    learner_ : the classifier behind the map; `learner_.coef_` weighs what the map makes of a row.

    Examples
    --------
    >>> import tauten as tt
    >>> model = tt.MappedClassifier(tt.PAClassifier(variant="hard"), map=tt.FourierMap(gamma=1.0))
    >>> model = model.fit([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]] * 5, [0, 0, 1, 1] * 5)
    >>> model.predict([[0.0, 0.0], [0.0, 1.0]]).tolist()
    [0, 1]
    """

    learner: OnlineClassifier = _learner(OnlineClassifier, "a classifier")  # noqa: RUF009  a field
    map: FeatureMap = _map()  # noqa: RUF009

    classes = _of_the_learner("classes")
    class_weight = _of_the_learner("class_weight")

    def __init__(self, learner: OnlineClassifier, map: FeatureMap) -> None:
        self.learner = learner
        self.map = map


@dataclass(init=False, eq=False, repr=False)
class MappedRegressor(OnAnyLearner, OnlineRegressor):
    """Any regressor behind a feature map: for targets that follow a curve.

    Parameters
    ----------
    learner : regressor of tauten
        What learns; it is cloned, and not changed. The parameters that all learners share are its own.
    map : feature map
        What rows become: FourierMap, NystromMap or LayerMap.

    Attributes
    ----------
    learner_ : the regressor behind the map; `learner_.coef_` weighs what the map makes of a row.

    Examples
    --------
    >>> import numpy as np, tauten as tt
    >>> X = np.random.default_rng(0).uniform(-3, 3, (2000, 1))
    >>> model = tt.MappedRegressor(tt.PARegressor(epsilon=0.01), map=tt.FourierMap(gamma=1.0))
    >>> model = model.fit(X, np.sin(X[:, 0]))
    >>> round(model.predict_one([1.0]), 1)
    0.8
    """

    learner: OnlineRegressor = _learner(OnlineRegressor, "a regressor")  # noqa: RUF009  a field
    map: FeatureMap = _map()  # noqa: RUF009

    def __init__(self, learner: OnlineRegressor, map: FeatureMap) -> None:
        self.learner = learner
        self.map = map
