"""NOGD: online gradient descent with a kernel, and from B support vectors on with its Nyström features.

    first     f = Σᵢ αᵢk(xᵢ, ·);  where ℓ(f) = max(0, 1 − y·f(x)) > 0, x joins with α = ηₜ·y
    then      z = Λ^(−½)Vᵀk(x), K = VΛVᵀ of the B support vectors, of which the `rank` largest are kept;
              w starts as the f of the kernel stage; where ℓ(w) > 0, w = wₜ + ηₜ·y·z
    both      minimise  ½‖f − fₜ‖² + ηₜ·⟨∇ℓ(fₜ), f⟩, in the space of the kernel and in that of z

Lu, Hoi, Wang, Zhao, Liu (JMLR 17(47), 2016), algorithm 2. Differs from the paper: the bias, which
`fit_intercept=False` turns off; all B directions are kept unless `rank` is given; a row that the support
vectors before it span already joins them without becoming one.
"""

from dataclasses import dataclass

from tauten.classifier import OnlineClassifier
from tauten.learners.ogd import OGDClassifier
from tauten.mapped import Mapped, shared_parameters
from tauten.maps import NystromMap
from tauten.parameters import above, count, is_count, optional, share


@dataclass(eq=False, repr=False)
class NystromOGDClassifier(Mapped, OnlineClassifier):
    """Online gradient descent on Nyström features: a Gaussian kernel machine with a budget of landmarks.

    `MappedClassifier` puts any other learner in the place of gradient descent; `NystromMap` has more kernels.

    Parameters
    ----------
    eta : float, above 0, default 0.2
        The rate: how far a row moves the weights, in units of k(x, x) = 1.
    power : float, from 0 to 1, default 0.0
        How fast the rate falls, η/t^power.
    gamma : float, above 0, default 0.1
        How fast two rows cease to be alike; about 1/(number of features) for standardised rows.
    n_landmarks : int, 1 or above, default 100
        B, the support vectors kept.
    rank : int, 1 or above, optional
        How many directions to keep once they are there; None keeps all.

    The parameters that all classifiers share are described in `docs/parameters.md`.

    Examples
    --------
    >>> import tauten as tt
    >>> model = tt.NystromOGDClassifier(gamma=1.0)
    >>> model = model.fit([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]] * 20, [0, 0, 1, 1] * 20)
    >>> model.predict([[0.0, 0.0], [0.0, 1.0]]).tolist()
    [0, 1]
    """

    eta: float = above(0, default=0.2)
    power: float = share(default=0.0)
    gamma: float = above(0, default=0.1)
    n_landmarks: int = count(1, default=100)
    rank: int | None = optional("a whole number, 1 or above", lambda rank: is_count(rank) and rank >= 1)

    @property
    def learner(self) -> OGDClassifier:  # type: ignore[override]
        """What learns."""
        return OGDClassifier(eta=self.eta, power=self.power, **shared_parameters(self))

    @property
    def map(self) -> NystromMap:  # type: ignore[override]
        """What rows become."""
        return NystromMap(n_landmarks=self.n_landmarks, gamma=self.gamma, rank=self.rank)
