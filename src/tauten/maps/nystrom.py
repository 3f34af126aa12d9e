"""Nyström: rows of the stream as landmarks; exact on all that they span, and the nearest to it elsewhere.

    ⟨z, z'⟩ = k(x)ᵀK⁻¹k(x'),   k(x) = (k(l₁, x), …, k(l_B, x)),   K of the landmarks l with each other

The first B rows that a learner moves along become landmarks. Until then, and on these rows for ever, ⟨z, z'⟩
is k(x, x') exactly, so the learner is the very kernel machine; with B landmarks it goes on from the same
weights with the map as it is. z = L⁻¹k(x), L Cholesky's factor of K: a new landmark adds a coordinate and
changes no other. With `rank` r, the axes are turned once, when the last landmark is there, to the r best
directions, z = Λᵣ^(−½)Vᵣᵀk(x), and the weights with them, w ← (what w is there): the nearest function to what
was learned. A row whose distance from the span of the landmarks is below 0.1 % of its length is none itself:
it would add rounding errors. Williams, Seeger (NIPS 2000).
"""

from dataclasses import dataclass

import numpy as np

from tauten.kernels.mappings import Landmarks
from tauten.kernels.pointers import Rule, rule
from tauten.maps.feature_map import FeatureMap
from tauten.parameters import above, at_least, count, is_count, one_of, optional


@rule
def rbf(product, a, b, gamma, degree, coef0):  # type: ignore[no-untyped-def]
    return np.exp(-gamma * max(0.0, a + b - 2.0 * product))


@rule
def polynomial(product, a, b, gamma, degree, coef0):  # type: ignore[no-untyped-def]
    return (gamma * product + coef0) ** degree


@rule
def linear(product, a, b, gamma, degree, coef0):  # type: ignore[no-untyped-def]
    return product


KERNELS: dict[str, Rule] = {"rbf": rbf, "polynomial": polynomial, "linear": linear}


@dataclass(eq=False, repr=False)
class NystromMap(FeatureMap):
    """Nyström features: a kernel by its values at landmarks, better than Fourier features of the same number.

    Parameters
    ----------
    n_landmarks : int, 1 or above, default 100
        B, the rows kept.
    gamma : float, above 0, default 0.1
        How fast two rows cease to be alike; about 1/(number of features) for standardised rows.
    kernel : "rbf", "polynomial" or "linear", default "rbf"
        exp(−γ‖x − x'‖²), (γ⟨x, x'⟩ + coef0)^degree or ⟨x, x'⟩.
    degree : int, 1 or above, default 3
        Of the polynomial kernel.
    coef0 : float, 0 or above, default 1.0
        Of the polynomial kernel.
    rank : int, 1 or above, optional
        How many directions to keep once the landmarks are there: what a row costs is then rank·B and not
        B². Not for learners with a covariance or a window.

    Examples
    --------
    >>> import numpy as np, tauten as tt
    >>> X = np.random.default_rng(0).uniform(-2, 2, (1000, 2))
    >>> y = (X**2).sum(axis=1) < 2
    >>> model = tt.MappedClassifier(tt.make("pam2"), map=tt.NystromMap(n_landmarks=30, gamma=0.5))
    >>> tt.progressive(model, X, y).error_rate < 0.1
    True
    """

    n_landmarks: int = count(1, default=100)
    gamma: float = above(0, default=0.1)
    kernel: str = one_of(*KERNELS, default="rbf")
    degree: int = count(1, default=3)
    coef0: float = at_least(0, default=1.0)
    rank: int | None = optional("a whole number, 1 or above", lambda rank: is_count(rank) and rank >= 1)

    def check(self) -> None:
        super().check()
        if self.rank is not None and self.rank > self.n_landmarks:
            raise ValueError(
                f"NystromMap: rank is {self.rank}; expected at most n_landmarks, {self.n_landmarks}."
            )

    def turns(self) -> bool:
        return self.rank is not None

    def mapping(self, n_features: int) -> Landmarks:
        numbers = self.gamma, self.degree, self.coef0
        return Landmarks(n_features, self.n_landmarks, self.rank, KERNELS[self.kernel], numbers)
