"""A random layer: neurons whose weights are drawn once and never learned, as in extreme learning machines.

    z = (g(a₁·x + b₁), …, g(a_D·x + b_D)),   all aᵢⱼ, bᵢ uniform from −1 to 1

Huang, Zhu, Siew (Neurocomputing 70, 2006). Each weight is a function of the seed, the feature and the neuron.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tauten.kernels.mappings import Layer
from tauten.kernels.pointers import Rule, rule
from tauten.maps.feature_map import FeatureMap, outputs, seed
from tauten.parameters import one_of


@rule
def sigmoid(a):  # type: ignore[no-untyped-def]
    return 1.0 / (1.0 + np.exp(-a))


@rule
def tanh(a):  # type: ignore[no-untyped-def]
    return np.tanh(a)


@rule
def relu(a):  # type: ignore[no-untyped-def]
    return max(0.0, a)


ACTIVATIONS: dict[str, Rule] = {"sigmoid": sigmoid, "tanh": tanh, "relu": relu}


@dataclass(eq=False, repr=False)
class LayerMap(FeatureMap):
    """A layer of random neurons: what is left to learn is linear.

    Parameters
    ----------
    n_hidden : int, 1 or above, default 100
        D, the neurons. Weights are drawn for features of size about 1: standardise others.
    activation : "sigmoid", "tanh" or "relu", default "sigmoid"
        What a neuron makes of its input.
    random_state : int, optional
        The seed of the weights; None is 0.

    Examples
    --------
    >>> import numpy as np, tauten as tt
    >>> X = np.random.default_rng(0).uniform(-2, 2, (1000, 2))
    >>> y = (X**2).sum(axis=1) < 2
    >>> model = tt.MappedClassifier(tt.RLSClassifier(C=100.0), map=tt.LayerMap(n_hidden=30))
    >>> tt.progressive(model, X, y).error_rate < 0.1
    True
    """

    n_hidden: int = outputs(100)
    activation: str = one_of(*ACTIVATIONS, default="sigmoid")
    random_state: int | None = seed()

    drawn: ClassVar[bool] = True

    def mapping(self, n_features: int) -> Layer:
        return Layer(
            n_features, int(self.n_hidden), int(self.random_state or 0), ACTIVATIONS[self.activation]
        )
