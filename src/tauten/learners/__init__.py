"""One file a learner, named as its paper names it: the problem, its closed form, the class.

The package has two public things of this name: this folder, and `tauten.learners()`, which lists the
registry. Python puts the folder in the place of the function as soon as a file in it is imported, so the
folder can be called too.
"""

import sys
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


class _Folder(ModuleType):
    def __call__(self) -> Mapping[str, Any]:
        return import_module("tauten.registry").learners()  # type: ignore[no-any-return]


sys.modules[__name__].__class__ = _Folder
