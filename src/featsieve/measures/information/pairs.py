"""Information of pairs of units, from counts on demand or all at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.measures.information.coding import CodedRows, Coder, gathered_bytes
from featsieve.measures.information.counts import ClassCounts, Layout, PairCounts
from featsieve.measures.information.pair_sums import (
    Consumer,
    PackedRows,
    PairSource,
    PairSums,
    Split,
)
from featsieve.protocols import Engine
from featsieve.schema import Block


@dataclass(frozen=True)
class OutputInformation:
    """Of column ``i`` with ``others`` for one output; H = log n − Σ n log n / n throughout."""

    counts: ClassCounts
    i: int
    others: IntArray | slice
    pair: FloatArray
    triple: FloatArray

    def mutual(self) -> FloatArray:
        alone = self.counts.column_sums
        return self._gain(self.pair - alone[self.others], alone[self.i], self.counts.log_total)

    def joint(self) -> FloatArray:
        counts = self.counts
        return self._gain(self.triple - self.pair, counts.class_nlogn, counts.log_total)

    def conditional(self) -> FloatArray:
        given = self.counts.class_sums[self.i] - self.counts.column_sums[self.i]
        return self._gain(self.triple - self.pair, given, 0.0)

    def within_classes(self) -> FloatArray:
        alone = self.counts.class_sums
        other = alone[self.i] - self.counts.class_nlogn
        return self._gain(self.triple - alone[self.others], other, 0.0)

    def symmetric_relevance(self) -> FloatArray:
        joint_entropy = self.counts.log_total - self.triple / self.counts.total
        known = joint_entropy > 0
        return np.divide(self.joint(), joint_entropy, out=np.zeros(len(known)), where=known)

    def _gain(self, sums: FloatArray, less: float, level: float) -> FloatArray:
        """level + (sums − less) / n, never below 0; ``sums`` is used up."""
        sums -= less
        sums /= self.counts.total
        sums += level
        return np.maximum(sums, 0.0, out=sums)


@dataclass(frozen=True)
class MeanInformation:
    """The mean over the outputs (a :class:`~featsieve.protocols.PairInformation`)."""

    outputs: tuple[OutputInformation, ...]

    @property
    def mutual(self) -> FloatArray:
        return self.outputs[0].mutual()  # the target does not enter

    @property
    def joint(self) -> FloatArray:
        return _mean([output.joint() for output in self.outputs])

    @property
    def conditional(self) -> FloatArray:
        return _mean([output.conditional() for output in self.outputs])

    @property
    def within_classes(self) -> FloatArray:
        return _mean([output.within_classes() for output in self.outputs])

    @property
    def symmetric_relevance(self) -> FloatArray:
        return _mean([output.symmetric_relevance() for output in self.outputs])


def _mean(rows: list[FloatArray]) -> FloatArray:
    return rows[0] if len(rows) == 1 else np.mean(rows, axis=0)


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


# (pair, triple) to n · information, up to parts that depend on one column only.
Term = Callable[[FloatArray, FloatArray], FloatArray]


def conditional_matrix(sums: PairSource) -> FloatArray:
    """I(X_j; Y | X_i) = H(X_i, X_j) + H(X_i, Y) − H(X_i) − H(X_i, X_j, Y); I(X_i; Y) for i = j."""
    counts = sums.counts
    given = counts.class_sums - counts.column_sums
    return _matrix(sums, lambda pair, triple: triple - pair, given, None, counts.information)


def mutual_matrix(sums: PairSource) -> FloatArray:
    """I(X_i; X_j) = H(X_i) + H(X_j) − H(X_i, X_j); H(X_i) for i = j."""
    counts = sums.counts
    level = counts.total * counts.log_total
    alone = counts.column_sums
    return _matrix(sums, lambda pair, triple: pair + level, alone, alone, counts.entropies)


def _matrix(
    sums: PairSource,
    term: Term,
    of_row: FloatArray,
    of_column: FloatArray | None,
    diagonal: FloatArray,
) -> FloatArray:
    """(term − of_row[i] − of_column[j]) / n for all i and j, never below 0."""
    Q = np.empty((len(diagonal), len(diagonal)))
    total = sums.counts.total

    def put(rows: IntArray, columns: IntArray, tile: FloatArray) -> None:
        found = tile - of_row[rows][:, None]
        if of_column is not None:
            found -= of_column[columns]
        found /= total
        Q[_cross(rows, columns)] = np.maximum(found, 0.0, out=found)

    def consume(rows: IntArray, columns: IntArray, pair: FloatArray, triple: FloatArray) -> None:
        tile = term(pair, triple)
        put(rows, columns, tile)
        if rows is not columns:
            put(columns, rows, tile.T)

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
