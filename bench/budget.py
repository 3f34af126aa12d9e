"""Cost of a row on a budget: against the same rule in numpy, and over the budget B and the number of features
d.

Method: as in speed.py, the contenders take turns and the best round of each stands; times are of one
thread and one row, the budget is full before they start, rows are in memory, RBF kernel. The rules in
numpy keep support vectors in one matrix and go over all of them at once: one product with the row, one
exponential, one dot product a score. Labels follow two of the features, with a third at random, so most
rows move something.

Then the time of a row is fitted to a power of B and of d. Theory: scoring costs B·d, Projectron's
projection B² besides, merging B·d + B.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.table import Table
from speed import best_of
from threadpoolctl import threadpool_limits

import tauten as tt

N_ROWS = 3000
SIZES = (100, 200, 400, 800, 1600)
Stream = tuple[np.ndarray, np.ndarray]


def rows(d: int, n_rows: int = N_ROWS) -> Stream:
    """Rows of d numbers; labels that follow two of them, a third at random."""
    random = np.random.default_rng(d)
    X = random.standard_normal((n_rows, d))
    y = np.where(random.random(n_rows) < 1 / 3, random.integers(2, size=n_rows), X[:, 0] * X[:, 1] > 0)
    return X, y.astype(int)


class Numpy:
    """Support vectors, squared lengths and coefficients in arrays."""

    def __init__(self, B: int, d: int, gamma: float) -> None:
        self.V, self.q, self.a = np.zeros((B + 1, d)), np.zeros(B + 1), np.zeros(B + 1)
        self.B, self.n, self.gamma, self.random = B, 0, gamma, np.random.default_rng(0)

    def near(self, x: np.ndarray) -> np.ndarray:
        """The kernel with all support vectors."""
        n = self.n
        return np.exp(-self.gamma * (self.q[:n] + x @ x - 2 * (self.V[:n] @ x)))

    def put(self, i: int, x: np.ndarray, a: float) -> None:
        self.V[i], self.q[i], self.a[i] = x, x @ x, a
        self.n = max(self.n, i + 1)

    def learn(self, X: np.ndarray, y: np.ndarray) -> None:
        for x, side in zip(X, 2.0 * y - 1.0, strict=True):
            near = self.near(x)
            self.step(x, side, near, side * (self.a[: self.n] @ near))

    def step(self, x: np.ndarray, side: float, near: np.ndarray, margin: float) -> None:
        raise NotImplementedError


class RBP(Numpy):
    """A random support vector leaves."""

    def step(self, x: np.ndarray, side: float, near: np.ndarray, margin: float) -> None:
        if margin <= 0:
            self.put(self.n if self.n < self.B else int(self.random.random() * self.B), x, side)


class Forgetron(Numpy):
    """The oldest leaves; the buffer is a ring."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.sigma, self.next, self.Q, self.M = np.zeros(self.B), 0, 0.0, 0

    def step(self, x: np.ndarray, side: float, near: np.ndarray, margin: float) -> None:
        if margin > 0:
            return
        self.M += 1
        r, phi = self.next, 1.0
        if self.n == self.B:
            sigma = self.sigma[r]
            score = self.a[: self.B] @ self.near(self.V[r]) + side * near[r]
            mu = np.sign(self.a[r]) * score
            a, b, c = sigma**2 - 2 * sigma * mu, 2 * sigma, self.Q - 15 / 32 * self.M
            if a + b + c > 0:
                phi = min(1.0, -2 * c / (b + np.sqrt(b * b - 4 * a * c)))
            self.Q += (sigma * phi) ** 2 + 2 * sigma * phi - 2 * sigma * phi**2 * mu
            self.a *= phi
            self.sigma *= phi
        self.put(r, x, phi * side)
        self.sigma[r] = phi
        self.next = (r + 1) % self.B


