"""Σ n log n over the joint states of pairs, by a pass over the rows for each column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.measures.information.coding import CodedTable
from featsieve.measures.information.counts import ClassCounts, CodedRows, PairCounts
from featsieve.measures.information.pair_sums import Consumer


@dataclass(frozen=True)
class _ManyPairCounts:
    """The counts of all columns with each of several ones."""

    columns: tuple[PairCounts, ...]

    def merge(self, other: Self) -> Self:
        pairs = zip(self.columns, other.columns, strict=True)
        return type(self)(tuple(a.merge(b) for a, b in pairs))


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
    _known: dict[int, tuple[FloatArray, FloatArray]] = field(default_factory=dict, repr=False)

    def row(self, column: int, others: IntArray | None = None) -> tuple[FloatArray, FloatArray]:
        if column not in self._known:
            self._known[column] = self._pass([column])[0]
        pair, triple = self._known[column]
        return (pair.copy(), triple.copy()) if others is None else (pair[others], triple[others])

    def all_pairs(self, consume: Consumer) -> None:
        columns = np.arange(self.counts.layout.n_columns)
        for batch in np.array_split(columns, self._n_batches()):
            for column, sums in zip(batch, self._pass(batch.tolist()), strict=True):
                others = columns[: column + 1]
                consume(np.array([column]), others, sums[0][None, others], sums[1][None, others])

    def _n_batches(self) -> int:
        """So many that the tables of a batch take an eighth of the budget in all threads."""
        layout = self.counts.layout
        table = 8 * layout.n_classes * int(layout.states.max()) * int(layout.cells[-1])
        at_once = max(1, self.memory_limit // (8 * self.n_jobs * table))
        return -(-layout.n_columns // at_once)

    def _pass(self, columns: Sequence[int]) -> list[tuple[FloatArray, FloatArray]]:
        layout, output = self.counts.layout, self.output

        def of_rows(rows: CodedRows) -> _ManyPairCounts:
            y = rows.classes[:, output]
            return _ManyPairCounts(tuple(layout.count_with(rows.codes, y, c) for c in columns))

        return [counts.sums() for counts in self.table.reduce(of_rows).columns]
