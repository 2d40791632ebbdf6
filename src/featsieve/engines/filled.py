"""Missing cells filled in on their way out of any engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.schema import Block, Schema


@dataclass(frozen=True)
class Filling:
    """One value per column for its missing (and infinite) cells."""

    values: FloatArray

    def apply(self, X: Any, columns: IntArray | None = None) -> FloatArray:
        values = self.values if columns is None else self.values[columns]
        dense = X if isinstance(X, np.ndarray) else X.toarray()
        return np.where(np.isfinite(dense), dense, values).astype(dense.dtype, copy=False)

    def block(self, block: Block) -> Block:
        return Block(block.start, self.apply(block.X), block.y, block.weight)


def usual_values(X: FloatArray, schema: Schema) -> Filling:
    """The median of a numeric column, the most frequent state of a categorical one; 0 of nothing.

    >>> usual_values(np.array([[1.0], [3.0], [np.nan]]), Schema(("a",))).values
    array([2.])
    """
    values = np.zeros(X.shape[1])
    for column in range(X.shape[1]):
        known = X[np.isfinite(X[:, column]), column]
        if not len(known):
            continue
        if column in schema.categories:
            values[column] = np.bincount(known.astype(np.intp)).argmax()
        else:
            values[column] = np.median(known)
    return Filling(values)
