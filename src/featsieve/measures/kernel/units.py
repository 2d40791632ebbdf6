"""Units as the tile kernels read them: columns in order of their unit, codes marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from featsieve.schema import Array, IntArray, Schema


@dataclass(frozen=True)
class UnitColumns:
    """The columns of some units: unit u has ``columns[starts[u]:starts[u + 1]]``."""

    columns: IntArray
    starts: IntArray
    is_code: Array

    @property
    def n_columns(self) -> int:
        return len(self.columns)

    @property
    def n_units(self) -> int:
        return len(self.starts) - 1

    @property
    def sizes(self) -> IntArray:
        return np.diff(self.starts)


def unit_columns(schema: Schema, units: Sequence[int] | IntArray) -> UnitColumns:
    """
    >>> unit_columns(Schema(("a", "b", "c"), groups=((0, 2), (1,))), [1, 0]).columns.tolist()
    [1, 0, 2]
    """
    sizes = [len(schema.columns_of(int(unit))) for unit in units]
    columns = schema.columns_of_units(units)
    codes = np.array([int(c) in schema.categories for c in columns], dtype=np.bool_)
    return UnitColumns(columns, np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp), codes)


def no_columns(n_units: int) -> UnitColumns:
    """So many units without any column."""
    nothing = np.empty(0, dtype=np.intp)
    return UnitColumns(nothing, np.zeros(n_units + 1, dtype=np.intp), nothing.astype(np.bool_))
