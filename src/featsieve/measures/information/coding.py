"""From columns to codes: where to cut, and how a block becomes codes, or bit planes of them.

Planes are half the bytes of codes and are made from the numbers in one step.
"""

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
    pack_block,
    unpack_planes,
)
from featsieve.discretize.base import MAX_CUTS, Cuts, Discretizer, Sample
from featsieve.discretize.bins import choose_discretizer, choose_target_discretizer
from featsieve.discretize.codes import code_cuts
from featsieve.engines.base import weights_of
from featsieve.errors import InputError
from featsieve.measures.information.counts import (
    ClassCounts,
    CodedRows,
    Layout,
    OutputCounts,
    PairCounts,
)
from featsieve.measures.information.groups import GroupCodes, fit_groups
from featsieve.protocols import Engine
from featsieve.schema import Block, Target

# Cuts come from at most this many rows, chosen by the number of rows alone, so every engine finds
# the same ones. With probability 99.9 % no cut is off by more than 0.7 % of the rows (DKW).
SAMPLE_ROWS = 100_000
SAMPLE_SEED = 20_151
Words = npt.NDArray[np.uint64]
MOST_CUTS = 16  # a column of more states takes more planes than a code has bits
MOST_PADDING = 2  # words have at most so many times as many bits as there are rows,
FEW_ROWS = 128  # unless there are so few of them
BYTES_AT_A_TIME = 1 << 16


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
            np.empty((1, planes, self.layout.n_planes), dtype=np.uint64),
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
    by_class, first = np.argsort(classes, kind="stable"), 0
    for place, n_rows in zip((BITS * bounds[:-1]).tolist(), class_rows.tolist(), strict=True):
        order[place : place + n_rows] = by_class[first : first + n_rows]
        is_row[place : place + n_rows] = True
        first += n_rows
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
        by_class = np.split(words, word_bounds(class_rows)[1:-1])
        margins = np.stack([_count_bits(part) for part in by_class])
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
        return bool(
            pack_block(
                values,
                1 if by_columns else X.shape[1],
                len(X) if by_columns else 1,
                order,
                valid,
                self.cuts.few[X.dtype],
                self.cuts.n_states - 2,
                layout.starts,
                np.empty((COLUMNS_AT_A_TIME, BITS), dtype=values.dtype),
                words,
            )
        )


