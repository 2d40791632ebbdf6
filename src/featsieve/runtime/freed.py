"""Freed memory goes back to the system while a table larger than the budget is read.

glibc keeps up to 64 MB of what was freed in each of its heaps, one heap per thread, and Arrow has a
pool of its own: over many blocks that adds up to more than the blocks that are in use.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import lru_cache

TIMES_PER_BUDGET = 8


class FreedMemory:
    """Returned each time some part of the budget was read: where it is large, hardly ever."""

    def __init__(self, memory_limit: int) -> None:
        self._most, self._read = memory_limit // TIMES_PER_BUDGET, 0

    def count(self, n_bytes: int) -> None:
        """So many bytes are read, or are about to be."""
        self._read += n_bytes
        if self._read >= self._most:
            self._read = 0
            return_freed()


def return_freed() -> None:
    """Takes about a millisecond, and a little more when the memory is asked for again."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


@lru_cache(maxsize=1)
def _malloc_trim() -> Callable[[int], int] | None:
    """Of glibc; other C libraries keep less, or have no such function."""
    if not sys.platform.startswith("linux"):
        return None
    trim: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return trim
