"""Labels out of files: numbers stay numbers, whole ones whole, text stays text; the first one decides."""

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


def read_label(label: str, are_text: bool) -> str | float | None:
    """A label of a kind; None where it is none of it."""
    if are_text:
        return label
    value = finite(label)
    if value is None or abs(value) < LARGEST_EXACT or not label.lstrip("+-").isdigit():
        return value
    return value if int(value) == int(label) else None


def label_fault(label: str) -> str:
    """Why a text is no label beside numbers."""
    if finite(label) is not None:
        return f"label {shown(label)} has more digits than a float can hold"
    if is_number(label):
        return f"label {shown(label)} is not finite"
    return f"label {shown(label)} is no number, as the first label is"


def as_labels(values: Sequence[Any] | NDArray[Any], are_text: bool) -> NDArray[Any]:
    """Labels of one kind as an array: text, whole numbers, or other numbers."""
    if are_text:
        return np.array(values, dtype=np.str_)
    numbers = np.asarray(values, dtype=np.float64)
    exact = np.abs(numbers) <= LARGEST_EXACT
    whole = np.where(exact, numbers, 0.0).astype(np.int64)
    return whole if exact.all() and (whole == numbers).all() else numbers
