"""From columns to codes: where to cut, how a block is coded, and the codes of all rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial, reduce
from tempfile import TemporaryFile
from threading import Lock
from typing import Any, Protocol, Self
from weakref import finalize

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.discretize.base import MAX_CUTS, Cuts, Discretizer, Sample
from featsieve.discretize.bins import choose_discretizer, choose_target_discretizer
from featsieve.discretize.codes import code_cuts
from featsieve.engines.base import BLOCK_BYTES, format_bytes, require_memory, spans
from featsieve.errors import InputError, MemoryBudgetError
from featsieve.measures.information.counts import CodedRows, Codes, Layout, OutputCounts
from featsieve.measures.information.groups import GroupCodes, fit_groups
from featsieve.protocols import CanKeepBlocks, Engine, S
from featsieve.runtime.pool import ordered_map
from featsieve.schema import Block, Target

# Cuts come from at most this many rows, chosen by the number of rows alone, so every engine finds
# the same ones. With probability 99.9 % no cut is off by more than 0.7 % of the rows (DKW).
SAMPLE_ROWS = 100_000
SAMPLE_SEED = 20_151
FETCHED_SHARE = 8  # of memory_limit: sending more codes here costs more than counting them there


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

    @property
    def n_states(self) -> IntArray:
        return self.cuts.n_states if self.groups is None else self.groups.n_states

    @property
    def layouts(self) -> list[Layout]:
        """How the counts with each output are laid out."""
        return [Layout(self.n_states, n_classes) for n_classes in self.target.n_classes]

    def count(self, rows: CodedRows) -> OutputCounts:
        """The counts of all units with each output."""
        return OutputCounts(
            tuple(
                layout.count(rows.codes, rows.classes[:, output], rows.weights)
                for output, layout in enumerate(self.layouts)
            )
        )

    def count_block(self, block: Block) -> OutputCounts:
        return self.count(self.rows(block))


def fit_coder(
    engine: Engine, discretizer: Any, n_bins: int, target_discretizer: Any = "auto"
) -> Coder:
    """Find the cuts of columns and target, in at most a few passes over the rows."""
    chosen = choose_discretizer(discretizer, n_bins)
    for_target = choose_target_discretizer(target_discretizer, n_bins)
    target, sample = _fit_target(engine, for_target)
    by_classes = chosen is not None and chosen.needs_target
    if by_classes:
        _refuse_many_joint_classes(engine, sample)
    cuts = code_cuts(engine) if chosen is None else chosen.cuts_from(engine, sample)
    is_sampled = chosen is not None and sample.rows is not None
    words = f"cuts from {sample.n_rows} of {engine.n_samples} rows" if is_sampled else None
    groups = None if engine.schema.groups is None else fit_groups(engine, cuts)
    return Coder(cuts, target, groups, words, by_classes)


def fit_target(engine: Engine, discretizer: Any, n_bins: int) -> TargetCoder:
    """The target's coder alone."""
    return _fit_target(engine, choose_target_discretizer(discretizer, n_bins))[0]


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


def _refuse_many_joint_classes(engine: Engine, sample: Sample) -> None:
    """Several outputs soon make a class of every row: no cuts can tell those apart."""
    n_classes = 0 if sample.classes is None else int(sample.classes.max()) + 1
    if engine.target.n_outputs > 1 and n_classes > MAX_CUTS + 1:
        raise InputError(
            f"the {engine.target.n_outputs} outputs have {n_classes} combinations of classes, and "
            f"discretizer='caim' takes at most {MAX_CUTS + 1}; use discretizer='quantile'."
        )


def _fit_target(engine: Engine, discretizer: Discretizer | None) -> tuple[TargetCoder, Sample]:
    """The target's coder, and the rows that all cuts come from with their classes."""
    rows = sample_rows(engine.n_samples)
    weights = _weights_of(engine) if engine.has_weights else None
    if weights is not None and rows is not None:
        weights = weights[rows]
    y = engine.take(rows, np.arange(1))[1]
    coder = TargetCoder(engine.target, _target_cuts(engine.target, y, weights, discretizer))
    return coder, Sample(rows, len(y), joint_classes(coder.encode(y)), weights)


