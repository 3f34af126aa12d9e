"""What feature maps keep, and how they turn rows x into the rows z that a learner learns.

    Waves       z = √(2/D)·(cos ωᵢ·x, …, sin ωᵢ·x, …)       drawn from a seed, nothing to keep
    Layer       z = g(a₁·x + b₁), …                          drawn from a seed, nothing to keep
    Landmarks   z = Bᵀ·(k(l₁, x), …, k(lₘ, x))               rows taken as they come, and the matrix B

A row that is too long for its phases or similarities to be told becomes z = 0.
"""

import copy
from collections.abc import Mapping as Arrays
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numba import njit, types

from tauten.kernels.loops import MATRIX, VECTOR
from tauten.kernels.pointers import COUNT, HANDLE, REAL, Rule, invoke, kernel
from tauten.kernels.state import Dense, Floats, Sparse
from tauten.kernels.tiles import TILE, as_matrix, as_tiles, draw_rows, n_tiles, project, project_dense

LARGEST_PHASE = 1e15  # beyond it floats are too far apart to tell a cosine
EXACT_PHASE = 1e5  # up to it the multiples of π/2 below can be taken away without loss
LARGEST_SIMILARITY = 1e100  # of a row with itself

# π/2 in three parts, of which multiples up to 2²⁰ are exact; polynomials for |r| ≤ π/4 (fdlibm, Sun, 1993)
HALF_PI_1, HALF_PI_2, HALF_PI_3 = (
    1.57079632673412561417,
    6.07710050630396597660e-11,
    2.02226624871116645580e-21,
)
S1, S2, S3 = -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04
S4, S5, S6 = 2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10
C1, C2, C3 = 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05
C4, C5, C6 = -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11


@njit
def _cos_sin(phase):  # type: ignore[no-untyped-def]
    """Cosine and sine without a branch, so that SIMD can run, up to EXACT_PHASE."""
    n = np.floor(phase * (2.0 / np.pi) + 0.5)
    r = ((phase - n * HALF_PI_1) - n * HALF_PI_2) - n * HALF_PI_3
    z = r * r
    sine = r + r * z * (S1 + z * (S2 + z * (S3 + z * (S4 + z * (S5 + z * S6)))))
    cosine = 1.0 - (0.5 * z - z * z * (C1 + z * (C2 + z * (C3 + z * (C4 + z * (C5 + z * C6))))))
    quarter = n - 4.0 * np.floor(0.25 * n)
    odd = 2.0 * np.floor(0.5 * n) != n
    cos, sin = (sine if odd else cosine), (cosine if odd else sine)
    return (-cos if abs(quarter - 1.5) < 1.0 else cos), (-sin if quarter >= 2.0 else sin)


@kernel(COUNT(MATRIX, types.int64, REAL, MATRIX))
def make_waves(phases, n, amplitude, Z):  # type: ignore[no-untyped-def]
    """Write the n cosines and as many sines of each row's phases, of an odd number one less."""
    n_sines = Z.shape[1] - n
    for i in range(len(Z)):
        known = True
        exact = True
        for c in range(n):
            known &= abs(phases[i, c]) <= LARGEST_PHASE
            exact &= abs(phases[i, c]) <= EXACT_PHASE
        if exact:
            for c in range(n):
                cos, sin = _cos_sin(phases[i, c])
                Z[i, c] = amplitude * cos
                phases[i, c] = amplitude * sin
            for c in range(n_sines):
                Z[i, n + c] = phases[i, c]
        else:
            for c in range(n):
                Z[i, c] = amplitude * np.cos(phases[i, c]) if known else 0.0
            for c in range(n_sines):
                Z[i, n + c] = amplitude * np.sin(phases[i, c]) if known else 0.0
    return len(Z)


@kernel(COUNT(MATRIX, VECTOR, HANDLE, MATRIX))
def make_layer(products, offsets, activation, Z):  # type: ignore[no-untyped-def]
    """Write what each neuron makes of a row."""
    for i in range(len(Z)):
        known = True
        for c in range(Z.shape[1]):
            known &= abs(products[i, c]) < np.inf
        for c in range(Z.shape[1]):
            Z[i, c] = invoke(activation, (products[i, c] + offsets[c],)) if known else 0.0
    return len(Z)


