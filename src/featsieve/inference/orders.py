"""Permutations as functions of (seed, index): the same for every engine, budget and thread."""

from __future__ import annotations

import numpy as np

from featsieve.kernels.permutation import shuffle_rows
from featsieve.schema import IntArray

ORDERS_A_SEED = 16  # permutations drawn from one generator: few enough to start anywhere


def permutations(seed: int, start: int, stop: int, n_rows: int) -> IntArray:
    """Permutations number ``start … stop`` of the rows, one a row of the answer."""
    first = start // ORDERS_A_SEED
    last = -(-stop // ORDERS_A_SEED)
    drawn = [_draw(seed, block, n_rows) for block in range(first, last)]
    offset = first * ORDERS_A_SEED
    return np.concatenate(drawn)[start - offset : stop - offset]


def _draw(seed: int, block: int, n_rows: int) -> IntArray:
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(block,)))
    orders = np.empty((ORDERS_A_SEED, n_rows), dtype=np.intp)
    shuffle_rows(rng.random(orders.shape), orders)
    return orders
