"""Reading and writing tables. Nothing heavy is imported before a function is used."""

from __future__ import annotations

from featsieve.lazy import attach

__all__ = ["read_table", "write_table"]

__getattr__, __dir__ = attach(__name__, {"read_table": "reader", "write_table": "writer"})
