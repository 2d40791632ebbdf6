"""Freed memory goes back to the system while a table larger than the budget is read.

glibc keeps up to 64 MB of what was freed in each of its heaps, one heap per thread, and Arrow has a
pool of its own: over many blocks that adds up to more than the blocks that are in use.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import lru_cache


class FreedMemory:
    """Returned each time as many bytes were read as the budget has."""

    def __init__(self, memory_limit: int) -> None:
        self._limit, self._read = memory_limit, 0

    def count(self, n_bytes: int) -> None:
        """So many bytes were read, and are not needed any more."""
        self._read += n_bytes
        if self._read >= self._limit:
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
