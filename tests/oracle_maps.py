"""Slow, literal twins of the feature maps and of what learns behind them, written from the papers.

The random numbers too: SplitMix64 with whole numbers of Python, an entry a (seed, feature, column).
"""

from collections.abc import Callable, Sequence
from math import cos, exp, log, pi, sin, sqrt, tanh
from typing import Any

import numpy as np
from oracle import best_wrong, step

MASK = 2**64 - 1
COLUMNS = 2**24  # draws set aside for a feature


def splitmix(seed: int, n: int) -> float:
    """The n-th number in [0, 1) of a seed (Steele, Lea, Flood 2014; how seeds differ is tauten's own)."""
    z = (seed * 0xD1342543DE82EF95 + (n + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return ((z ^ (z >> 31)) >> 11) / 2**53


def normal(seed: int, feature: int, column: int) -> float:
    """One number of the standard normal distribution, by Box and Muller."""
    draw = (feature + 1) * COLUMNS + column
    return sqrt(-2 * log(1 - splitmix(seed, 2 * draw))) * cos(2 * pi * splitmix(seed, 2 * draw + 1))


def uniform(seed: int, feature: int, column: int) -> float:
    """One number from −1 to 1."""
    return 2 * splitmix(seed, (feature + 1) * COLUMNS + column) - 1


def waves(X: np.ndarray, n_components: int, gamma: float, seed: int) -> np.ndarray:
    """√(2/D)·(cos ω₁·x, …, sin ω₁·x, …), ω ~ N(0, 2γ); an odd D goes without the last sine."""
    n = (n_components + 1) // 2
    omega = [[sqrt(2 * gamma) * normal(seed, j, c) for j in range(X.shape[1])] for c in range(n)]
    phases = [[float(np.dot(x, w)) for w in omega] for x in X]
    rows = [[cos(p) for p in row] + [sin(p) for p in row] for row in phases]
    return sqrt(2 / n_components) * np.array(rows)[:, :n_components]


ACTIVATIONS: dict[str, Callable[[float], float]] = {
    "sigmoid": lambda a: 1 / (1 + exp(-a)),
    "tanh": tanh,
    "relu": lambda a: max(0.0, a),
}


def layer(X: np.ndarray, n_hidden: int, activation: str, seed: int) -> np.ndarray:
    """g(a·x + b), all weights from −1 to 1; offsets have a seed of their own."""
    weights = [[uniform(seed, j, c) for j in range(X.shape[1])] for c in range(n_hidden)]
    offsets = [uniform(seed ^ 1 << 63, 0, c) for c in range(n_hidden)]
    g = ACTIVATIONS[activation]
    return np.array([[g(float(np.dot(x, a)) + b) for a, b in zip(weights, offsets, strict=True)] for x in X])


def rbf(gamma: float) -> Callable[[np.ndarray, np.ndarray], float]:
    """exp(−γ‖x − x'‖²)."""
    return lambda x, other: exp(-gamma * float(np.sum((x - other) ** 2)))


def polynomial(gamma: float, degree: int, coef0: float) -> Callable[[np.ndarray, np.ndarray], float]:
    """(γ⟨x, x'⟩ + c)^d."""
    return lambda x, other: (gamma * float(np.dot(x, other)) + coef0) ** degree


def gram(kernel: Callable[[np.ndarray, np.ndarray], float], X: Any, Z: Any) -> np.ndarray:
    """The kernel of all rows with all others."""
    return np.array([[kernel(x, z) for z in Z] for x in X]).reshape(len(X), len(Z))


class KernelMachine:
    """f_k(x) = Σ αᵢₖ·k(xᵢ, x) + b_k over all rows that moved; PA-I or gradient descent of a constant rate.

    With two classes there is one f, y = ±1; with more the right class and the best wrong one part.
    """

    def __init__(self, kernel: Any, n_classes: int, rule: str, rate: float, bias: bool) -> None:
        self.kernel, self.rule, self.rate, self.bias = kernel, rule, rate, float(bias)
        self.width = n_classes if n_classes > 2 else 1
        self.support: list[np.ndarray] = []
        self.alpha: list[np.ndarray] = []
        self.b = np.zeros(self.width)

    def scores(self, x: np.ndarray) -> np.ndarray:
        values = [self.kernel(x, other) for other in self.support]
        return sum((v * a for v, a in zip(values, self.alpha, strict=True)), np.zeros(self.width)) + self.b

    def pull(self, scores: np.ndarray, k: int, q: float) -> np.ndarray:
        """What the row adds to α of each class, q = k(x, x)."""
        change = np.zeros(self.width)
        if self.width == 1:
            y = 2 * k - 1
            change[0] = y * self.step(1 - y * scores[0], q)
        else:
            s = best_wrong(scores, k)
            tau = self.step(1 - scores[k] + scores[s], 2 * q)
            change[k], change[s] = tau, -tau
        return change

    def step(self, loss: float, q: float) -> float:
        if loss <= 0:
            return 0.0
        return self.rate if self.rule == "ogd" else step("I", loss, q, self.rate)

    def learn(self, x: np.ndarray, k: int) -> bool:
        change = self.pull(self.scores(x), k, self.kernel(x, x) + self.bias)
        if not change.any():
            return False
        self.support.append(x)
        self.alpha.append(change)
        self.b = self.b + self.bias * change
        return True


class NOGD(KernelMachine):
    """Algorithm 2 of JMLR 17(47): the kernel machine up to B support vectors, then z = Λ^(−½)Vᵀk(x)."""

    def __init__(
        self, kernel: Any, n_classes: int, rate: float, bias: bool, budget: int, rank: int | None
    ) -> None:
        super().__init__(kernel, n_classes, "ogd", rate, bias)
        self.budget, self.rank, self.w = budget, rank, None

    def z(self, x: np.ndarray) -> np.ndarray:
        return self.M @ np.array([self.kernel(x, other) for other in self.support])

    def scores(self, x: np.ndarray) -> np.ndarray:
        return super().scores(x) if self.w is None else self.w @ self.z(x) + self.b

    def learn(self, x: np.ndarray, k: int) -> bool:
        if self.w is None:
            moved = super().learn(x, k)
            if len(self.support) == self.budget:
                values, vectors = np.linalg.eigh(gram(self.kernel, self.support, self.support))
                best = np.argsort(values)[::-1][: self.rank or self.budget]
                self.M = (vectors[:, best] / np.sqrt(values[best])).T
                self.w = np.array(self.alpha).T @ np.linalg.pinv(self.M)  # f = αᵀk = (α M⁺)(M k)
            return moved
        z = self.z(x)
        change = self.pull(self.scores(x), k, float(z @ z) + self.bias)
        self.w, self.b = self.w + np.outer(change, z), self.b + self.bias * change
        return bool(change.any())


def run(twin: Any, X: np.ndarray, codes: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Of each row the scores before it was learned, and whether it moved."""
    scores, moved = [], []
    for x, k in zip(X, codes, strict=True):
        scores.append(twin.scores(x))
        moved.append(twin.learn(x, k))
    return np.array(scores), np.array(moved)


def ridge(H: np.ndarray, T: np.ndarray, weights: np.ndarray, C: float) -> np.ndarray:
    """(I/C + HᵀSH)⁻¹HᵀST, all rows at once."""
    weighted = weights[:, None] * H
    return np.linalg.solve(np.eye(H.shape[1]) / C + H.T @ weighted, weighted.T @ T)
