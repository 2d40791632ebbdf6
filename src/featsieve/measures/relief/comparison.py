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
    """Scaled rows, column by column, with group, index in the table and scaled target of each.

    Numeric columns are there twice: in single precision for rough distances of all pairs, and row
    by row for what is exact.
    """

    numeric: FloatArray
    codes: FloatArray
    gappy: FloatArray
    numeric_rows: FloatArray
    groups: IntArray
    index: IntArray
    y: FloatArray

    @classmethod
    def prepare(
        cls, columns: Columns, X: Array, groups: IntArray, index: IntArray, y: FloatArray
    ) -> Self:
        numeric_rows = columns.padded_numeric(X)
        return cls(
            np.ascontiguousarray(numeric_rows.T, dtype=np.float32),
            np.ascontiguousarray(X[:, columns.codes].T),
            np.ascontiguousarray(columns.scaled(X, columns.gappy).T),
            numeric_rows,
            groups,
            index,
            y,
        )

    @property
    def n_rows(self) -> int:
        return len(self.index)

    def take(self, positions: IntArray | slice) -> Rows:
        return Rows(
            np.ascontiguousarray(self.numeric[:, positions]),
            np.ascontiguousarray(self.codes[:, positions]),
            np.ascontiguousarray(self.gappy[:, positions]),
            self.numeric_rows[positions],
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
class Pairs:
    """Pairs of rows that may be near, listed by (row, group), with their exact distances.

    Distances are multiples of a tiny unit, so that those which are equal but for rounding tie.
    """

    row: IntArray
    other: IntArray
    first: IntArray
    distance: FloatArray


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
        """How many rows are at an edge at most as far as the one here."""
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

    def nearest(
        self, queries: Rows, rows: Rows, rough: FloatArray | None = None
    ) -> tuple[Nearest, Pairs]:
        """The nearest distances, and the pairs among which they were found."""
        rough = self.rough_distances(queries, rows) if rough is None else rough
        starts = rows.starts(self.n_groups)
        kth = kernels.kth_smallest(rough, starts, self.n_neighbors)
        # No further by more than twice the error: once for the k-th, once for the pair itself.
        pairs = self._pairs(queries, rows, rough, kth + 2.0 * self._rough_error(kth))
        nearest, at_edge = kernels.nearest_distances(pairs.distance, pairs.first, self.n_neighbors)
        return Nearest(nearest.reshape(*kth.shape, -1), at_edge.reshape(kth.shape)), pairs

    def pairs_within(self, queries: Rows, rows: Rows, nearest: Nearest) -> Pairs:
        """The pairs that are no further than the nearest distances reach."""
        rough = self.rough_distances(queries, rows)
        reach = np.where(np.isfinite(nearest.distances), nearest.distances, -1.0).max(axis=2)
        return self._pairs(queries, rows, rough, reach + self._rough_error(reach))

    def rough_distances(self, queries: Rows, rows: Rows) -> FloatArray:
        """In single precision; infinity between a row and itself."""
        total = np.zeros((queries.n_rows, rows.n_rows), np.float32)
        kernels.add_differences(total, queries.numeric, rows.numeric)
        if len(rows.codes):
            kernels.add_mismatches(total, queries.codes, rows.codes)
        if len(rows.gappy):
            kernels.add_gappy_differences(
                total, queries.gappy, rows.gappy, self.columns.gappy_is_code,
                self.expectations.expected, self.expectations.both, queries.groups,
                rows.starts(self.n_groups),
            )  # fmt: skip
        total[rows.positions_of(queries.index)] = np.inf
        return total

    def _rough_error(self, distance: FloatArray) -> FloatArray:
        """More than single precision can be wrong by at this distance, or at a smaller one.

        Every cell is rounded once, every difference and every sum once more.
        """
        columns = self.columns
        n_sums = len(columns.numeric) / kernels.TOGETHER + len(columns.codes) + len(columns.gappy)
        largest = np.minimum(distance, columns.n_columns)
        return 2.0**-23 * (2.0 * columns.n_columns + (n_sums + 8.0) * largest)

    def _pairs(self, queries: Rows, rows: Rows, rough: FloatArray, limits: FloatArray) -> Pairs:
        largest = np.finfo(np.float32).max
        row, other, first = pairs_within(
            rough, rows.starts(self.n_groups), np.minimum(limits, largest)
        )
        distance = kernels.pair_distances(queries.numeric_rows, rows.numeric_rows, row, other)
        if len(rows.codes):
            kernels.add_pair_mismatches(distance, queries.codes, rows.codes, row, other)
        if len(rows.gappy):
            kernels.add_pair_gappy_differences(
                distance, queries.gappy, rows.gappy, row, other, self.columns.gappy_is_code,
                self.expectations.expected, self.expectations.both, queries.groups, rows.groups,
            )  # fmt: skip
        unit = self.columns.unit
        return Pairs(row, other, first, np.rint(distance / unit) * unit)

    def differences(self, queries: Rows, rows: Rows, pairs: Pairs, nearest: Nearest) -> Differences:
        """Sums over the neighbours of ``queries`` that are among the pairs."""
        share = kernels.neighbour_shares(
            pairs.distance, pairs.first, nearest.distances.reshape(-1, self.n_neighbors),
            nearest.at_edge.ravel(), self.rank_sum,
        )  # fmt: skip
        groups = queries.groups[pairs.row], rows.groups[pairs.other]
        weights = (share * self.group_weight[groups])[None]
        of_target = 0.0
        if self.uses_target:
            apart = np.abs(queries.y[pairs.row] - rows.y[pairs.other])
            weights = np.concatenate([weights, weights * apart])
            of_target = float(weights[1].sum())
        by_column = self._by_column(queries, rows, pairs.row, pairs.other, weights)
        return Differences(by_column, of_target, queries.n_rows)

    def _by_column(
        self, queries: Rows, rows: Rows, row: IntArray, other: IntArray, weights: FloatArray
    ) -> FloatArray:
        columns, sums = self.columns, np.zeros((len(weights), self.columns.n_columns))
        pairs = (row, other, weights)
        numeric = kernels.weighted_differences(queries.numeric_rows, rows.numeric_rows, *pairs)
        sums[:, columns.numeric] = numeric[:, : len(columns.numeric)]
        if len(columns.codes):
            sums[:, columns.codes] = kernels.weighted_mismatches(queries.codes, rows.codes, *pairs)
        if len(columns.gappy):
            sums[:, columns.gappy] = kernels.weighted_gappy_differences(
                queries.gappy, rows.gappy, *pairs, columns.gappy_is_code,
                self.expectations.expected, self.expectations.both, queries.groups, rows.groups,
            )  # fmt: skip
        return sums


def pairs_within(
    total: FloatArray, starts: IntArray, limits: FloatArray
) -> tuple[IntArray, IntArray, IntArray]:
    """All (row, other row) at most as far as the limit of row and group; infinity is not a pair.

    They are listed by row and group: those of row i and group g begin at the third answer's entry
    i · (number of groups) + g.
    """
    is_near = np.zeros(total.shape, dtype=np.bool_)
    first = np.zeros(limits.size + 1, np.intp)
    counts = first[1:].reshape(limits.shape)
    for group, limit in enumerate(limits.T):
        columns = slice(starts[group], starts[group + 1])
        np.less_equal(total[:, columns], limit[:, None], out=is_near[:, columns])
        counts[:, group] = np.count_nonzero(is_near[:, columns], axis=1)
    row, other = np.nonzero(is_near)
    return row, other, np.cumsum(first)
