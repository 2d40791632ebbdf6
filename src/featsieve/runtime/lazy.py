"""Names that are imported when they are first used (PEP 562)."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any


def lazy_exports(
    package: str, exports: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` for a package that exports ``{name: module}``.

    An export may have the name of a subpackage (``measures.hsic`` is a function, and the folder
    that holds it): the export wins.
    """

    class Package(ModuleType):
        def __setattr__(self, name: str, value: Any) -> None:
            # Importing a submodule sets it as an attribute of its package.
            if not (name in exports and isinstance(value, ModuleType)):
                super().__setattr__(name, value)

    sys.modules[package].__class__ = Package

    def get(name: str) -> Any:
        if name not in exports:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(exports[name]), name)

    def names() -> list[str]:
        return sorted(exports)

    return get, names
