"""Slow, literal twins of the learners, written from the papers' formulas and never from the compiled loops.

A column twin keeps one weight vector `w` and learns (x, y, s) with y = ±1 (a real target in regression); a
coupled twin keeps a row of `W` for each class and learns (x, k, s), k the code of the class. s is the weight
of the example: it multiplies C before the cap, or the step where there is no C. `run` takes any twin over a
stream of rows, the constant feature 1 last.

"JMLR 2006" is Crammer et al., "CSPAA" Lu, Zhao, Hoi, "PAm" Tsai et al.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Any, Protocol

import numpy as np


def step(variant: str, loss: float, q: float, C: float) -> float:
    """τ of JMLR 2006, figure 1: ℓ/q (hard), min(C, ℓ/q) (I), ℓ/(q + 1/(2C)) (II; times 2C/2C, for C = 0)."""
    if q == 0:
        return 0.0
    if variant == "hard":
        return loss / q
    if variant == "I":
        return min(C, loss / q)
    return 2 * C * loss / (2 * C * q + 1)


def best_wrong(scores: Sequence[float], k: int) -> int:
    """s = argmax over classes other than k; of equal scores the first."""
    wrong = [r for r in range(len(scores)) if r != k]
    best = wrong[0]
    for r in wrong[1:]:
        if scores[r] > scores[best]:
            best = r
    return best


class Twin(Protocol):
    """What `run` needs of a twin."""

    W: np.ndarray

    def learn(self, x: np.ndarray, target: Any, s: float) -> None:
        """One round."""

    def freeze(self) -> None:
        """The end of an epoch."""


class Column:
    """One weight vector, at first 0; twins whose epochs are all alike have nothing to freeze."""

    def __init__(self, d: int) -> None:
        self.w = np.zeros(d)

    @property
    def W(self) -> np.ndarray:
        return self.w[np.newaxis]

    def freeze(self) -> None:
        """Nothing."""


class Coupled:
    """One weight vector for each class, at first 0."""

    def __init__(self, d: int, n_classes: int) -> None:
        self.W = np.zeros((n_classes, d))

    def freeze(self) -> None:
        """Nothing."""

    def move(self, k: int, other: int, change: np.ndarray) -> None:
        """w_k += change, w_other −= change."""
        self.W[k] = self.W[k] + change
        self.W[other] = self.W[other] - change


class Sides:
    """Columns by the class that each takes for +1: the second of two classes, or each against the rest."""

    def __init__(self, columns: dict[int, Any]) -> None:
        self.columns = columns

    @property
    def W(self) -> np.ndarray:
        return np.array([column.w for column in self.columns.values()])

    def learn(self, x: np.ndarray, k: int, s: float) -> None:
        for own, column in self.columns.items():
            column.learn(x, 1 if k == own else -1, s)

    def freeze(self) -> None:
        for column in self.columns.values():
            column.freeze()


class Perceptron(Column):
    """Where y⟨w, x⟩ ≤ 0: w += y·x (Rosenblatt 1958)."""

    def learn(self, x: np.ndarray, y: float, s: float) -> None:
        if y * (self.w @ x) <= 0:
            self.w = self.w + s * y * x


class CoupledPerceptron(Coupled):
    """Where F_s ≥ F_y for the best wrong class s: w_y += x, w_s −= x (Crammer, Singer, JMLR 2003)."""

    def learn(self, x: np.ndarray, k: int, s: float) -> None:
        scores = self.W @ x
        rival = best_wrong(scores, k)
        if scores[rival] >= scores[k]:
            self.move(k, rival, s * x)


class PA(Column):
    """ℓ = [1 − y⟨w, x⟩]₊, q = ‖x‖², w += τ·y·x (JMLR 2006, figure 1)."""

    def __init__(self, d: int, variant: str, C: float = 1.0) -> None:
        super().__init__(d)
        self.variant, self.C = variant, C

    def learn(self, x: np.ndarray, y: float, s: float) -> None:
        loss = max(0.0, 1 - y * (self.w @ x))
        self.w = self.w + step(self.variant, loss, x @ x, s * self.C) * y * x


class CoupledPA(Coupled):
    """ℓ = [1 − F_y + F_s]₊, s the best wrong class, q = 2‖x‖², w_y += τx, w_s −= τx (JMLR 2006, sec. 8)."""

    def __init__(self, d: int, n_classes: int, variant: str, C: float = 1.0) -> None:
        super().__init__(d, n_classes)
        self.variant, self.C = variant, C

    def learn(self, x: np.ndarray, k: int, s: float) -> None:
        scores = self.W @ x
        rival = best_wrong(scores, k)
        loss = max(0.0, 1 - scores[k] + scores[rival])
        self.move(k, rival, step(self.variant, loss, 2 * (x @ x), s * self.C) * x)


class PARegression(Column):
    """ℓ = [|⟨w, x⟩ − y| − ε]₊, w += τ·sign(y − ⟨w, x⟩)·x (JMLR 2006, section 5)."""

    def __init__(self, d: int, variant: str, C: float = 1.0, epsilon: float = 0.1) -> None:
        super().__init__(d)
        self.variant, self.C, self.epsilon = variant, C, epsilon

    def learn(self, x: np.ndarray, y: float, s: float) -> None:
        error = y - self.w @ x
        loss = max(0.0, abs(error) - self.epsilon)
        self.w = self.w + step(self.variant, loss, x @ x, s * self.C) * np.sign(error) * x


class PAUM(Column):
    """Where y⟨w, x⟩ ≤ τ_y: w += η·y·x, the bias the weight of a constant 1 (Li et al., ICML 2002)."""

    def __init__(self, d: int, tau_plus: float = 1.0, tau_minus: float = 0.0, eta: float = 1.0) -> None:
        super().__init__(d)
        self.tau_plus, self.tau_minus, self.eta = tau_plus, tau_minus, eta

    def learn(self, x: np.ndarray, y: float, s: float) -> None:
        if y * (self.w @ x) <= (self.tau_plus if y > 0 else self.tau_minus):
            self.w = self.w + s * self.eta * y * x


class CPA(Column):
    """Where the prediction is wrong: ℓ = √ρ_y − y⟨w, x⟩, w += min(C, ℓ/‖x‖²)·y·x (JMLR 2006, section 9)."""

    def __init__(self, d: int, C: float = 1.0, rho: Sequence[float] = (1.0, 1.0)) -> None:
        super().__init__(d)
        self.C, self.rho = C, rho

    def learn(self, x: np.ndarray, y: float, s: float) -> None:
        score = self.w @ x
        predicted = 1 if score > 0 else -1
        if predicted != y:
            loss = sqrt(self.rho[1] if y > 0 else self.rho[0]) - y * score
            self.w = self.w + step("I", loss, x @ x, s * self.C) * y * x


class CoupledCPA(Coupled):
    """Where ŷ = argmax F is wrong: ℓ = √ρ_y + F_ŷ − F_y, q = 2‖x‖², w_y += τx, w_ŷ −= τx (same section)."""

    def __init__(self, d: int, n_classes: int, C: float = 1.0, rho: Sequence[float] | None = None) -> None:
        super().__init__(d, n_classes)
        self.C, self.rho = C, rho or [1.0] * n_classes

    def learn(self, x: np.ndarray, k: int, s: float) -> None:
        scores = self.W @ x
        predicted = int(np.argmax(scores))
        if predicted != k:
            loss = sqrt(self.rho[k]) + scores[predicted] - scores[k]
            self.move(k, predicted, step("I", loss, 2 * (x @ x), s * self.C) * x)


class CSPA(Column):
    """ℓ = [ρ_y − y⟨w, x⟩]₊, ρ₊ = ρ, ρ₋ = 1 (CSPAA, section 5); "balanced": ρ = T₋/T₊ up to and with x."""

    def __init__(self, d: int, variant: str = "I", C: float = 1.0, rho: float | str = 1.0) -> None:
        super().__init__(d)
        self.variant, self.C, self.rho = variant, C, rho
        self.seen = {1: 0, -1: 0}

    def learn(self, x: np.ndarray, y: int, s: float) -> None:
        self.seen[y] += 1
        margin = self.margin_of_plus() if y > 0 else 1.0
        loss = max(0.0, margin - y * (self.w @ x))
        self.w = self.w + step(self.variant, loss, x @ x, s * self.C) * y * x

    def margin_of_plus(self) -> float:
        """ρ, which is 1 as long as "balanced" has not seen both sides."""
        if self.rho != "balanced":
            return float(self.rho)
        return self.seen[-1] / self.seen[1] if self.seen[1] and self.seen[-1] else 1.0


class ClassMeanPA(Column):
    """Where ℓ = 1 − y⟨w, x⟩ > 0: w = (w + γm̃ + α·y·x)/(1 + γ), n = ℓ + γ(1 − y⟨m̃, x⟩) (PAm, algorithm 1).

    α = [n/q]₊ (hard), [min(C, n/q)]₊ (I), [n/(q + (1 + γ)/(2C))]₊ (II); m̃ = κ(m₊ − m₋), the means of x of
    each side up to and with x. The print has wₜ where the derivation gives x (seeds.md, section 4).
    """

    def __init__(
        self, d: int, variant: str, C: float = 1.0, gamma: float = 0.01, anchor_scale: float = 1.0
    ) -> None:
        super().__init__(d)
        self.variant, self.C, self.gamma, self.anchor_scale = variant, C, gamma, anchor_scale
        self.mean = {1: np.zeros(d), -1: np.zeros(d)}
        self.count = {1: 0, -1: 0}
        self.frozen = False

    def learn(self, x: np.ndarray, y: int, s: float) -> None:
        if not self.frozen:
            self.mean[y] = (self.count[y] * self.mean[y] + x) / (self.count[y] + 1)
            self.count[y] += 1
        if 1 - y * (self.w @ x) > 0 and x.any():
            anchor = self.anchor_scale * (self.mean[1] - self.mean[-1])
            start = self.start()
            n = 1 - y * (start @ x) + self.gamma * (1 - y * (anchor @ x))
            # Of C·ξ² every 1/(2C) of PA-II comes with a factor 1 + γ, which is what dividing C by it gives.
            C = s * self.C / (1 + self.gamma) if self.variant == "II" else s * self.C
            alpha = max(0.0, step(self.variant, n, x @ x, C))
            self.w = (start + self.gamma * anchor + alpha * y * x) / (1 + self.gamma)

    def start(self) -> np.ndarray:
        """Where the step starts: at the last classifier."""
        return self.w

    def freeze(self) -> None:
        """After the first epoch the means stay."""
        self.frozen = True


class WindowedClassMeanPA(ClassMeanPA):
    """ClassMeanPA from w̄, the weighted mean of the Q classifiers last moved away from (PAm, algorithm 2)."""

    def __init__(
        self,
        d: int,
        variant: str,
        window: int = 10,
        window_weights: Sequence[float] | None = None,
        **parameters: float,
    ) -> None:
        super().__init__(d, variant, **parameters)
        self.window = window
        self.window_weights = list(window_weights or [1.0] * window)
        self.queue: list[np.ndarray] = []

    def start(self) -> np.ndarray:
        self.queue = [*self.queue, self.w][-self.window :]
        newest = self.window_weights[-len(self.queue) :]
        return sum(weight * w for weight, w in zip(newest, self.queue, strict=True)) / sum(newest)


class OGD(Column):
    """Where y⟨w, x⟩ < 1: w += η/tᵖ·y·x, t the rounds so far (Zinkevich 2003, all of space)."""

    def __init__(self, d: int, eta: float = 1.0, power: float = 0.5) -> None:
        super().__init__(d)
        self.eta, self.power, self.t = eta, power, 0

    def learn(self, x: np.ndarray, y: float, s: float) -> None:
        self.t += 1
        if 1 - y * (self.w @ x) > 0:
            self.w = self.w + s * self.eta / self.t**self.power * y * x


class CoupledOGD(Coupled):
    """The same on ℓ = [1 − F_y + F_s]₊: w_y and w_s part by η/tᵖ·x each."""

    def __init__(self, d: int, n_classes: int, eta: float = 1.0, power: float = 0.5) -> None:
        super().__init__(d, n_classes)
        self.eta, self.power, self.t = eta, power, 0

    def learn(self, x: np.ndarray, k: int, s: float) -> None:
        self.t += 1
        scores = self.W @ x
        rival = best_wrong(scores, k)
        if 1 - scores[k] + scores[rival] > 0:
            self.move(k, rival, s * self.eta / self.t**self.power * x)


class RLS(Column):
    """w = (I/C + Σ s·x xᵀ)⁻¹ Σ s·y·x, worked out afresh at every row."""

    def __init__(self, d: int, C: float = 1.0) -> None:
        super().__init__(d)
        self.A, self.b = np.eye(d) / C, np.zeros(d)

    def learn(self, x: np.ndarray, y: float, s: float) -> None:
        self.A, self.b = self.A + s * np.outer(x, x), self.b + s * y * x
        self.w = np.linalg.solve(self.A, self.b)


TWINS: dict[str, tuple[Callable[..., Any], Callable[..., Any] | None]] = {
    "perceptron": (Perceptron, CoupledPerceptron),
    "pa": (partial(PA, variant="hard"), partial(CoupledPA, variant="hard")),
    "pa1": (partial(PA, variant="I"), partial(CoupledPA, variant="I")),
    "pa2": (partial(PA, variant="II"), partial(CoupledPA, variant="II")),
    "ogd": (OGD, CoupledOGD),
    "rls": (RLS, None),
    "paum": (PAUM, None),
    "cpa": (CPA, CoupledCPA),
    "cspa": (CSPA, None),
    "pamean": (partial(ClassMeanPA, variant="hard"), None),
    "pamean1": (partial(ClassMeanPA, variant="I"), None),
    "pamean2": (partial(ClassMeanPA, variant="II"), None),
    "pameanw": (partial(WindowedClassMeanPA, variant="hard"), None),
    "pameanw1": (partial(WindowedClassMeanPA, variant="I"), None),
    "pameanw2": (partial(WindowedClassMeanPA, variant="II"), None),
    "pa-reg": (partial(PARegression, variant="hard"), None),
    "pa1-reg": (partial(PARegression, variant="I"), None),
    "pa2-reg": (partial(PARegression, variant="II"), None),
}


def twin(name: str, d: int, n_classes: int = 0, **parameters: Any) -> Twin:
    """The twin of a registry name for rows of length d; no classes make a regression."""
    column, coupled = TWINS[name]
    if not n_classes:
        return column(d, **parameters)
    if n_classes == 2:
        return Sides({1: column(d, **parameters)})
    if coupled:
        return coupled(d, n_classes, **parameters)
    return Sides({k: column(d, **parameters) for k in range(n_classes)})


def class_factors(
    codes: Sequence[int], n_classes: int, class_weight: Any, running: bool = False
) -> np.ndarray:
    """Each row's class factor; "balanced": n/(K·n_k), `running`: counting the rows up to and with it."""
    if class_weight != "balanced":
        return np.array([class_weight[k] for k in codes], dtype=float)
    factors = []
    for t, k in enumerate(codes, 1):
        counted = list(codes[:t] if running else codes)
        factors.append(len(counted) / (n_classes * counted.count(k)))
    return np.array(factors)


