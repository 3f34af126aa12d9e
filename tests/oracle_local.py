"""A slow, literal twin of local online learning, from the problem that `learners/lol.py` states."""

import numpy as np
from oracle import best_wrong, step


class LOL:
    """Scores (w₀ + w_p)·x of the nearest prototype p; PA on √(1/s)·w₀ and all w_k, stacked; online k-means.

    With two classes W has one row, y = ±1; with more the right class and the best wrong one part.
    """

    def __init__(
        self, d: int, n_classes: int, n_prototypes: int, share: float, C: float, variant: str, bias: bool
    ) -> None:
        self.bias, self.share, self.C, self.variant = bias, share, C, variant
        self.d, self.n_prototypes = d + bias, n_prototypes
        self.width = n_classes if n_classes > 2 else 1
        self.common = np.zeros((self.width, self.d))
        self.own: list[np.ndarray] = []
        self.centres: list[np.ndarray] = []
        self.members: list[int] = []

    def extended(self, x: np.ndarray) -> np.ndarray:
        return np.append(x, 1.0) if self.bias else x

    def nearest(self, x: np.ndarray) -> int:
        return int(np.argmin([np.sum((x - c) ** 2) for c in self.centres])) if self.centres else 0

    def scores(self, x: np.ndarray) -> np.ndarray:
        own = self.own[self.nearest(x)] if self.own else np.zeros_like(self.common)
        return (self.common + own) @ self.extended(x)

    def stacked(self, p: int, direction: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Where x stands for the weights (w₀/√s, w₁, …, w_K), whose plain PA this is."""
        blocks = [np.zeros_like(self.common) for _ in range(1 + self.n_prototypes)]
        blocks[0] = np.sqrt(self.share) * np.outer(direction, x)
        blocks[1 + p] = np.outer(direction, x)
        return np.concatenate([block.ravel() for block in blocks])

    def learn(self, row: np.ndarray, k: int, s: float = 1.0) -> bool:
        x, p, scores = self.extended(row), self.nearest(row), self.scores(row)
        if not self.own:
            self.own.append(np.zeros_like(self.common))
        direction = np.zeros(self.width)
        if self.width == 1:
            direction[0] = 2 * k - 1
        else:
            direction[k], direction[best_wrong(scores, k)] = 1.0, -1.0
        loss = max(0.0, 1 - float(direction @ scores))
        phi = self.stacked(p, direction, x)
        tau = step(self.variant, loss, float(phi @ phi), s * self.C)
        moved = tau > 0
        if moved:
            change = tau * phi.reshape(1 + self.n_prototypes, self.width, self.d)
            self.common = self.common + np.sqrt(self.share) * change[0]
            self.own[p] = self.own[p] + change[1 + p]
        self.cluster(row, p)
        return moved

    def cluster(self, x: np.ndarray, p: int) -> None:
        """The first rows that differ are prototypes; then each row moves its own, c += (x − c)/n."""
        unlike = all(not np.array_equal(x, c) for c in self.centres)
        if not self.centres or (len(self.centres) < self.n_prototypes and unlike):
            if self.centres:
                self.own.append(self.own[p].copy())
            self.centres.append(x.astype(float))
            self.members.append(1)
        else:
            self.members[p] += 1
            self.centres[p] = self.centres[p] + (x - self.centres[p]) / self.members[p]
