"""A slow, literal twin of PAMO, line by line from algorithm 1 and equations 15 to 30 of its paper.

x comes with the constant feature last, where there is one; `planes` are u by unit, piece and feature,
`weights` a row of w for two classes, else a row a class. s is the weight of the example, by which C and C_r
are multiplied.
"""

import numpy as np


def pa_class(point: np.ndarray, w: np.ndarray, y: float, loss: float, C: float) -> np.ndarray:
    """w + τ·y·point with τ = min(C, loss/‖point‖²)."""
    length = point @ point
    return w if length == 0 else w + min(C, loss / length) * y * point


def pa_regression(x: np.ndarray, u: np.ndarray, target: float, C: float, epsilon: float) -> np.ndarray:
    """u + sign(target − u·x)·τ·x with τ = min(C, [|u·x − target| − ε]₊/‖x‖²) (equations 28 to 30)."""
    miss = target - u @ x
    loss = abs(miss) - epsilon if abs(miss) > epsilon else 0.0
    return u + np.sign(miss) * min(C, loss / (x @ x)) * x if x @ x > 0 else u


def unit(vector: np.ndarray) -> np.ndarray:
    """vector/‖vector‖, by its largest entry first, which keeps squares within floats."""
    largest = np.abs(vector).max()
    return vector if largest == 0 else vector / largest / np.linalg.norm(vector / largest)


class PAMO:
    """Algorithm 1."""

    def __init__(
        self,
        planes: np.ndarray,
        weights: np.ndarray,
        C: float = 0.125,
        C_r: float = 0.125,
        alpha: float = 0.9,
        variant: str = "I",
        epsilon: float = 0.0,
        moved_plane: str = "winner",
    ) -> None:
        self.planes, self.weights = planes.copy(), weights.copy()
        self.C, self.C_r, self.alpha, self.epsilon = C, C_r, alpha, epsilon
        self.variant, self.moved_plane = variant, moved_plane

    def embed(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x of length 1, and z of length 1 (lines 4 to 8)."""
        x = unit(x)
        return x, unit(np.array([max(plane @ x for plane in planes) for planes in self.planes]))

    def scores(self, x: np.ndarray) -> np.ndarray:
        """w·z."""
        return self.weights @ self.embed(x)[1]

    def learn(self, x: np.ndarray, code: int, s: float = 1.0) -> None:
        """Lines 4 to 21, for the code of a class."""
        x, z = self.embed(x)
        scores = self.weights @ z
        if len(self.weights) == 1:
            y = 2.0 * code - 1.0
            loss = max(0.0, 1.0 - y * scores[0])
            self.weights[0] = pa_class(z, self.weights[0], y, (1 - self.alpha) * loss, s * self.C)
            v = y * self.weights[0]
        else:
            rival = max((c for c in range(len(scores)) if c != code), key=lambda c: scores[c])
            loss = max(0.0, 1.0 - (scores[code] - scores[rival]))
            tau = min(s * self.C, (1 - self.alpha) * loss / (2 * z @ z)) if z @ z > 0 else 0.0
            self.weights[code] += tau * z
            self.weights[rival] -= tau * z
            v = self.weights[code] - self.weights[rival]
        if self.alpha == 0 or (loss == 0 and self.variant == "I"):
            return
        target = pa_class(v, z, 1.0, max(0.0, 1.0 - v @ z), np.inf)
        for planes, wanted in zip(self.planes, target, strict=True):
            products = planes @ x
            near = (
                np.argmin(np.abs(products - wanted)) if self.moved_plane == "nearest" else products.argmax()
            )
            planes[near] = pa_regression(x, planes[near], wanted, s * self.C_r, self.epsilon)


def standardised(X: np.ndarray) -> np.ndarray:
    """Each row minus the mean of the rows before it, over their standard deviation; 1 where that is 0."""
    rows = X.copy()
    for t in range(1, len(X)):
        deviation = X[:t].std(axis=0)
        rows[t] = (X[t] - X[:t].mean(axis=0)) / np.where(deviation > 1e-12, deviation, 1.0)
    return rows