@dataclass(frozen=True)
class _Weights:
    """The weights of blocks of rows, in order."""

    parts: tuple[FloatArray, ...]

    def merge(self, other: Self) -> Self:
        return type(self)(self.parts + other.parts)


def _weights_of(engine: Engine) -> FloatArray:
    def of_block(block: Block) -> _Weights:
        return _Weights((np.ones(block.n_rows) if block.weight is None else block.weight,))

    return np.concatenate(engine.reduce_rows(of_block).parts)


def _target_cuts(
    target: Target, y: Array, weights: FloatArray | None, discretizer: Discretizer | None
) -> Cuts | None:
    if target.is_classification:
        return None
    if discretizer is None or discretizer.needs_target:
        raise InputError(
            f"target_discretizer={discretizer!r} cannot cut a numeric target; use 'auto', "
            "'quantile', 'equal_width' or 'sigma', or task='classification' for a target of codes."
        )
    numbers = np.asarray(y, dtype=float)
    return Cuts(tuple(discretizer.cuts_of(column, weights) for column in numbers.T))


# --- the codes of all rows -----------------------------------------------------------------------


class CodedTable(Protocol):
    """The codes of all rows, and their counts with each output."""

    @property
    def counts(self) -> OutputCounts: ...

    @property
    def is_kept(self) -> bool: ...

    def blocks(self) -> Iterator[CodedRows]:
        """Blocks of consecutive rows, in order; none if the codes are not kept."""
        ...

    def reduce(self, fn: Callable[[CodedRows], S]) -> S:
        """Summarise every block of rows and merge the summaries in row order."""
        ...

    def all_rows(self) -> CodedRows:
        """The rows together; refused where the budget forbids it."""
        ...


