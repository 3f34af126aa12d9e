"""Constructor parameters: each states its default and what is allowed, and is checked where it stands.

As scikit-learn asks, a constructor only stores; `check` runs when the learner first learns after a change.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Allowed:
    """A test of a value, and the words for what passes it."""

    test: Callable[[Any], bool]
    words: str


def parameter(default: Any, test: Callable[[Any], bool], words: str) -> Any:
    """A dataclass field that knows what it allows."""
    return field(default=default, metadata={"allowed": Allowed(test, words)})


def is_number(value: Any) -> bool:
    """A finite real number that is not a bool."""
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        return False
    try:
        return bool(np.isfinite(float(value)))
    except OverflowError:  # a whole number beyond all floats
        return False


def is_count(value: Any) -> bool:
    """A whole number that is not a bool."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_seed(value: Any) -> bool:
    """What numpy's older generators take."""
    return isinstance(value, np.random.RandomState) or (is_count(value) and 0 <= value < 2**32)


def number(default: float) -> Any:
    return parameter(default, is_number, "a finite number")


def above(bound: float, default: float, most: float = np.inf) -> Any:
    words = f"a finite number above {bound:g}" + (f" and up to {most:g}" if most < np.inf else "")
    return parameter(default, lambda value: is_number(value) and bound < value <= most, words)


def at_least(bound: float, default: float) -> Any:
    return parameter(default, lambda v: is_number(v) and v >= bound, f"a finite number, {bound:g} or above")


def share(default: float) -> Any:
    return parameter(default, lambda v: is_number(v) and 0 <= v <= 1, "a number from 0 to 1")


def count(least: int, default: int) -> Any:
    return parameter(
        default, lambda value: is_count(value) and value >= least, f"a whole number, {least} or above"
    )


def one_of(*choices: str, default: str) -> Any:
    words = " or ".join(repr(choice) for choice in choices)
    return parameter(default, lambda value: isinstance(value, str) and value in choices, words)


def switch(default: bool) -> Any:
    return parameter(default, lambda value: isinstance(value, bool | np.bool_), "True or False")


def optional(words: str, test: Callable[[Any], bool]) -> Any:
    """A parameter whose default None means that it is not used."""
    return parameter(None, lambda value: value is None or test(value), f"None or {words}")


def is_weight_map(value: Any) -> bool:
    """A dict from labels to numbers that are not negative."""
    return isinstance(value, Mapping) and all(is_number(weight) and weight >= 0 for weight in value.values())


def is_list(value: Any) -> bool:
    """A sequence of labels or numbers that is not text."""
    if isinstance(value, str | bytes | Mapping):
        return False
    try:
        return np.ndim(value) == 1
    except ValueError:  # lists of unlike lengths
        return False


def check(owner: Any) -> None:
    """Raise a ValueError for the first parameter whose value is not allowed; without a test all are."""
    for parameter in fields(owner):
        allowed: Allowed | None = parameter.metadata.get("allowed")
        value = getattr(owner, parameter.name)
        if allowed is not None and not allowed.test(value):
            name = type(owner).__name__
            raise ValueError(f"{name}: {parameter.name} is {value!r}, expected {allowed.words}.")
