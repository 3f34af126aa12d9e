"""Decimal numbers out of bytes, exactly as Python's `float` reads them.

A number of up to 19 digits is w·10^q. Where w and 10^|q| are floats themselves, one product or quotient is
rounded right (Clinger, 1990). Otherwise w is multiplied with the first 128 bits of 5^q, which settles the
rounding in all but few cases (Lemire, Software: Practice and Experience 51, 2021). What is left, and every
number of more digits, is named HARD: the caller hands it to `float`.
"""

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

EASY, BAD, HARD = 0, 1, 2  # what reading a number comes to

LEAST, MOST = -342, 308  # powers of ten with a place in the table
DIGITS = 19  # as many as a uint64 holds
EXACT = 2**53  # whole numbers up to here are floats
MANTISSA = 52  # bits of a float behind the first


def _power_of_five(q: int) -> int:
    """The first 128 bits of 5^q; of a quotient one more in the last place, so that it is never too small."""
    power = 5 ** abs(q)
    if q < 0:
        bits = power.bit_length() + 127 if q >= -27 else 2 * power.bit_length() + 128
        power = (1 << bits) // power + 1
    shift = power.bit_length() - 128
    return power >> shift if shift > 0 else power << -shift


def _powers() -> NDArray[np.uint64]:
    """Upper and lower 64 bits of each power in the table."""
    powers = [_power_of_five(q) for q in range(LEAST, MOST + 1)]
    return np.array([[power >> 64, power & (2**64 - 1)] for power in powers], dtype=np.uint64)


FIVES = _powers()
TENS = np.array([10.0**q for q in range(23)])  # those that are floats


@intrinsic
def _upper_compiled(typing_context, a, b):  # type: ignore[no-untyped-def]
    """The upper half of the product of two 64-bit numbers."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        wide = ir.IntType(128)
        a, b = (builder.zext(argument, wide) for argument in arguments)
        return builder.trunc(builder.lshr(builder.mul(a, b), ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate


@intrinsic
def _float_compiled(typing_context, bits):  # type: ignore[no-untyped-def]
    """The float that has these bits."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.uint64), generate


def _upper_python(a: Any, b: Any) -> np.uint64:
    return np.uint64(int(a) * int(b) >> 64)


def _float_python(bits: Any) -> float:
    return float(np.uint64(bits).view(np.float64))


_upper, _float = (
    (_upper_python, _float_python) if numba.config.DISABLE_JIT else (_upper_compiled, _float_compiled)
)


@njit
def leading_zeros(w):  # type: ignore[no-untyped-def]
    """How many of the 64 bits of a number above 0 come before its first 1."""
    n = np.uint64(0)
    for step in (32, 16, 8, 4, 2, 1):
        if w >> np.uint64(64 - step) == np.uint64(0):
            n += np.uint64(step)
            w <<= np.uint64(step)
    return n


@njit
def scaled(w, q):  # type: ignore[no-untyped-def]
    """The float next to w·10^q for w above 0, and EASY; or HARD."""
    if q < LEAST or q > MOST:
        return 0.0, HARD
    zeros = leading_zeros(w)
    w <<= zeros
    upper = _upper(w, FIVES[q - LEAST, 0])
    lower = w * FIVES[q - LEAST, 0]
    mask = np.uint64(2**64 - 1) >> np.uint64(MANTISSA + 3)
    if upper & mask == mask:  # the lower half of the power may bear on the rounding
        more = _upper(w, FIVES[q - LEAST, 1])
        lower += more
        if lower < more:
            upper += np.uint64(1)
    if lower == np.uint64(2**64 - 1) and not -27 <= q <= 55:
        return 0.0, HARD
    top = upper >> np.uint64(63)
    shift = top + np.uint64(64 - MANTISSA - 3)
    mantissa = upper >> shift
    power = ((217706 * q) >> 16) + 63 + 1023 + np.int64(top) - np.int64(zeros)
    if power <= 0 or power >= 2046:  # subnormal, or beyond all floats
        return 0.0, HARD
    if (
        lower <= np.uint64(1)
        and -4 <= q <= 23
        and mantissa & np.uint64(3) == np.uint64(1)
        and mantissa << shift == upper
    ):
        mantissa &= ~np.uint64(1)  # half way between two floats: the even one
    mantissa += mantissa & np.uint64(1)
    mantissa >>= np.uint64(1)
    if mantissa >= np.uint64(2 << MANTISSA):
        mantissa = np.uint64(1 << MANTISSA)
        power += 1
    mantissa &= ~np.uint64(1 << MANTISSA)
    return _float(mantissa | np.uint64(power) << np.uint64(MANTISSA)), EASY


@njit
def digit(data, p):  # type: ignore[no-untyped-def]
    """The digit at p, or, where there is none, a number above 9; a place without sign saves numba a look."""
    return np.uint64(data[np.uint64(p)]) - np.uint64(48)


@njit
def more_digits(data, p, w):  # type: ignore[no-untyped-def]
    """The whole number that w becomes by the digits from p on, and where they end."""
    c = digit(data, p)
    while c < np.uint64(10):
        w = w * np.uint64(10) + c
        p += 1
        c = digit(data, p)
    return w, p


@njit
def number(data, p):  # type: ignore[no-untyped-def]
    """The number that begins at p, where it ends, and EASY, BAD or HARD; bytes end with one that is none of
    a number's.
    """
    negative = data[p] == ord("-")
    if negative or data[p] == ord("+"):
        p += 1
    first = p
    w, p = more_digits(data, p, np.uint64(0))
    digits = p - first
    q = 0
    if data[p] == ord("."):
        point = p + 1
        w, p = more_digits(data, point, w)
        q = point - p
        digits -= q
    if digits == 0:
        return 0.0, p, BAD
    if data[p] | 32 == ord("e"):
        p += 1
        downward = data[p] == ord("-")
        if downward or data[p] == ord("+"):
            p += 1
        start = p
        e = 0
        c = digit(data, p)
        while c < np.uint64(10):
            e = e * 10 + np.int64(c) if e < 99999 else e
            p += 1
            c = digit(data, p)
        if p == start:
            return 0.0, p, BAD
        q += -e if downward else e
    if digits > DIGITS:  # leading zeros count as well; `float` sees to both
        return 0.0, p, HARD
    if w == np.uint64(0):
        value, verdict = 0.0, EASY
    elif w <= np.uint64(EXACT) and -22 <= q <= 22:
        value = float(w) / TENS[-q] if q < 0 else float(w) * TENS[q]
        verdict = EASY
    else:
        value, verdict = scaled(w, q)
    return (-value if negative else value), p, verdict
