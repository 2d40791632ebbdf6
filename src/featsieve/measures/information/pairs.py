"""Pairs of columns: their sums by passes over the rows, and the matrix of their information."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.measures.information.coded_table import CodedBlock, CodedTable
from featsieve.measures.information.counts import ClassCounts, PairCounts
from featsieve.measures.information.pair_sums import Consumer, PairSource
from featsieve.runtime.progress import SILENT, Monitor


@dataclass(frozen=True)
class _ManyPairCounts:
    """The counts of all columns with each of several ones."""

    columns: tuple[PairCounts, ...]

    def merge(self, other: Self) -> Self:
        pairs = zip(self.columns, other.columns, strict=True)
        return type(self)(tuple(a.merge(b) for a, b in pairs))


# A cluster counts so many cells with one column more in about the time of a round of messages.
CELLS_OF_A_ROUND = 3_200_000_000
FIRST_AHEAD, MOST_AHEAD = 4, 8


@dataclass
class Ahead:
    """How many likely columns come along with one that is needed: more as long as most of those
    that came were asked for."""

    n_columns: int = 0
    most: int = 0
    _came: Sequence[int] = ()

    @classmethod
    def over(cls, n_cells: int) -> Self:
        most = min(MOST_AHEAD, CELLS_OF_A_ROUND // max(n_cells, 1))
        return cls(min(FIRST_AHEAD, most), most)

    def batch(self, column: int, likely: Sequence[int], asked: AbstractSet[int]) -> Sequence[int]:
        """The columns of the next pass; ``asked`` are those that were needed so far."""
        if self._came:
            was_worth_it = 2 * len(asked & set(self._came)) > len(self._came)
            n_columns = 2 * self.n_columns if was_worth_it else self.n_columns // 2
            self.n_columns = min(max(n_columns, 1), self.most)
        self._came = [column, *likely[: self.n_columns]]
        return self._came


@dataclass(frozen=True)
class CountedPairs:
    """The same sums where the planes exceed the budget: each call is a pass over the coded rows.

    What was computed for a column is kept.
    """

    counts: ClassCounts
    table: CodedTable = field(repr=False)
    output: int
    memory_limit: int
    n_jobs: int
    ahead: Ahead = field(default_factory=Ahead)
    _known: dict[int, tuple[FloatArray, FloatArray]] = field(default_factory=dict, repr=False)
    _asked: set[int] = field(default_factory=set, repr=False)

    @property
    def brings_rows(self) -> bool:
        return self.ahead.most > 0

    def bring(self, column: int, likely: Sequence[int], most: int) -> None:
        self._asked.add(column)
        if column in self._known:
            return
        unknown = [other for other in likely if other != column and other not in self._known]
        most = min(most, self._at_once - 1)
        batch = self.ahead.batch(column, unknown[:most], self._asked)
        self._known.update(zip(batch, self._pass(batch), strict=True))

    def row(self, column: int, others: IntArray | None = None) -> tuple[FloatArray, FloatArray]:
        self.bring(column, (), 0)
        pair, triple = self._known[column]
        return (pair.copy(), triple.copy()) if others is None else (pair[others], triple[others])

    def all_pairs(self, consume: Consumer) -> None:
        columns = np.arange(self.counts.layout.n_columns)
        for batch in np.array_split(columns, -(-len(columns) // self._at_once)):
            for column, sums in zip(batch, self._pass(batch.tolist()), strict=True):
                others = columns[: column + 1]
                consume(np.array([column]), others, sums[0][None, others], sums[1][None, others])

    @property
    def _at_once(self) -> int:
        """So many columns that their tables take an eighth of the budget in all threads."""
        layout = self.counts.layout
        table = 8 * layout.n_classes * int(layout.states.max()) * int(layout.cells[-1])
        return max(1, self.memory_limit // (8 * self.n_jobs * table))

    def _pass(self, columns: Sequence[int]) -> list[tuple[FloatArray, FloatArray]]:
        layout, output = self.counts.layout, self.output

        def of_block(block: CodedBlock) -> _ManyPairCounts:
            return _ManyPairCounts(tuple(block.count_with(layout, output, c) for c in columns))

        return [counts.sums() for counts in self.table.reduce(of_block).columns]


# (pair, triple) to n · information, up to parts that depend on one column only.
Term = Callable[[FloatArray, FloatArray], FloatArray]


def conditional_matrix(sums: PairSource, monitor: Monitor = SILENT) -> FloatArray:
    """I(X_j; Y | X_i) = H(X_i, X_j) + H(X_i, Y) − H(X_i) − H(X_i, X_j, Y); I(X_i; Y) for i = j."""
    counts = sums.counts
    class_given_column = counts.class_sums - counts.column_sums
    return _matrix(
        sums,
        lambda pair, triple: triple - pair,
        class_given_column,
        None,
        counts.information,
        monitor,
    )


def mutual_matrix(sums: PairSource, monitor: Monitor = SILENT) -> FloatArray:
    """I(X_i; X_j) = H(X_i) + H(X_j) − H(X_i, X_j); H(X_i) for i = j."""
    counts = sums.counts
    level = counts.total * counts.log_total
    alone = counts.column_sums
    return _matrix(sums, lambda pair, triple: pair + level, alone, alone, counts.entropies, monitor)


def _matrix(
    sums: PairSource,
    term: Term,
    of_row: FloatArray,
    of_column: FloatArray | None,
    diagonal: FloatArray,
    monitor: Monitor,
) -> FloatArray:
    """(term − of_row[i] − of_column[j]) / n for all i and j, never below 0."""
    n_columns, total, n_pairs = len(diagonal), sums.counts.total, 0
    Q = np.empty((n_columns, n_columns))

    def put(rows: IntArray, columns: IntArray, tile: FloatArray) -> None:
        information = tile - of_row[rows][:, None]
        if of_column is not None:
            information -= of_column[columns]
        information /= total
        Q[_cross(rows, columns)] = np.maximum(information, 0.0, out=information)

    def consume(rows: IntArray, columns: IntArray, pair: FloatArray, triple: FloatArray) -> None:
        nonlocal n_pairs
        tile = term(pair, triple)
        put(rows, columns, tile)
        if rows is not columns:
            put(columns, rows, tile.T)
        n_pairs += tile.size if rows is not columns else len(rows) * (len(rows) + 1) // 2
        monitor.tick("counting pairs of columns", n_pairs, n_columns * (n_columns + 1) // 2)

    sums.all_pairs(consume)
    np.fill_diagonal(Q, diagonal)
    return Q


def _cross(rows: IntArray, columns: IntArray) -> Any:
    first, second = _block(rows), _block(columns)
    if isinstance(first, slice) or isinstance(second, slice):
        return first, second
    return np.ix_(first, second)


def _block(columns: IntArray) -> slice | IntArray:
    """A slice where the columns are consecutive, which is much faster to write to."""
    first, last = int(columns[0]), int(columns[-1])
    return slice(first, last + 1) if last - first + 1 == len(columns) else columns
