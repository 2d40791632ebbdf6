"""Columns that are codes already: integers are kept as states, anything else is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.compiled.discretizing import code_ranges
from featsieve.discretize.base import MAX_CUTS, Cuts, category_cuts, cuts_between, refuse_states
from featsieve.errors import InputError
from featsieve.protocols import Engine
from featsieve.schema import Block, Schema


@dataclass(frozen=True)
class CodeRange:
    """The smallest and largest number of each column, and how many cells are not integers."""

    low: FloatArray
    high: FloatArray
    fractions: IntArray

    @classmethod
    def of_block(cls, block: Block) -> Self:
        X = np.ascontiguousarray(block.dense())
        low, high = np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
        fractions = np.zeros(X.shape[1], dtype=np.int64)
        code_ranges(X, low, high, fractions)
        return cls(low, high, fractions)

    def merge(self, other: Self) -> Self:
        return type(self)(
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.fractions + other.fractions,
        )


@dataclass(frozen=True)
class DistinctCodes:
    """The codes that occur in some columns; once too many, which ones no longer matters."""

    codes: dict[int, FloatArray]

    @classmethod
    def of_block(cls, block: Block, columns: Sequence[int]) -> Self:
        X = block.dense()
        return cls({j: _some_distinct(X[:, j]) for j in columns})

    def merge(self, other: Self) -> Self:
        pairs = ((j, np.concatenate((c, other.codes[j]))) for j, c in self.codes.items())
        return type(self)({j: _some_distinct(both) for j, both in pairs})


def _some_distinct(values: FloatArray) -> FloatArray:
    return np.unique(values[~np.isnan(values)])[: MAX_CUTS + 2]


def code_cuts(engine: Engine) -> Cuts:
    """One state per integer between a column's smallest and largest code.

    Where those are too far apart, one state per code that occurs.
    """
    code_range = engine.reduce_rows(CodeRange.of_block)
    numeric = engine.schema.numeric_columns
    _refuse_fractions(engine.schema, code_range)
    is_wide = code_range.low + MAX_CUTS < code_range.high
    near, wide = numeric[~is_wide[numeric]].tolist(), numeric[is_wide[numeric]].tolist()
    cuts = {j: _consecutive(code_range.low[j], code_range.high[j]) for j in near}
    cuts |= {j: category_cuts(engine.schema, j) for j in engine.schema.categories}
    cuts |= _cuts_of_distinct(engine, wide) if wide else {}
    return Cuts(tuple(cuts[j] for j in range(engine.n_features)))


def _cuts_of_distinct(engine: Engine, columns: list[int]) -> dict[int, FloatArray]:
    seen = engine.reduce_rows(partial(DistinctCodes.of_block, columns=columns))
    for column, codes in seen.codes.items():
        if len(codes) > MAX_CUTS + 1:
            refuse_states(engine.schema.names[column], f"more than {MAX_CUTS + 1}")
    return {column: cuts_between(codes) for column, codes in seen.codes.items()}


def _consecutive(low: float, high: float) -> FloatArray:
    return np.arange(low, high) + 0.5 if low < high else np.empty(0)


def _refuse_fractions(schema: Schema, observed: CodeRange) -> None:
    for column in np.flatnonzero(observed.fractions).tolist():
        if column not in schema.categories:
            raise InputError(
                f"column {schema.names[column]!r} is not made of codes: "
                f"{observed.fractions[column]} of its cells are not integers; give a discretizer, "
                "such as 'quantile'."
            )
