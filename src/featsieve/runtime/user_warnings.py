"""Warnings that point at the user's line, however deep inside they arise."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_said: ContextVar[set[str] | None] = ContextVar("said", default=None)
_NUMBER = re.compile(r"(?<![\w'\"])\d[\d.,]*(e[+-]?\d+)?")  # but not in a name

_INSIDE = {"featsieve", "sklearn", "joblib"}  # a pipeline calls fit through the other two


@contextmanager
def each_said_once() -> Iterator[None]:
    """Of warnings that differ in numbers only, such as those of many runs, the first alone.

    The threads of :func:`featsieve.runtime.pool.ordered_map` belong to it, too.
    """
    token = _said.set(set() if _said.get() is None else _said.get())
    try:
        yield
    finally:
        _said.reset(token)


def warn_user(message: str) -> None:
    """A ``UserWarning`` at the innermost line that is not ours."""
    said, kind = _said.get(), _NUMBER.sub("#", message)
    if said is not None:
        if kind in said:
            return
        said.add(kind)
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_inside(str(frame.f_globals.get("__name__"))):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)


def _is_inside(module: str) -> bool:
    return module.partition(".")[0] in _INSIDE
