"""Where the sums over pair tables come from: rows held in packed form, or a pass over the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from featsieve.measures.information.coded_rows import CodedRows, gathered_bytes
from featsieve.measures.information.coding import Coder
from featsieve.measures.information.contingency import ClassCounts, Layout, PairCounts
from featsieve.measures.information.pair_sums import (
    Consumer,
    PackedRows,
    PairSource,
    PairSums,
    Split,
)
from featsieve.protocols import Engine
from featsieve.schema import Block, FloatArray, IntArray

Sums = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class OutputCounts:
    """The counts of all columns with each output."""

    outputs: tuple[ClassCounts, ...]

    def merge(self, other: Self) -> Self:
        pairs = zip(self.outputs, other.outputs, strict=True)
        return type(self)(tuple(a.merge(b) for a, b in pairs))


@dataclass(frozen=True)
class OutputCounter:
    """Counts a block's units with each output."""

    coder: Coder

    def of_block(self, block: Block) -> OutputCounts:
        codes, classes = self.coder.codes(block), self.coder.classes(block)
        counted = [
            Layout(self.coder.n_states, n_classes).count(codes, classes[:, output], block.weight)
            for output, n_classes in enumerate(self.coder.target.n_classes)
        ]
        return OutputCounts(tuple(counted))


@dataclass(frozen=True)
class ManyPairCounts:
    """The counts of all columns with each of several ones."""

    columns: tuple[PairCounts, ...]

    def merge(self, other: Self) -> Self:
        pairs = zip(self.columns, other.columns, strict=True)
        return type(self)(tuple(a.merge(b) for a, b in pairs))


@dataclass(frozen=True)
class StreamedPairs:
    """Each call is a pass over the rows; what was computed for a column is kept."""

    engine: Engine
    coder: Coder
    counts: ClassCounts
    output: int
    _known: dict[int, Sums] = field(default_factory=dict, repr=False)

    def row(self, column: int, others: IntArray | None = None) -> Sums:
        if column not in self._known:
            self._known[column] = self._pass([column])[0]
        pair, triple = self._known[column]
        return (pair, triple) if others is None else (pair[others], triple[others])

    def all_pairs(self, consume: Consumer) -> None:
        columns = np.arange(self.counts.layout.n_columns)
        for batch in np.array_split(columns, self._n_batches()):
            for column, sums in zip(batch, self._pass(batch.tolist()), strict=True):
                others = columns[: column + 1]
                consume(np.array([column]), others, sums[0][None, others], sums[1][None, others])

    def _n_batches(self) -> int:
        """So many that the tables of a batch take a quarter of the budget in every thread."""
        layout = self.counts.layout
        table = 8 * layout.n_classes * int(layout.states.max()) * int(layout.cells[-1])
        at_once = max(1, self.engine.memory_limit // (8 * self.engine.n_jobs * table))
        return -(-layout.n_columns // at_once)

    def _pass(self, columns: Sequence[int]) -> list[Sums]:
        coder, layout, output = self.coder, self.counts.layout, self.output

        def of_block(block: Block) -> ManyPairCounts:
            codes, y = coder.codes(block), coder.classes(block)[:, output]
            return ManyPairCounts(tuple(layout.count_with(codes, y, c) for c in columns))

        return [counts.sums() for counts in self.engine.reduce_rows(of_block).columns]


def open_pairs(
    engine: Engine,
    coder: Coder,
    counts: ClassCounts,
    output: int,
    all_rows: Callable[[], CodedRows],
) -> PairSource:
    """Hold the rows packed if half the budget allows it, else read them again for each column.

    Packing all rows at once wastes fewer bits at the ends of classes than packing block by block.
    """
    split = Split.by_cost(counts)
    held = split.held_bytes(engine.n_samples) * engine.target.n_outputs
    if 2 * (held + gathered_bytes(engine)) <= engine.memory_limit:
        rows = all_rows()
        packed = split.pack(rows.codes, rows.classes[:, output])
        return PairSums(counts, split, packed, engine.n_jobs)
    if 2 * held > engine.memory_limit:
        return StreamedPairs(engine, coder, counts, output)

    def of_block(block: Block) -> PackedRows:
        return split.pack(coder.codes(block), coder.classes(block)[:, output])

    return PairSums(counts, split, engine.reduce_rows(of_block), engine.n_jobs)
