"""Σ n log n over the joint states of pairs of columns, by popcounts of bit planes.

H = log n − Σ n log n / n, the sum over the counts of a table, so these sums are all that entropies
of pairs need. A column of s states is s − 1 planes, one bit per row: the counts of two columns are
popcounts of the AND of their planes, 64 rows at a time, and what the margins leave for the last
states. Rows are sorted by class, so that a table per class is a range of words.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from featsieve.arrays import FloatArray, IntArray
from featsieve.compiled.counting import direct_row, pack_planes, plane_tile
from featsieve.compiled.packing import append_planes
from featsieve.engines.base import spans
from featsieve.measures.information.coding import (
    PackedRows,
    Words,
    plane_starts,
    word_bounds,
)
from featsieve.measures.information.counts import ClassCounts, CodedRows, Codes, Layout
from featsieve.runtime.pool import ordered_map


@dataclass(frozen=True)
class Planes:
    """Words × planes; ``bounds`` are the words of the classes, ``states`` those of the columns.

    ``margins`` are the rows of each class in each plane and ``last_margins`` those in the last
    state of each column, all rows in a line after the classes; ``table`` holds n log n.
    """

    words: Words = field(repr=False)
    bounds: IntArray
    states: IntArray
    margins: Words = field(repr=False)
    last_margins: Words = field(repr=False)
    table: FloatArray = field(repr=False)

    @classmethod
    def with_margins(
        cls, words: Words, bounds: IntArray, states: IntArray, cells: IntArray, table: FloatArray
    ) -> Self:
        """``cells`` are the rows of each class in each state of each column."""
        all_rows = np.vstack([cells, cells.sum(axis=0)]).astype(np.uint64)
        is_last = np.zeros(cells.shape[1], dtype=bool)
        is_last[np.cumsum(states) - 1] = True
        margins = np.ascontiguousarray(all_rows[:, ~is_last])
        return cls(
            words, bounds, states, margins, np.ascontiguousarray(all_rows[:, is_last]), table
        )

    @cached_property
    def starts(self) -> IntArray:
        return plane_starts(self.states)

    @cached_property
    def _widest(self) -> int:
        return int(self.states.max())

    def tile(self, columns: IntArray, j0: int, stops: IntArray) -> tuple[FloatArray, FloatArray]:
        """Sums over the tables of each of ``columns`` with the columns j0 … stops."""
        width = int(stops.max()) - j0
        sums = np.zeros((2, len(columns), width))
        n_planes = self.starts[j0 + width] - self.starts[j0]
        plane_tile(
            self.words,
            self.bounds,
            self.starts,
            self.margins,
            self.last_margins,
            self.table,
            columns,
            j0,
            stops,
            np.empty((len(self.margins), self._widest, n_planes), dtype=np.uint64),
            sums,
        )
        return sums[0], sums[1]

    def subset(self, columns: IntArray) -> Planes:
        """A copy of some columns' planes, which costs far less than counting with them."""
        planes = _ranges(self.starts[columns], self.states[columns] - 1)
        return Planes(
            np.ascontiguousarray(self.words[:, planes]),
            self.bounds,
            self.states[columns],
            np.ascontiguousarray(self.margins[:, planes]),
            np.ascontiguousarray(self.last_margins[:, columns]),
            self.table,
        )


