"""Files: what is read and written, without knowing of learners."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tauten.io.errors import ReadError
    from tauten.io.source import Batch, Position, Source, open

_HOMES = {
    "Batch": "tauten.io.source",
    "Position": "tauten.io.source",
    "ReadError": "tauten.io.errors",
    "Source": "tauten.io.source",
    "open": "tauten.io.source",
}

__all__ = ["Batch", "Position", "ReadError", "Source", "open"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tauten.io' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
