"""The fixed grid of row blocks and column tiles, and what the memory budget allows of it."""

from __future__ import annotations

from collections.abc import Iterator

from featsieve.errors import MemoryBudgetError

BLOCK_BYTES = 1 << 24
MOST_ROWS = 1 << 16
FEWEST_ROWS = 16
COPIES_A_BLOCK = 4  # the block, its centred copy, a product and its expansion
TILE_ROWS = 1024
TILE_COLUMNS = 64
BYTES_A_NUMBER = 8


def block_rows(n_features: int, memory_limit: int, n_jobs: int) -> int:
    """Rows a block: a power of two that depends on the shape, less only where the budget forces it.

    >>> block_rows(50, 1 << 30, 2), block_rows(50_000, 1 << 30, 2), block_rows(50_000, 1 << 26, 2)
    (32768, 32, 16)
    """
    row_bytes = BYTES_A_NUMBER * max(n_features, 1)
    rows = MOST_ROWS
    while rows > FEWEST_ROWS and rows * row_bytes > BLOCK_BYTES:
        rows //= 2
    while rows > FEWEST_ROWS and COPIES_A_BLOCK * n_jobs * rows * row_bytes > memory_limit:
        rows //= 2
    return rows


def spans(total: int, width: int) -> Iterator[tuple[int, int]]:
    """Consecutive (start, stop) that cover ``range(total)``.

    >>> list(spans(5, 2))
    [(0, 2), (2, 4), (4, 5)]
    """
    for start in range(0, total, width):
        yield start, min(start + width, total)


def tile_columns(n_samples: int, memory_limit: int, n_jobs: int) -> int:
    """Columns a tile when whole columns are needed at once."""
    affordable = memory_limit // (COPIES_A_BLOCK * n_jobs * BYTES_A_NUMBER * max(n_samples, 1))
    if affordable < 1:
        require_memory(COPIES_A_BLOCK * n_jobs * n_samples, memory_limit, "a whole column a thread")
    return min(TILE_COLUMNS, affordable)


def require_memory(n_numbers: int, memory_limit: int, what: str) -> None:
    """Refuse, in one sentence, what the budget forbids."""
    needed = n_numbers * BYTES_A_NUMBER
    if needed > memory_limit:
        raise MemoryBudgetError(
            f"{what} needs {format_bytes(needed)}, but memory_limit is "
            f"{format_bytes(memory_limit)}; raise memory_limit, or give fewer rows or columns."
        )


def format_bytes(n_bytes: int) -> str:
    """
    >>> format_bytes(1 << 30), format_bytes(1536)
    ('1.0 GiB', '1.5 KiB')
    """
    size = float(n_bytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"
