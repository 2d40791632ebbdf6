"""Parquet and Arrow (Feather)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from featsieve.io.budget import Budget
from featsieve.io.foreign import damage_explained
from featsieve.io.model import ArrowTable, FileTable, Table, check_names


def read_parquet(path: Path, source: str, *, memory_limit: int) -> Table:
    """A Parquet file, a folder of them, or several by a pattern.

    In memory if its columns fit a third of the limit, else left on the disk.
    """
    import pyarrow as pa

    table = _on_disk(path, source, memory_limit)
    names = check_names(table.names, source)
    is_large = sum(_encoded_size(f.metadata) for f in table.lazy.files) > memory_limit // 3
    parts = None if is_large else _within(table.parts(names), memory_limit // 3)
    if parts is None:
        return table
    schema = table.lazy.files[0].schema_arrow
    return ArrowTable(pa.concat_tables([schema.empty_table(), *parts]), source)


def _encoded_size(metadata: Any) -> int:
    return sum(metadata.row_group(g).total_byte_size for g in range(metadata.num_row_groups))


def _on_disk(path: Path, source: str, memory_limit: int) -> FileTable:
    from featsieve.engines.files import open_parquet

    with _damage_explained(source, "Parquet"):
        if path.is_file() and not path.stat().st_size:
            raise ValueError("it is empty")
        return FileTable(open_parquet(path), path, source, memory_limit)


def _within(parts: Iterable[Any], limit: int) -> list[Any] | None:
    """All parts, or None if they are larger than the limit: what a file says of its size is that of
    its encoding, which may be a thousand times smaller."""
    kept, size = [], 0
    for part in parts:
        size += part.nbytes
        if size > limit:
            return None
        kept.append(part)
    return kept


def read_arrow(path: Path, source: str, budget: Budget) -> ArrowTable:
    """Arrow's file or stream format, which is also Feather's."""
    import pyarrow as pa

    with _damage_explained(source, "Arrow"), pa.memory_map(str(path)) as mapped:
        schema, batches = _arrow_batches(mapped)
        check_names(schema.names, source)
        data = pa.Table.from_batches(_counted(batches, budget), schema)
    return ArrowTable(data, source)


def _arrow_batches(mapped: Any) -> tuple[Any, Iterable[Any]]:
    import pyarrow as pa

    try:
        file = pa.ipc.open_file(mapped)
    except pa.ArrowInvalid:
        mapped.seek(0)
        stream = pa.ipc.open_stream(mapped)
        return stream.schema, stream
    return file.schema, map(file.get_batch, range(file.num_record_batches))


def _counted(batches: Iterable[Any], budget: Budget) -> Iterator[Any]:
    for batch in batches:
        batch.validate(full=True)  # offsets outside of the file would end the process
        budget.take(batch.nbytes)
        yield batch


def _damage_explained(source: str, kind: str) -> AbstractContextManager[None]:
    what = f"is not a complete {kind} file, or it is damaged"
    return damage_explained(source, what, "write it again")
