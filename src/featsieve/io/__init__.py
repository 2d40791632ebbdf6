"""Reading and writing tables. Nothing heavy is imported before a function is used."""

from __future__ import annotations

from featsieve.runtime.lazy import lazy_exports

_EXPORTS = {
    "load_table": "featsieve.io.load",
    "read_table": "featsieve.io.reader",
    "write_table": "featsieve.io.writer",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
