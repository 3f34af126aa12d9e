"""One example given as a dict, turned into column indices and values at the speed of C.

The loop reads the example {name: number} through CPython's own stable functions, and finds the column of a
name in a table of its own by the hash that every string in a dict carries: a tenth of the memory that the
dict {name: column} goes through, and no comparison of letters. Two names of one 64-bit hash would be one
feature; among n names that happens with a chance below n²/2⁶⁵. It must hold the GIL throughout.
"""

import ctypes
from collections.abc import Mapping
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from tauten.kernels.loops import SPARSE, learn_sparse_column
from tauten.kernels.pointers import COUNT, kernel
from tauten.kernels.state import Flags, Floats, LinearPlan, LinearState, Sparse

_OBJECT = types.uintp
_next_item = types.ExternalFunction("PyDict_Next", types.int32(_OBJECT, *[types.uintp] * 3))
_get_item = types.ExternalFunction("PyDict_GetItemWithError", _OBJECT(_OBJECT, _OBJECT))
_as_long = types.ExternalFunction("PyLong_AsLong", types.int64(_OBJECT))
_as_double = types.ExternalFunction("PyFloat_AsDouble", types.float64(_OBJECT))
_error = types.ExternalFunction("PyErr_Occurred", _OBJECT())
_clear_error = types.ExternalFunction("PyErr_Clear", types.void())

# Where CPython keeps things: the type of an object, the number of a float, the hash of a string.
TYPE, NUMBER, HASH = 8, 16, 24
KEY, VALUE, CURSOR, TEXT, FLOAT = range(5)  # item: the parts of one, which is next; the types str and float
NAMES = types.int64[:, ::1]  # the table: hash and column of each name, the column FREE where no name is
ITEM = types.uintp[::1]
FREE = -1


def _as_expected() -> bool:
    """Whether this Python keeps things there."""
    name, number = "a name whose hash is known", 0.1
    found = ctypes.c_ssize_t.from_address(id(name) + HASH), ctypes.c_double.from_address(id(number) + NUMBER)
    typed = all(ctypes.c_size_t.from_address(id(it) + TYPE).value == id(type(it)) for it in (name, number))
    return hash(name) == found[0].value and found[1].value == number and typed


def _load(kind: Any, as_ir: Any) -> Any:
    @intrinsic
    def load(typing_context, address):  # type: ignore[no-untyped-def]
        """What stands at an address."""

        def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
            return builder.load(builder.inttoptr(values[0], as_ir.as_pointer()))

        return kind(_OBJECT), generate

    return load


_word = _load(types.int64, ir.IntType(64))
_double = _load(types.float64, ir.DoubleType())


@numba.njit
def _next(row, item):  # type: ignore[no-untyped-def]
    """Whether there is another item in a dict; if so it is put into `item`."""
    address = item.ctypes.data
    return _next_item(row, address + 8 * CURSOR, address + 8 * KEY, address + 8 * VALUE) != 0


@numba.njit
def _place(name_hash, names):  # type: ignore[no-untyped-def]
    """Where a name stands in the table, or would."""
    mask = len(names) - 1
    place = name_hash & mask
    while names[place, 0] != name_hash and names[place, 1] != FREE:
        place = (place + 1) & mask
    return place


@kernel(types.void(_OBJECT, _OBJECT, NAMES, ITEM), nogil=False)
def enter(row, index, names, item):  # type: ignore[no-untyped-def]
    """Give the names of an example, or of the index itself, their places in the table."""
    item[CURSOR] = 0
    while _next(row, item):
        name_hash = _word(item[KEY] + np.uint64(HASH))
        place = _place(name_hash, names)
        if names[place, 1] == FREE:
            names[place, 0] = name_hash
            names[place, 1] = _as_long(_get_item(index, item[KEY]))


