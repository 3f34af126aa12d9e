"""Slow, literal twins of the second-order learners, written from the papers' problems, never from the loops.

A twin believes w ~ N(w, Σ), with one Σ, at first I, for the weights of all classes. It keeps P = Σ⁻¹ and
inverts it whenever Σ is needed. A move is b blocks wide: with two classes and in regression b = 1, along x;
with more b = 2, along +x in the right class and −x in the best wrong class. With v = ⟨x, Σx⟩ the variance of
the margin m is V = b·v, a move is α·Σx along each block, and Σ⁻¹ += c·x·xᵀ. A rule is the α and c of one
algorithm; α = 0 moves neither w nor Σ. "diag" keeps only the diagonal of Σ⁻¹, v and the move worked out with
it.

s, the weight of the example, multiplies C (AROW: 1/r, SOP: 1/a).
"""

from collections.abc import Callable
from functools import partial
from math import inf, sqrt
from typing import Any, Protocol

import numpy as np
from oracle import Column, Coupled, best_wrong, step
from scipy.optimize import brentq
from scipy.special import ndtri


class Information:
    """P = Σ⁻¹, at first I, as a matrix ("full") or the vector of its diagonal ("diag")."""

    def __init__(self, d: int, covariance: str) -> None:
        self.P = np.eye(d) if covariance == "full" else np.ones(d)

    @property
    def Sigma(self) -> np.ndarray:
        """Σ, of "diag" its diagonal."""
        return np.linalg.inv(self.P) if self.P.ndim == 2 else 1 / self.P

    def spread(self, x: np.ndarray) -> np.ndarray:
        """Σx."""
        return self.Sigma @ x if self.P.ndim == 2 else self.Sigma * x

    def add(self, c: float, x: np.ndarray) -> None:
        """Σ⁻¹ += c·x·xᵀ, of "diag" the diagonal."""
        self.P = self.P + c * (np.outer(x, x) if self.P.ndim == 2 else x * x)


class Rule(Protocol):
    """What a twin needs of an algorithm."""

    def __call__(self, m: float, v: float, b: int, s: float) -> tuple[float, float]:
        """α and c."""


class PAM:
    """½⟨w − wₜ, Σ⁻¹(w − wₜ)⟩ + slack: α is PA's τ with q = V, c = 1 (the paper's algorithm 1)."""

    def __init__(self, variant: str, C: float = 1.0) -> None:
        self.variant, self.C = variant, C

    def __call__(self, m: float, v: float, b: int, s: float) -> tuple[float, float]:
        return step(self.variant, max(0.0, 1 - m), b * v, s * self.C), 1.0


class AROW:
    """KL + ([1 − m]₊² + V)/(2r): α = [1 − m]₊/(V + r), c = 1/r (Crammer, Kulesza, Dredze, NIPS 2009)."""

    def __init__(self, r: float = 1.0) -> None:
        self.r = r

    def __call__(self, m: float, v: float, b: int, s: float) -> tuple[float, float]:
        return s * max(0.0, 1 - m) / (s * b * v + self.r), s / self.r


class NHERD:
    """Herding: α = [1 − m]₊/(V + 1/C), Σ = AΣₜAᵀ with A = (I + C·Σₜx·xᵀ)⁻¹ (Crammer, Lee, NIPS 2010).

    As ⟨x, Σx⟩ = v/(1 + Cv)² and Σ⁻¹ grows along x·xᵀ only, c = ((1 + Cv)² − 1)/v = 2C + C²v.
    """

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def __call__(self, m: float, v: float, b: int, s: float) -> tuple[float, float]:
        C = s * self.C
        return C * max(0.0, 1 - m) / (C * b * v + 1), 2 * C + C**2 * v