def _ranges(starts: IntArray, sizes: IntArray) -> IntArray:
    """starts[0], starts[0] + 1, …, then those of the next range.

    >>> _ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(sizes)
    return np.arange(ends[-1]) + np.repeat(starts - ends + sizes, sizes)


Consumer = Callable[[IntArray, IntArray, FloatArray, FloatArray], None]


class PairSource(Protocol):
    """Σ n log n over the tables of pairs of columns, without and with the class."""

    @property
    def counts(self) -> ClassCounts: ...

    @property
    def brings_rows(self) -> bool:
        """Whether a row takes a pass, in which others are worth having too."""
        ...

    def bring(self, column: int, likely: Sequence[int], most: int) -> None:
        """Have a row ready; if that takes a pass, at most so many likely ones come along."""
        ...

    def row(self, column: int, others: IntArray | None = None) -> tuple[FloatArray, FloatArray]: ...

    def all_pairs(self, consume: Consumer) -> None: ...


# One AND + popcount against one counted row, in time; measured, and flat around the optimum.
POPCOUNT_COST = 0.25
TILE_COLUMNS = 128
ROW_COLUMNS = 512
# Below this many words of work a thread costs more than it saves.
THREAD_WORDS = 1 << 22


@dataclass(frozen=True)
class PlaneSplit:
    """Which columns are held as planes (thin) and which as codes (wide), by cost."""

    layout: Layout
    thin: IntArray
    wide: IntArray

    @classmethod
    def by_cost(cls, counts: ClassCounts) -> Self:
        """The planes of two columns cost a popcount per pair of planes and word, codes a look per
        row; so a column is thin if that is cheaper for two columns of its kind."""
        layout = counts.layout
        n_words = int(np.ceil(counts.classes / 64).sum())
        planes = (layout.states - 1).astype(float)
        thin = planes**2 * n_words * POPCOUNT_COST <= counts.total
        return cls(layout, np.flatnonzero(thin), np.flatnonzero(~thin))

    @cached_property
    def positions(self) -> IntArray:
        """The position of each column among the thin ones, −1 for a wide one."""
        positions = np.full(self.layout.n_columns, -1, dtype=np.intp)
        positions[self.thin] = np.arange(len(self.thin))
        return positions

    @cached_property
    def starts(self) -> npt.NDArray[np.int64]:
        return plane_starts(self.layout.states[self.thin])

    def held_bytes(self, n_samples: int) -> int:
        """Planes, the table of n log n, and the codes of all columns if any of them is wide."""
        codes = 2 * self.layout.n_columns * n_samples if len(self.wide) else 0
        return int(self.starts[-1]) * n_samples // 8 + 8 * n_samples + codes

    def pack(
        self, blocks: Iterable[CodedRows | PackedRows], output: int, class_rows: IntArray
    ) -> Words:
        """The planes of all rows, class by class; ``class_rows`` are the rows of each class.

        A block continues where the last one ended, in the middle of a word: the planes do not
        depend on the blocks.
        """
        bounds = word_bounds(class_rows)
        words = np.zeros((bounds[-1], self.starts[-1] + 1), dtype=np.uint64)
        packed = np.zeros(len(class_rows), dtype=np.int64)
        for block in blocks:
            places = self._places_of_planes(block) if isinstance(block, PackedRows) else None
            if isinstance(block, PackedRows) and places is not None:
                if len(block.classes) == class_rows.sum():
                    words[:, places] = block.words  # one block: nothing to shift
                    return words
                append_planes(block.words, block.class_rows, places, packed, bounds, words)
                continue
            rows = block.rows()
            codes = rows.codes if not len(self.wide) else rows.codes[:, self.thin]
            y = np.ascontiguousarray(rows.classes[:, output])
            pack_planes(np.ascontiguousarray(codes), y, packed, bounds, self.starts, words)
        return words

    def _places_of_planes(self, block: PackedRows) -> IntArray | None:
        """Where the planes of a block go, those that are not needed behind all others; None where
        a state needs a plane that the block does not have: its columns miss no cell, others do."""
        planes = block.layout
        if (self.layout.states > planes.states)[self.thin].any():
            return None
        column, state = planes.column_of_plane, planes.state_of_plane
        first = np.append(self.starts[:-1], 0)[self.positions[column]]
        is_needed = (self.positions[column] >= 0) & (state < self.layout.states[column] - 1)
        return np.where(is_needed, first + state, self.starts[-1])


def nlogn_table(total: float) -> FloatArray:
    n = np.arange(int(total) + 1, dtype=np.float64)
    return n * np.log(np.maximum(n, 1.0))


@dataclass(frozen=True)
class PackedPairs:
    """The sums for one column with all others, or for all pairs in tiles, from planes in memory."""

    counts: ClassCounts
    split: PlaneSplit
    planes: Planes = field(repr=False)
    columns: Codes = field(repr=False)  # columns × rows sorted by class; empty if all are thin
    n_jobs: int = 1
    brings_rows: bool = False

    @classmethod
    def of_rows(
        cls,
        counts: ClassCounts,
        split: PlaneSplit,
        rows: Callable[[], Iterable[CodedRows | PackedRows]],
        output: int = 0,
        n_jobs: int = 1,
    ) -> Self:
        """``rows`` hands out the blocks of coded rows, once more each time it is called."""
        words = split.pack(rows() if len(split.thin) else (), output, counts.classes)
        cells = counts.table
        columns = np.empty((0, 0), dtype=np.uint8)
        if len(split.wide):
            cells = cells[:, np.repeat(split.positions >= 0, split.layout.states)]
            coded = CodedRows.together([block.rows() for block in rows()])
            columns = _columns_by_class(coded, output)
        planes = Planes.with_margins(
            words,
            word_bounds(counts.classes),
            split.layout.states[split.thin],
            cells,
            nlogn_table(counts.total),
        )
        return cls(counts, split, planes, columns, n_jobs)

    @classmethod
    def of_codes(cls, codes: Codes, y: IntArray, layout: Layout, n_jobs: int = 1) -> Self:
        counts = layout.count(codes, y)
        rows = CodedRows(codes, y[:, None])
        return cls.of_rows(counts, PlaneSplit.by_cost(counts), lambda: (rows,), 0, n_jobs)

    def bring(self, column: int, likely: Sequence[int], most: int) -> None:
        """Nothing: a row is computed when it is needed."""

    def row(self, column: int, others: IntArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Sums over the tables of (X_i, X_j) and of (X_i, X_j, Y) for all columns j, or some."""
        if not len(self.split.wide):
            return self._thin_row(column, others)
        columns = np.arange(self.split.layout.n_columns) if others is None else others
        pair, triple = np.empty((2, len(columns)))
        position, positions = self.split.positions[column], self.split.positions[columns]
        by_planes = (positions >= 0) & (position >= 0)
        if by_planes.any():
            sums = self._thin_row(int(position), positions[by_planes])
            pair[by_planes], triple[by_planes] = sums
        if not by_planes.all():
            sums = self._direct(column, columns[~by_planes])
            pair[~by_planes], triple[~by_planes] = sums
        return pair, triple

    def _thin_row(self, position: int, positions: IntArray | None) -> tuple[FloatArray, FloatArray]:
        """By the positions of the columns among the thin ones; None: with all of them."""
        if positions is not None:
            few = self.planes.subset(np.append(positions, position))
            pair, triple = few.tile(np.array([len(positions)]), 0, np.array([len(positions)]))
            return pair[0], triple[0]
        n_thin = len(self.split.thin)
        work = self.planes.words.size * int(self.planes.states[position] - 1)
        jobs = self.n_jobs if work > THREAD_WORDS else 1
        if jobs == 1 and n_thin <= ROW_COLUMNS:
            return self._part(position, 0, n_thin)
        shares = spans(n_thin, -(-n_thin // jobs))
        parts = ordered_map(lambda share: self._parts(position, *share), shares, jobs)
        pairs, triples = zip(*(sums for share in parts for sums in share), strict=True)
        return np.concatenate(pairs), np.concatenate(triples)

    def _parts(self, position: int, j0: int, j1: int) -> list[tuple[FloatArray, FloatArray]]:
        """So few columns at a time that the cache holds their counts."""
        pieces = spans(j1 - j0, ROW_COLUMNS)
        return [self._part(position, j0 + first, j0 + last) for first, last in pieces]

    def _part(self, position: int, j0: int, j1: int) -> tuple[FloatArray, FloatArray]:
        pair, triple = self.planes.tile(np.array([position]), j0, np.array([j1]))
        return pair[0], triple[0]

    def _direct(self, column: int, others: IntArray) -> tuple[FloatArray, FloatArray]:
        bounds = np.concatenate(([0], np.cumsum(self.counts.classes))).astype(np.int64)
        pair, triple = np.empty((2, len(others)))
        states, table = self.split.layout.states, self.planes.table
        direct_row(self.columns, bounds, states, column, others, table, pair, triple)
        return pair, triple

    def all_pairs(self, consume: Consumer) -> None:
        """Hand each tile of pairs to ``consume(rows, columns, pair, triple)``, in threads.

        A tile on the diagonal (``rows is columns``) is complete; any other stands for its
        transpose too.
        """
        deque(ordered_map(lambda work: work(consume), self._pieces(), self.n_jobs), maxlen=0)

    def _pieces(self) -> Iterator[Callable[[Consumer], None]]:
        edges = range(0, len(self.split.thin), TILE_COLUMNS)
        yield from (self._square(i0, j0) for i0 in edges for j0 in edges if j0 < i0)
        # Half as much work each: what comes last is small, and the threads end together.
        yield from (self._square(i0, i0) for i0 in edges)
        for column in self.split.wide:
            others = np.sort(np.append(self.split.thin, self.split.wide[self.split.wide < column]))
            if len(others):
                yield self._wide_piece(int(column), others)

    def _square(self, i0: int, j0: int) -> Callable[[Consumer], None]:
        thin = self.split.thin
        positions = np.arange(i0, min(i0 + TILE_COLUMNS, len(thin)))
        j1 = min(j0 + TILE_COLUMNS, len(thin))

        def work(consume: Consumer) -> None:
            pair, triple = self.planes.tile(positions, j0, np.minimum(positions, j1))
            rows, columns = thin[positions], thin[j0 : j0 + pair.shape[1]]
            if i0 == j0:
                rows, columns, pair, triple = self._complete(rows, pair, triple)
            consume(rows, columns, pair, triple)

        return work

    def _complete(
        self, rows: IntArray, pair: FloatArray, triple: FloatArray
    ) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """A tile on the diagonal, of which the part below the diagonal is known."""
        diagonals = self.counts.column_sums[rows], self.counts.class_sums[rows]
        squares = []
        for lower, diagonal in zip((pair, triple), diagonals, strict=True):
            square = np.zeros((len(rows), len(rows)))
            square[:, :-1] = lower
            square += square.T
            np.fill_diagonal(square, diagonal)
            squares.append(square)
        return rows, rows, squares[0], squares[1]

    def _wide_piece(self, column: int, others: IntArray) -> Callable[[Consumer], None]:
        def work(consume: Consumer) -> None:
            pair, triple = self._direct(column, others)
            consume(np.array([column]), others, pair[None], triple[None])

        return work


def _columns_by_class(rows: CodedRows, output: int) -> Codes:
    """Columns × rows, the rows sorted by class."""
    order = np.argsort(rows.classes[:, output], kind="stable")
    return np.ascontiguousarray(rows.codes[order].T)