@kernel(COUNT(_OBJECT, types.boolean, NAMES, ITEM, types.uint32[::1], types.float64[::1]), nogil=False)
def gather(row, known_only, names, item, indices, values):  # type: ignore[no-untyped-def]
    """How many items were gathered; -1 at a name that is no text, or new (passed over where `known_only`), or
    a value that is not a finite number.
    """
    n = 0
    item[CURSOR] = 0
    while _next(row, item):
        if np.uint64(_word(item[KEY] + np.uint64(TYPE))) != item[TEXT]:
            return -1
        column = names[_place(_word(item[KEY] + np.uint64(HASH)), names), 1]
        if column == FREE:
            if known_only:
                continue
            return -1
        if np.uint64(_word(item[VALUE] + np.uint64(TYPE))) == item[FLOAT]:
            value = _double(item[VALUE] + np.uint64(NUMBER))
        else:
            value = _as_double(item[VALUE])
            if value == -1.0 and _error() != 0:
                _clear_error()
                return -1
        if not np.isfinite(value):
            return -1
        indices[n] = column
        values[n] = value
        n += 1
    return n


_gather = numba.njit(gather.function, error_model="numpy")
_learn = numba.njit(learn_sparse_column.function, error_model="numpy")


@kernel(COUNT(_OBJECT, NAMES, ITEM, *SPARSE.args), nogil=False)
def learn_dict(  # type: ignore[no-untyped-def]
    row, names, item, values, indices, starts, trusted,
    y, margins, importance, C, bias, table, memory, report, decide, loss, step, scores, moved,
    ask, asking, asked,
):  # fmt: skip
    """`gather`, and on with `learn_sparse_column`: a call saved is a fifth of the time."""
    n = _gather(row, False, names, item, indices, values)
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
    one. Names join the index through it.
    """

    def __init__(self, index: dict[str, int]) -> None:
        self.index = index
        self._compiled = not numba.config.DISABLE_JIT and _as_expected()
        self._item = np.array([0, 0, 0, id(str), id(float)], np.uintp)
        self._starts = np.zeros(2, np.uint64)
        self._make_room(64)
        self._make_table()

    def _make_room(self, n_values: int) -> None:
        self._row = Sparse(np.empty(n_values), np.empty(n_values, np.uint32), self._starts, trusted=True)

    def _make_table(self) -> None:
        """Room for four times the names, all in their places."""
        size = 1 << (4 * len(self.index) + 63).bit_length()
        self._names = np.full((size, 2), FREE, np.int64)
        self._enter(self.index)

    def _enter(self, example: dict[str, Any]) -> None:
        if self._compiled:
            enter.run(id(example), id(self.index), self._names, self._item)

    def add(self, example: Mapping[str, Any]) -> None:
        """Give every name of an example a column."""
        n_names = len(self.index)
        names = [str(name) for name in example]
        for name in names:
            if name not in self.index:
                self.index[name] = len(self.index)
        if 2 * len(self.index) > len(self._names):
            self._make_table()
        elif len(self.index) > n_names:
            self._enter(dict.fromkeys(names))

    def _room_for(self, example: dict[Any, Any]) -> Sparse:
        if len(example) > len(self._row.values):
            self._make_room(2 * len(example))
        return self._row

    def __call__(self, example: dict[Any, Any], known_only: bool = False) -> Sparse | None:
        """The row, or None where a name is new (passed over where `known_only`) or a value is not a finite
        number.
        """
        row = self._room_for(example)
        if self._compiled:
            n = gather.run(id(example), known_only, self._names, self._item, row.indices, row.values)
        else:
            n = _gather_in_python(example, known_only, self.index, row)
        if n < 0:
            return None
        self._starts[1] = n
        return row

    def can_learn(self, state: Any) -> bool:
        """Whether `learn` can: whether a column of weights is all there is."""
        return self._compiled and state.in_one_column

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
        row = self._room_for(example)
        done = learn_dict.run(
            id(example), self._names, self._item, row.values, row.indices, self._starts, True,
            y, margins, importance, plan.C, plan.bias, state.used, state.memory,
            plan.report, plan.decide, plan.loss, plan.step, scores, moved,
            plan.ask, plan.asking, asked,
        )  # fmt: skip
        if done != 1:
            return False
        state.n_rounds += 1
        state.n_moves += 1 in moved.tobytes()
        return True


def _gather_in_python(example: dict[Any, Any], known_only: bool, index: dict[str, int], row: Sparse) -> int:
    n = 0
    for name, value in example.items():
        if type(name) is not str or (name not in index and not known_only):
            return -1
        if name not in index:
            continue
        if not isinstance(value, float | int | np.number) or not np.isfinite(value):
            return -1
        row.indices[n], row.values[n] = index[name], value
        n += 1
    return n
