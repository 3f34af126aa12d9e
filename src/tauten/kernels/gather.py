"""One example given as a dict, turned into column indices and values at the speed of C.

The loop reads two dicts through CPython's own stable functions: the example {name: number} and the model's
index {name: column}. In Python the same costs several passive-aggressive steps. It must hold the GIL
throughout.
"""

from typing import Any

import numba
import numpy as np
from numba import types

from tauten.kernels.loops import SPARSE, learn_sparse_column
from tauten.kernels.pointers import COUNT, kernel
from tauten.kernels.state import Flags, Floats, LinearPlan, LinearState, Sparse

_OBJECT = types.uintp
_next_item = types.ExternalFunction(
    "PyDict_Next",
    types.int32(_OBJECT, types.CPointer(types.int64), types.CPointer(_OBJECT), types.CPointer(_OBJECT)),
)
_get_item = types.ExternalFunction("PyDict_GetItemWithError", _OBJECT(_OBJECT, _OBJECT))
_as_long = types.ExternalFunction("PyLong_AsLong", types.int64(_OBJECT))
_as_double = types.ExternalFunction("PyFloat_AsDouble", types.float64(_OBJECT))
_error = types.ExternalFunction("PyErr_Occurred", _OBJECT())
_clear_error = types.ExternalFunction("PyErr_Clear", types.void())


@kernel(
    COUNT(_OBJECT, _OBJECT, types.uint32[::1], types.float64[::1], types.int64[::1], types.uintp[::1]),
    nogil=False,
)
def gather(row, index, indices, values, cursor, item):  # type: ignore[no-untyped-def]
    """How many items were gathered, or -1 at a name that is not in the index or a value that is not a finite
    number.
    """
    n = 0
    cursor[0] = 0
    while _next_item(row, cursor.ctypes, item.ctypes, item[1:].ctypes) != 0:
        column = _get_item(index, item[0])
        if column == 0:
            _clear_error()
            return -1
        value = _as_double(item[1])
        if value == -1.0 and _error() != 0:
            _clear_error()
            return -1
        if not np.isfinite(value):
            return -1
        indices[n] = _as_long(column)
        values[n] = value
        n += 1
    return n


_gather = numba.njit(gather.function, error_model="numpy")
_learn = numba.njit(learn_sparse_column.function, error_model="numpy")


@kernel(COUNT(_OBJECT, _OBJECT, types.int64[::1], types.uintp[::1], *SPARSE.args), nogil=False)
def learn_dict(  # type: ignore[no-untyped-def]
    row, index, cursor, item, values, indices, starts, trusted,
    y, margins, importance, C, bias, table, memory, report, decide, loss, step, scores, moved,
    ask, asking, asked,
):  # fmt: skip
    """`gather`, and on with `learn_sparse_column`: a call saved is a fifth of the time."""
    n = _gather(row, index, indices, values, cursor, item)
    if n < 0:
        return 0
    starts[1] = n
    return _learn(
        values, indices, starts, trusted,
        y, margins, importance, C, bias, table, memory, report, decide, loss, step, scores, moved,
        ask, asking, asked,
    )  # fmt: skip


class Gatherer:
    """Gathers dicts by one index into buffers that are used again and again, so a row is good until the next
    one.
    """

    def __init__(self, index: dict[str, int]) -> None:
        self._index = index
        self._cursor = np.zeros(1, np.int64)
        self._item = np.zeros(2, np.uintp)
        self._starts = np.zeros(2, np.uint64)
        self._make_room(64)
        self._gather = _gather_in_python if numba.config.DISABLE_JIT else self._gather_compiled

    def _make_room(self, n_values: int) -> None:
        self._row = Sparse(np.empty(n_values), np.empty(n_values, np.uint32), self._starts, trusted=True)

    def __call__(self, example: dict[Any, Any]) -> Sparse | None:
        """The row, or None where a name is new or a value is not a finite number."""
        row = self._row
        if len(example) > len(row.values):
            self._make_room(2 * len(example))
            row = self._row
        n = self._gather(example, self._index, row)
        if n < 0:
            return None
        self._starts[1] = n
        return row

    def learn(
        self,
        example: dict[Any, Any],
        state: LinearState,
        plan: LinearPlan,
        y: Floats,
        margins: Floats,
        importance: Floats,
        scores: Floats,
        moved: Flags,
        asked: Flags,
    ) -> bool:
        """Gather an example and learn it in a state of one column: whether that could be done."""
        row = self._row
        if len(example) > len(row.values):
            self._make_room(2 * len(example))
            row = self._row
        done = learn_dict.run(
            id(example), id(self._index), self._cursor, self._item,
            row.values, row.indices, self._starts, True,
            y, margins, importance, plan.C, plan.bias, state.used, state.memory,
            plan.report, plan.decide, plan.loss, plan.step, scores, moved,
            plan.ask, plan.asking, asked,
        )  # fmt: skip
        if done != 1:
            return False
        state.n_rounds += 1
        state.n_moves += 1 in moved.tobytes()
        return True

    def _gather_compiled(self, example: dict[Any, Any], index: dict[str, int], row: Sparse) -> int:
        return gather.run(id(example), id(index), row.indices, row.values, self._cursor, self._item)  # type: ignore[no-any-return]


def _gather_in_python(example: dict[Any, Any], index: dict[str, int], row: Sparse) -> int:
    for n, (name, value) in enumerate(example.items()):
        if name not in index or isinstance(value, str) or not np.isfinite(value):
            return -1
        row.indices[n], row.values[n] = index[name], value
    return len(example)
