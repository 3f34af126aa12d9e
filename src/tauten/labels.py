"""Labels: numbers or text, read from whatever holds them and put together without one becoming another."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

LARGEST_EXACT = 2.0**53  # whole numbers above it are not all floats


def read_labels(given: Any, name: str = "y") -> NDArray[Any]:
    """The labels of a column or list, checked; `name` is what it is called."""
    labels = np.asarray(given)
    if labels.ndim != 1 or labels.dtype.kind not in "biufU":
        labels = column_or_1d(labels, warn=True)
    items = given if isinstance(given, list | tuple) else labels if labels.dtype.kind == "O" else ()
    if len({isinstance(label, str) for label in items}) > 1:
        raise ValueError(f"Labels of {name} mix text and other values; expected labels of one kind.")
    if labels.dtype.kind not in "biuU":  # others may hold what is no label
        _check_values(labels, items, name)
    return labels if labels.dtype.kind in "bOU" else _plain(labels)


def _check_values(labels: NDArray[Any], items: Any, name: str) -> None:
    is_text = labels.dtype.kind == "O" and all(isinstance(label, str) for label in labels)
    if labels.dtype.kind != "f" and not is_text:
        raise ValueError(
            f"Unknown label type {labels.dtype} of {name}, {labels[:3].tolist()}; expected numbers or text."
        )
    assert_all_finite(labels, input_name=name)
    if labels.dtype.kind == "f" and len(items) and np.abs(labels).max() >= LARGEST_EXACT:
        for label, kept in zip(items, labels.tolist(), strict=True):
            _check_same(label, kept, label == kept)
    check_classification_targets(labels)


def _plain(labels: NDArray[Any]) -> NDArray[Any]:
    """Numbers in a type that a model file can hold: of this machine's byte order, no half floats."""
    least = (np.float32,) if labels.dtype.kind == "f" else ()
    return labels.astype(np.result_type(labels.dtype, *least), copy=False)


def _check_same(label: Any, kept: Any, same: bool) -> None:
    if not same:
        raise ValueError(
            f"Label {label!r} becomes {kept!r} beside labels of another type of number; "
            "expected labels of one type."
        )


def put_together(known: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
    """Labels one after the other in one array; raises a ValueError where one would become another."""
    if is_text(known) != is_text(labels):
        raise ValueError(f"Labels {labels[:3].tolist()} are of another kind than {known[:3].tolist()}.")
    check_types(known, labels)
    return np.concatenate([known, labels])


def check_types(*parts: NDArray[Any]) -> None:
    """Raise a ValueError where a whole number would be rounded beside labels of another type."""
    joint = np.result_type(*parts)
    if joint.kind != "f":
        return
    for labels in parts:
        if labels.dtype.kind in "iu":
            floats = labels.astype(joint)
            with np.errstate(invalid="ignore"):  # 2**63 is a float that no int64 holds
                changed = np.flatnonzero(floats.astype(labels.dtype) != labels)
            for row in changed[:1].tolist():
                _check_same(labels[row].item(), floats[row].item(), same=False)


def distinct(labels: NDArray[Any]) -> NDArray[Any]:
    """What np.unique gives, at the cost of two comparisons a row where only two labels occur."""
    first = np.unique(labels[:100])
    if len(first) > 2:
        return np.unique(labels)
    rest = labels[100:]
    for label in first:
        rest = rest[rest != label]
    return np.unique(np.concatenate([first, rest]))


def is_text(labels: NDArray[Any]) -> bool:
    """Whether labels are text."""
    return labels.dtype.kind == "U" or (
        labels.dtype.kind == "O" and len(labels) > 0 and isinstance(labels[0], str)
    )
