"""LOL: passive-aggressive hyperplanes, one around each prototype, that share a common part.

    p         the nearest prototype of x, which online k-means finds;  score  ⟨w₀ + wₚ, x⟩
    minimise  ½‖w₀ − w₀ₜ‖²/s + ½Σₖ‖wₖ − wₖₜ‖² + slack(ξ)   subject to  y⟨w₀ + wₚ, x⟩ ≥ 1 − ξ,  ξ ≥ 0
    solution  wₚ = wₚₜ + τ·y·x,   w₀ = w₀ₜ + s·τ·y·x,   with the τ of PA (hard, I, II) at (1 + s)‖x‖²

s is `share`; with s = 0 nothing is common, and each hyperplane is a PA of its own (I-LOL). More than two
classes: wᵧ and wₛ of the best wrong class part, at 2(1 + s)‖x‖². After the step x joins its prototype,
cₚ += (x − cₚ)/nₚ; the first `n_prototypes` rows that differ each found one, which starts with the weights of
the nearest.

Zhou, Zheng, Hu, Xu, You: One-pass online learning, a local approach (Pattern Recognition 51, 2016). Differs
from the paper: only its abstract was at hand. What it states, a multiple-hyperplane PA with online clustering
whose hyperplanes are learned jointly through a common component, is derived here as above; how the paper
weighs the common component, starts its prototypes and moves them may be otherwise.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from tauten.base import Problem
from tauten.classifier import OnlineClassifier
from tauten.kernels.first_order import passive
from tauten.kernels.prototypes import Local, LocalPlan
from tauten.kernels.state import Floats
from tauten.learners.pa import VARIANTS, hinge
from tauten.parameters import above, count, one_of, switch


@dataclass(eq=False, repr=False)
class LocalPAClassifier(OnlineClassifier):
    """Local online learning: many planes, each where its rows are; non-linear at a few times the cost of PA.

    Parameters
    ----------
    C : float, above 0, default 1.0
        How far one example may pull. The hard variant does not use it.
    n_prototypes : int, 1 or above, default 16
        Regions that have a plane of their own. Standardise the features: regions are told by distance.
    shared : bool, default True
        Whether the planes have a common part (LOL), or each learns from its own rows alone (I-LOL).
    share : float, above 0, default 1.0
        How much of each move is common, against 1 that is the region's own. I-LOL does not use it.
    variant : "hard", "I" or "II", default "I"
        Fix every mistake whole; move at most C along x; or damp the move.

    The parameters that all classifiers share are described in `docs/parameters.md`.

    Attributes
    ----------
    prototypes_ : the means of the rows of each region, a row each.
    coef_, intercept_ : the weights of each region, the common part added: of two classes a row a region, of
        more a row a class in each.

    Examples
    --------
    >>> import tauten as tt
    >>> model = tt.LocalPAClassifier(n_prototypes=4)
    >>> model = model.fit([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]] * 5, [0, 0, 1, 1] * 5)
    >>> model.predict([[0.0, 0.0], [0.0, 1.0]]).tolist()
    [0, 1]
    """

    C: float = above(0, default=1.0)
    n_prototypes: int = count(1, default=16)
    shared: bool = switch(True)
    share: float = above(0, default=1.0)
    variant: Literal["hard", "I", "II"] = one_of("hard", "I", "II", default="I")

    coupled: ClassVar[bool] = True
    shape_parameters: ClassVar[str] = "n_prototypes"

    @property
    def takes_weights(self) -> bool:
        return self.variant != "hard"

    def new_state(self, n_features: int, n_classes: int) -> Local:
        return Local(n_features, n_classes, self.n_prototypes)

    def _loop_plan(self, learning: bool) -> LocalPlan:
        return LocalPlan(
            **self._loop_parts(learning),
            report=0,
            decide=self._local().decide(),
            loss=(hinge if learning else passive).handle,
            step=VARIANTS[self.variant].step.handle,
            C=np.array([float(self.C)]),
            share=float(self.share) if self.shared else 0.0,
        )

    def _local(self) -> Local:
        state = self._learned()
        assert isinstance(state, Local)
        return state

    @property
    def prototypes_(self) -> Floats:
        """The means of the rows of each region, a row each."""
        return self._local().prototypes()

    def _weights(self) -> Floats:
        """A row a region of two classes, else a row a class in each; the bias first."""
        weights = self._local().weights()
        together = weights[:1] + weights[1:]
        return together[:, 0] if together.shape[1] == 1 else together

    @property
    def coef_(self) -> Floats:
        """Weights of the features in each region, the common part added."""
        return self._weights()[..., 1:].copy()

    @property
    def intercept_(self) -> Floats:
        """Weight of the constant feature in each region; 0 without fit_intercept."""
        return self._weights()[..., 0] * float(self.fit_intercept) + 0.0  # no -0

    def problems(self, before: "LocalPAClassifier", x: Floats, y: Any) -> list[Problem]:
        """The step's problem over all weights, common ones first, each plane's columns one after another."""
        x = np.append(float(self.fit_intercept), x)
        sqdistances = ((before.prototypes_ - x[1:]) ** 2).sum(axis=1)
        near = 1 + int(sqdistances.argmin())
        start = before._local().planes[:, :, : len(x)]
        end = self._local().planes[:, :, : len(x)].copy()
        if len(self.prototypes_) > len(before.prototypes_) > 0:  # founded after the step
            end[len(self.prototypes_)] = start[len(self.prototypes_)]
        code = self.classes_.tolist().index(y)
        stiffness = np.ones(len(start))
        stiffness[0] = 1.0 / self.share if self.shared else np.inf

        def value(flat: Floats) -> float:
            planes = flat.reshape(start.shape)
            moved = ((planes - start) ** 2).sum(axis=(1, 2))
            scores = (planes[0] + planes[near]) @ x
            if len(scores) == 1:
                margin = (2.0 * code - 1.0) * float(scores[0])
            else:
                rivals = ((start[0] + start[near]) @ x).copy()
                rivals[code] = -np.inf
                margin = float(scores[code] - scores[rivals.argmax()])
            effort = float(stiffness[moved > 0] @ moved[moved > 0]) / 2
            return effort + VARIANTS[self.variant].slack(max(0.0, 1.0 - margin), self.C)

        return [Problem(start.ravel(), end.ravel(), value)]
