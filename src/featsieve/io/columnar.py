"""Parquet and Arrow (Feather)."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from featsieve.errors import InputError
from featsieve.io.foreign import damage_explained
from featsieve.io.model import ArrowTable, FileTable, Table, check_names


def read_parquet(path: Path, source: str, *, memory_limit: int) -> Table:
    """A Parquet file: in memory if its columns fit a third of the limit, else left on the disk."""
    import pyarrow.parquet as pq

    with _damage_explained(source, "Parquet"), pq.ParquetFile(path) as file:
        names = check_names(file.schema_arrow.names, source)
        _check_types(file.schema_arrow, source)
        if _size(file.metadata) > memory_limit // 3:
            return _on_disk(path, source)
        return ArrowTable(file.read(columns=list(names)), source)


def read_arrow(path: Path, source: str) -> ArrowTable:
    """Arrow's file or stream format, which is also Feather's."""
    import pyarrow as pa

    with _damage_explained(source, "Arrow"), pa.memory_map(str(path)) as mapped:
        try:
            data = pa.ipc.open_file(mapped).read_all()
        except pa.ArrowInvalid:
            mapped.seek(0)
            data = pa.ipc.open_stream(mapped).read_all()
        data.validate(full=True)  # offsets outside of the file would end the process
    check_names(data.column_names, source)
    _check_types(data.schema, source)
    return ArrowTable(data, source)


def _size(metadata: Any) -> int:
    """Bytes of all columns when uncompressed."""
    return sum(metadata.row_group(g).total_byte_size for g in range(metadata.num_row_groups))


def _on_disk(path: Path, source: str) -> FileTable:
    from featsieve.engines.files import open_parquet

    return FileTable(open_parquet(path), path, source)


def _check_types(schema: Any, source: str) -> None:
    import pyarrow.types as kinds

    for field in schema:
        if kinds.is_nested(field.type):
            raise InputError(
                f"the column {field.name!r} of {source} holds nested values ({field.type}); "
                "allowed are numbers, booleans and categories: split it into columns or drop it."
            )


def _damage_explained(source: str, kind: str) -> AbstractContextManager[None]:
    what = f"is not a complete {kind} file, or it is damaged"
    return damage_explained(source, what, "write it again")
