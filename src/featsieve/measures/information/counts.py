"""Coded rows, and counts of their states that add over blocks of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

from featsieve.arrays import FloatArray, IntArray
from featsieve.compiled.counting import add_counts, add_weights

Codes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class CodedRows:
    """Codes (rows × units), classes (rows × outputs) and weights, if any."""

    codes: Codes = field(repr=False)
    classes: IntArray = field(repr=False)
    weights: FloatArray | None = field(repr=False, default=None)

    def rows(self) -> Self:
        return self

    @property
    def bulk(self) -> Codes:
        """What takes the memory, for a block that is kept in a file."""
        return np.ascontiguousarray(self.codes)

    def with_bulk(self, codes: Any) -> Self:
        return replace(self, codes=codes)

    def count(self, layouts: Sequence[Layout]) -> OutputCounts:
        """The counts of all units with each output."""
        return OutputCounts(
            tuple(
                layout.count(self.codes, self.classes[:, output], self.weights)
                for output, layout in enumerate(layouts)
            )
        )

    def count_with(self, layout: Layout, output: int, column: int) -> PairCounts:
        """Counts of all columns with one of them and the class."""
        return layout.count_with(self.codes, self.classes[:, output], column)

    @classmethod
    def together(cls, blocks: Sequence[Self]) -> Self:
        if len(blocks) == 1:
            return blocks[0]
        weights = [block.weights for block in blocks if block.weights is not None]
        return cls(
            np.concatenate([block.codes for block in blocks]),
            np.concatenate([block.classes for block in blocks]),
            np.concatenate(weights) if weights else None,
        )


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
        state = np.arange(layout.cells[-1]) - np.repeat(layout.cells[:-1], layout.states)
        last = np.where(self.table.any(axis=0), state, 0)
        states = np.maximum.reduceat(last, layout.cells[:-1]) + 1
        kept = state < np.repeat(states, layout.states)
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


@dataclass(frozen=True)
class OutputCounts:
    """The counts of all columns with each output."""

    outputs: tuple[ClassCounts, ...]

    def merge(self, other: Self) -> Self:
        pairs = zip(self.outputs, other.outputs, strict=True)
        return type(self)(tuple(a.merge(b) for a, b in pairs))


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
        class_given_column = self.counts.class_sums[self.i] - self.counts.column_sums[self.i]
        return self._gain(self.triple - self.pair, class_given_column, 0.0)

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
