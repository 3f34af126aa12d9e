"""How like a row is to each support vector: products first, then a kernel of them.

Support vectors are columns of a table with a row a feature, so a row of any form goes through the table
feature by feature, and SIMD along the support vectors: O(non-zeros · B). A product is summed in the order of
the row's columns, whether zeros stand between them or not: dense and sparse rows get the same bits, and a row
is at distance 0 exactly from itself.
"""

import math
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from tauten.kernels.pointers import COUNT, REAL, REALS, Rule

# numbers: the budget (infinity for none), the kernel's parameters, whether rows have the constant feature 1,
# then what the learner has of its own: how much its support vectors fade in a round, and a number
BUDGET, GAMMA, DEGREE, COEF0, BIAS, FADE, OWN = range(7)

KERNEL = REAL(COUNT, REAL, REALS, REALS, REALS)  # n, ‖x‖², ‖xᵢ‖² of each, numbers; products, turned into k
FAINTEST = -700.0  # the logarithm of a kernel: what is below is none
INVERSE_LN2, LN2_HIGH, LN2_LOW = 1.4426950408889634, 0.6931471803691238, 1.9082149292705877e-10
ROUNDER = 6755399441055744.0  # 1.5·2⁵²: added, it leaves a whole number in the last bits
SERIES = tuple(1.0 / k for k in range(13, 0, -1))  # of the exponential series, the terms' quotients
LARGEST = 1e200  # of a kernel: the last that is told from infinity


@njit
def _bounded(value):  # type: ignore[no-untyped-def]
    return min(max(value, -LARGEST), LARGEST) if value == value else 0.0  # noqa: PLR0124  not NaN


@intrinsic
def _times_power(typing_context, value, power):  # type: ignore[no-untyped-def]
    """value·2ⁿ, n in the last bits of `power`: added to the exponent, which SIMD can do and ldexp cannot."""

    def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
        bits = [builder.bitcast(operand, ir.IntType(64)) for operand in values]
        shifted = builder.shl(bits[1], ir.Constant(ir.IntType(64), 52))
        return builder.bitcast(builder.add(bits[0], shifted), ir.DoubleType())

    return types.float64(types.float64, types.float64), generate


def _times_power_python(value: float, power: float) -> float:
    return math.ldexp(value, int(power - ROUNDER))


times_power: Any = _times_power_python if numba.config.DISABLE_JIT else _times_power


@njit
def exponential(t):  # type: ignore[no-untyped-def]
    """exp(t) for t ≤ 0 to the last bit or two, 1 at 0, 0 below FAINTEST; a loop of it runs as SIMD."""
    clipped = max(t, FAINTEST)
    power = clipped * INVERSE_LN2 + ROUNDER
    n = power - ROUNDER
    r = (clipped - n * LN2_HIGH) - n * LN2_LOW
    series = 1.0
    for k in SERIES:
        series = 1.0 + r * series * k
    return times_power(series, power) if t > FAINTEST else 0.0


def rbf(n, sqnorm, sqnorms, numbers, near):  # type: ignore[no-untyped-def]
    """exp(−γ‖x − x'‖²): the constant feature makes no difference to it."""
    gamma = numbers[GAMMA]
    if not np.isfinite(sqnorm):
        for i in range(n):
            near[i] = 0.0
        return 0.0
    for i in range(n):
        apart = sqnorm + sqnorms[i] - 2.0 * near[i]
        near[i] = exponential(-gamma * max(apart, 0.0))
    return 0.0


def linear(n, sqnorm, sqnorms, numbers, near):  # type: ignore[no-untyped-def]
    """⟨x, x'⟩ with the constant feature."""
    for i in range(n):
        near[i] = _bounded(near[i] + numbers[BIAS])
    return 0.0


def poly(n, sqnorm, sqnorms, numbers, near):  # type: ignore[no-untyped-def]
    """(γ⟨x, x'⟩ + coef0)^degree with the constant feature."""
    for i in range(n):
        base = numbers[GAMMA] * (near[i] + numbers[BIAS]) + numbers[COEF0]
        near[i] = _bounded(base ** int(numbers[DEGREE]))
    return 0.0


KERNELS = {function.__name__: Rule(function, KERNEL) for function in (rbf, linear, poly)}


@njit
def row_products(values, indices, start, end, skip, vectors, n, near):  # type: ignore[no-untyped-def]
    """⟨xᵢ, x⟩ for the first n support vectors; returns ‖x‖². Both are without the constant feature; the
    columns of the row stand at `skip` places before its values.
    """
    sqnorm = 0.0
    for i in range(n):
        near[i] = 0.0
    fours = end - (end - start) % np.uint64(4)
    for p in range(start, fours, np.uint64(4)):
        q = p - skip
        a, b = values[p], values[p + np.uint64(1)]
        c, d = values[p + np.uint64(2)], values[p + np.uint64(3)]
        u, v = vectors[indices[q]], vectors[indices[q + np.uint64(1)]]
        w, z = vectors[indices[q + np.uint64(2)]], vectors[indices[q + np.uint64(3)]]
        for i in range(n):
            near[i] = (((near[i] + a * u[i]) + b * v[i]) + c * w[i]) + d * z[i]
        sqnorm = (((sqnorm + a * a) + b * b) + c * c) + d * d
    for p in range(fours, end):
        a = values[p]
        u = vectors[indices[p - skip]]
        for i in range(n):
            near[i] += a * u[i]
        sqnorm += a * a
    return sqnorm


@njit
def column_products(slot, vectors, features, lengths, capacity, width, n, near):  # type: ignore[no-untyped-def]
    """⟨xᵢ, x⟩ for the first n support vectors, x the one in a slot; through pointers."""
    for i in range(n):
        near[i] = 0.0
    for p in range(slot * width, slot * width + lengths[slot]):
        first = features[p] * capacity
        value = vectors[first + slot]
        for i in range(n):
            near[i] += value * vectors[first + i]
