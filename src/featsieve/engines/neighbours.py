"""The nearest rows of each row, merged over tiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.schema import Block


@dataclass(frozen=True)
class Nearest:
    """The k nearest rows of a block of rows so far: ties go to the lowest row index."""

    distances: FloatArray
    rows: IntArray

    def merge(self, other: Self) -> Self:
        distances = np.concatenate([self.distances, other.distances], axis=1)
        rows = np.concatenate([self.rows, other.rows], axis=1)
        return type(self).smallest(distances, rows, self.distances.shape[1])

    @classmethod
    def smallest(cls, distances: FloatArray, rows: IntArray, k: int) -> Self:
        distances, rows = _nearly_smallest(distances, rows, k)
        order = np.lexsort((rows, distances), axis=1)[:, :k]
        return cls(
            np.take_along_axis(distances, order, axis=1), np.take_along_axis(rows, order, axis=1)
        )


def _nearly_smallest(distances: FloatArray, rows: IntArray, k: int) -> tuple[FloatArray, IntArray]:
    """The k smallest of each row and what ties with the last of them: far fewer to be sorted."""
    if distances.shape[1] <= 4 * k:
        return distances, rows
    far = distances > np.partition(distances, k - 1, axis=1)[:, k - 1 : k]
    width = distances.shape[1] - int(far.sum(axis=1).min())
    near = np.argsort(far, axis=1, kind="stable")[:, :width]
    return np.take_along_axis(distances, near, axis=1), np.take_along_axis(rows, near, axis=1)


def nearest_in_tile(
    fn: Callable[[Block, Block], FloatArray], first: Block, second: Block, k: int
) -> Nearest:
    """The k nearest rows of ``second`` for each row of ``first``, itself left out."""
    distances = np.array(fn(first, second), dtype=np.float64)
    rows = np.broadcast_to(np.arange(second.start, second.start + second.n_rows), distances.shape)
    is_itself = rows == (first.start + np.arange(first.n_rows))[:, None]
    distances[is_itself] = np.inf
    padding = max(0, k - distances.shape[1])
    distances = np.pad(distances, ((0, 0), (0, padding)), constant_values=np.inf)
    rows = np.pad(rows, ((0, 0), (0, padding)), constant_values=-1)
    return Nearest.smallest(distances, rows, k)
