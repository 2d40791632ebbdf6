"""Bit planes of columns with few states, ready for the counting kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from featsieve.kernels.bitplanes import plane_tile
from featsieve.schema import FloatArray, IntArray

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Planes:
    """Words × planes; ``bounds`` are the words of the classes, ``states`` those of the columns.

    ``margins`` are the counts of all states of all columns within each class, ``table`` holds
    n log n.
    """

    words: Words = field(repr=False)
    bounds: IntArray
    states: IntArray
    margins: IntArray = field(repr=False)
    table: FloatArray = field(repr=False)

    @cached_property
    def starts(self) -> IntArray:
        return plane_starts(self.states)

    def tile(self, columns: IntArray, j0: int, stops: IntArray) -> tuple[FloatArray, FloatArray]:
        """Sums over the tables of each of ``columns`` with the columns j0 … stops."""
        pair, triple = np.zeros((2, len(columns), int(stops.max()) - j0))
        plane_tile(
            self.words,
            self.bounds,
            self.starts,
            self.margins,
            self.table,
            columns,
            j0,
            stops,
            int(self.states.max()),
            pair,
            triple,
        )
        return pair, triple

    def subset(self, columns: IntArray) -> Planes:
        """A copy of some columns' planes, which costs far less than counting with them."""
        cells = self.starts + np.arange(len(self.starts))
        planes = _ranges(self.starts[columns], self.states[columns] - 1)
        margins = self.margins[:, _ranges(cells[columns], self.states[columns])]
        words = np.ascontiguousarray(self.words[:, planes])
        return Planes(
            words, self.bounds, self.states[columns], np.ascontiguousarray(margins), self.table
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
