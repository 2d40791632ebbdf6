"""Scatter within and between classes: what a graph that joins the rows of a class amounts to.

With edges of weight 1/n_c inside each class of n_c rows, every row has degree 1, and for a column f
the quadratic form f'(I − S)f is the scatter within classes (He et al. 2006, section 3.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any, Self

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.schema import Block, Schema, Target
from featsieve.statistics.moments import ColumnMoments, Dummies, column_moments


@dataclass(frozen=True)
class ClassMoments:
    """Moments of all columns in each class of each output."""

    outputs: tuple[tuple[ColumnMoments, ...], ...]

    def merge(self, other: Self) -> Self:
        pairs = zip(self.outputs, other.outputs, strict=True)
        return type(self)(tuple(_merge_classes(mine, more) for mine, more in pairs))


def _merge_classes(
    mine: tuple[ColumnMoments, ...], more: tuple[ColumnMoments, ...]
) -> tuple[ColumnMoments, ...]:
    return tuple(a.merge(b) for a, b in zip(mine, more, strict=True))


@dataclass(frozen=True)
class Scatter:
    """Sums of squares of each column: within classes, between them, and about zero."""

    within: FloatArray
    between: FloatArray
    about_zero: FloatArray

    @property
    def total(self) -> FloatArray:
        return self.within + self.between


@dataclass(frozen=True)
class ScatterSummary:
    """How to summarise a block of rows, and how to finish the merged summary."""

    schema: Schema
    target: Target

    def of_block(self, block: Block) -> ClassMoments:
        moments: ClassMoments = Dummies(self.schema).in_slices(self._of_rows)(block)
        return moments

    def _of_rows(self, block: Block) -> ClassMoments:
        X = Dummies(self.schema).expand(block)
        outputs = zip(block.y.T, self.target.class_counts, strict=True)
        return ClassMoments(
            tuple(_moments_by_class(X, y, n_classes, block.weight) for y, n_classes in outputs)
        )

    def scatters(self, moments: ClassMoments) -> list[Scatter]:
        """One per output; the indicators of a categorical column are summed."""
        return [self._scatter(classes) for classes in moments.outputs]

    def _scatter(self, classes: tuple[ColumnMoments, ...]) -> Scatter:
        overall = reduce(ColumnMoments.merge, classes)
        # Rounding of a mean is not scatter.
        within = sum(np.where(c.is_constant(), 0.0, c.deviation) for c in classes)
        between = sum(c.weight * (c.mean - overall.mean) ** 2 for c in classes)
        constant = overall.is_constant()
        about_zero = overall.deviation + overall.weight * overall.mean**2
        parts = np.where(constant, 0.0, within), np.where(constant, 0.0, between), about_zero
        return Scatter(*(self._by_column(np.asarray(part)) for part in parts))

    def _by_column(self, expanded: FloatArray) -> FloatArray:
        owner = Dummies(self.schema).owner
        sums = np.bincount(owner, weights=expanded, minlength=self.schema.n_columns)
        return np.asarray(sums, dtype=np.float64)


def _moments_by_class(
    X: Any, y: Array, n_classes: int, weight: FloatArray | None
) -> tuple[ColumnMoments, ...]:
    order = np.argsort(y, kind="stable")
    ends = np.cumsum(np.bincount(y, minlength=n_classes))[:-1]
    return tuple(_moments_of_rows(X, rows, weight) for rows in np.split(order, ends))


def _moments_of_rows(X: Any, rows: IntArray, weight: FloatArray | None) -> ColumnMoments:
    if not len(rows):
        nothing = np.zeros(X.shape[1])
        return ColumnMoments(0.0, nothing, nothing)
    return column_moments(X[rows], None if weight is None else weight[rows])


def best_of_unit(by_column: FloatArray, schema: Schema) -> FloatArray:
    """A group scores what its best column scores."""
    if schema.groups is None:
        return by_column
    return np.array([by_column[list(columns)].max() for columns in schema.groups])
