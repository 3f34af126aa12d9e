"""SCW: soft confidence-weighted; as CW, but a single example cannot ask for any price.

    minimise  KL(N(w, Σ) ‖ N(wₜ, Σₜ)) + slack(ξ)   subject to  y⟨w, x⟩ ≥ φ·√(xᵀΣx) − ξ,  ξ ≥ 0
    solution  w = wₜ + α·y·Σₜx,   Σ⁻¹ = Σₜ⁻¹ + αφ/√V₊·x xᵀ,   with the V, V₊ of `cw`

    SCW-I     slack = C·ξ     α = min(C, the α of CW)
    SCW-II    slack = C·ξ²    α ≥ 0 from  m + α(V + 1/(2C)) = φ√V₊

Wang, Zhao, Hoi (ICML 2012), propositions 1 and 2. LIBOL's SCW2 and its ports print v·2 for v² and do not
solve this. More than two classes as in `cw`.
"""

from dataclasses import dataclass
from typing import Literal

from tauten.kernels.pointers import Rule, rule
from tauten.learners.cw import Confident, confident, deviations, probability
from tauten.parameters import above, one_of
from tauten.second_order import covariance


@rule
def capped(loss, variance, blocks, phi, C):  # type: ignore[no-untyped-def]
    return min(C, confident(loss, variance, blocks, phi, 0.0))


@rule
def damped(loss, variance, blocks, phi, C):  # type: ignore[no-untyped-def]
    return confident(loss, variance, blocks, phi, 0.5 / C)


STEPS = {"I": capped, "II": damped}


@dataclass(eq=False, repr=False)
class SCWClassifier(Confident):
    """Soft confidence-weighted classifier: CW for labels with noise.

    Parameters
    ----------
    C : float, above 0, default 1.0
        How far one example may pull; small for noisy labels.
    eta : float, between 0.5 and 1, default 0.75
        Probability of being right that is asked of each example.
    phi : float, above 0, optional
        The same as standard deviations φ = Φ⁻¹(eta); where given, `eta` is not used.
    variant : "I" or "II", default "I"
        Move at most C along Σx, or damp the move.
    covariance : "full" or "diag", default "full"
        All of Σ, at O(features²) a move, or its diagonal, at O(non-zeros).

    The parameters that all classifiers share are described in `docs/parameters.md`.

    Examples
    --------
    >>> import tauten as tt
    >>> model = tt.SCWClassifier(C=0.5, phi=1.0, fit_intercept=False)
    >>> model.fit([[1.0], [-1.0]], [1, 0]).n_updates_
    2
    """

    C: float = above(0, default=1.0)
    eta: float = probability(0.75)
    phi: float | None = deviations()
    variant: Literal["I", "II"] = one_of("I", "II", default="I")
    covariance: Literal["full", "diag"] = covariance()

    @property
    def step(self) -> Rule:
        return STEPS[self.variant]

    def slack(self, missing: float) -> float:
        return self.C * (missing if self.variant == "I" else missing * missing)
