"""Independent pieces of work side by side, their results in the order of the pieces."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

from joblib import effective_n_jobs

T = TypeVar("T")
U = TypeVar("U")


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def in_order(
    fn: Callable[[T], U], pieces: Iterable[T], *, n_jobs: int | None
) -> Generator[U, None, None]:
    """``map`` over ``n_jobs`` threads; a consumer that stops early leaves nothing running.

    BLAS has one thread meanwhile: the same sums for any ``n_jobs``, and no threads that wait for
    each other on small matrices.
    """
    n_threads = effective_n_jobs(n_jobs)
    with _blas().limit(limits=1, user_api="blas"):
        if n_threads == 1:
            yield from map(fn, pieces)
        else:
            yield from _threaded(fn, pieces, n_threads)


def _threaded(
    fn: Callable[[T], U], pieces: Iterable[T], n_threads: int
) -> Generator[U, None, None]:
    pool = ThreadPoolExecutor(n_threads)
    waiting: deque[Future[U]] = deque()
    try:
        for piece in pieces:
            waiting.append(pool.submit(fn, piece))
            if len(waiting) > n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
