"""PAMO: learn where examples lie and where to cut, each by passive-aggressive steps, in a single pass.

    x̂ = x/‖x‖,   zᵢ = maxⱼ ⟨uᵢⱼ, x̂⟩ over the k planes j of each of h units i,   ẑ = z/‖z‖,   score ⟨w, ẑ⟩

A row with a loss ℓ = max(0, 1 − y⟨wₜ, ẑ⟩) solves three problems one after the other:

    1  minimise  ½‖w − wₜ‖² + C·ξ     subject to  y⟨w, ẑ⟩ ≥ 1 − αℓ − ξ,  ξ ≥ 0
       solution  w = wₜ + τ·y·ẑ,      τ = min(C, (1 − α)ℓ/‖ẑ‖²)
    2  minimise  ½‖z* − ẑ‖²           subject to  y⟨w, z*⟩ ≥ 1
       solution  z* = ẑ + τ·y·w,      τ = max(0, 1 − y⟨w, ẑ⟩)/‖w‖²
    3  for one plane u of each unit i, the one with the largest product (or that nearest to the target):
       minimise  ½‖u − uₜ‖² + C_r·ξ   subject to  |z*ᵢ − ⟨u, x̂⟩| ≤ ε + ξ,  ξ ≥ 0
       solution  u = uₜ + τ·sign(e)·x̂,  e = z*ᵢ − ⟨uₜ, x̂⟩,  τ = min(C_r, max(0, |e| − ε)/‖x̂‖²)

PAMO-I learns rows with a loss, PAMO-II takes step 3 at every row. Start: uniform in ±0.1, the planes of a
unit made orthonormal. More than two classes are ours: ⟨w_y − w_s, ·⟩ with the best wrong class s in the place
of y⟨w, ·⟩, so w_y += τẑ, w_s −= τẑ with 2‖ẑ‖² for ‖ẑ‖² in step 1, and w_y − w_s for y·w in step 2. The whole
is not convex, and no bound is known. Jorge, Paredes (Pattern Recognition 79, 2018), algorithm 1. Differs from
the paper: step 2 divides by ‖w‖², where equation 22 prints ‖z‖²; it moves along w. With α = 0 planes stay, as
its section 3 says; algorithm 1 as printed would go on to bring z to length 1.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tauten.kernels.maxout_loops import approach_rule
from tauten.kernels.pointers import Rule, rule
from tauten.kernels.state import Floats
from tauten.learners.pa import capped, hard, hinge, objective
from tauten.maxout import MaxOutClassifier, never
from tauten.parameters import above, at_least, count, one_of, share, switch


@rule
def on_loss(loss):  # type: ignore[no-untyped-def]
    return 1.0 if loss > 0.0 else 0.0


@rule
def always(loss):  # type: ignore[no-untyped-def]
    return 1.0


@njit
def tau(miss, C, epsilon):  # type: ignore[no-untyped-def]
    """The move of a plane, with the sign of its miss."""
    return np.copysign(min(C, max(0.0, abs(miss) - epsilon)), miss)


@approach_rule
def winner(products, targets, units, n, C, epsilon, pull):  # type: ignore[no-untyped-def]
    for i in range(units):
        best = i
        for p in range(i + units, n, units):
            best = p if products[p] > products[best] else best
        pull[best] = tau(targets[i] - products[best], C, epsilon)
    return 0.0


@approach_rule
def nearest(products, targets, units, n, C, epsilon, pull):  # type: ignore[no-untyped-def]
    for i in range(units):
        best = i
        for p in range(i + units, n, units):
            best = p if abs(targets[i] - products[p]) < abs(targets[i] - products[best]) else best
        pull[best] = tau(targets[i] - products[best], C, epsilon)
    return 0.0


MOVES = {"I": on_loss, "II": always}
APPROACHES = {"winner": winner, "nearest": nearest}


@dataclass(eq=False, repr=False)
class MaxOutPAClassifier(MaxOutClassifier):
    """Nonlinear passive-aggressive classifier: for dense rows of up to some hundred features, of like scales.

    A row costs O(non-zeros · n_units · n_pieces), in learning and in prediction. Weights of examples and
    classes multiply both C and C_r. `planes_` are u, `weights_` w.

    Parameters
    ----------
    C : float, above 0, default 0.125
        How far one example may pull the weights.
    C_r : float, above 0, default 0.125
        How far one example may pull a plane.
    alpha : float, from 0 to 1, default 0.9
        Share of the loss that is left to the planes. 0: planes never move, and this is PA-I on a random
        projection. 1: only the planes learn.
    n_units : int, 1 or above, default 64
        Units h.
    n_pieces : int, 1 or above, default 2
        Planes a unit, k; with 1 the model is linear up to the lengths.
    variant : "I" or "II", default "I"
        Move the planes at rows with a loss, or at all rows.
    epsilon : float, 0 or above, default 0.0
        Miss of a unit's target that moves no plane.
    moved_plane : "winner" or "nearest", default "winner"
        Which plane of a unit moves: that of the largest product, or that whose product is nearest to the
        target.
    standardize : bool, default False
        Standardise each row by the means and standard deviations of the rows before it. False: the features
        should have like scales already, best mean 0 and standard deviation 1.

    The start is random: `random_state` is 0 by default, None draws a new one for each model.
    The parameters that all classifiers share are described in `docs/parameters.md`.

    Examples
    --------
    >>> import numpy as np, tauten as tt
    >>> X = np.random.default_rng(0).standard_normal((2000, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> round(tt.MaxOutPAClassifier().fit(X, y).score(X, y), 2)
    0.93
    """

    C: float = above(0, default=0.125)
    C_r: float = above(0, default=0.125)
    alpha: float = share(0.9)
    n_units: int = count(1, default=64)
    n_pieces: int = count(1, default=2)
    variant: Literal["I", "II"] = one_of("I", "II", default="I")
    epsilon: float = at_least(0, default=0.0)
    moved_plane: Literal["winner", "nearest"] = one_of("winner", "nearest", default="winner")
    standardize: bool = switch(False)

    loss: ClassVar[Rule] = hinge
    step: ClassVar[Rule] = capped

    @property
    def rules(self) -> tuple[Rule, ...]:
        when = MOVES[self.variant] if self.alpha > 0 else never
        return self.loss, self.step, hard, when, APPROACHES[self.moved_plane]

    def numbers(self) -> Floats:
        return np.array([self.C, self.C_r, 1.0 - self.alpha, self.epsilon], dtype=np.float64)

    def objective_of_weights(self, w: Floats, start: Floats, missing: float, loss: float) -> float:
        return objective(w, start, max(0.0, missing - self.alpha * loss), self.C, "I")

    def objective_of_target(self, z: Floats, start: Floats, missing: float) -> float:
        return objective(z, start, max(0.0, missing), self.C, "hard")

    def objective_of_plane(self, u: Floats, start: Floats, miss: float) -> float:
        return objective(u, start, max(0.0, abs(miss) - self.epsilon), self.C_r, "I")

    def moving(self, products: Floats, target: Floats, loss: float) -> NDArray[np.bool_]:
        fitness = products if self.moved_plane == "winner" else -np.abs(products - target[:, None])
        chosen = np.arange(self.n_pieces) == fitness.argmax(axis=1)[:, None]
        return chosen & (self.alpha > 0.0 and (loss > 0.0 or self.variant == "II"))