class Projectron(Numpy):
    """Projectron++ with an inverse; the buffer is filled first."""

    eta = 0.1

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.K = np.zeros((self.B, self.B))

    def step(self, x: np.ndarray, side: float, near: np.ndarray, margin: float) -> None:
        if margin >= 1:
            return
        n = self.n
        d = self.K[:n, :n] @ near
        spread = near @ d
        distance = np.sqrt(max(1 - spread, 0.0))
        if margin > 0:
            tau = min((1 - margin) / spread, 2 * (1 - margin - distance / self.eta) / spread, 1.0)
            if tau > 0:
                self.a[:n] += tau * side * d
        elif n == self.B or distance <= self.eta:
            self.a[:n] += side * d
        else:
            e = np.append(d, -1.0)
            self.K[: n + 1, : n + 1] += np.outer(e, e) / distance**2
            self.put(n, x, side)


class BPAS(Numpy):
    """C = 1."""

    def step(self, x: np.ndarray, side: float, near: np.ndarray, margin: float) -> None:
        tau = min(1.0, 1 - margin)
        if tau <= 0:
            return
        if self.n < self.B:
            self.put(self.n, x, tau * side)
            return
        a = self.a[: self.B]
        cost = a * a * (1 - near * near) / 2
        r = int(cost.argmin())
        if cost[r] < tau * (1 - tau / 2):
            self.put(r, x, a[r] * near[r] + tau * side)


class BOGD(Numpy):
    """eta = 0.5, lam = 0.001, clip = 2; BOGD++."""

    def step(self, x: np.ndarray, side: float, near: np.ndarray, margin: float) -> None:
        a = self.a[: self.n]
        a *= 1 - 0.0005
        if margin >= 1:
            return
        if self.n < self.B:
            self.put(self.n, x, 0.5 * side)
            return
        size = np.abs(a)
        p = np.maximum(0.0, 1 - (self.B - 1) / size.sum() * size)
        passed = np.cumsum(p)
        i = int(np.searchsorted(passed, self.random.random() * passed[-1], side="right"))
        np.copysign(np.minimum(size / np.maximum(1 - p / passed[-1], 1e-12), 1.0), a, out=a)
        self.put(i, x, 0.5 * side)


class BSGD(Numpy):
    """lam = 1e-4, merging: a golden section search of 20 steps for all partners at once."""

    t = 0

    def step(self, x: np.ndarray, side: float, near: np.ndarray, margin: float) -> None:
        self.t += 1
        self.a *= 1 - 1 / self.t
        if margin >= 1:
            return
        self.put(self.n, x, side / (1e-4 * self.t))
        if self.n <= self.B:
            return
        p = int((self.a * self.a).argmin())
        kappa = np.delete(self.near(self.V[p]), p)
        q, light, logs = np.delete(self.a, p), self.a[p], np.log(np.maximum(kappa, 1e-300))
        low = np.where(q * light >= 0, 0.0, -1 / np.sqrt(-2 * np.minimum(logs, -1e-12)))
        high = np.where(q * light >= 0, 0.5, 0.0)

        def merged(h: np.ndarray) -> np.ndarray:
            return light * np.exp(logs * (1 - h) ** 2) + q * np.exp(logs * h * h)

        for _ in range(20):
            c, d = high - 0.618034 * (high - low), low + 0.618034 * (high - low)
            better = np.abs(merged(c)) > np.abs(merged(d))
            high, low = np.where(better, d, high), np.where(better, low, c)
        h = (low + high) / 2
        z = merged(h)
        best = int((light**2 + q * q + 2 * kappa * light * q - z * z).argmin())
        i = best + (best >= p)
        self.put(i, h[best] * self.V[p] + (1 - h[best]) * self.V[i], z[best])
        self.n -= 1
        if p < self.n:
            self.put(p, self.V[self.n].copy(), self.a[self.n])
        self.a[self.n] = 0.0


RULES: dict[str, type[Numpy]] = {
    "rbp": RBP,
    "forgetron": Forgetron,
    "projectron++": Projectron,
    "bpas": BPAS,
    "bogd++": BOGD,
    "bsgd": BSGD,
}


