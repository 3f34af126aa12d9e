"""A slow literal loop of the metric paper's algorithm 1 in plain numpy, written from the paper."""

import numpy as np


def positive(M: np.ndarray) -> np.ndarray:
    """The nearest matrix ⪰ 0 in the Frobenius norm: negative eigenvalues set to 0."""
    values, vectors = np.linalg.eigh(M)
    return (vectors * np.maximum(values, 0)) @ vectors.T


class Metric:
    """p = 1 − y(b − vᵀMv), ℓ = [p]₊; M −= τ·y·v vᵀ, b += τ·y; M ⪰ 0 and b ≥ 1 after every `psd` updates, or
    at the end.
    """

    def __init__(self, d, variant="I", C=1.0, psd="always", tolerance=0.0, start=None):
        self.M = np.zeros((d, d)) if start is None else np.array(start, dtype=float)
        self.b = 0.0
        self.variant, self.C, self.psd, self.tolerance = variant, C, psd, tolerance
        self.updates, self.scores = 0, []

    def tau(self, p: float, v: np.ndarray) -> float:
        size = np.linalg.norm(np.outer(v, v)) ** 2  # ‖v vᵀ‖² in the Frobenius norm
        loss = max(0.0, p)
        return {
            "hard": loss / (1 + size),
            "I": min(self.C, loss / (1 + size)),
            "II": loss / (1 + 1 / (2 * self.C) + size),
            "LS": p / (1 + 1 / (2 * self.C) + size),
        }[self.variant]

    def learn(self, x: np.ndarray, other: np.ndarray, y: float) -> None:
        v = x - other
        self.scores.append(self.b - v @ self.M @ v)
        tau = self.tau(1 - y * self.scores[-1], v)
        if tau == 0 or abs(tau) < self.tolerance:
            return
        self.M = self.M - tau * y * np.outer(v, v)
        self.b += tau * y
        self.updates += 1
        every = {"always": 1, "end": np.inf}.get(self.psd, self.psd)
        if self.updates % every == 0:
            self.constrain()

    def constrain(self) -> None:
        self.M, self.b = positive(self.M), max(1.0, self.b)

    def run(self, pairs: np.ndarray, y: np.ndarray) -> "Metric":
        for (x, other), side in zip(pairs, y, strict=True):
            self.learn(x, other, side)
        return self
