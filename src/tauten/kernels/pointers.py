"""How a rule reaches a loop: as the address of a small compiled function with one fixed signature.

A loop is compiled once and calls whatever rule it is handed, so a new learner compiles in milliseconds, the
compiled loops come from numba's cache, and an edited rule is never served stale. An address, and not numba's
own function objects, because unboxing one of those costs 2 microseconds a call.

With NUMBA_DISABLE_JIT=1 nothing is compiled: a rule's handle is then the Python function itself.
"""

import threading
from collections.abc import Callable
from functools import cached_property, update_wrapper
from inspect import Parameter, Signature
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

REAL = types.float64
REALS = types.CPointer(types.float64)
FLAGS = types.CPointer(types.uint8)
HANDLE = types.uintp
COUNT = types.int64

_COMPILING = threading.RLock()


class Rule:
    """A function that loops call by its handle; it stays an ordinary Python function for everyone else."""

    def __init__(self, function: Callable[..., float], signature: Any) -> None:
        self.function, self.signature = function, signature
        update_wrapper(self, function)

    def __call__(self, *args: float) -> float:
        return self.function(*args)

    def __reduce__(self) -> str:
        return str(self.function.__qualname__)  # pickled by name, as functions are

    @cached_property
    def _compiled(self) -> Any:
        try:
            return numba.cfunc(self.signature, cache=True, error_model="numpy")(self.function)
        except RuntimeError:  # a rule that was typed in, and is in no file whose cache there could be
            return numba.cfunc(self.signature, error_model="numpy")(self.function)

    @cached_property
    def handle(self) -> Any:
        """What a loop is given to call this rule: an address, or the function where the JIT is off."""
        return self.function if numba.config.DISABLE_JIT else self._compiled.address


def rule(function: Callable[..., float]) -> Rule:
    """Make a rule of a function of floats that returns a float."""
    n_arguments = function.__code__.co_argcount
    return Rule(function, REAL(*[REAL] * n_arguments))


class Kernel:
    """A loop over rows, compiled for its one signature when `run` is first asked for."""

    def __init__(
        self, function: Callable[..., Any], signature: Any, slp: bool = False, **options: Any
    ) -> None:
        self.function, self.signature, self.slp, self.options = function, signature, slp, options
        self.__doc__ = function.__doc__

    @cached_property
    def _compiled(self) -> Any:
        with _COMPILING:  # a file is read in another thread, and the setting is for all of numba
            usual, numba.config.SLP_VECTORIZE = numba.config.SLP_VECTORIZE, self.slp
            try:
                return numba.njit(self.signature, cache=True, error_model="numpy", **self.options)(
                    self.function
                )
            finally:
                numba.config.SLP_VECTORIZE = usual

    @cached_property
    def run(self) -> Callable[..., Any]:
        """The compiled entry point: it trusts its arguments' types, which saves numba's look-up a call."""
        if numba.config.DISABLE_JIT:
            return np.errstate(all="ignore")(self.function)  # as compiled code divides: by zero to infinity
        return self._compiled.get_overload(self.signature.args)  # type: ignore[no-any-return]


def kernel(
    signature: Any, fastmath: Any = False, nogil: bool = True, slp: bool = False
) -> Callable[[Callable[..., Any]], Kernel]:
    """Make a lazily compiled kernel of a function; `slp`: where it is written out in eights for SIMD."""
    return lambda function: Kernel(function, signature, slp, fastmath=fastmath, nogil=nogil)


@intrinsic
def _invoke(typing_context, handle, arguments):  # type: ignore[no-untyped-def]
    """Call the C function at an address; arrays travel flat, as pointers to their first element."""

    def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
        address, packed = values
        operands = []
        for position, kind in enumerate(arguments.types):
            operand = builder.extract_value(packed, position)
            if isinstance(kind, types.Array):
                operand = context.make_array(kind)(context, builder, operand).data
            operands.append(operand)
        function = ir.FunctionType(ir.DoubleType(), [operand.type for operand in operands])
        return builder.call(builder.inttoptr(address, function.as_pointer()), operands)

    return REAL(HANDLE, arguments), generate


def pointed(function: Callable[..., int], n_arguments: int) -> Any:
    """Make a function of pointers one that loops call with `n_arguments`, arrays among them: of a vector it
    gets the pointer, of a matrix the pointer and the width.

    It becomes part of the loop. A function of arrays would count references to them, which takes ten times as
    long as what a small one does.
    """

    def python(*arguments: Any) -> int:
        flat: list[Any] = []
        for item in arguments:
            is_array = isinstance(item, np.ndarray)
            flat += [item.reshape(-1), *item.shape[1:]] if is_array else [item]
        return function(*flat)

    def compiled(typing_context, *arguments):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
            kinds, operands = [], []
            for kind, value in zip(arguments, values, strict=True):
                if isinstance(kind, types.Array):
                    array = context.make_array(kind)(context, builder, value)
                    widths = cgutils.unpack_tuple(builder, array.shape)[1:]
                    kinds += [types.CPointer(kind.dtype), *[COUNT] * len(widths)]
                    operands += [array.data, *widths]
                else:
                    kinds.append(kind)
                    operands.append(value)
            return context.compile_internal(builder, function, COUNT(*kinds), operands)

        return COUNT(*arguments), generate

    if numba.config.DISABLE_JIT:
        return python
    names = ["typing_context", *(f"argument{k}" for k in range(n_arguments))]
    compiled.__signature__ = Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names])  # type: ignore[attr-defined]
    return intrinsic(compiled)


def _invoke_python(handle: Callable[..., float], arguments: tuple[Any, ...]) -> float:
    return handle(*(item.reshape(-1) if isinstance(item, np.ndarray) else item for item in arguments))


invoke = _invoke_python if numba.config.DISABLE_JIT else _invoke