@kernel(COUNT(MATRIX, VECTOR, VECTOR, HANDLE, VECTOR, MATRIX, VECTOR))
def make_similarities(products, sqnorms, lengths, similarity, numbers, K, own):  # type: ignore[no-untyped-def]
    """Write the similarity of each row to each landmark, and to itself."""
    gamma, degree, offset = numbers
    for i in range(len(K)):
        a = sqnorms[i]
        own[i] = invoke(similarity, (a, a, a, gamma, degree, offset)) if a < np.inf else np.inf
        known = own[i] <= LARGEST_SIMILARITY
        if not known:
            own[i] = 0.0
        for c in range(K.shape[1]):
            K[i, c] = 0.0
            if known:
                K[i, c] = invoke(similarity, (products[i, c], a, lengths[c], gamma, degree, offset))
    return len(K)


class Mapping:
    """From rows of `n_features` numbers to rows of `n_outputs`."""

    n_features: int
    n_outputs: int
    per_row: int  # numbers that a row takes room for on its way
    size: int  # numbers that a copy takes
    kept: ClassVar[tuple[str, ...]] = ()  # names of its arrays
    n_taken = 0  # rows that it was made of
    settled = True  # whether it stays as it is, and does not wait for rows to be taken

    def write(self, rows: Dense | Sparse, candidate: bool = False) -> tuple[int, Floats]:
        """How many rows could be taken, or -1 - i before a row i that can't, and what they become.

        `candidate`: a mapping that is not settled adds the coordinate that the row would bring.
        """
        raise NotImplementedError

    def take(self, row: Dense | Sparse, z: Floats) -> Floats | None:
        """Take a row that became z and was learned so; returns the new axes where z is turned to others."""
        raise NotImplementedError

    def grow_features(self, n_features: int) -> None:
        """Make room for features."""
        raise NotImplementedError

    def place_features(self, columns: Sequence[int], n_features: int) -> None:
        """Move feature j to column `columns[j]` of `n_features`."""
        raise NotImplementedError

    def arrays(self) -> dict[str, Floats]:
        """What a model file needs to hold."""
        return {}

    def restore(self, arrays: Arrays[str, Floats]) -> None:
        """Become what was saved; raises a ValueError where it does not fit."""

    def same(self, other: Self) -> bool:
        """Whether another one maps every row alike, given the same parameters."""
        return True


class Drawn(Mapping):
    """A matrix drawn from a seed, an entry for a feature and a column being a function of those alone."""

    def __init__(self, n_features: int, n_columns: int, seed: int, normal: bool, scale: float) -> None:
        self.n_features, self._n_columns = n_features, n_columns
        self._seed, self._normal, self._scale = seed, normal, scale
        self.per_row = 2 * n_columns
        self.size = 0  # copies share the matrix, which is never written to
        self._drawn = self._undrawn()

    def _undrawn(self) -> Floats:
        return np.zeros((n_tiles(self._n_columns), 0, TILE))

    @property
    def _tiles(self) -> Floats:
        """The matrix, drawn when it is needed, with room for features to come."""
        room = self._drawn.shape[1]
        if self.n_features > room:
            self._drawn = np.zeros((n_tiles(self._n_columns), max(self.n_features, 2 * room), TILE))
            draw_rows.run(
                int(np.uint64(self._seed).astype(np.int64)),
                self._n_columns,
                self._normal,
                self._scale,
                self._drawn,
            )
        return self._drawn

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return copy.copy(self)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_drawn": self._undrawn()}

    def grow_features(self, n_features: int) -> None:
        self.n_features = n_features

    def place_features(self, columns: Sequence[int], n_features: int) -> None:
        if list(columns) != list(range(len(columns))):
            raise ValueError(
                "A map drawn at random has one frequency a column, and the models met their features in "
                "another order; expected the same order, or hash_bits."
            )
        self.grow_features(n_features)

    def matrix(self) -> Floats:
        """What was drawn, a row a feature."""
        return as_matrix(self._tiles, self.n_features, self._n_columns)

    def _products(self, rows: Dense | Sparse) -> tuple[int, Floats]:
        done, products, _ = project(rows, self._tiles, self.n_features)
        return done, products


