"""Words about what nearly passed a test, for selectors that may keep nothing."""

from __future__ import annotations

from collections.abc import Iterable

from featsieve.arrays import IntArray
from featsieve.errors import printable
from featsieve.result import SelectionResult
from featsieve.schema import Schema

MISSES = 3


def nearest_misses(result: SelectionResult) -> IntArray:
    """The units that came closest, of those that say anything."""
    order = result.indices if result.order is None else result.order
    return order[result.scores[order] > 0][:MISSES]


def told(misses: list[str]) -> str:
    """A sentence of them."""
    return f"Nearest misses: {listed(misses)}." if misses else "No column came near."


def unit_names(schema: Schema, units: Iterable[int]) -> list[str]:
    return [printable(schema.unit_names[unit]) for unit in units]


def listed(names: list[str], most: int = 10) -> str:
    shown = ", ".join(names[:most])
    return f"{shown}, …" if len(names) > most else shown
