"""Categorical columns as indicator columns, for measures that work on numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from featsieve.schema import Block, BoolArray, FloatArray, IntArray, Schema, one_hot


@dataclass(frozen=True)
class Dummies:
    """Which indicator columns stand for which column; numeric columns stand for themselves."""

    schema: Schema

    @cached_property
    def owner(self) -> IntArray:
        """The column that each expanded column belongs to."""
        width = np.ones(self.schema.n_columns, dtype=np.intp)
        for column in self.schema.categories:
            width[column] = self.schema.n_states(column)
        return np.repeat(np.arange(self.schema.n_columns), width)

    @cached_property
    def is_indicator(self) -> BoolArray:
        return np.isin(self.owner, list(self.schema.categories))

    def expand(self, block: Block) -> Any:
        """The block's X itself (dense or sparse) when nothing is categorical."""
        if not self.schema.categories:
            return block.X
        dense = block.dense()
        parts = [
            one_hot(dense[:, j], self.schema.n_states(j))
            if j in self.schema.categories
            else dense[:, [j]]
            for j in range(self.schema.n_columns)
        ]
        return np.concatenate(parts, axis=1)

    def per_unit(self, expanded: FloatArray) -> FloatArray:
        """Scores by unit (first axis): indicators add up to their column, a group is its best."""
        if self.schema.is_plain:
            return expanded
        starts = np.searchsorted(self.owner, np.arange(self.schema.n_columns))
        per_column = np.add.reduceat(expanded, starts, axis=0)
        if self.schema.groups is None:
            return per_column
        return np.array([per_column[list(group)].max(axis=0) for group in self.schema.groups])
