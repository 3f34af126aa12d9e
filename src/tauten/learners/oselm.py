"""OS-ELM: recursive least squares on a layer of random neurons.

    h = g(Ax + b), drawn once;  minimise  ‖β‖²/C + Σ (yᵢ − ⟨β, hᵢ⟩)²   over all rows i so far
    solution  β = (I/C + HᵀH)⁻¹Hᵀy;   one row at a time, with Pₜ = (I/C + HᵀH)⁻¹,
              P = Pₜ − PₜhhᵀPₜ/(1 + hᵀPₜh),   β = βₜ + (y − ⟨βₜ, h⟩)·Ph

More than two classes: each has a β of its own, of target 1 where a row is of the class and −1 where not, and
all have the same P. Liang, Huang, Saratchandran, Sundararajan (IEEE TNN 17, 2006). Differs from the paper: P
starts as C·I, the ridge, and not from a first block of rows, whose HᵀH may have no inverse; P is kept as a
factor that stays symmetric and positive; the output has a bias, which `fit_intercept=False` turns off.
"""

from dataclasses import KW_ONLY, dataclass

from tauten.classifier import OnlineClassifier
from tauten.learners.rls import RLSClassifier
from tauten.mapped import Mapped, shared_parameters
from tauten.maps import LayerMap
from tauten.maps.feature_map import outputs, seed
from tauten.maps.layer import ACTIVATIONS
from tauten.parameters import above, one_of


@dataclass(eq=False, repr=False)
class OSELMClassifier(Mapped, OnlineClassifier):
    """Online sequential extreme learning machine: always the ridge regression of all rows on its neurons.

    Parameters
    ----------
    C : float, above 0, default 1000.0
        Weight of the rows against the ridge: small for few rows or much noise.
    n_hidden : int, 1 or above, default 20
        Neurons; a row costs their square. Weights are drawn for features of size about 1.
    activation : "sigmoid", "tanh" or "relu", default "sigmoid"
        What a neuron makes of its input.

    The parameters that all classifiers share are described in `docs/parameters.md`. `random_state` is the
    seed of the layer too, None being 0.

    Examples
    --------
    >>> import tauten as tt
    >>> model = tt.OSELMClassifier(n_hidden=20)
    >>> model = model.fit([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]] * 20, [0, 0, 1, 1] * 20)
    >>> model.predict([[0.0, 0.0], [0.0, 1.0]]).tolist()
    [0, 1]
    """

    C: float = above(0, default=1000.0)
    n_hidden: int = outputs(20)
    activation: str = one_of(*ACTIVATIONS, default="sigmoid")
    _: KW_ONLY
    random_state: int | None = seed()

    @property
    def learner(self) -> RLSClassifier:  # type: ignore[override]
        """What learns."""
        return RLSClassifier(C=self.C, **shared_parameters(self))

    @property
    def map(self) -> LayerMap:  # type: ignore[override]
        """What rows become."""
        return LayerMap(self.n_hidden, self.activation, self.random_state or 0)
