"""PA, PA-I, PA-II and PALS for metrics: similar pairs nearer than b − 1, dissimilar ones farther than b + 1.

    minimise  ½‖M − Mₜ‖² + ½(b − bₜ)² + slack(ξ)   subject to  1 − y(b − vᵀMv) ≤ ξ,  ξ ≥ 0,  v = x − x′
    solution  M = Mₜ − τ·y·v vᵀ,  b = bₜ + τ·y,    p = 1 − y(bₜ − vᵀMₜv),  ℓ = max(0, p)

    hard      ξ = 0           τ = ℓ / (1 + ‖v‖⁴)
    I         slack = C·ξ     τ = min(C, ℓ / (1 + ‖v‖⁴))
    II        slack = C·ξ²    τ = ℓ / (1 + 1/(2C) + ‖v‖⁴)
    LS        slack = C·ξ², p = ξ in the place of p ≤ ξ:  τ = p / (1 + 1/(2C) + ‖v‖⁴)

and then M ⪰ 0, b ≥ 1, each by the nearest that is: after every move (the paper's +), after the last one (−)
or every n moves. No move is made for |τ| below a tolerance. Perez-Suay, Ferri, Arevalo, Albert (Progress in
Artificial Intelligence 2, 2013), (4) to (16) and algorithm 1; hard with + is POLA (Shalev-Shwartz, Singer,
Ng, ICML 2004), but for its b, which starts at 1 or above.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tauten import parameters
from tauten.kernels.pointers import Rule, rule
from tauten.kernels.state import Floats
from tauten.learners.pa import capped, damped, hard, hinge
from tauten.metric import OnlineMetric
from tauten.parameters import is_count, is_number, one_of, optional, parameter


@rule
def residual(score, y, margin):  # type: ignore[no-untyped-def]
    """Signed loss of least squares: how far y·score is from the margin, on whichever side."""
    return y * (margin - y * score)


STEPS = {"hard": hard, "I": capped, "II": damped, "LS": damped}


def objective(
    M: Floats, b: float, start: tuple[Floats, float], v: Floats, y: float, C: float, variant: str
) -> float:
    """What a step from `start`, a metric and a threshold, minimises; the constraint of "hard" is infinite."""
    p = 1.0 - y * (b - float(v @ M @ v))
    missing = max(0.0, p)
    slack = {
        "hard": np.inf if missing > 1e-9 else 0.0,
        "I": C * missing,
        "II": C * missing**2,
        "LS": C * p**2,
    }
    return float(np.square(M - start[0]).sum() / 2 + (b - start[1]) ** 2 / 2 + slack[variant])


def _is_positive_count(value: Any) -> bool:
    return is_count(value) and value >= 1


@dataclass(eq=False, repr=False)
class PAMetric(OnlineMetric):
    """Passive-aggressive metric learner: a distance for nearest neighbours, from pairs that are alike or not.

    Scale the features first: a step is as short as ‖v‖⁴ is large.

    Parameters
    ----------
    C : float above 0, or "auto", default 1.0
        How far one pair may pull. "auto": `fit` tries 13 values from 1e-4 to 100 in a pass over the pairs
        each, and takes the one whose nearest neighbours label the rows best (without labels: of the least
        loss). The hard variant does not use it.
    variant : "hard", "I", "II" or "LS", default "I"
        Fix every wrong pair whole; by τ at most C; damp the move; or meet b ± 1 in the mean square, which
        moves at nearly every pair.
    psd : "always", "end" or int, default "always"
        When M is made ⪰ 0 and b at least 1: after every move, for what is read out only, or every so many
        moves. "end" is the fastest, and gives metrics of fewer dimensions.
    tolerance : float, 0 or above, or "adaptive", default 0.0
        Steps with |τ| below it are not made. "adaptive": nor are steps for losses below three quarters of
        the usual one, a running mean.
    init : "zero", "identity" or matrix, default "zero"
        The metric to start from; b starts at 0.
    sparsity : float from 0 to 1, default 0.0
        What is read out is the A ⪰ 0 that minimises ½‖A − M‖² + sparsity·λ₁·tr A, λ₁ M's largest eigenvalue:
        all eigenvalues less that share of λ₁, those below it 0. Learning goes on from M.
    n_pairs : int, optional
        Pairs that `fit` samples from labelled rows; by default 40c(c − 1) for c classes.
    epochs : int, optional
        Passes of `fit` over the pairs. By default one over pairs that are given; over sampled ones, each time
        in a new order, the paper's number: a fifth of all pairs of rows or 50 passes, what is less, but two.
    patience : int, optional
        `fit` stops after so many passes in a row that did not lower the mean loss by 1%.
    random_state : int, RandomState or None, default None
        The seed of the pairs and their orders.

    Attributes
    ----------
    components_, b_ : L, with A = LᵀL the learned metric, and the threshold of squared distances.
    C_, n_passes_, t_, n_updates_ : the C used, passes begun, pairs learned, and those at which M moved.

    Examples
    --------
    >>> import numpy as np, tauten as tt
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((300, 4))
    >>> metric = tt.PAMetric(random_state=0).fit(X, X[:, 0] > 0)
    >>> A = metric.get_mahalanobis_matrix()
    >>> int(A.diagonal().argmax()), metric.transform(X).shape[0]
    (0, 300)
    """

    C: float | Literal["auto"] = parameter(
        1.0,
        lambda C: C == "auto" if isinstance(C, str) else is_number(C) and C > 0,
        "a finite number above 0 or 'auto'",
    )
    variant: Literal["hard", "I", "II", "LS"] = one_of("hard", "I", "II", "LS", default="I")
    psd: Literal["always", "end"] | int = parameter(
        "always",
        lambda psd: psd in ("always", "end") if isinstance(psd, str) else _is_positive_count(psd),
        "'always', 'end' or a whole number, 1 or above",
    )
    tolerance: float | Literal["adaptive"] = parameter(
        0.0,
        lambda least: least == "adaptive" if isinstance(least, str) else is_number(least) and least >= 0,
        "a finite number, 0 or above, or 'adaptive'",
    )
    init: Any = parameter(  # noqa: RUF009  a field
        "zero",
        lambda init: init in ("zero", "identity") if isinstance(init, str) else np.ndim(init) == 2,
        "'zero', 'identity' or a symmetric matrix",
    )
    sparsity: float = parameters.share(0.0)
    n_pairs: int | None = optional("a whole number, 1 or above", _is_positive_count)
    epochs: int | None = optional("a whole number, 1 or above", _is_positive_count)
    patience: int | None = optional("a whole number, 1 or above", _is_positive_count)
    random_state: int | np.random.RandomState | None = optional("a seed or a RandomState", parameters.is_seed)  # noqa: RUF009  a field

    @property
    def loss(self) -> Rule:
        return residual if self.variant == "LS" else hinge

    @property
    def step(self) -> Rule:
        return STEPS[self.variant]

    @property
    def soft(self) -> bool:
        return self.variant != "hard"

    def objective(self, M: Floats, b: float, start: tuple[Floats, float], v: Floats, y: float) -> float:
        """What a step from `start` minimises; only the checks call it."""
        return objective(M, b, start, v, y, self.C_, self.variant)
