"""Bit planes of columns with few states, ready for the counting kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from featsieve.kernels.bitplanes import plane_tile
from featsieve.schema import FloatArray, IntArray

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Planes:
    """Words × planes; ``bounds`` are the words of the classes, ``states`` those of the columns.

    ``margins`` are the rows of each class in each plane and ``last_margins`` those in the last
    state of each column, all rows in a line after the classes; ``table`` holds n log n.
    """

    words: Words = field(repr=False)
    bounds: IntArray
    states: IntArray
    margins: Words = field(repr=False)
    last_margins: Words = field(repr=False)
    table: FloatArray = field(repr=False)

    @classmethod
    def with_margins(
        cls, words: Words, bounds: IntArray, states: IntArray, cells: IntArray, table: FloatArray
    ) -> Self:
        """``cells`` are the rows of each class in each state of each column."""
        all_rows = np.vstack([cells, cells.sum(axis=0)]).astype(np.uint64)
        is_last = np.zeros(cells.shape[1], dtype=bool)
        is_last[np.cumsum(states) - 1] = True
        margins = np.ascontiguousarray(all_rows[:, ~is_last])
        return cls(
            words, bounds, states, margins, np.ascontiguousarray(all_rows[:, is_last]), table
        )

    @cached_property
    def starts(self) -> IntArray:
        return plane_starts(self.states)

    @cached_property
    def _widest(self) -> int:
        return int(self.states.max())

    def tile(self, columns: IntArray, j0: int, stops: IntArray) -> tuple[FloatArray, FloatArray]:
        """Sums over the tables of each of ``columns`` with the columns j0 … stops."""
        width = int(stops.max()) - j0
        sums = np.zeros((2, len(columns), width))
        n_planes = self.starts[j0 + width] - self.starts[j0]
        plane_tile(
            self.words,
            self.bounds,
            self.starts,
            self.margins,
            self.last_margins,
            self.table,
            columns,
            j0,
            stops,
            np.empty((len(self.margins), self._widest, n_planes), dtype=np.uint64),
            sums,
        )
        return sums[0], sums[1]

    def subset(self, columns: IntArray) -> Planes:
        """A copy of some columns' planes, which costs far less than counting with them."""
        planes = _ranges(self.starts[columns], self.states[columns] - 1)
        return Planes(
            np.ascontiguousarray(self.words[:, planes]),
            self.bounds,
            self.states[columns],
            np.ascontiguousarray(self.margins[:, planes]),
            np.ascontiguousarray(self.last_margins[:, columns]),
            self.table,
        )


def plane_starts(states: IntArray) -> IntArray:
    """Where the planes of each column start: one fewer than its states."""
    return np.concatenate(([0], np.cumsum(states - 1))).astype(np.int64)


def _ranges(starts: IntArray, sizes: IntArray) -> IntArray:
    """starts[0], starts[0] + 1, …, then those of the next range.

    >>> _ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(sizes)
    return np.arange(ends[-1]) + np.repeat(starts - ends + sizes, sizes)