def open_table(engine: Engine, coder: Coder) -> CodedTable:
    """One pass over the rows: code, count and keep them.

    The codes stay in memory if they, and the planes that may be made of them, take half the budget.
    Otherwise they go to a temporary file. Those of a cluster stay on its workers, and only few of
    them come here; where nothing can be kept, the rows are coded again for each pass.
    """
    n_planes = int((coder.n_states - 1).sum())
    needed = 2 * engine.n_samples * (engine.schema.n_units + n_planes // 8)
    if needed <= engine.memory_limit // (1 if engine.is_local else FETCHED_SHARE):
        return _hold(engine, coder)
    if engine.is_local:
        return _spill(engine, coder)
    kept = engine.keep(coder.rows) if isinstance(engine, CanKeepBlocks) else None
    if kept is not None:
        return RemoteTable(engine, coder, kept=kept)
    return _hold(engine, coder) if needed <= engine.memory_limit else StreamedTable(engine, coder)


@dataclass(frozen=True)
class KeptTable:
    """Blocks of codes in memory or in a file: each reader hands out one of them."""

    counts: OutputCounts
    engine: Engine = field(repr=False)
    readers: tuple[Callable[[], CodedRows], ...] = field(repr=False)
    is_kept: bool = True

    def blocks(self) -> Iterator[CodedRows]:
        return (read() for read in self.readers)

    def reduce(self, fn: Callable[[CodedRows], S]) -> S:
        summaries = ordered_map(lambda read: fn(read()), self.readers, self.engine.n_jobs)
        return reduce(lambda first, second: first.merge(second), summaries)

    def all_rows(self) -> CodedRows:
        return self._all_rows

    @cached_property
    def _all_rows(self) -> CodedRows:
        _require_memory_for_all(self.engine)
        return CodedRows.together(list(self.blocks()))


@dataclass(frozen=True)
class StreamedTable:
    """Nothing is kept: each pass codes the rows again, where they are."""

    engine: Engine = field(repr=False)
    coder: Coder = field(repr=False)
    is_kept: bool = False

    @cached_property
    def counts(self) -> OutputCounts:
        return self.engine.reduce_rows(self.coder.count_block)

    def blocks(self) -> Iterator[CodedRows]:
        return iter(())

    def reduce(self, fn: Callable[[CodedRows], S]) -> S:
        coder = self.coder
        return self.engine.reduce_rows(lambda block: fn(coder.rows(block)))

    def all_rows(self) -> CodedRows:
        _require_memory_for_all(self.engine)
        return _hold(self.engine, self.coder).all_rows()


class KeptCodes(Protocol):
    """Blocks of codes on other machines."""

    def reduce(self, fn: Callable[[CodedRows], S]) -> S: ...


@dataclass(frozen=True)
class RemoteTable(StreamedTable):
    """The codes stay on the machines that have the rows; each pass sends summaries only."""

    kept: KeptCodes = field(kw_only=True, repr=False)

    @cached_property
    def counts(self) -> OutputCounts:
        return self.kept.reduce(self.coder.count)

    def reduce(self, fn: Callable[[CodedRows], S]) -> S:
        return self.kept.reduce(fn)


def _require_memory_for_all(engine: Engine) -> None:
    """The codes are there twice while they are put together."""
    n_cells = engine.n_samples * engine.schema.n_units
    what = f"the codes of {engine.n_samples} × {engine.schema.n_units} cells"
    require_memory(2 * n_cells // 8, engine.memory_limit, what)


@dataclass(frozen=True)
class _Gathered:
    """Counts, and coded blocks that are kept apart."""

    counts: OutputCounts
    blocks: tuple[CodedRows, ...]

    def merge(self, other: Self) -> Self:
        return type(self)(self.counts.merge(other.counts), self.blocks + other.blocks)


def _hold(engine: Engine, coder: Coder) -> KeptTable:
    def of_block(block: Block) -> _Gathered:
        rows = coder.rows(block)
        return _Gathered(coder.count(rows), (rows,))

    gathered = engine.reduce_rows(of_block)
    readers = tuple(partial(_itself, rows) for rows in gathered.blocks)
    return KeptTable(gathered.counts, engine, readers)


def _itself(rows: CodedRows) -> CodedRows:
    return rows


class CodeFile:
    """Codes in a temporary file that has no name: it is gone once nothing refers to it."""

    def __init__(self, n_rows: int, n_columns: int) -> None:
        self._shape = n_rows, n_columns
        self._file: Any = TemporaryFile(prefix="featsieve-", buffering=0)  # noqa: SIM115
        self._lock = Lock()  # threads share one position in the file
        finalize(self, self._file.close)

    def write(self, start: int, codes: Codes) -> None:
        try:
            with self._lock:
                self._file.seek(start * self._shape[1])
                self._file.write(codes.data)
        except OSError as error:
            size = format_bytes(self._shape[0] * self._shape[1])
            raise MemoryBudgetError(
                f"the codes of {self._shape[0]} × {self._shape[1]} cells exceed memory_limit, and "
                f"writing them to a temporary file failed ({error.strerror}); raise memory_limit, "
                f"or set TMPDIR to a folder with {size} to spare."
            ) from None

    def read(self, start: int, stop: int) -> Codes:
        codes = np.empty((stop - start, self._shape[1]), dtype=np.uint8)
        with self._lock:
            self._file.seek(start * self._shape[1])
            self._file.readinto(codes.data)
        return codes


def _spill(engine: Engine, coder: Coder) -> KeptTable:
    """Codes go to a file, classes stay in memory."""
    file = CodeFile(engine.n_samples, engine.schema.n_units)
    dtype = np.uint8 if max(coder.target.n_classes) <= 256 else np.int32
    classes = np.empty((engine.n_samples, engine.target.n_outputs), dtype=dtype)
    weights = _weights_of(engine) if engine.has_weights else None

    def of_block(block: Block) -> OutputCounts:
        rows = coder.rows(block)
        file.write(block.start, rows.codes)
        classes[block.start : block.start + block.n_rows] = rows.classes
        return coder.count(rows)

    def read(start: int, stop: int) -> CodedRows:
        part = None if weights is None else weights[start:stop]
        return CodedRows(file.read(start, stop), classes[start:stop].astype(np.int64), part)

    counts = engine.reduce_rows(of_block)
    largest = min(BLOCK_BYTES, engine.memory_limit // (8 * engine.n_jobs))
    grid = spans(engine.n_samples, max(1, largest // engine.schema.n_units))
    return KeptTable(counts, engine, tuple(partial(read, *span) for span in grid))
