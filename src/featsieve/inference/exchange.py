"""Which rows may change places: random permutations, also inside groups and of blocks of rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import lgamma
from typing import Any

import numpy as np

from featsieve.arrays import IntArray
from featsieve.compiled.permutation import shuffle_rows
from featsieve.errors import InputError
from featsieve.input.parameters import check_array, check_integer
from featsieve.input.tables import is_missing

ORDERS_PER_SEED = 16  # permutations drawn from one generator: few enough to start anywhere


@dataclass(frozen=True)
class Exchange:
    """Permutations of rows that keep together what depends on each other.

    ``group_of_row`` (None: one group): only rows of the same group change places.
    ``block_size``: that many consecutive rows of a group move as one.
    """

    n_rows: int
    group_of_row: IntArray | None = None
    block_size: int = 1

    def orders(self, seed: int, start: int, stop: int) -> IntArray:
        """Permutations number ``start … stop``, one per row of the answer."""
        first, last = start // ORDERS_PER_SEED, -(-stop // ORDERS_PER_SEED)
        drawn = [self._draw(seed, number) for number in range(first, last)]
        offset = first * ORDERS_PER_SEED
        return np.concatenate(drawn)[start - offset : stop - offset]

    def _draw(self, seed: int, number: int) -> IntArray:
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
        orders = np.empty((ORDERS_PER_SEED, self.n_rows), dtype=np.intp)
        if self.group_of_row is None and self.block_size == 1:
            shuffle_rows(rng.random(orders.shape), orders)
            return orders
        rows, n_blocks = np.arange(self.n_rows), int(self._blocks.max()) + 1
        for order in orders:  # the places of a group are filled by its blocks in random order
            draw = rng.random(n_blocks)[self._blocks]
            order[self._places] = np.lexsort((rows, draw, self._groups))
        return orders

    @cached_property
    def _groups(self) -> IntArray:
        if self.group_of_row is None:
            return np.zeros(self.n_rows, dtype=np.intp)
        return self.group_of_row

    @cached_property
    def _places(self) -> IntArray:
        return np.argsort(self._groups, kind="stable")

    @cached_property
    def _blocks(self) -> IntArray:
        """The number of each row's block; blocks never cross groups."""
        sizes = np.bincount(self._groups)
        starts = np.cumsum(sizes) - sizes
        n_blocks = -(-sizes // self.block_size)
        rank = np.empty(self.n_rows, dtype=np.intp)
        rank[self._places] = np.arange(self.n_rows) - np.repeat(starts, sizes)
        first_block = np.cumsum(n_blocks) - n_blocks
        return np.asarray(first_block[self._groups] + rank // self.block_size, dtype=np.intp)

    @property
    def moves_rows(self) -> bool:
        """Some group has at least two blocks."""
        return int(self._blocks.max()) > int(self._groups.max())


def rarest_pvalue(n_rows: int) -> float:
    """No approximation is below: no permutation is rarer than 1/n!, and 0 is not a p-value.

    >>> round(rarest_pvalue(4), 6), rarest_pvalue(1000) > 0
    (0.041667, True)
    """
    return float(max(np.exp(-lgamma(n_rows + 1)), np.finfo(np.float64).tiny))


def exchange(n_rows: int, groups: Any = None, block_size: Any = None) -> Exchange:
    """What ``groups`` and ``block_size`` allow, or one sentence about what is wrong with them.

    >>> exchange(6, groups=["a", "a", "b", "b", "b", "a"]).orders(0, 0, 1)[0].tolist()
    [1, 5, 2, 3, 4, 0]
    """
    size = 1 if block_size is None else check_integer("block_size", block_size, 1, also="None")
    allowed = Exchange(n_rows, group_codes(groups, n_rows), size)
    if not allowed.moves_rows:
        raise InputError(
            "groups and block_size leave no row that could change its place; give larger groups or "
            "a smaller block_size."
        )
    return allowed


def group_codes(groups: Any, n_rows: int) -> IntArray | None:
    if groups is None:
        return None
    values = check_array("groups", groups, "one group per row")
    if values.shape != (n_rows,):
        raise InputError(
            f"groups has shape {values.shape}, expected {(n_rows,)}; give one group per row."
        )
    if any(map(is_missing, values.tolist())):
        raise InputError("groups has missing values; give every row a group.")
    labels = values
    if values.dtype.kind == "O":  # 1 and "1" are different groups
        labels = np.array([f"{type(value).__name__} {value}" for value in values.tolist()])
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.intp)
