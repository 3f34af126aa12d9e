"""Rows are asked of memory before their turn comes, so that it works while a row is scored and learned.

What a processor fetches ahead by itself stops at every row that moves the model. Asking for what lies beyond
the end of an array does no harm.
"""

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

AHEAD = 640  # numbers of a stream: 80 lines of the cache
LINE = 8  # numbers in a line


@intrinsic
def _fetch(typing_context: Any, address: Any) -> Any:
    """Ask for the line of an address, to be read, for every level of the cache."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        name = "llvm.prefetch.p0i8"
        function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        how = [ir.Constant(number, value) for value in (0, 3, 1)]
        builder.call(function, [builder.inttoptr(values[0], byte), *how])
        return context.get_dummy_value()

    return types.void(types.uintp), generate


@numba.njit
def _fetch_row(X, i):  # type: ignore[no-untyped-def]
    width = X.shape[1]
    address = np.uint64(X.ctypes.data) + np.uint64(8 * i * width)
    for j in range(0, width, LINE):
        _fetch(address + np.uint64(8 * j))


@numba.njit
def _fetch_sparse(values, indices, start, end):  # type: ignore[no-untyped-def]
    of_values = np.uint64(values.ctypes.data) + np.uint64(8 * AHEAD)
    of_indices = np.uint64(indices.ctypes.data) + np.uint64(4 * AHEAD)
    for p in range(start, end, 2 * LINE):
        _fetch(of_values + np.uint64(8) * np.uint64(p))
        _fetch(of_values + np.uint64(8) * np.uint64(p + LINE))
        _fetch(of_indices + np.uint64(4) * np.uint64(p))


def _nothing(*row: Any) -> None:
    """Without the compiler there is nothing to hide."""


fetch_row = _nothing if numba.config.DISABLE_JIT else _fetch_row
fetch_sparse = _nothing if numba.config.DISABLE_JIT else _fetch_sparse
