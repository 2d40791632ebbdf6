"""Warnings that point at the user's line, however deep inside they arise."""

from __future__ import annotations

import sys
import warnings

_INSIDE = {"featsieve", "sklearn", "joblib"}  # a pipeline calls fit through the other two


def warn_user(message: str) -> None:
    """A ``UserWarning`` at the innermost line that is not ours."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_inside(str(frame.f_globals.get("__name__"))):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)


def _is_inside(module: str) -> bool:
    return module.partition(".")[0] in _INSIDE
