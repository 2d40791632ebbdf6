"""Our own thread pool: results in order, few pieces in flight, one BLAS thread per worker."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from contextvars import copy_context
from functools import lru_cache
from threading import Lock, local
from typing import Any, TypeVar

from featsieve.runtime.progress import SILENT, Monitor, TimeUp

T = TypeVar("T")
R = TypeVar("R")
LOOK_SECONDS = 0.05
LAST_SECONDS = 0.3  # of a reader, after the limit


_pools: dict[int, ThreadPoolExecutor] = {}
_opening = Lock()
_here = local()
_END = object()


def ordered_map(fn: Callable[[T], R], items: Iterable[T], n_jobs: int) -> Iterator[R]:
    """Like ``map``, on threads; at most two pieces per thread are under way at any time.

    Called from one of those threads it works in that thread: waiting for the others could last
    for ever.
    """
    if n_jobs == 1 or is_worker():
        yield from map(fn, items)
        return
    pool = _pool(n_jobs)
    pending: deque[Future[R]] = deque()
    with single_threaded_blas():
        try:
            for item in items:
                pending.append(pool.submit(copy_context().run, fn, item))
                if len(pending) >= 2 * n_jobs:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:  # nothing may still be at work on arrays and files of a run that has ended
            wait([future for future in pending if not future.cancel()])


def read_ahead(items: Iterator[T], monitor: Monitor = SILENT) -> Iterator[T]:
    """The same items; the next one is fetched while the last one is used.

    The clock is looked at while an item is waited for. At the limit the reader gets a moment to
    come to its end; one that needs longer is left behind, and ends when it has the item, which
    nobody takes.
    """
    reader, in_time = ThreadPoolExecutor(1, "featsieve-reader"), True
    try:
        upcoming = reader.submit(next, items, _END)
        while (item := _awaited(upcoming, monitor)) is not _END:
            upcoming = reader.submit(next, items, _END)
            yield item  # type: ignore[misc]
    except TimeUp:
        in_time = bool(wait([upcoming], LAST_SECONDS).done)
        raise
    finally:
        reader.shutdown(wait=in_time, cancel_futures=True)


def _awaited(future: Future[R], monitor: Monitor) -> R:
    while monitor.has_limit and not wait([future], LOOK_SECONDS).done:
        monitor.check()
    return future.result()


def _pool(n_jobs: int) -> ThreadPoolExecutor:
    """The threads are kept: new ones would have to get their memory from the system again."""
    with _opening:
        if n_jobs not in _pools:
            _pools[n_jobs] = ThreadPoolExecutor(n_jobs, "featsieve", initializer=_become_worker)
        return _pools[n_jobs]


def is_worker() -> bool:
    """Whether this is a thread of a pool."""
    return bool(getattr(_here, "is_worker", False))


def _become_worker() -> None:
    _here.is_worker = True


def _forget_pools() -> None:
    """A forked process has a copy of the pools, but none of their threads."""
    global _opening
    _pools.clear()
    _opening = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pools)


def single_threaded_blas() -> AbstractContextManager[Any]:
    """The same sums for any number of threads, and no waiting of threads on small matrices."""
    controller = _blas_controller()
    return nullcontext() if controller is None else controller.limit(limits=1, user_api="blas")


@lru_cache(maxsize=1)
def _blas_controller() -> Any:
    """Looking up the loaded BLAS libraries costs milliseconds, so it is done once."""
    from threadpoolctl import ThreadpoolController

    controller = ThreadpoolController()
    return controller if controller.info() else None