class CW:
    """KL subject to m ≥ φ√V (Crammer, Dredze, Pereira, NIPS 2008); with slack ξ: SCW (Wang, Zhao, Hoi, 2012).

    α is the multiplier of m + ξ ≥ φ√V: the root of m + αV + ξ = φ√V⁺ with ξ = 0 (CW), with α ≤ C besides
    (SCW-I), or with ξ = α/(2C) (SCW-II); c = αφ/√V⁺. As V⁺ = bv/(1 + cv), √V⁺ is the
    positive root of u² + αφv·u − bv = 0.
    """

    def __init__(
        self, variant: str = "hard", C: float = 1.0, eta: float = 0.7, phi: float | None = None
    ) -> None:
        self.variant, self.C = variant, C
        self.phi = ndtri(eta) if phi is None else phi

    def __call__(self, m: float, v: float, b: int, s: float) -> tuple[float, float]:
        C = inf if self.variant == "hard" else s * self.C
        if C == 0 or m >= self.phi * sqrt(b * v):
            return 0.0, 0.0
        slack = 1 / (2 * C) if self.variant == "II" else 0.0

        def lacking(alpha: float) -> float:
            return m + alpha * (b * v + slack) - self.phi * self.deviation(alpha, v, b)

        # √V⁺ ≤ √V, so nothing lacks at (φ√V − m)/V; twice that keeps rounding out of the bracket.
        highest = 2 * (self.phi * sqrt(b * v) - m) / (b * v)
        alpha = brentq(lacking, 0.0, highest, xtol=1e-300, rtol=4 * np.finfo(float).eps)
        if self.variant == "I":
            alpha = min(C, alpha)
        return alpha, alpha * self.phi / self.deviation(alpha, v, b)

    def deviation(self, alpha: float, v: float, b: int) -> float:
        """√V⁺, the positive root of u² + αφv·u − bv = 0, without a difference of like numbers."""
        p = alpha * self.phi * v
        return 2 * b * v / (p + sqrt(p**2 + 4 * b * v))


class SecondOrderColumn(Column):
    """w += α·y·Σx, m = y⟨w, x⟩."""

    def __init__(
        self, rule: Callable[..., Rule], d: int, covariance: str = "full", **parameters: Any
    ) -> None:
        super().__init__(d)
        self.rule, self.information = rule(**parameters), Information(d, covariance)

    @property
    def Sigma(self) -> np.ndarray:
        return self.information.Sigma

    def learn(self, x: np.ndarray, y: float, s: float) -> None:
        self.move(x, y, y * (self.w @ x), s)

    def move(self, x: np.ndarray, sign: float, m: float, s: float) -> None:
        g = self.information.spread(x)
        alpha, c = self.rule(m, x @ g, 1, s) if x.any() else (0.0, 0.0)
        if alpha > 0:
            self.w = self.w + alpha * sign * g
            self.information.add(c, x)


class SecondOrderRegression(SecondOrderColumn):
    """w += α·sign(e)·Σx, e = y − ⟨w, x⟩; m = 1 + ε − |e|, so that [1 − m]₊ is the loss [|e| − ε]₊."""

    def __init__(self, rule: Callable[..., Rule], d: int, epsilon: float = 0.1, **parameters: Any) -> None:
        super().__init__(rule, d, **parameters)
        self.epsilon = epsilon

    def learn(self, x: np.ndarray, y: float, s: float) -> None:
        error = y - self.w @ x
        self.move(x, np.sign(error), 1 + self.epsilon - abs(error), s)


class CoupledSecondOrder(Coupled):
    """w_y += α·Σx, w_s −= α·Σx for the best wrong class s, m = F_y − F_s."""

    def __init__(
        self, rule: Callable[..., Rule], d: int, n_classes: int, covariance: str = "full", **parameters: Any
    ) -> None:
        super().__init__(d, n_classes)
        self.rule, self.information = rule(**parameters), Information(d, covariance)

    @property
    def Sigma(self) -> np.ndarray:
        return self.information.Sigma

    def learn(self, x: np.ndarray, k: int, s: float) -> None:
        scores, g = self.W @ x, self.information.spread(x)
        rival = best_wrong(scores, k)
        alpha, c = self.rule(scores[k] - scores[rival], x @ g, 2, s) if x.any() else (0.0, 0.0)
        if alpha > 0:
            self.move(k, rival, alpha * g)
            self.information.add(c, x)


