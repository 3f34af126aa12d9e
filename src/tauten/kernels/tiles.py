"""Products of rows with a fixed matrix, bit for bit the same for one row, for many, dense or sparse.

Every sum runs over the features in their order, one after the other; SIMD goes across the columns of the
matrix. So a batch gives what the loop gives, which BLAS does not promise, and a zero left out of a sparse row
changes nothing. The matrix is kept in tiles of TILE columns, so that one tile stays in cache for a block of
rows, and has room for features to come.
"""

import numpy as np
from numba import njit, types

from tauten.kernels.asking import uniform
from tauten.kernels.loops import MATRIX, VECTOR, sparse_sqnorm
from tauten.kernels.pointers import COUNT, REAL, kernel
from tauten.kernels.state import Dense, Floats, Sparse

TILE = 32
LARGEST_COLUMNS = 1 << 24  # draws set aside for a row of a matrix that is drawn
TILES = types.float64[:, :, ::1]  # tile, feature, column in the tile


@kernel(COUNT(MATRIX, TILES, types.boolean, MATRIX, VECTOR))
def project_dense(X, tiles, upper, products, sqnorms):  # type: ignore[no-untyped-def]
    """Write x·matrix and ‖x‖² for each row; -1 - i at a row i with a value that is not finite.

    `upper`: the matrix is upper triangular.
    """
    n_rows, width = X.shape
    for i in range(n_rows):
        sqnorm = 0.0
        for j in range(width):
            sqnorm += X[i, j] * X[i, j]
        if not np.isfinite(sqnorm) and not np.isfinite(X[i]).all():
            return -1 - i
        sqnorms[i] = sqnorm
    total = np.empty(TILE)
    for t in range(len(tiles)):
        tile = tiles[t]
        height = min(width, (t + 1) * TILE) if upper else width
        fours = height - height % 4
        for i in range(n_rows):
            x = X[i]
            for c in range(TILE):
                total[c] = 0.0
            for j in range(0, fours, 4):
                x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
                r0, r1, r2, r3 = tile[j], tile[j + 1], tile[j + 2], tile[j + 3]
                for c in range(TILE):
                    total[c] = (((total[c] + x0 * r0[c]) + x1 * r1[c]) + x2 * r2[c]) + x3 * r3[c]
            for j in range(fours, height):
                for c in range(TILE):
                    total[c] += x[j] * tile[j, c]
            for c in range(TILE):
                products[i, t * TILE + c] = total[c]
    return n_rows


@kernel(
    COUNT(VECTOR, types.uint32[::1], types.uint64[::1], types.boolean, types.int64, TILES, MATRIX, VECTOR)
)
def project_sparse(values, indices, starts, trusted, width, tiles, products, sqnorms):  # type: ignore[no-untyped-def]
    """The same for sparse rows; -1 - i also where columns are out of range or do not ascend."""
    n_rows = len(starts) - 1
    for i in range(n_rows):
        sqnorms[i] = sparse_sqnorm(values, indices, starts[i], starts[i + 1], trusted, width, 0.0)
        if sqnorms[i] < 0.0:
            return -1 - i
    total = np.empty(TILE)
    for t in range(len(tiles)):
        tile = tiles[t]
        for i in range(n_rows):
            for c in range(TILE):
                total[c] = 0.0
            for p in range(starts[i], starts[i + 1]):
                x, row = values[p], tile[indices[p]]
                for c in range(TILE):
                    total[c] += x * row[c]
            for c in range(TILE):
                products[i, t * TILE + c] = total[c]
    return n_rows


@njit
def uniform_draw(seed, draw):  # type: ignore[no-untyped-def]
    """A number from -1 to 1."""
    return 2.0 * uniform(seed, draw) - 1.0


@njit
def normal_draw(seed, draw):  # type: ignore[no-untyped-def]
    """A number from the standard normal distribution (Box and Muller, 1958)."""
    radius = np.sqrt(-2.0 * np.log(1.0 - uniform(seed, 2 * draw)))
    return radius * np.cos(2.0 * np.pi * uniform(seed, 2 * draw + 1))


@kernel(COUNT(types.int64, types.int64, types.boolean, REAL, TILES))
def draw_rows(seed, n_columns, normal, scale, tiles):  # type: ignore[no-untyped-def]
    """Draw the whole matrix, each entry from the seed, its row and its column alone."""
    for j in range(tiles.shape[1]):
        for c in range(n_columns):
            draw = (np.int64(j) + 1) * LARGEST_COLUMNS + c
            entry = normal_draw(seed, draw) if normal else uniform_draw(seed, draw)
            tiles[c // TILE, j, c % TILE] = scale * entry
    return tiles.shape[1]


def n_tiles(n_columns: int) -> int:
    """How many tiles hold so many columns."""
    return -(-n_columns // TILE)


def as_tiles(matrix: Floats) -> Floats:
    """A matrix in tiles, the last one filled up with zeros."""
    n_rows, n_columns = matrix.shape
    filled = np.zeros((n_rows, n_tiles(n_columns), TILE))
    filled.reshape(n_rows, n_tiles(n_columns) * TILE)[:, :n_columns] = matrix
    return np.ascontiguousarray(filled.transpose(1, 0, 2))


def as_matrix(tiles: Floats, n_rows: int, n_columns: int) -> Floats:
    """The matrix that tiles hold."""
    return tiles[:, :n_rows].transpose(1, 0, 2).reshape(n_rows, len(tiles) * TILE)[:, :n_columns].copy()


def project(rows: Dense | Sparse, tiles: Floats, width: int) -> tuple[int, Floats, Floats]:
    """How many rows could be taken, or -1 - i before a row i that can't; their products; their ‖x‖²."""
    products, sqnorms = np.empty((len(rows), len(tiles) * TILE)), np.empty(len(rows))
    if isinstance(rows, Dense):
        done: int = project_dense.run(rows.X, tiles, False, products, sqnorms)
    else:
        parts = rows.values, rows.indices, rows.starts, rows.trusted
        done = project_sparse.run(*parts, width, tiles, products, sqnorms)
    n_taken = done if done >= 0 else -1 - done
    if n_taken < len(rows) and n_taken > 0:  # those before it can be
        _, products, sqnorms = project(first_rows(rows, n_taken), tiles, width)
    return done, products[:n_taken], sqnorms[:n_taken]


def first_rows(rows: Dense | Sparse, n_rows: int) -> Dense | Sparse:
    """The rows up to a number."""
    if isinstance(rows, Dense):
        return Dense(rows.X[:n_rows])
    return Sparse(rows.values, rows.indices, rows.starts[: n_rows + 1], rows.trusted)
