"""Our own threads: kernels are serial and release the GIL, a pool runs their pieces."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def count_jobs(n_jobs: int | None) -> int:
    """Number of threads: None and −1 mean all processors, −2 all but one, and so on.

    >>> count_jobs(3)
    3
    """
    processors = os.cpu_count() or 1
    if n_jobs is None:
        return processors
    return n_jobs if n_jobs > 0 else max(1, processors + 1 + n_jobs)


def map_in_threads(
    fn: Callable[[Item], Answer], items: Sequence[Item], n_jobs: int
) -> list[Answer]:
    """``fn`` of each item, in the order of the items.

    >>> map_in_threads(abs, [-1, 2], n_jobs=2)
    [1, 2]
    """
    if n_jobs == 1 or len(items) < 2:
        return [fn(item) for item in items]
    with ThreadPoolExecutor(min(n_jobs, len(items))) as pool:
        return list(pool.map(fn, items))