def sparse_pass(model: BPAS, X: sp.csr_matrix, y: np.ndarray) -> None:
    """BPA-S on sparse rows: only the columns that a row has are looked at."""
    dense = np.zeros(X.shape[1])
    for i, side in enumerate(2.0 * y - 1.0):
        span = slice(X.indptr[i], X.indptr[i + 1])
        at, x, n = X.indices[span], X.data[span], model.n
        near = np.exp(-model.gamma * (model.q[:n] + x @ x - 2 * (model.V[:n, at] @ x)))
        dense[at] = x
        model.step(dense, side, near, side * (model.a[:n] @ near))
        dense[at] = 0.0


def sparse_contenders(d: int, n_values: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """BPA-S on rows of a few ones."""
    random = np.random.default_rng(0)
    columns = np.sort(np.array([random.choice(d, n_values, replace=False) for _ in range(N_ROWS)]), axis=1)
    starts = np.arange(N_ROWS + 1) * n_values
    X = sp.csr_matrix((np.ones(columns.size), columns.ravel(), starts), shape=(N_ROWS, d))
    y = random.integers(2, size=N_ROWS)
    model, plain = tt.make("bpas", budget=100, gamma=1 / n_values, classes=[0, 1]), BPAS(100, d, 1 / n_values)
    for _ in range(2):
        model.partial_fit(X, y)
        sparse_pass(plain, X, y)
    return partial(model.partial_fit, X, y), partial(sparse_pass, plain, X, y)


def contenders(name: str, B: int, data: Stream) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """A pass of ours and one in numpy, both with the budget full."""
    X, y = data
    d = X.shape[1]
    model = tt.make(name, budget=B, gamma=1 / d, classes=[0, 1], fit_intercept=False)
    plain = RULES[name](B, d, 1 / d)
    for _ in range(2):
        model.partial_fit(X, y)
        plain.learn(X, y)
    assert model.support_vectors_.shape[0] == B == plain.n, f"{name} has not filled its budget"
    return partial(model.partial_fit, X, y), partial(plain.learn, X, y)


def exponent(values: Sequence[float], times: Sequence[float]) -> float:
    """The power that times follow."""
    return float(np.polyfit(np.log(values), np.log(times), 1)[0])


def main() -> None:
    """Run everything and print ratios and exponents."""
    started = time.perf_counter()
    sides = Table(title="µs a row, B = 100; best of 7 rounds in turn, one thread")
    for heading in ("rule", "d", "tauten", "numpy", "ratio"):
        sides.add_column(heading, justify="left" if heading == "rule" else "right")
    growth = Table(title="µs a row, and the power of B or d that the last three follow")
    for heading in ("rule", "over", "", "", "", "", "", "power"):
        growth.add_column(heading)
    unit = 1e6 / N_ROWS
    with threadpool_limits(1):
        for name in RULES:
            for d in (20, 123, 300):
                ours, plain = best_of(*contenders(name, 100, rows(d)))
                sides.add_row(
                    name, str(d), f"{ours * unit:.1f}", f"{plain * unit:.1f}", f"{plain / ours:.1f}"
                )
        for d, n_values in ((123, 14), (50_000, 75)):
            ours, plain = best_of(*sparse_contenders(d, n_values))
            cells = f"{ours * unit:.1f}", f"{plain * unit:.1f}", f"{plain / ours:.1f}"
            sides.add_row(f"bpas, {n_values} non-zeros", str(d), *cells)
        for name, over in (("bpas", "d"), ("bpas", "B"), ("projectron++", "B")):
            times = []
            for value in SIZES:
                d, B = (value, 100) if over == "d" else (123, value)
                X, y = rows(d, 3 * B + 2000)
                model = tt.make(name, budget=B, gamma=1 / d)
                model.partial_fit(X, y)
                times.append(best_of(partial(model.partial_fit, X, y))[0] * 1e6 / len(y))
            cells = [f"{value}: {time:.1f}" for value, time in zip(SIZES, times, strict=True)]
            growth.add_row(name, over, *cells, f"{exponent(SIZES[-3:], times[-3:]):.2f}")
    console = Console(width=120)
    console.print(sides)
    console.print(growth)
    console.print(f"took {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
