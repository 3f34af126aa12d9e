"""Slow, literal twins of the learners on a budget, written from the papers and never from the compiled loops.

A twin keeps a list of examples and of their coefficients, a number for two classes and a vector for more. A
round learns (x, u, s): u = ±1, or the vector with 1 at the right class and −1 at the best wrong one; s is the
weight of the example. Everything is worked out from the kernel, from nothing, at every step: projections by
least squares, minima by trying all candidates, merging by a numerical search.
"""

from collections.abc import Callable
from math import log, sqrt
from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize_scalar

Kernel = Callable[[np.ndarray, np.ndarray], float]
MASK = 2**64 - 1


def kernel_of(
    kernel: str = "rbf", gamma: float = 0.1, degree: int = 3, coef0: float = 0.0, bias: float = 1.0
) -> Kernel:
    """k(x, z), the constant feature 1 counted in ⟨x, z⟩."""
    return {
        "rbf": lambda x, z: float(np.exp(-gamma * np.sum((x - z) ** 2))),
        "linear": lambda x, z: float(x @ z + bias),
        "poly": lambda x, z: float((gamma * (x @ z + bias) + coef0) ** degree),
    }[kernel]


def uniform(seed: int, number: int) -> float:
    """The number-th draw (from 0) of SplitMix64 (Steele, Lea, Flood, 2014), 53 bits after the point."""
    z = (seed * 0xD1342543DE82EF95 + (number + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return ((z ^ (z >> 31)) >> 11) * 2.0**-53


class Twin:
    """f = Σ aᵢ·k(xᵢ, ·)."""

    def __init__(self, n_columns: int, kernel: Kernel, budget: float, seed: int = 0) -> None:
        self.k, self.B, self.seed = kernel, budget, seed
        self.n_columns, self.draws = n_columns, 0
        self.X: list[np.ndarray] = []
        self.a: list[np.ndarray] = []

    def f(self, x: np.ndarray) -> np.ndarray:
        return sum((a * self.k(z, x) for z, a in zip(self.X, self.a, strict=True)), np.zeros(self.n_columns))

    def gram(self) -> np.ndarray:
        return np.array([[self.k(x, z) for z in self.X] for x in self.X]).reshape(len(self.X), len(self.X))

    def draw(self) -> float:
        self.draws += 1
        return uniform(self.seed, self.draws - 1)

    def add(self, x: np.ndarray, a: np.ndarray) -> None:
        self.X.append(x)
        self.a.append(a)

    def replace(self, i: int) -> None:
        """The newest takes the place of i."""
        self.X[i], self.a[i] = self.X[-1], self.a[-1]
        del self.X[-1], self.a[-1]

    def direction(self, x: np.ndarray, k: int, n_classes: int) -> np.ndarray:
        if n_classes == 2:
            return np.array([2.0 * k - 1.0])
        scores = self.f(x)
        wrong = [r for r in range(n_classes) if r != k]
        rival = max(wrong, key=lambda r: (scores[r], -r))
        u = np.zeros(n_classes)
        u[k], u[rival] = 1.0, -1.0
        return u

    def learn(self, x: np.ndarray, u: np.ndarray, s: float) -> bool:
        """One round: whether the row moved f."""
        raise NotImplementedError


class RBP(Twin):
    """Cavallanti, Cesa-Bianchi, Gentile 2007."""

    def learn(self, x: np.ndarray, u: np.ndarray, s: float) -> bool:
        if u @ self.f(x) > 0 or s == 0:
            return False
        self.add(x, s * u)
        if len(self.X) > self.B:
            self.replace(int(self.draw() * self.B))
        return True


class Forgetron(Twin):
    """Dekel, Shalev-Shwartz, Singer 2008, self-tuned; φ by bisection on the constraint."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.Q, self.M, self.t = 0.0, 0, 0
        self.sigma: list[float] = []
        self.born: list[int] = []
        self.entered: list[np.ndarray] = []

    def learn(self, x: np.ndarray, u: np.ndarray, s: float) -> bool:
        if u @ self.f(x) > 0:
            return False
        self.M += 1
        e = u / max(1.0, sqrt(u @ u * self.k(x, x)))
        self.add(x, e)
        self.sigma.append(1.0)
        self.born.append(self.M)
        self.entered.append(e)
        if len(self.X) > self.B:
            r = int(np.argmin(self.born))
            sigma, mu = self.sigma[r], float(self.entered[r] @ self.f(self.X[r]))

            def psi(phi: float) -> float:
                lam = sigma * phi
                return lam**2 + 2 * lam - 2 * lam * phi * mu

            def over(phi: float) -> float:
                return self.Q + psi(phi) - 15 / 32 * self.M

            grid = np.linspace(1, 0, 2001)
            if over(1.0) <= 0:
                phi = 1.0
            else:  # the largest φ below which the constraint holds
                i = next(i for i, phi in enumerate(grid) if over(phi) <= 0)
                phi = brentq(over, grid[i], grid[i - 1], xtol=1e-15, rtol=1e-15)
            self.Q += psi(phi)
            assert 0 < phi <= 1 and self.Q <= 15 / 32 * self.M + 1e-9
            self.a = [phi * a for a in self.a]
            self.sigma = [phi * sigma for sigma in self.sigma]
            for kept in (self.sigma, self.born, self.entered):
                kept[r] = kept[-1]
                del kept[-1]
            self.replace(r)
        return True


class Projectron(Twin):
    """Orabona, Keshet, Caputo 2009; with `plus` Projectron++."""

    def __init__(self, *args: Any, eta: float = 0.1, plus: bool = False, **options: Any) -> None:
        super().__init__(*args, **options)
        self.eta, self.plus = eta, plus

    def learn(self, x: np.ndarray, u: np.ndarray, s: float) -> bool:
        margin = float(u @ self.f(x))
        if margin >= 1 or (margin > 0 and not self.plus) or s == 0:
            return False
        near = np.array([self.k(z, x) for z in self.X])
        d = np.linalg.solve(self.gram(), near) if len(near) else near
        Pk = (u @ u) * float(near @ d)
        delta = sqrt(max(0.0, (u @ u) * self.k(x, x) - Pk))
        if margin <= 0 and delta > self.eta and len(self.X) < self.B:
            self.add(x, s * u)
            return True
        tau = 1.0
        if margin > 0:
            loss = 1 - margin
            if loss < delta / self.eta or Pk <= 0:
                return False
            tau = min(loss / Pk, 2 * (loss - delta / self.eta) / Pk, 1.0)
        self.a = [a + s * tau * share * u for a, share in zip(self.a, d, strict=True)]
        return tau * s > 0 and Pk > 0


class BPAS(Twin):
    """Wang, Vucetic 2010: all r, and leaving x out, are tried in full; for each β by its closed form."""

    def __init__(self, *args: Any, C: float = 1.0, **options: Any) -> None:
        super().__init__(*args, **options)
        self.C = C

    def learn(self, x: np.ndarray, u: np.ndarray, s: float) -> bool:
        loss, C, own = max(0.0, 1 - float(u @ self.f(x))), s * self.C, self.k(x, x)
        tau = min(C, loss / (u @ u * own))
        if tau == 0:
            return False
        if len(self.X) < self.B:
            self.add(x, tau * u)
            return True
        best, chosen = C * loss, None
        for r in range(len(self.X)):
            near, a = self.k(self.X[r], x), self.a[r]
            beta = a * near / own + tau * u
            f_x = self.f(x) - a * near + beta * own
            change = a @ a * self.k(self.X[r], self.X[r]) - 2 * a @ beta * near + beta @ beta * own
            Q = change / 2 + C * max(0.0, 1 - u @ f_x)
            if best > Q:
                best, chosen = Q, (r, beta)
        if chosen is None:
            return False
        self.X[chosen[0]], self.a[chosen[0]] = x, chosen[1]
        return True


class BOGD(Twin):
    """Zhao et al. 2012; with `plus` BOGD++."""

    def __init__(
        self,
        *args: Any,
        eta: float = 0.5,
        lam: float = 0.001,
        clip: float = 2.0,
        plus: bool = False,
        **more: Any,
    ) -> None:
        super().__init__(*args, **more)
        self.eta, self.lam, self.gamma, self.plus = eta, lam, clip, plus

    def learn(self, x: np.ndarray, u: np.ndarray, s: float) -> bool:
        short = u @ self.f(x) < 1
        self.a = [(1 - self.eta * self.lam) * a for a in self.a]
        if not short or s == 0:
            return False
        self.add(x, s * self.eta * u)
        if len(self.X) > self.B:
            B = len(self.X) - 1
            p = np.full(B, 1 / B)
            if self.plus:
                size = [sqrt(a @ a * self.k(z, z)) for z, a in zip(self.X[:B], self.a[:B], strict=True)]
                p = np.maximum(0.0, 1 - (B - 1) / sum(size) * np.array(size))
                p /= p.sum()
            i = int(np.searchsorted(np.cumsum(p), self.draw(), side="right"))
            for j in range(B):
                length = sqrt(self.a[j] @ self.a[j])
                if j != i and length > 0:
                    grown = min(length / (1 - p[j]), self.gamma * self.eta * sqrt(u @ u))
                    self.a[j] = self.a[j] * grown / length
            self.replace(i)
        return True


class BSGD(Twin):
    """Wang, Crammer, Vucetic 2012; the lightest, of equals the first, must go."""

    def __init__(self, *args: Any, lam: float = 1e-4, maintenance: str = "merging", **options: Any) -> None:
        super().__init__(*args, **options)
        self.lam, self.t, self.maintain = lam, 0, getattr(self, maintenance)

    def learn(self, x: np.ndarray, u: np.ndarray, s: float) -> bool:
        self.t += 1
        short = u @ self.f(x) < 1
        self.a = [(1 - 1 / self.t) * a for a in self.a]
        if not short or s == 0:
            return False
        self.add(x, s / (self.lam * self.t) * u)
        size = np.array([a @ a * self.k(z, z) for z, a in zip(self.X, self.a, strict=True)])
        if len(self.X) <= self.B:
            return self.maintain(None)
        return self.maintain(int(np.flatnonzero(size <= size.min() * (1 + 1e-9))[0]))

    def removal(self, p: int | None) -> bool:
        if p is None:
            return True
        newest = p == len(self.X) - 1
        self.replace(p)
        return not newest

    def projection(self, p: int | None) -> bool:
        """A newest that the others span is projected at once, whatever its weight."""
        n = len(self.X)
        if n > 1 and self.onto_others(n - 1)[1] < 1e-10 * self.k(self.X[-1], self.X[-1]):
            p = n - 1
        if p is None:
            return True
        d, _ = self.onto_others(p)
        for i, share in zip([i for i in range(n) if i != p], d, strict=True):
            self.a[i] = self.a[i] + share * self.a[p]
        self.replace(p)
        return True

    def onto_others(self, p: int) -> tuple[np.ndarray, float]:
        """The coefficients of the nearest point in the span of the others, and its squared distance."""
        K = self.gram()
        others = [i for i in range(len(K)) if i != p]
        d = np.linalg.solve(K[np.ix_(others, others)], K[others, p])
        return d, float(K[p, p] - K[p, others] @ d)

    def merging(self, p: int | None) -> bool:
        if p is None:
            return True
        best: tuple[float, int, float] = (np.inf, -1, 0.0)
        for q in range(len(self.X)):
            if q != p:
                lost, h = self.merger(p, q)
                best = min(best, (lost, q, h))
        _, q, h = best
        z = h * self.X[p] + (1 - h) * self.X[q]
        a = self.a[p] * self.k(self.X[p], z) + self.a[q] * self.k(self.X[q], z)
        self.X[q], self.a[q] = z, a
        self.replace(p)
        return True

    def merger(self, p: int, q: int) -> tuple[float, float]:
        """What merging with q loses at the best h, and that h, searched for on both sides of ½."""
        kappa = self.k(self.X[p], self.X[q])
        whole = sum(self.a[i] @ self.a[j] * self.k(self.X[i], self.X[j]) for i in (p, q) for j in (p, q))
        if kappa == 1.0:
            return 0.0, 0.0
        if kappa == 0.0:
            return float(self.a[p] @ self.a[p]), 0.0

        def lost(h: Any) -> Any:
            a = np.outer(kappa ** ((1 - h) ** 2), self.a[p]) + np.outer(kappa ** (h * h), self.a[q])
            return whole - (a * a).sum(axis=1)

        reach = 1 / sqrt(-2 * log(kappa))
        low, high = least(lost, -reach, 0.5), least(lost, 0.5, 1 + reach)
        return high if high[0] < low[0] - 1e-12 * whole else low


def least(value: Callable[[Any], Any], start: float, stop: float) -> tuple[float, float]:
    """The minimum between two ends, and where it is: the best of a grid, then a search around it."""
    grid = np.linspace(start, stop, 200)
    at = int(value(grid).argmin())
    bounds = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
    found = minimize_scalar(lambda h: value(h)[0], bounds=bounds, method="bounded", options={"xatol": 1e-12})
    return float(found.fun), float(found.x)


TWINS: dict[str, tuple[type[Twin], dict[str, Any]]] = {
    "rbp": (RBP, {}),
    "forgetron": (Forgetron, {}),
    "projectron": (Projectron, {}),
    "projectron++": (Projectron, {"plus": True}),
    "bpas": (BPAS, {}),
    "bogd": (BOGD, {}),
    "bogd++": (BOGD, {"plus": True}),
    "bsgd": (BSGD, {}),
}
SHAPE = ("kernel", "gamma", "degree", "coef0")


def twin(name: str, n_classes: int, budget: int | None, bias: bool, seed: int = 0, **options: Any) -> Twin:
    """The twin of a registry name."""
    shape = {key: options.pop(key) for key in SHAPE if key in options}
    kind, fixed = TWINS[name]
    kernel = kernel_of(**shape, bias=float(bias))
    columns = n_classes if n_classes > 2 else 1
    return kind(columns, kernel, np.inf if budget is None else budget, seed=seed, **fixed, **options)


def run(
    twin: Twin, X: np.ndarray, codes: np.ndarray, n_classes: int, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Learn a stream: each row's scores before it was learned, and whether it moved f."""
    scores, moved = [], []
    for i, (x, k) in enumerate(zip(X, codes, strict=True)):
        scores.append(twin.f(x))
        u = twin.direction(x, int(k), n_classes)
        moved.append(twin.learn(x, u, 1.0 if weights is None else float(weights[i])))
        assert len(twin.X) <= twin.B
    return np.array(scores), np.array(moved)
