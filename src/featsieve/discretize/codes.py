"""Columns that are codes already: whole numbers are kept as states, anything else is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from featsieve.discretize.cuts import MAX_CUTS, Cuts, category_cuts, refuse_states
from featsieve.errors import InputError
from featsieve.protocols import Engine
from featsieve.schema import Block, FloatArray, IntArray, Schema


@dataclass(frozen=True)
class CodeRange:
    """The smallest and largest number of each column, and how many cells are no whole number."""

    low: FloatArray
    high: FloatArray
    fractions: IntArray

    @classmethod
    def of_block(cls, block: Block) -> Self:
        X = block.dense()
        known = ~np.isnan(X)
        low = np.min(X, axis=0, where=known, initial=np.inf)
        high = np.max(X, axis=0, where=known, initial=-np.inf)
        return cls(low, high, np.count_nonzero(known & (np.rint(X) != X), axis=0))

    def merge(self, other: Self) -> Self:
        return type(self)(
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.fractions + other.fractions,
        )


def code_cuts(engine: Engine) -> Cuts:
    """One state a whole number between the smallest and the largest code of each column."""
    found = engine.reduce_rows(CodeRange.of_block)
    return Cuts(tuple(_cuts(engine.schema, found, j) for j in range(engine.n_features)))


def _cuts(schema: Schema, found: CodeRange, column: int) -> FloatArray:
    if column in schema.categories:
        return category_cuts(schema, column)
    low, high = found.low[column], found.high[column]
    if found.fractions[column] or (np.isinf(high - low) and low < high):
        raise InputError(
            f"column {schema.names[column]!r} is not made of codes: {found.fractions[column]} of "
            "its cells are no whole numbers; give a discretizer, such as 'quantile'."
        )
    if low > high:
        return np.empty(0)  # nothing but missing cells
    if high - low > MAX_CUTS:
        refuse_states(schema.names[column], int(high - low) + 1)
    return np.arange(low, high) + 0.5