class Waves(Drawn):
    """Random Fourier features of exp(−γ‖x − x'‖²): frequencies are normal with variance 2γ."""

    def __init__(self, n_features: int, n_outputs: int, seed: int, gamma: float) -> None:
        self.n_outputs = n_outputs
        n_waves = (n_outputs + 1) // 2
        super().__init__(n_features, n_waves, seed, normal=True, scale=float(np.sqrt(2 * gamma)))

    def write(self, rows: Dense | Sparse, candidate: bool = False) -> tuple[int, Floats]:
        done, phases = self._products(rows)
        Z = np.empty((len(phases), self.n_outputs))
        make_waves.run(phases, self._n_columns, float(np.sqrt(2 / self.n_outputs)), Z)
        return done, Z


class Layer(Drawn):
    """A layer of neurons whose weights and offsets are drawn from −1 to 1."""

    def __init__(self, n_features: int, n_outputs: int, seed: int, activation: Rule) -> None:
        self.n_outputs, self._activation = n_outputs, activation
        offsets = Drawn(1, n_outputs, seed ^ 1 << 63, normal=False, scale=1.0)
        self.offsets = offsets.matrix()[0]
        super().__init__(n_features, n_outputs, seed, normal=False, scale=1.0)

    def write(self, rows: Dense | Sparse, candidate: bool = False) -> tuple[int, Floats]:
        done, products = self._products(rows)
        Z = np.empty((len(products), self.n_outputs))
        make_layer.run(products, self.offsets, self._activation.handle, Z)
        return done, Z


