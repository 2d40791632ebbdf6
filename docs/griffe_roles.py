"""Docstrings as the API pages show them."""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:mod|class|func|meth|data|attr):`~?([^`]+)`")


class PlainRoles(griffe.Extension):
    """A Sphinx role becomes plain code; a default value has no docstring (not its type's)."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.is_attribute:
            obj.docstring = None
        elif obj.docstring:
            obj.docstring.value = ROLE.sub(r"`\1`", obj.docstring.value)