def _count_bits(words: Words) -> IntArray:
    """Of each plane. By NumPy, for a kernel would be one more to compile; a few words at a time,
    for on the workers of Dask fresh memory costs more than counting."""
    counts = np.zeros(words.shape[1], dtype=np.int64)
    at_once = max(1, BYTES_AT_A_TIME // max(words.shape[1], 1))
    for first in range(0, len(words), at_once):
        counts += np.bitwise_count(words[first : first + at_once]).sum(axis=0, dtype=np.int64)
    return counts


@dataclass(frozen=True)
class TargetCoder:
    """Outputs to class codes: as they are, or cut into bins for regression."""

    target: Target
    cuts: Cuts | None

    @property
    def n_classes(self) -> tuple[int, ...]:
        if self.cuts is None:
            return self.target.class_counts
        return tuple(len(cuts) + 1 for cuts in self.cuts.columns)

    def encode(self, y: Array) -> IntArray:
        """Class codes, one column per output."""
        codes = y if self.cuts is None else self.cuts.encode(y)
        return np.asarray(codes, dtype=np.int64)

    def joint_codes(self, y: Array) -> IntArray:
        """One class code for all outputs together; several soon make a class of every row."""
        joint, n_outputs = joint_classes(self.encode(y)), self.target.n_outputs
        n_classes = int(joint.max()) + 1
        if n_outputs > 1 and n_classes > MAX_CUTS + 1:
            raise InputError(
                f"the {n_outputs} outputs have {n_classes} combinations of classes, and "
                f"discretizer='caim' takes at most {MAX_CUTS + 1}; use discretizer='quantile'."
            )
        return joint


@dataclass(frozen=True)
class Coder:
    """How a block becomes codes of units and classes."""

    cuts: Cuts
    target: TargetCoder
    groups: GroupCodes | None = None
    approximation: str | None = None
    by_classes: bool = False  # cuts that depend on the target

    def rows(self, block: Block) -> CodedRows:
        codes = self.cuts.encode(block.X)
        units = codes if self.groups is None else self.groups.of_units(codes)
        return CodedRows(units, self.target.encode(block.y), block.weight)

    def packed(self, block: Block) -> PackedRows | CodedRows:
        """As planes where the block allows it: one output, few states, no groups, no weights."""
        planes = None
        if self._packer is not None and block.weight is None:
            planes = self._packer.pack(_cells_of(block), self.target.encode(block.y)[:, 0])
        return self.rows(block) if planes is None else planes

    @cached_property
    def _packer(self) -> Packer | None:
        if self.groups is not None or len(self.target.n_classes) > 1:
            return None
        packer = Packer(self.cuts, self.target.n_classes[0])
        return packer if packer.fits else None

    @property
    def bytes_per_row(self) -> int:
        """Of what is kept of a row."""
        if self._packer is not None:
            return -(-self._packer.with_missing.n_planes // 8)
        return len(self.n_states)

    @property
    def n_states(self) -> IntArray:
        return self.cuts.n_states if self.groups is None else self.groups.n_states

    @cached_property
    def layouts(self) -> list[Layout]:
        """How the counts with each output are laid out."""
        return [Layout(self.n_states, n_classes) for n_classes in self.target.n_classes]

    def count_block(self, block: Block) -> OutputCounts:
        return self.rows(block).count(self.layouts)


def _cells_of(block: Block) -> FloatArray:
    return block.dense() if block.is_sparse else block.X


def fit_coder(
    engine: Engine, discretizer: Any, n_bins: int, target_discretizer: Any = "auto"
) -> Coder:
    """Find the cuts of columns and target, in at most a few passes over the rows."""
    target, sample = TargetCoder(engine.target, None), _sample_of(engine)
    for_target = choose_target_discretizer(target_discretizer, n_bins)
    chosen = choose_discretizer(discretizer, n_bins)
    by_classes = chosen is not None and chosen.needs_target
    if not engine.target.is_classification:
        target = _cut_target(engine, sample, for_target)
    if chosen is None:
        cuts = code_cuts(engine)
    else:
        cuts = chosen.cuts_from(engine, sample, target.joint_codes)
    is_sampled = chosen is not None and sample.rows is not None
    words = f"cuts from {sample.n_rows} of {engine.n_samples} rows" if is_sampled else None
    groups = None if engine.schema.groups is None else fit_groups(engine, cuts)
    return Coder(cuts, target, groups, words, by_classes)


def fit_target(engine: Engine, discretizer: Any, n_bins: int) -> TargetCoder:
    """The target's coder alone."""
    for_target = choose_target_discretizer(discretizer, n_bins)
    if engine.target.is_classification:
        return TargetCoder(engine.target, None)
    return _cut_target(engine, _sample_of(engine), for_target)


def _sample_of(engine: Engine) -> Sample:
    """The rows that all cuts come from."""
    rows = sample_rows(engine.n_samples)
    weights = weights_of(engine) if engine.has_weights else None
    if rows is None:
        return Sample(None, engine.n_samples, weights)
    return Sample(rows, len(rows), None if weights is None else weights[rows])


def sample_rows(n_samples: int, most: int = SAMPLE_ROWS) -> IntArray | None:
    """None for all rows, or a sorted sample of them that depends on their number only."""
    if n_samples <= most:
        return None
    rng = np.random.default_rng([SAMPLE_SEED, n_samples])
    return np.sort(rng.choice(n_samples, size=most, replace=False))


def joint_classes(codes: IntArray) -> IntArray:
    """One code per row for all outputs together; only combinations that occur get one.

    >>> joint_classes(np.array([[0, 5], [1, 5], [0, 5]])).tolist()
    [0, 1, 0]
    """
    joint = codes[:, 0]
    for output in codes.T[1:]:
        pairs = joint * (int(output.max()) + 1) + output
        joint = np.unique(pairs, return_inverse=True)[1].reshape(-1)
    return joint


def _cut_target(engine: Engine, sample: Sample, discretizer: Discretizer | None) -> TargetCoder:
    """For numbers."""
    if discretizer is None or discretizer.needs_target:
        raise InputError(
            f"target_discretizer={discretizer!r} cannot cut a numeric target; use 'auto', "
            "'quantile', 'equal_width' or 'sigma', or task='classification' for a target of codes."
        )
    numbers = np.asarray(engine.targets(sample.rows), dtype=float)
    cuts = (discretizer.cuts_of(column, sample.weights) for column in numbers.T)
    return TargetCoder(engine.target, Cuts(tuple(cuts)))
