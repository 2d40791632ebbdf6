"""Batches of rows of one Parquet file, within a budget of memory, whatever its row groups are like.

A reader holds one page of each of its columns. Where the pages of all columns together exceed the
budget (a wide table in one row group, or a writer that makes one page per row group), the columns
of a row group are read a few at a time into a temporary file, and the batches come from there.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import chain, starmap
from operator import methodcaller
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import IO, Any

from featsieve.errors import InputError

BUFFER_BYTES = 1 << 16
SMALL_FILE = 1 << 24
LEAST_BUDGET = 1 << 25
USUAL_PAGE = 1 << 20  # what most writers keep a page below
COPIES_OF_A_PAGE = 3  # as stored, decompressed, and the dictionary of the column
MOST_FILES = 64
HEADER_BYTES = 64

ReadColumns = Callable[[list[str]], Iterator[Any]]  # of one row group, batch by batch


def open_file(path: Any) -> Any:
    """Neither mapped nor read ahead nor by whole column chunks: each would hold a whole row group
    or the whole file in memory in the end. Checksums of pages are verified where there are any:
    Spark and other writers in Java store them.

    A small file is read by whole column chunks all the same: Arrow's buffered stream takes as much
    memory as a page header says that the page has, up to 2 GB, before it finds that the file ends.
    """
    import pyarrow.parquet as pq

    return pq.ParquetFile(
        path,
        memory_map=False,
        pre_buffer=False,
        buffer_size=0 if Path(path).stat().st_size <= SMALL_FILE else BUFFER_BYTES,
        page_checksum_verification=True,
    )


def read_batches(
    file: Any,
    path: Any,
    columns: list[str],
    batch_rows: int,
    memory_limit: int,
    *,
    even: bool = True,
) -> Iterator[Any]:
    """pyarrow tables of consecutive rows.

    All but the last have ``batch_rows`` rows if they are to be ``even``, else none has more.
    """
    groups = _column_groups(file, path, columns, max(memory_limit // 2, LEAST_BUDGET))
    if len(groups) == 1:
        pieces: Iterator[Any] = map(_one_table, file.iter_batches(batch_rows, columns=columns))
    else:
        read = _held if _held_bytes(file, groups) <= memory_limit // 2 else _spooled
        row_groups = _row_groups(file, batch_rows, even=even)
        pieces = chain.from_iterable(read(row_group, groups) for row_group in row_groups)
    batches = _rebatched(pieces, batch_rows) if even else pieces
    # No variable here holds a table while the next one is read.
    yield from map(methodcaller("select", columns), batches)


def _row_groups(file: Any, batch_rows: int, *, even: bool) -> Iterator[ReadColumns]:
    """What reads columns of each row group, in pieces that end where even batches end."""
    first = 0
    for number in range(file.metadata.num_row_groups):
        yield partial(_row_group, file, number, batch_rows, first % batch_rows if even else 0)
        first += file.metadata.row_group(number).num_rows


def _row_group(
    file: Any, number: int, batch_rows: int, filled: int, columns: list[str]
) -> Iterator[Any]:
    """Some columns of one row group, where the first batch has ``filled`` rows already. A piece
    with rows of two batches would be held until the second one is complete."""
    for batch in file.iter_batches(batch_rows, row_groups=[number], columns=columns):
        room = batch_rows - filled
        yield batch.slice(0, room)
        if room < batch.num_rows:
            yield batch.slice(room)


def _held_bytes(file: Any, column_groups: list[list[str]]) -> float:
    """Of a row group's columns but those of the last group; infinite where nobody knows."""
    import pyarrow.types as types

    names = {name for group in column_groups[:-1] for name in group}
    kinds = [field.type for field in file.schema_arrow if field.name in names]
    if not all(types.is_primitive(kind) for kind in kinds):
        return math.inf
    n_rows = _largest_row_group(file).num_rows
    return n_rows * sum(kind.bit_width for kind in kinds) / 8


def _held(read: ReadColumns, column_groups: list[list[str]]) -> Iterator[Any]:
    """One row group, its columns a few at a time; those that were read wait in memory."""
    first = [list(read(columns)) for columns in column_groups[:-1]]
    return _side_by_side([*first, read(column_groups[-1])])


def _side_by_side(streams: list[Iterable[Any]]) -> Iterator[Any]:
    """Batches of the same rows as one table."""
    return starmap(_one_table, zip(*streams, strict=True))


def _one_table(*parts: Any) -> Any:
    import pyarrow as pa

    columns = [column for part in parts for column in part.columns]
    return pa.table(columns, [name for part in parts for name in part.schema.names])


