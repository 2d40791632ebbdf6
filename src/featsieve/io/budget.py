"""How much memory a file may take, counted while it is read: compressed and declared sizes lie."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from featsieve.errors import MemoryBudgetError
from featsieve.input.parameters import format_bytes

COMPRESSED = {".gz": "gzip", ".zst": "zstd"}
_CHUNK = 1 << 20


class Budget:
    """Bytes that a reader is about to take; beyond the limit it is told so in one sentence."""

    def __init__(self, limit: int, source: str) -> None:
        self.limit = limit
        self._source = source
        self._taken = 0

    def take(self, n_bytes: int) -> None:
        self._taken += n_bytes
        self.require(self._taken)

    def require(self, n_bytes: int) -> None:
        """Refuse ``n_bytes`` in all, without counting them."""
        if n_bytes > self.limit:
            raise MemoryBudgetError(
                f"{self._source} needs at least {format_bytes(n_bytes)} in memory, but the memory "
                f"limit is {format_bytes(self.limit)}; raise --memory-limit, or convert the file "
                "to Parquet, which is read in parts."
            )


def unpacked_size(path: Path, budget: Budget) -> int:
    """Bytes of a file when uncompressed; the reading ends where the budget does."""
    if not is_compressed(path):
        return path.stat().st_size
    size = 0
    with open_unpacked(path) as stream:
        while chunk := stream.read(_CHUNK):
            size += len(chunk)
            budget.require(size)
    return size


def is_compressed(path: Path) -> bool:
    return path.suffix.lower() in COMPRESSED


def open_unpacked(path: Path) -> Any:
    """A stream of the file's bytes, unpacked as its ending says, in capitals or not."""
    import pyarrow as pa

    file = pa.OSFile(os.fsencode(path))  # a name need not be UTF-8
    return pa.input_stream(file, compression=COMPRESSED.get(path.suffix.lower()))
