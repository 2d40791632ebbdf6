"""The codes of all rows: in memory, in a temporary file, or on the machines that have the rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial, reduce
from tempfile import TemporaryFile
from threading import Lock
from typing import Any, Protocol, Self
from weakref import finalize

import numpy as np

from featsieve.arrays import Array
from featsieve.engines.base import require_memory
from featsieve.engines.remote import CanKeepBlocks
from featsieve.errors import MemoryBudgetError
from featsieve.input.parameters import format_bytes
from featsieve.measures.information.coding import Coder, PackedRows
from featsieve.measures.information.counts import CodedRows, OutputCounts
from featsieve.protocols import Engine, S
from featsieve.runtime.pool import ordered_map
from featsieve.schema import Block

FETCHED_SHARE = 8  # of memory_limit: sending more codes here costs more than counting them there
COPIES_HELD = 4  # the blocks, what is made of them, and as much to spare

NOTHING: Array = np.empty((0, 0), dtype=np.uint8)

CodedBlock = CodedRows | PackedRows


class CodedTable(Protocol):
    """The codes of all rows, and their counts with each output."""

    @property
    def counts(self) -> OutputCounts: ...

    @property
    def is_kept(self) -> bool: ...

    @property
    def is_remote(self) -> bool:
        """Whether a pass costs a round of messages."""
        ...

    def blocks(self) -> Iterator[CodedBlock]:
        """Blocks of consecutive rows, in order; none if the codes are not kept."""
        ...

    def reduce(self, fn: Callable[[CodedBlock], S]) -> S:
        """Summarise every block of rows and merge the summaries in row order."""
        ...

    def all_rows(self) -> CodedRows:
        """The rows together; refused where the budget forbids it."""
        ...


def open_table(engine: Engine, coder: Coder) -> CodedTable:
    """One pass over the rows: code, count and keep them.

    The codes stay in memory if they, and what may be made of them, fit the budget. Otherwise they
    go to a temporary file. Those of a cluster stay on its workers, and only few of them come here;
    where nothing can be kept, the rows are coded again for each pass.
    """
    needed = COPIES_HELD * engine.n_samples * coder.bytes_per_row
    if needed <= engine.memory_limit // (1 if engine.is_local else FETCHED_SHARE):
        return _hold(engine, coder)
    if engine.is_local:
        return _spill(engine, coder)
    kept = engine.keep(coder.packed) if isinstance(engine, CanKeepBlocks) else None
    if kept is not None:
        return RemoteTable(engine, coder, kept=kept)
    return _hold(engine, coder) if needed <= engine.memory_limit else StreamedTable(engine, coder)


@dataclass(frozen=True)
class KeptTable:
    """Blocks of codes in memory or in a file: each reader hands out one of them."""

    counts: OutputCounts
    engine: Engine = field(repr=False)
    readers: tuple[Callable[[], CodedBlock], ...] = field(repr=False)
    is_kept: bool = True
    is_remote: bool = False

    def blocks(self) -> Iterator[CodedBlock]:
        return (read() for read in self.readers)

    def reduce(self, fn: Callable[[CodedBlock], S]) -> S:
        summaries = ordered_map(lambda read: fn(read()), self.readers, self.engine.n_jobs)
        return reduce(lambda first, second: first.merge(second), summaries)

    def all_rows(self) -> CodedRows:
        return self._all_rows

    @cached_property
    def _all_rows(self) -> CodedRows:
        _require_memory_for_all(self.engine)
        return CodedRows.together([block.rows() for block in self.blocks()])


@dataclass(frozen=True)
class StreamedTable:
    """Nothing is kept: each pass codes the rows again, where they are."""

    engine: Engine = field(repr=False)
    coder: Coder = field(repr=False)
    is_kept: bool = False
    is_remote: bool = False

    @cached_property
    def counts(self) -> OutputCounts:
        return self.engine.reduce_rows(self.coder.count_block)

    def blocks(self) -> Iterator[CodedBlock]:
        return iter(())

    def reduce(self, fn: Callable[[CodedBlock], S]) -> S:
        coder = self.coder
        return self.engine.reduce_rows(lambda block: fn(coder.packed(block)))

    def all_rows(self) -> CodedRows:
        _require_memory_for_all(self.engine)
        return _hold(self.engine, self.coder).all_rows()


class KeptCodes(Protocol):
    """Blocks of codes on other machines."""

    def reduce(self, fn: Callable[[CodedBlock], S]) -> S: ...


@dataclass(frozen=True)
class RemoteTable(StreamedTable):
    """The codes stay on the machines that have the rows; each pass sends summaries only."""

    kept: KeptCodes = field(kw_only=True, repr=False)
    is_remote: bool = True

    @cached_property
    def counts(self) -> OutputCounts:
        layouts = self.coder.layouts
        return self.kept.reduce(lambda block: block.count(layouts))

    def reduce(self, fn: Callable[[CodedBlock], S]) -> S:
        return self.kept.reduce(fn)


def _require_memory_for_all(engine: Engine) -> None:
    """The codes are there twice while they are put together."""
    n_cells = engine.n_samples * engine.schema.n_units
    what = f"the codes of {engine.n_samples} × {engine.schema.n_units} cells"
    require_memory(2 * n_cells // 8, engine.memory_limit, what)


@dataclass(frozen=True)
class _Gathered:
    """Counts, and what reads each of the coded blocks."""

    counts: OutputCounts
    readers: tuple[Callable[[], CodedBlock], ...]

    def merge(self, other: Self) -> Self:
        return type(self)(self.counts.merge(other.counts), self.readers + other.readers)


def _hold(engine: Engine, coder: Coder) -> KeptTable:
    return _keep(engine, coder, lambda coded: partial(_itself, coded))


def _keep(
    engine: Engine, coder: Coder, keep: Callable[[CodedBlock], Callable[[], CodedBlock]]
) -> KeptTable:
    def of_block(block: Block) -> _Gathered:
        coded = coder.packed(block)
        return _Gathered(coded.count(coder.layouts), (keep(coded),))

    gathered = engine.reduce_rows(of_block)
    return KeptTable(gathered.counts, engine, gathered.readers)


def _itself(block: CodedBlock) -> CodedBlock:
    return block


class CodeFile:
    """Arrays in a temporary file that has no name: it is gone once nothing refers to it."""

    def __init__(self, n_rows: int, n_columns: int) -> None:
        self._shape = n_rows, n_columns
        self._file: Any = TemporaryFile(prefix="featsieve-", buffering=0)  # noqa: SIM115
        self._lock = Lock()  # threads share one position in the file
        finalize(self, self._file.close)

    def append(self, array: Array) -> Callable[[], Array]:
        """Write an array; what comes back reads it again."""
        try:
            with self._lock:
                start = self._file.seek(0, os.SEEK_END)
                self._file.write(array.data)
        except OSError as error:
            n_rows, n_columns = self._shape
            raise MemoryBudgetError(
                f"the codes of {n_rows} × {n_columns} cells exceed memory_limit, and writing them "
                f"to a temporary file failed ({error.strerror}); raise memory_limit, or set TMPDIR "
                f"to a folder with {format_bytes(n_rows * n_columns)} to spare."
            ) from None
        return partial(self._read, start, array.shape, array.dtype)

    def _read(self, start: int, shape: tuple[int, ...], dtype: Any) -> Array:
        array: Array = np.empty(shape, dtype=dtype)
        with self._lock:
            self._file.seek(start)
            self._file.readinto(array.data)
        return array


def _spill(engine: Engine, coder: Coder) -> KeptTable:
    """Codes or planes go to a file, classes and weights stay in memory."""
    file = CodeFile(engine.n_samples, engine.schema.n_units)

    def to_file(coded: CodedBlock) -> Callable[[], CodedBlock]:
        read = file.append(coded.bulk)
        left = coded.with_bulk(NOTHING)
        return lambda: left.with_bulk(read())

    return _keep(engine, coder, to_file)
