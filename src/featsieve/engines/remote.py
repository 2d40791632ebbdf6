"""What an engine of rows on other machines can do; None comes back where there are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from featsieve.arrays import FloatArray, IntArray
from featsieve.schema import Block


@runtime_checkable
class CanKeepBlocks(Protocol):
    """What ``fn`` makes of the blocks stays on those machines, to be reduced there."""

    def keep(self, fn: Callable[[Block], Any]) -> Any: ...


@runtime_checkable
class CanShare(Protocol):
    """Each machine gets a copy of a value; ``map`` of what comes back calls functions with it."""

    def share(self, value: Any) -> Any: ...


@runtime_checkable
class CanMapTaken(Protocol):
    """The machines look at the cells of some rows, a tile of at most ``width`` columns at a time;
    each tile comes back with its result."""

    def map_taken(
        self, fn: Callable[[FloatArray], Any], rows: IntArray | None, columns: IntArray, width: int
    ) -> list[tuple[IntArray, Any]] | None: ...
