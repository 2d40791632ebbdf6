"""Freed memory goes back to the system before it adds up to more than a small budget allows.

glibc keeps up to 64 MB of what was freed in each of its heaps, one heap per thread, and Arrow has a
pool of its own: over many blocks that is more than the blocks that are in use.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

SMALL_BUDGET = 1 << 28
ALLOWED = 32 * 10**6  # beyond the budget; what is in use may well exceed both
WORTH_A_CALL = 16 * 10**6
_RESIDENT = Path("/proc/self/statm")


class FreedMemory:
    """Returned where the process has grown by more than the budget and some more."""

    def __init__(self, memory_limit: int) -> None:
        if memory_limit <= SMALL_BUDGET:
            return_freed()  # what an earlier fit has left behind
        self._most = resident_bytes() + memory_limit + ALLOWED

    def look(self) -> None:
        """If it is all in use, a while passes before the next call."""
        if resident_bytes() > self._most:
            return_freed()
            self._most = max(self._most, resident_bytes() + WORTH_A_CALL)


def resident_bytes() -> int:
    """Of this process; 0 where the system does not tell."""
    try:
        import resource

        return int(_RESIDENT.read_text().split()[1]) * resource.getpagesize()
    except (OSError, ImportError):
        return 0


def return_freed() -> None:
    """Takes about a millisecond, and many more when the memory is asked for again."""
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
