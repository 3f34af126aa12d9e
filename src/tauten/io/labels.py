"""Labels out of files: numbers stay numbers, whole ones whole, text stays text."""

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tauten.io.errors import shown
from tauten.labels import LARGEST_EXACT

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.ASCII | re.IGNORECASE)


def is_number(text: str) -> bool:
    """Whether a text is a number, or would be one were it finite."""
    return NUMBER.fullmatch(text) is not None or NOT_FINITE.fullmatch(text) is not None


def finite(text: str) -> float | None:
    """The number that a text is; None where it is none, or not a finite one."""
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    return value if math.isfinite(value) else None


def exact(text: str) -> float | None:
    """A label that is a number; None where it is none, or one that no float holds."""
    value = finite(text)
    if value is None or abs(value) < LARGEST_EXACT or not text.lstrip("+-").isdigit():
        return value
    return value if int(value) == int(text) else None


def fault_of(label: str, are_text: bool) -> str | None:
    """What is wrong with a label; None where nothing is."""
    if are_text or exact(label) is not None:
        return None
    if finite(label) is not None:
        return f"label {shown(label)} is no float exactly"
    return (
        f"label {shown(label)} is not finite"
        if is_number(label)
        else (f"label {shown(label)} is no number, as the labels before are")
    )


def as_labels(values: Sequence[Any] | NDArray[Any], are_text: bool) -> NDArray[Any]:
    """Labels of one kind as an array: text, whole numbers, or other numbers."""
    if are_text:
        return np.array(values, dtype=np.str_)
    numbers = np.asarray(values, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        whole = numbers.astype(np.int64)
    return whole if (whole == numbers).all() and (np.abs(numbers) <= LARGEST_EXACT).all() else numbers
