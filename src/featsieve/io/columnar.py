"""Parquet and Arrow (Feather)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from featsieve.io.budget import Budget
from featsieve.io.foreign import damage_explained
from featsieve.io.model import ArrowTable, FileTable, Table, check_names, usual_types


def read_parquet(path: Path, source: str, *, memory_limit: int) -> Table:
    """A Parquet file, a folder of them, or several by a pattern.

    In memory if its columns fit a third of the limit, else left on the disk.
    """
    table = _on_disk(path, source, memory_limit)
    check_names(table.names, source)
    return table.in_memory_if_small()


def _on_disk(path: Path, source: str, memory_limit: int) -> FileTable:
    from featsieve.engines.files import open_parquet

    with _damage_explained(source, "Parquet"):
        if path.is_file() and not path.stat().st_size:
            raise ValueError("it is empty")
        return FileTable(open_parquet(path), path, source, memory_limit)


def read_arrow(path: Path, source: str, budget: Budget) -> ArrowTable:
    """Arrow's file or stream format, which is also Feather's."""
    import pyarrow as pa

    with _damage_explained(source, "Arrow"), pa.memory_map(str(path)) as mapped:
        schema, batches = _arrow_batches(mapped)
        check_names(schema.names, source)
        data = pa.Table.from_batches(_counted(batches, budget), schema)
    return ArrowTable(usual_types(data), source)


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
        budget.take(batch.get_total_buffer_size())  # nbytes fails on views of text
        yield batch


def _damage_explained(source: str, kind: str) -> AbstractContextManager[None]:
    what = f"is not a complete {kind} file, or it is damaged"
    return damage_explained(source, what, "write it again")