class Landmarks(Mapping):
    """The Nyström map: rows as landmarks l, and a basis B in which z·z' = k(x, x') on all they span.

    While landmarks are taken, Bᵀ is the inverse of the Cholesky factor of their similarities: a new landmark
    adds a coordinate and leaves the others as they are. Only a row whose own coordinate has a square of more
    than `SMALLEST` of k(x, x) is one: what lies in the span of the others brings nothing but rounding errors.
    """

    SMALLEST: ClassVar[float] = 1e-6
    kept: ClassVar[tuple[str, ...]] = ("landmarks", "lengths", "basis")

    def __init__(
        self, n_features: int, n_landmarks: int, rank: int | None, similarity: Rule, numbers: Sequence[float]
    ) -> None:
        self.n_features, self._n_landmarks, self._rank = n_features, n_landmarks, rank
        self._similarity, self._numbers = similarity, np.array(numbers, dtype=np.float64)
        self._tiles = np.zeros((n_tiles(n_landmarks), n_features, TILE))
        self._lengths = np.zeros(n_landmarks)  # squared
        self._basis = np.zeros((n_tiles(n_landmarks), n_landmarks, TILE))
        self.n_taken, self.n_outputs = 0, n_landmarks

    @property
    def settled(self) -> bool:  # type: ignore[override]
        return self.n_taken == self._n_landmarks

    @property
    def _turned(self) -> bool:
        """Whether it has gone over, or is about to, to the best directions."""
        return self.settled and self._rank is not None

    @property
    def per_row(self) -> int:  # type: ignore[override]
        return 3 * self._n_landmarks + self.n_outputs

    @property
    def size(self) -> int:  # type: ignore[override]
        return 0 if self.settled else self._tiles.size + self._basis.size

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        twin = copy.copy(self)
        if not self.settled:  # from then on nothing is written to
            for name in ("_tiles", "_lengths", "_basis"):
                setattr(twin, name, getattr(self, name).copy())
        return twin

    def write(self, rows: Dense | Sparse, candidate: bool = False) -> tuple[int, Floats]:
        n = self.n_taken
        done, products, sqnorms = project(rows, self._tiles[: n_tiles(n)], self.n_features)
        K, own = np.empty((len(products), n)), np.empty(len(products))
        make_similarities.run(
            products, sqnorms, self._lengths, self._similarity.handle, self._numbers, K, own
        )
        basis = self._basis[: n_tiles(min(n, self.n_outputs))]
        products, unused = np.empty((len(K), len(basis) * TILE)), np.empty(len(K))
        project_dense.run(K, basis, not self._turned, products, unused)
        Z = np.zeros((len(K), self.n_outputs))
        width = min(products.shape[1], self.n_outputs)
        Z[:, :width] = products[:, :width]
        if candidate and len(Z):
            left = float(own[0] - Z[0] @ Z[0])
            if left > self.SMALLEST * own[0]:
                Z[0, n] = np.sqrt(left)
        return done, Z

    def take(self, row: Dense | Sparse, z: Floats) -> Floats | None:
        n = self.n_taken
        tile, column = divmod(n, TILE)
        if isinstance(row, Dense):
            values = row.X[0]
            self._tiles[tile, : len(values), column] = values
        else:
            values = row.values[row.starts[0] : row.starts[1]]
            np.add.at(self._tiles[tile, :, column], row.indices[row.starts[0] : row.starts[1]], values)
        self._lengths[n] = _sqnorm(values)
        known = np.zeros(len(self._basis) * TILE)
        known[:n] = z[:n]
        spanned = np.matmul(self._basis[:, :n], known.reshape(-1, TILE, 1)).sum(axis=0)[:, 0]
        self._basis[tile, : n + 1, column] = np.append(-spanned, 1.0) / z[n]
        self.n_taken += 1
        return self._turn() if self._turned else None

    def _turn(self) -> Floats:
        """Go over to the best basis of fewer dimensions; returns it in terms of the present one."""
        assert self._rank is not None
        n = self.n_taken
        inverse = as_matrix(self._basis, n, n)
        factor = np.linalg.inv(inverse.T)
        values, vectors = np.linalg.eigh(factor @ factor.T)
        best = slice(n - 1, n - 1 - self._rank if n > self._rank else None, -1)
        basis = vectors[:, best] / np.sqrt(values[best])
        self._basis, self.n_outputs = as_tiles(basis), self._rank
        return (factor.T @ basis).T

    def grow_features(self, n_features: int) -> None:
        room = self._tiles.shape[1]
        if n_features > room:
            self._widen(max(n_features, 2 * room))
        self.n_features = n_features

    def _widen(self, room: int) -> None:
        tiles = np.zeros((len(self._tiles), room, TILE))
        tiles[:, : self._tiles.shape[1]] = self._tiles
        self._tiles = tiles

    def place_features(self, columns: Sequence[int], n_features: int) -> None:
        tiles = np.zeros((len(self._tiles), n_features, TILE))
        tiles[:, list(columns)] = self._tiles[:, : self.n_features]
        self._tiles, self.n_features = tiles, n_features

    def landmarks(self) -> Floats:
        """The rows taken."""
        return as_matrix(self._tiles, self.n_features, self.n_taken).T

    def arrays(self) -> dict[str, Floats]:
        basis = as_matrix(self._basis, self.n_taken, self.n_outputs if self.settled else self.n_taken)
        return {"landmarks": self.landmarks(), "lengths": self._lengths[: self.n_taken], "basis": basis}

    def restore(self, arrays: Arrays[str, Floats]) -> None:
        landmarks, basis = arrays["landmarks"], arrays["basis"]
        n = len(landmarks)
        turned = n == self._n_landmarks and self._rank is not None
        expected = (n, self._rank if turned else n)
        if landmarks.shape != (min(n, self._n_landmarks), self.n_features) or basis.shape != expected:
            raise ValueError(f"landmarks of shape {landmarks.shape} do not fit a basis of {basis.shape}")
        if not all(np.isfinite(array).all() for array in arrays.values()):
            raise ValueError("a number of its landmarks is not finite")
        self.n_taken = n
        if turned:
            assert self._rank is not None
            self._basis, self.n_outputs = as_tiles(basis), self._rank
        else:
            self._basis[: n_tiles(n), :n] = as_tiles(basis)
        self._tiles[: n_tiles(n), : self.n_features] = as_tiles(landmarks.T)
        self._lengths[:n] = arrays["lengths"]

    def same(self, other: Self) -> bool:
        mine, theirs = self.arrays(), other.arrays()
        return all(np.array_equal(mine[name], theirs[name]) for name in mine)


def _sqnorm(values: Floats) -> float:
    """The squared length, summed in the order in which loops sum it."""
    total = 0.0
    for value in values.tolist():
        total += value * value
    return total
