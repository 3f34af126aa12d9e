"""Examples whose labels have not come, as the arrays of a model file and back."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from tauten.io import model_file
from tauten.kernels.state import Dense, Floats, Sparse
from tauten.rows import Rows

Waiting = dict[Hashable, Dense | Sparse]
ARRAYS = ("waiting_values", "waiting_columns", "waiting_starts")


def pack(waiting: Waiting, width: int) -> tuple[Any, dict[str, Floats]]:
    """The ids, each with whether its row is dense, as JSON can hold them, and the rows as arrays."""
    rows = [sp.csr_matrix(Rows.of(row, width).X) for row in waiting.values()]
    for row in rows:
        row.resize(1, width)
    stacked = sp.vstack(rows, format="csr") if rows else sp.csr_matrix((0, width))
    ids = model_file.encode([[id, isinstance(row, Dense)] for id, row in waiting.items()])
    return ids, dict(zip(ARRAYS, (stacked.data, stacked.indices, stacked.indptr), strict=True))


def unpack(packed: Any, arrays: Mapping[str, Floats], width: int, index: Mapping[str, int] | None) -> Waiting:
    """What was packed; raises a ValueError where it does not fit together."""
    values, columns, starts = (arrays[name] for name in ARRAYS)
    parts = values, columns.astype(np.int32), starts.astype(np.int32)
    rows = Rows(sp.csr_matrix(parts, shape=(len(starts) - 1, width)))
    rows.check(index)
    rows.sort()
    ids = model_file.decode(packed)
    if len(ids) != len(rows):
        raise ValueError(f"{len(ids)} examples wait, expected {len(rows)}")
    return {
        id: Dense(rows.X[place].toarray()) if dense else rows.block(place, place + 1).copy()
        for place, (id, dense) in enumerate(ids)
    }
