"""Blocks of rows as bit planes: half the bytes of codes, made from the numbers in one step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.compiled.packing import (
    BITS,
    COLUMNS_AT_A_TIME,
    count_plane_pairs,
    count_planes,
    pack_block,
    unpack_planes,
)
from featsieve.discretize.base import Cuts
from featsieve.measures.information.counts import (
    ClassCounts,
    CodedRows,
    Layout,
    OutputCounts,
    PairCounts,
)

Words = npt.NDArray[np.uint64]
MOST_CUTS = 16  # a column of more states takes more planes than a code has bits
MOST_PADDING = 2  # words have at most so many times as many bits as there are rows,
FEW_ROWS = 128  # unless there are so few of them


@dataclass(frozen=True)
class PlaneLayout:
    """The states that each column of a block has; all but the last one are planes."""

    states: IntArray

    @cached_property
    def starts(self) -> npt.NDArray[np.int64]:
        return plane_starts(self.states)

    @property
    def n_planes(self) -> int:
        return int(self.starts[-1])

    @cached_property
    def column_of_plane(self) -> IntArray:
        return np.repeat(np.arange(len(self.states)), self.states - 1)

    @cached_property
    def state_of_plane(self) -> IntArray:
        return np.arange(self.n_planes) - self.starts[self.column_of_plane]


@dataclass(frozen=True)
class PackedRows:
    """The planes of a block: words × planes, rows sorted by class, each class in words of its own.

    ``classes`` are those of the rows as they come; ``margins`` count the rows of each class in each
    plane.
    """

    layout: PlaneLayout
    class_rows: IntArray
    classes: Array = field(repr=False)
    margins: IntArray = field(repr=False)
    words: Words = field(repr=False)

    @property
    def bulk(self) -> Words:
        """What takes the memory, for a block that is kept in a file."""
        return self.words

    def with_bulk(self, words: Any) -> Self:
        return replace(self, words=words)

    def rows(self) -> CodedRows:
        """The codes, in the order of the rows."""
        order, valid = words_of_rows(self.classes, self.class_rows)
        codes = np.empty((len(self.classes), len(self.layout.states)), dtype=np.uint8)
        states = np.empty(BITS, dtype=np.uint8)
        unpack_planes(self.words, order, valid, self.layout.starts, states, codes)
        return CodedRows(codes, self.classes[:, None].astype(np.int64))

    def count(self, layouts: Sequence[Layout]) -> OutputCounts:
        """The counts of all columns with the class."""
        (layout,), starts = layouts, self.layout.starts
        table = np.zeros((len(self.class_rows), layout.cells[-1]), dtype=np.int64)
        first = layout.cells[:-1]
        table[:, first[self.layout.column_of_plane] + self.layout.state_of_plane] = self.margins
        below = np.pad(np.cumsum(self.margins, axis=1), ((0, 0), (1, 0)))
        in_planes = below[:, starts[1:]] - below[:, starts[:-1]]
        table[:, first + self.layout.states - 1] = self.class_rows[:, None] - in_planes
        return OutputCounts((ClassCounts(layout, table),))

    def count_with(self, layout: Layout, output: int, column: int) -> PairCounts:
        """Counts of all columns with one of them and the class."""
        own, starts = int(layout.states[column]), self.layout.starts
        table = np.zeros((layout.n_classes, own, layout.cells[-1]), dtype=np.int64)
        planes = int(self.layout.states[column])
        count_plane_pairs(
            self.words,
            word_bounds(self.class_rows),
            self.class_rows,
            self.margins,
            starts,
            column,
            layout.cells,
            np.empty((planes, self.layout.n_planes), dtype=np.int64),
            table,
        )
        return PairCounts(layout, table)


def plane_starts(states: IntArray) -> npt.NDArray[np.int64]:
    """Where the planes of each column start: one fewer than its states."""
    return np.concatenate(([0], np.cumsum(states - 1))).astype(np.int64)


def word_bounds(class_rows: IntArray) -> npt.NDArray[np.int64]:
    """Where the words of each class start, and the end: a class begins with a new word."""
    return np.concatenate(([0], np.cumsum(-(-class_rows // BITS)))).astype(np.int64)


def words_of_rows(classes: Array, class_rows: IntArray) -> tuple[npt.NDArray[np.uint32], Words]:
    """The rows of each word (row 0 where there is none), and which bits of it are rows."""
    bounds = word_bounds(class_rows)
    order = np.zeros(BITS * bounds[-1], dtype=np.uint32)
    is_row = np.zeros(BITS * bounds[-1], dtype=bool)
    behind = BITS * bounds[:-1] - (np.cumsum(class_rows) - class_rows)
    places = np.arange(len(classes)) + np.repeat(behind, class_rows)
    order[places] = np.argsort(classes, kind="stable")
    is_row[places] = True
    return order.reshape(-1, BITS), np.packbits(is_row, bitorder="little").view(np.uint64)


@dataclass(frozen=True)
class Packer:
    """How the numbers of a block become planes, for one output of so many classes."""

    cuts: Cuts
    n_classes: int

    @property
    def fits(self) -> bool:
        return bool(self.cuts.n_states.max(initial=0) <= MOST_CUTS + 2)

    @cached_property
    def without_missing(self) -> PlaneLayout:
        return PlaneLayout(self.cuts.n_states - 1)

    @cached_property
    def with_missing(self) -> PlaneLayout:
        return PlaneLayout(self.cuts.n_states)

    def pack(self, X: FloatArray, y: Array) -> PackedRows | None:
        """None where the rows of a block are so few for so many classes that words stay empty."""
        class_rows = np.bincount(y, minlength=self.n_classes)
        n_words = int(word_bounds(class_rows)[-1])
        if BITS * n_words > MOST_PADDING * max(len(y), FEW_ROWS):
            return None
        classes = y.astype(np.uint8 if self.n_classes <= 256 else np.int32)
        order, valid = words_of_rows(classes, class_rows)
        for layout in (self.without_missing, self.with_missing):
            words = np.empty((n_words, layout.n_planes), dtype=np.uint64)
            if self._pack_into(words, layout, X, order, valid):
                break
        margins = np.empty((self.n_classes, layout.n_planes), dtype=np.int64)
        count_planes(words, word_bounds(class_rows), margins)
        return PackedRows(layout, class_rows, classes, margins, words)

    def _pack_into(
        self,
        words: Words,
        layout: PlaneLayout,
        X: FloatArray,
        order: npt.NDArray[np.uint32],
        valid: Words,
    ) -> bool:
        """Whether every missing cell has a plane."""
        by_columns = X.T.flags.c_contiguous
        values = (X.T if by_columns else np.ascontiguousarray(X)).reshape(-1)
        cuts = self.cuts.few_by_column(X.dtype)
        return bool(
            pack_block(
                values,
                1 if by_columns else X.shape[1],
                len(X) if by_columns else 1,
                order,
                valid,
                cuts,
                self.cuts.n_states - 2,
                layout.starts,
                np.empty((COLUMNS_AT_A_TIME, BITS), dtype=values.dtype),
                words,
            )
        )
