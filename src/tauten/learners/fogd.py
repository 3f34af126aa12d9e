"""FOGD: online gradient descent on random Fourier features.

    z = √(2/D)·(cos ωᵢ·x, …, sin ωᵢ·x, …),  ωᵢ ~ N(0, 2γI),  so that ⟨z, z'⟩ ≈ exp(−γ‖x − x'‖²)
    minimise  ½‖w − wₜ‖² + ηₜ·⟨∇ℓ(wₜ), w⟩,  ℓ(w) = max(0, 1 − y⟨w, z⟩):   w = wₜ + ηₜ·y·z  where ℓ(wₜ) > 0

Lu, Hoi, Wang, Zhao, Liu (JMLR 17(47), 2016), algorithm 1. Differs from the paper: z is scaled so that
‖z‖ = 1, which its text asks for and its code leaves out (η there is D/2 times smaller), and there is a bias,
which `fit_intercept=False` turns off.
"""

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from tauten.classifier import OnlineClassifier
from tauten.learners.ogd import OGDClassifier
from tauten.mapped import Mapped, shared_parameters
from tauten.maps import FourierMap
from tauten.maps.feature_map import outputs, seed
from tauten.parameters import above, share


@dataclass(eq=False, repr=False)
class FourierOGDClassifier(Mapped, OnlineClassifier):
    """Online gradient descent on Fourier features: a Gaussian kernel machine of fixed cost.

    `MappedClassifier` puts any other learner in the place of gradient descent.

    Parameters
    ----------
    eta : float, above 0, default 0.2
        The rate: how far a row moves the weights, in which ‖z‖ = 1.
    power : float, from 0 to 1, default 0.0
        How fast the rate falls, η/t^power.
    gamma : float, above 0, default 0.1
        How fast two rows cease to be alike; about 1/(number of features) for standardised rows.
    n_components : int, 1 or above, default 400
        D, the numbers that a row becomes.

    The parameters that all classifiers share are described in `docs/parameters.md`. `random_state` is the
    seed of the waves too, None being 0.

    Examples
    --------
    >>> import tauten as tt
    >>> model = tt.FourierOGDClassifier(gamma=1.0)
    >>> model = model.fit([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]] * 20, [0, 0, 1, 1] * 20)
    >>> model.predict([[0.0, 0.0], [0.0, 1.0]]).tolist()
    [0, 1]
    """

    eta: float = above(0, default=0.2)
    power: float = share(default=0.0)
    gamma: float = above(0, default=0.1)
    n_components: int = outputs(400)
    _: KW_ONLY
    random_state: int | None = seed()

    sweepable: ClassVar[frozenset[str]] = OGDClassifier.sweepable

    @property
    def learner(self) -> OGDClassifier:  # type: ignore[override]
        """What learns."""
        return OGDClassifier(eta=self.eta, power=self.power, **shared_parameters(self))

    @property
    def map(self) -> FourierMap:  # type: ignore[override]
        """What rows become."""
        return FourierMap(self.gamma, self.n_components, self.random_state or 0)
