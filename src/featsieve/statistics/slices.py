"""Blocks that are summarised a few rows at a time, because what is made of a row is long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from featsieve.schema import Block

NUMBERS_AT_ONCE = 1 << 21


def summed_in_slices(
    fn: Callable[[Block], Any], numbers_per_row: int, look: Callable[[], None] | None, block: Block
) -> Any:
    """The merged summaries of slices of a block, in row order.

    ``look`` at the clock, where there is one in this process, is taken before each slice.
    """
    n_rows = max(1, NUMBERS_AT_ONCE // numbers_per_row)
    if block.n_rows <= n_rows:
        return fn(block)
    total = None
    for first in range(0, block.n_rows, n_rows):
        if look is not None:
            look()
        part = fn(block.part(first, first + n_rows))
        total = part if total is None else total.merge(part)
    return total