@dataclass
class Outcome:
    """What a run leaves: the predicting weights; of each round the scores before it and whether it moved."""

    coef: np.ndarray
    intercept: np.ndarray
    scores: np.ndarray
    moved: np.ndarray

    def predicted(self) -> np.ndarray:
        """Predicted codes: of two classes the second if its score is > 0, else the first of the highest."""
        if self.scores.shape[1] == 1:
            return (self.scores[:, 0] > 0).astype(int)
        return np.argmax(self.scores, axis=1)


def run(
    learner: Twin,
    X: np.ndarray,
    targets: Sequence[Any],
    weights: Sequence[float] | None = None,
    epochs: int = 1,
    average: bool = False,
    fit_intercept: bool = True,
) -> Outcome:
    """Learn the rows in order; `average` predicts with (1/T)·Σₜ Wₜ, Wₜ the weights after round t."""
    rows = np.hstack([X, np.ones((len(X), 1)) if fit_intercept else np.zeros((len(X), 0))])
    weights = np.ones(len(X)) if weights is None else weights
    predicting, total = learner.W, np.zeros_like(learner.W)
    scores, moved = [], []
    for _ in range(epochs):
        for x, target, s in zip(rows, targets, weights, strict=True):
            scores.append(predicting @ x)
            before = learner.W.copy()
            learner.learn(x, target, s)
            moved.append(not np.array_equal(before, learner.W))
            total = total + learner.W
            predicting = total / len(moved) if average else learner.W.copy()
        learner.freeze()
    d = X.shape[1]
    intercept = predicting[:, d] if fit_intercept else np.zeros(len(predicting))
    return Outcome(predicting[:, :d], intercept, np.array(scores), np.array(moved))
