"""Contingency counts of coded columns: what every information measure is made of.

A column of S states has the cells 0 … S − 1; all columns' cells lie side by side in one table.
Counts are integers and add over row blocks, so files, Dask and memory give the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

from featsieve.kernels.counting import add_counts, add_weights
from featsieve.schema import FloatArray, IntArray

Codes = npt.NDArray[np.uint8]
MAX_STATES = 255


@dataclass(frozen=True)
class Layout:
    """How many states each column has, and where its cells are."""

    states: IntArray
    n_classes: int

    @cached_property
    def cells(self) -> IntArray:
        return np.concatenate(([0], np.cumsum(self.states))).astype(np.int64)

    @property
    def n_columns(self) -> int:
        return len(self.states)

    def sum_columns(self, cells: FloatArray) -> FloatArray:
        """Totals of the cells of each column (the last axis of ``cells``)."""
        return np.add.reduceat(cells, self.cells[:-1], axis=-1)

    def count(self, codes: Codes, y: IntArray, weight: FloatArray | None = None) -> ClassCounts:
        """Counts of all columns with the class, of one block of rows."""
        return ClassCounts(self, self._table(codes, y, self.n_classes, weight))

    def count_with(self, codes: Codes, y: IntArray, column: int) -> PairCounts:
        """Counts of all columns with one of them and the class, of one block of rows."""
        n_states = int(self.states[column])
        keys = y * n_states + codes[:, column]
        table = self._table(codes, keys, self.n_classes * n_states, None)
        return PairCounts(self, table.reshape(self.n_classes, n_states, -1))

    def _table(
        self, codes: Codes, keys: IntArray, n_keys: int, weight: FloatArray | None
    ) -> npt.NDArray[Any]:
        codes, keys = np.ascontiguousarray(codes), np.ascontiguousarray(keys, dtype=np.int64)
        if weight is None:
            counts = np.zeros((n_keys, self.cells[-1]), dtype=np.int64)
            add_counts(codes, keys, self.cells, counts)
            return counts
        weights = np.zeros((n_keys, self.cells[-1]))
        add_weights(codes, keys, np.ascontiguousarray(weight, float), self.cells, weights)
        return weights


@dataclass(frozen=True)
class ClassCounts:
    """Counts (or weights) of every state of every column within every class."""

    layout: Layout
    table: npt.NDArray[Any]

    def merge(self, other: Self) -> Self:
        return type(self)(self.layout, self.table + other.table)

    def trimmed(self) -> ClassCounts:
        """Without the states after the last one that occurs, in each column."""
        layout = self.layout
        place = np.arange(layout.cells[-1]) - np.repeat(layout.cells[:-1], layout.states)
        last = np.where(self.table.any(axis=0), place, 0)
        states = np.maximum.reduceat(last, layout.cells[:-1]) + 1
        kept = place < np.repeat(states, layout.states)
        return ClassCounts(Layout(states, layout.n_classes), self.table[:, kept])

    @cached_property
    def classes(self) -> npt.NDArray[Any]:
        """Count of each class (any column tells)."""
        return self.table[:, : self.layout.cells[1]].sum(axis=1)

    @cached_property
    def total(self) -> float:
        return float(self.classes.sum())

    @cached_property
    def log_total(self) -> float:
        return float(np.log(self.total))

    @cached_property
    def class_nlogn(self) -> float:
        """Σ n log n over the classes."""
        return float(xlogy(self.classes, self.classes).sum())

    @cached_property
    def class_entropy(self) -> float:
        return float(self._entropy(self.class_nlogn))

    @cached_property
    def entropies(self) -> FloatArray:
        """H(X_j)."""
        return self._entropy(self.column_sums)

    @cached_property
    def joint_entropies(self) -> FloatArray:
        """H(X_j, Y)."""
        return self._entropy(self.class_sums)

    @cached_property
    def column_sums(self) -> FloatArray:
        """Σ n log n over the states of each column."""
        margin = self.table.sum(axis=0)
        return self.layout.sum_columns(xlogy(margin, margin))

    @cached_property
    def class_sums(self) -> FloatArray:
        """Σ n log n over the states of each column and the classes."""
        return self.layout.sum_columns(xlogy(self.table, self.table).sum(axis=0))

    @cached_property
    def information(self) -> FloatArray:
        """I(X_j; Y), never below 0."""
        gain = self.entropies + self.class_entropy - self.joint_entropies
        return np.maximum(gain, 0.0)

    def _entropy(self, nlogn: Any) -> Any:
        return np.maximum(self.log_total - nlogn / self.total, 0.0)


@dataclass(frozen=True)
class PairCounts:
    """Counts of every state of every column within every state of one column and every class."""

    layout: Layout
    table: npt.NDArray[np.int64]

    def merge(self, other: Self) -> Self:
        return type(self)(self.layout, self.table + other.table)

    def sums(self) -> tuple[FloatArray, FloatArray]:
        """Σ n log n over the tables of (X_i, X_j) and of (X_i, X_j, Y), for all j."""
        joint = self.table.sum(axis=0)
        pair = self.layout.sum_columns(xlogy(joint, joint).sum(axis=0))
        triple = self.layout.sum_columns(xlogy(self.table, self.table).sum(axis=(0, 1)))
        return pair, triple
