"""Rows against rows: distances, the nearest of each group, and the differences to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.compiled import relief as kernels
from featsieve.measures.relief.columns import Columns, Expectations


@dataclass(frozen=True)
class Rows:
    """Scaled rows, column by column, with group, index in the table and target (scaled, too) of each."""

    numeric: FloatArray
    codes: FloatArray
    gappy: FloatArray
    groups: IntArray
    index: IntArray
    y: FloatArray

    @classmethod
    def prepare(
        cls, columns: Columns, X: Array, groups: IntArray, index: IntArray, y: FloatArray
    ) -> Self:
        return cls(
            columns.padded_numeric(X),
            np.ascontiguousarray(X[:, columns.codes].T),
            np.ascontiguousarray(columns.scaled(X, columns.gappy)),
            groups,
            index,
            y,
        )

    @property
    def n_rows(self) -> int:
        return len(self.index)

    def take(self, positions: IntArray) -> Rows:
        parts = (self.numeric, self.codes, self.gappy)
        return Rows(
            *(np.ascontiguousarray(part[:, positions]) for part in parts),
            self.groups[positions],
            self.index[positions],
            self.y[positions],
        )

    def starts(self, n_groups: int) -> IntArray:
        """Where each group begins, for rows that are sorted by group."""
        return np.searchsorted(self.groups, np.arange(n_groups + 1)).astype(np.intp)

    @cached_property
    def _by_index(self) -> IntArray:
        return np.argsort(self.index)

    def positions_of(self, index: IntArray) -> tuple[IntArray, IntArray]:
        """Which of these rows are here, and where."""
        order = self._by_index
        slot = np.minimum(np.searchsorted(self.index, index, sorter=order), self.n_rows - 1)
        here = np.flatnonzero(self.index[order[slot]] == index)
        return here, order[slot[here]]


@dataclass(frozen=True)
class Nearest:
    """The k smallest distances of each row to each group, and the number of rows at the last."""

    distances: FloatArray
    at_edge: IntArray

    def merge(self, other: Self) -> Self:
        joined = np.concatenate([self.distances, other.distances], axis=2)
        kept = np.sort(joined, axis=2)[:, :, : self.distances.shape[2]]
        edge = kept[:, :, -1:]
        return type(self)(kept, self._count_at(edge) + other._count_at(edge))

    def _count_at(self, edge: FloatArray) -> IntArray:
        """How many rows are at an edge that is no further than the one here."""
        inside = np.count_nonzero(self.distances == edge, axis=2)
        return np.where(self.distances[:, :, -1] == edge[:, :, 0], self.at_edge, inside)

    def take(self, rows: IntArray) -> Nearest:
        return Nearest(self.distances[rows], self.at_edge[rows])

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Parts that belong to consecutive rows."""
        return cls(
            np.concatenate([part.distances for part in parts]),
            np.concatenate([part.at_edge for part in parts]),
        )


@dataclass(frozen=True)
class Differences:
    """Weighted sums of differences per column (one row per weighting), and of the target's."""

    by_column: FloatArray
    of_target: float
    n_rows: int

    def merge(self, other: Self) -> Self:
        return type(self)(
            self.by_column + other.by_column,
            self.of_target + other.of_target,
            self.n_rows + other.n_rows,
        )


@dataclass(frozen=True)
class Comparison:
    """How rows are compared, and how much each pair of neighbours counts.

    ``rank_sum``: cumulated weights of the ranks 1, …, k. ``group_weight[g, h]``: of a neighbour in
    group h for a row of group g. With ``uses_target`` (regression) the differences are summed a
    second time, each times the difference of the target.
    """

    columns: Columns
    expectations: Expectations
    group_weight: FloatArray
    rank_sum: FloatArray
    uses_target: bool = False

    @property
    def n_groups(self) -> int:
        return len(self.group_weight)

    @property
    def n_neighbors(self) -> int:
        return len(self.rank_sum) - 1

    def distances(self, queries: Rows, rows: Rows) -> FloatArray:
        """Manhattan distances; infinity between a row and itself."""
        total = np.zeros((queries.n_rows, rows.n_rows))
        kernels.add_differences(total, queries.numeric, rows.numeric)
        if len(rows.codes):
            kernels.add_mismatches(total, queries.codes, rows.codes)
        if len(rows.gappy):
            kernels.add_gappy_differences(
                total, queries.gappy, rows.gappy, self.columns.gappy_is_code,
                self.expectations.expected, self.expectations.both, queries.groups,
                rows.starts(self.n_groups),
            )  # fmt: skip
        kernels.round_to_multiples(total, self.columns.unit)
        total[rows.positions_of(queries.index)] = np.inf
        return total

    def nearest(self, distances: FloatArray, rows: Rows) -> Nearest:
        starts = rows.starts(self.n_groups)
        return Nearest(*kernels.nearest_distances(distances, starts, self.n_neighbors))

    def differences(
        self, queries: Rows, rows: Rows, distances: FloatArray, nearest: Nearest
    ) -> Differences:
        """Sums over the neighbours of ``queries`` that are among ``rows``."""
        row, other, group, share = kernels.neighbour_pairs(
            distances, rows.starts(self.n_groups), nearest.distances, nearest.at_edge, self.rank_sum
        )
        weights = (share * self.group_weight[queries.groups[row], group])[None]
        of_target = 0.0
        if self.uses_target:
            apart = np.abs(queries.y[row] - rows.y[other])
            weights = np.concatenate([weights, weights * apart])
            of_target = float(weights[1].sum())
        by_column = self._by_column(queries, rows, row, other, weights)
        return Differences(by_column, of_target, queries.n_rows)

    def _by_column(
        self, queries: Rows, rows: Rows, row: IntArray, other: IntArray, weights: FloatArray
    ) -> FloatArray:
        columns, sums = self.columns, np.zeros((len(weights), self.columns.n_columns))
        pairs = (row, other, weights)
        numeric = kernels.weighted_differences(queries.numeric, rows.numeric, *pairs)
        sums[:, columns.numeric] = numeric[:, : len(columns.numeric)]
        if len(columns.codes):
            sums[:, columns.codes] = kernels.weighted_mismatches(queries.codes, rows.codes, *pairs)
        if len(columns.gappy):
            sums[:, columns.gappy] = kernels.weighted_gappy_differences(
                queries.gappy, rows.gappy, *pairs, columns.gappy_is_code,
                self.expectations.expected, self.expectations.both, queries.groups, rows.groups,
            )  # fmt: skip
        return sums
