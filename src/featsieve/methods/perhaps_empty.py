"""Words about what nearly passed a test, for selectors that may keep nothing."""

from __future__ import annotations

from collections.abc import Iterable

from featsieve.arrays import IntArray
from featsieve.errors import printable
from featsieve.result import SelectionResult
from featsieve.schema import Schema

MISSES = 3


def nearest_misses(result: SelectionResult) -> IntArray:
    """The units that came closest."""
    order = result.indices if result.order is None else result.order
    return order[:MISSES]


def unit_names(schema: Schema, units: Iterable[int]) -> list[str]:
    return [printable(schema.unit_names[unit]) for unit in units]


def listed(names: list[str], most: int = 10) -> str:
    shown = ", ".join(names[:most])
    return f"{shown}, …" if len(names) > most else shown
