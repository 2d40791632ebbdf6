"""From what stands for a table to a table: paths, and batches of Arrow."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from featsieve.engines.files import PARQUET, open_parquet
from featsieve.errors import InputError
from featsieve.input.parameters import brief
from featsieve.input.tables import is_batch, refuse_unread


def opened(X: Any) -> Any:
    """X itself; a path as the table that :func:`featsieve.open_parquet` makes of it."""
    if not isinstance(X, (str, PathLike)):
        refuse_unread(X)
        return _table_of_batch(X) if is_batch(X) else X
    path = Path(X)
    if path.is_dir() or path.suffix.lower() in PARQUET:
        return open_parquet(path)
    raise InputError(
        f"X is the path {brief(str(X))}; Parquet files and folders of them are read from a path, "
        "others by X, y = featsieve.io.load_table(path, target)."
    )


def _table_of_batch(batch: Any) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches([batch])
