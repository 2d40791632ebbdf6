"""Parquet and Arrow (Feather)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from featsieve.errors import InputError
from featsieve.io.model import ArrowTable, FileTable, Table, check_names


def read_parquet(path: Path, source: str, *, memory_limit: int) -> Table:
    """A Parquet file, a folder of them, or several by a pattern.

    In memory if its columns fit a third of the limit, else left on the disk.
    """
    import pyarrow as pa

    lazy = _opened(path, source)
    names = check_names(lazy.all_names, source)
    if sum(_size(file.metadata) for file in lazy.files) > memory_limit // 3:
        return FileTable(lazy, path, source)
    try:
        return ArrowTable(pa.concat_tables(f.read(columns=list(names)) for f in lazy.files), source)
    except (pa.ArrowInvalid, OSError) as error:
        raise _damaged(error, source, "Parquet") from None


def _opened(path: Path, source: str) -> Any:
    from featsieve.engines.files import open_parquet

    if path.is_file() and not path.stat().st_size:
        raise _damaged(InputError("it is empty"), source, "Parquet")
    return open_parquet(path)


def read_arrow(path: Path, source: str) -> ArrowTable:
    """Arrow's file or stream format, which is also Feather's."""
    import pyarrow as pa

    try:
        with pa.memory_map(str(path)) as mapped:
            try:
                data = pa.ipc.open_file(mapped).read_all()
            except pa.ArrowInvalid:
                mapped.seek(0)
                data = pa.ipc.open_stream(mapped).read_all()
    except (pa.ArrowInvalid, OSError) as error:
        raise _damaged(error, source, "Arrow") from None
    check_names(data.column_names, source)
    return ArrowTable(data, source)


def _size(metadata: Any) -> int:
    """Bytes of all columns when uncompressed."""
    return sum(metadata.row_group(g).total_byte_size for g in range(metadata.num_row_groups))


def _damaged(error: Exception, source: str, kind: str) -> InputError:
    first = str(error).splitlines()[0] if str(error) else type(error).__name__
    return InputError(
        f"{source} is not a complete {kind} file, or it is damaged ({first[:120]}); write it again."
    )