class SOP(Column):
    """Where y⟨w, x⟩ ≤ 0: A += x·xᵀ, b += y·x; w = A⁻¹b, at first A = aI (Cesa-Bianchi et al., 2005)."""

    def __init__(self, d: int, a: float = 1.0) -> None:
        super().__init__(d)
        self.a, self.A, self.b = a, a * np.eye(d), np.zeros(d)

    @property
    def Sigma(self) -> np.ndarray:
        return self.a * np.linalg.inv(self.A)

    def learn(self, x: np.ndarray, y: float, s: float) -> None:
        if y * (self.w @ x) <= 0:
            self.A = self.A + s * np.outer(x, x)
            self.b = self.b + s * y * x
            self.w = np.linalg.solve(self.A, self.b)


class CoupledSOP(Coupled):
    """Where F_s ≥ F_y for the best wrong class s: A += x·xᵀ, b_y += x, b_s −= x; all w_k = A⁻¹b_k."""

    def __init__(self, d: int, n_classes: int, a: float = 1.0) -> None:
        super().__init__(d, n_classes)
        self.a, self.A, self.B = a, a * np.eye(d), np.zeros((n_classes, d))

    @property
    def Sigma(self) -> np.ndarray:
        return self.a * np.linalg.inv(self.A)

    def learn(self, x: np.ndarray, k: int, s: float) -> None:
        scores = self.W @ x
        rival = best_wrong(scores, k)
        if scores[rival] >= scores[k]:
            self.A = self.A + s * np.outer(x, x)
            self.B[k] += s * x
            self.B[rival] -= s * x
            self.W = np.linalg.solve(self.A, self.B.T).T


class DiagonalSOP(Column):
    """SOP as a step, with a diagonal Σ: w += (y − ⟨w, x⟩)·Σx/(v + a), 1/σᵢ += xᵢ²/a."""

    def __init__(self, d: int, a: float = 1.0) -> None:
        super().__init__(d)
        self.a, self.information = a, Information(d, "diag")

    @property
    def Sigma(self) -> np.ndarray:
        return self.information.Sigma

    def learn(self, x: np.ndarray, y: float, s: float) -> None:
        score = self.w @ x
        if y * score <= 0 and s > 0:
            g = self.information.spread(x)
            self.w = self.w + (y - score) * g / (x @ g + self.a / s)
            self.information.add(s / self.a, x)


class CoupledDiagonalSOP(Coupled):
    """The same step for every class, its target 1 for the right, −1 for the best wrong, 0 for any other."""

    def __init__(self, d: int, n_classes: int, a: float = 1.0) -> None:
        super().__init__(d, n_classes)
        self.a, self.information = a, Information(d, "diag")

    @property
    def Sigma(self) -> np.ndarray:
        return self.information.Sigma

    def learn(self, x: np.ndarray, k: int, s: float) -> None:
        scores = self.W @ x
        rival = best_wrong(scores, k)
        if scores[rival] >= scores[k] and s > 0:
            g = self.information.spread(x)
            targets = np.zeros(len(scores))
            targets[k], targets[rival] = 1, -1
            self.W = self.W + np.outer(targets - scores, g) / (x @ g + self.a / s)
            self.information.add(s / self.a, x)


RULES: dict[str, Callable[..., Rule]] = {
    "pam": partial(PAM, variant="hard"),
    "pam1": partial(PAM, variant="I"),
    "pam2": partial(PAM, variant="II"),
    "cw": CW,
    "arow": AROW,
    "scw1": partial(CW, variant="I", eta=0.75),
    "scw2": partial(CW, variant="II", eta=0.75),
    "nherd": NHERD,
}
TWINS: dict[str, tuple[Callable[..., Any], Callable[..., Any] | None]] = {
    "sop": (SOP, CoupledSOP),
    "sop-diag": (DiagonalSOP, CoupledDiagonalSOP),
}
for kind, ending in (("full", ""), ("diag", "-diag")):
    for name, made in RULES.items():
        columns = partial(SecondOrderColumn, made, covariance=kind)
        TWINS[name + ending] = (columns, partial(CoupledSecondOrder, made, covariance=kind))
        if name in ("pam", "pam1", "pam2", "arow"):
            TWINS[name + ending + "-reg"] = (partial(SecondOrderRegression, made, covariance=kind), None)