def _column_groups(file: Any, path: Any, columns: list[str], budget: int) -> list[list[str]]:
    """Columns whose readers fit the budget together; one group where all of them do."""
    largest = _largest_row_group(file)
    if largest is None or COPIES_OF_A_PAGE * largest.total_byte_size <= budget:
        return [columns]
    costs = _reader_costs(file, path, largest)
    budget = max(budget, sum(costs.values()) // MOST_FILES)
    groups: list[list[str]] = [[]]
    used = 0
    for name in columns:
        if groups[-1] and used + costs[name] > budget:
            groups.append([])
            used = 0
        groups[-1].append(name)
        used += costs[name]
    return groups


def _largest_row_group(file: Any) -> Any:
    row_groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
    return max(row_groups, key=lambda row_group: row_group.total_byte_size, default=None)


def _reader_costs(file: Any, path: Any, row_group: Any) -> Counter[str]:
    """Bytes that the reader of each column holds at a time."""
    names = file.schema_arrow.names
    is_flat = len(names) == row_group.num_columns  # else a column of lists has several parts
    costs: Counter[str] = Counter()
    with open(path, "rb") as raw:
        for position, chunk in enumerate(map(row_group.column, range(row_group.num_columns))):
            name = names[position] if is_flat else chunk.path_in_schema.split(".")[0]
            costs[name] += _chunk_cost(raw, chunk)
    return costs


def _chunk_cost(raw: IO[bytes], chunk: Any) -> int:
    size = int(chunk.total_uncompressed_size)
    if size > USUAL_PAGE:
        size = min(size, _page_bytes(raw, chunk.data_page_offset))
    return COPIES_OF_A_PAGE * size + min(BUFFER_BYTES, int(chunk.total_compressed_size))


def _page_bytes(raw: IO[bytes], offset: int) -> int:
    """The size of a page, decompressed: the second field of its header, in Thrift's compact
    protocol (a byte for each field, and numbers of 7 bits a byte, the sign in the lowest bit)."""
    raw.seek(offset)
    header = raw.read(HEADER_BYTES)
    position, number = 0, 0
    for _ in range(2):  # the type of the page, then its size
        number, shift, position = 0, 0, position + 1
        while position < len(header):
            byte = header[position]
            number |= (byte & 0x7F) << shift
            shift, position = shift + 7, position + 1
            if byte < 0x80:
                break
    return max(number >> 1, USUAL_PAGE)


def _spooled(read: ReadColumns, column_groups: list[list[str]]) -> Iterator[Any]:
    """One row group by way of temporary files, which have no name and end with the run."""
    import pyarrow as pa

    with ExitStack() as stack:
        streams = []
        for columns in column_groups:
            spool = stack.enter_context(TemporaryFile())
            _write_stream(spool, read(columns))
            streams.append(pa.ipc.open_stream(pa.PythonFile(spool, "r")))
        pa.default_memory_pool().release_unused()  # as much as the readers of a group have held
        yield from _side_by_side(streams)


def _write_stream(spool: IO[bytes], batches: Iterable[Any]) -> None:
    import pyarrow as pa

    writer = None
    for batch in batches:
        writer = writer or pa.ipc.new_stream(pa.PythonFile(spool, "w"), batch.schema)
        try:
            writer.write_batch(batch)
        except OSError as error:
            raise _no_room(error) from None
    if writer is not None:
        writer.close()
    spool.seek(0)


def _no_room(error: OSError) -> InputError:
    return InputError(
        f"a row group larger than memory_limit could not be copied to {gettempdir()} ({error}); "
        "make room there, set TMPDIR to another folder, or raise memory_limit."
    )


def _rebatched(pieces: Iterable[Any], batch_rows: int) -> Iterator[Any]:
    """The same rows in batches of one size: blocks do not depend on the row groups of a file."""
    import pyarrow as pa

    waiting: list[Any] = []
    n_waiting = 0
    for piece in pieces:
        waiting.append(piece)
        n_waiting += piece.num_rows
        del piece
        if n_waiting >= batch_rows:
            n_waiting -= batch_rows
            yield _first_batch(waiting, batch_rows)
    if n_waiting:
        yield pa.concat_tables(waiting).unify_dictionaries()


def _first_batch(waiting: list[Any], batch_rows: int) -> Any:
    """As a table of one chunk; the list is left with the other rows."""
    import pyarrow as pa

    if len(waiting) == 1 and waiting[0].num_rows == batch_rows:
        return waiting.pop()
    rows = pa.concat_tables(waiting).unify_dictionaries()
    waiting[:] = [rows.slice(batch_rows)] if rows.num_rows > batch_rows else []
    return rows.slice(0, batch_rows).combine_chunks()
