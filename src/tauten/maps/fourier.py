"""Random Fourier features: waves whose products approximate the Gaussian kernel.

    z = √(2/D)·(cos ω₁·x, …, cos ω_{D/2}·x, sin ω₁·x, …, sin ω_{D/2}·x),   ωᵢ ~ N(0, 2γI)
    ⟨z, z'⟩ ≈ k(x, x') = exp(−γ‖x − x'‖²),   with an error of about 1/√D;   ‖z‖ = 1

Rahimi, Recht (NIPS 2007). Each entry of ω is a function of the seed, the feature and the wave, so a feature
that is met later gets its frequencies without a change to the others.
"""

from dataclasses import dataclass
from typing import ClassVar

from tauten.kernels.mappings import Waves
from tauten.maps.feature_map import FeatureMap, outputs, seed
from tauten.parameters import above


@dataclass(eq=False, repr=False)
class FourierMap(FeatureMap):
    """Random Fourier features of exp(−γ‖x − x'‖²): a Gaussian kernel for streams, at a fixed cost a row.

    Parameters
    ----------
    gamma : float, above 0, default 0.1
        How fast two rows cease to be alike; about 1/(number of features) for standardised rows.
    n_components : int, 1 or above, default 400
        D, the numbers that a row becomes: a cosine and a sine for each of half as many waves.
    random_state : int, optional
        The seed of the waves; None is 0.

    Examples
    --------
    >>> import numpy as np, tauten as tt
    >>> X = np.random.default_rng(0).uniform(-2, 2, (1000, 2))
    >>> y = (X**2).sum(axis=1) < 2
    >>> model = tt.MappedClassifier(tt.PAClassifier(), map=tt.FourierMap(gamma=0.5, n_components=100))
    >>> tt.progressive(model, X, y).error_rate < 0.1 < tt.progressive(tt.PAClassifier(), X, y).error_rate
    True
    """

    gamma: float = above(0, default=0.1)
    n_components: int = outputs(400)
    random_state: int | None = seed()

    drawn: ClassVar[bool] = True

    def mapping(self, n_features: int) -> Waves:
        return Waves(n_features, int(self.n_components), int(self.random_state or 0), float(self.gamma))
