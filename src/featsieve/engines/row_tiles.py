"""Pairs of rows of two large blocks, a tile of either at a time.

A partition of Dask has as many rows as its user gave it; all pairs of two of them at once may take
far more memory than either.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.engines.base import TILE_ROWS, spans
from featsieve.engines.neighbours import Nearest, nearest_in_tile
from featsieve.protocols import S
from featsieve.schema import Block


def summary_of_pairs(fn: Callable[[Block, Block], S], first: Block, second: Block) -> S:
    """Every pair of tiles once: of a block with itself, those of one half."""
    tiles, others = _tiles(first), _tiles(second)
    is_itself = (first.start, first.n_rows) == (second.start, second.n_rows)
    pairs = [(a, b) for i, a in enumerate(tiles) for b in others[i if is_itself else 0 :]]
    return reduce(lambda total, more: total.merge(more), (fn(a, b) for a, b in pairs))


def nearest_rows(
    fn: Callable[[Block, Block], FloatArray], first: Block, second: Block, k: int
) -> Nearest:
    """The k nearest rows of ``second`` for each row of ``first``."""
    others = _tiles(second)
    by_tile = [
        reduce(Nearest.merge, (nearest_in_tile(fn, tile, other, k) for other in others))
        for tile in _tiles(first)
    ]
    return Nearest(
        np.concatenate([nearest.distances for nearest in by_tile]),
        np.concatenate([nearest.rows for nearest in by_tile]),
    )


def _tiles(block: Block) -> list[Block]:
    if block.n_rows <= TILE_ROWS:
        return [block]
    return [_part(block, *span) for span in spans(block.n_rows, TILE_ROWS)]


def _part(block: Block, start: int, stop: int) -> Block:
    weight = None if block.weight is None else block.weight[start:stop]
    return Block(block.start + start, block.X[start:stop], block.y[start:stop], weight)
