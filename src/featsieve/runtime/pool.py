"""Our own thread pool: results in order, few pieces in flight, one BLAS thread per worker."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from contextvars import Context, copy_context
from functools import lru_cache
from threading import Event, Lock, local
from typing import Any, TypeVar

from featsieve.runtime.progress import SILENT, Monitor, TimeUp

T = TypeVar("T")
R = TypeVar("R")
LOOK_SECONDS = 0.05
LAST_SECONDS = 0.3  # of a reader, after the limit


_pools: dict[int, _Pool] = {}
_opening = Lock()
_here = local()
_END = object()


def ordered_map(
    fn: Callable[[T], R],
    items: Iterable[T],
    n_jobs: int,
    at_once: Callable[[], int] | None = None,
    unwanted: Event | None = None,
) -> Iterator[R]:
    """Like ``map``, on threads; at most two pieces per thread are under way at any time, or as many
    as ``at_once`` says at that time. ``unwanted`` tells those at work that nobody waits for them.

    Called from one of those threads it works in that thread: waiting for the others could last
    for ever.
    """
    if n_jobs == 1 or is_worker():
        yield from map(fn, items)
        return
    pool = _pool(n_jobs)
    most = at_once or (lambda: 2 * n_jobs)
    pending: deque[Future[R]] = deque()
    with single_threaded_blas():
        try:
            for item in items:
                pending.append(pool.submit(fn, item))
                while pending and len(pending) >= most():
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:  # nothing may still be at work on arrays and files of a run that has ended
            if unwanted is not None:
                unwanted.set()
            wait(pool.take_back(pending))


def shared_map(fn: Callable[[T], R], items: Sequence[T], n_jobs: int) -> list[R]:
    """Like ``map``, for items of about a millisecond: this thread works instead of waiting, and
    threads of the pool that have nothing else to do help it.

    Called from a thread of a pool, it is that pool.
    """
    if n_jobs == 1:
        return list(map(fn, items))
    results: dict[int, R] = {}
    left = iter(range(len(items)))

    def work(_: None = None) -> None:
        try:
            for number in left:
                results[number] = fn(items[number])
        finally:  # after an error nobody needs the others
            deque(left, maxlen=0)

    pool = getattr(_here, "pool", None) or _pool(n_jobs)
    n_helpers = min(n_jobs, len(items)) - 1
    helpers: list[Future[None]] = []
    try:
        for _ in range(min(n_helpers, pool.n_free)):
            helpers.append(pool.submit(work, None))
        work()
    finally:
        deque(left, maxlen=0)
        wait(begun := pool.take_back(helpers))
    for helper in begun:
        helper.result()
    return [results[number] for number in range(len(items))]


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


class _Pool:
    """Threads, and how many of them have nothing to do (fewer than none while work waits)."""

    def __init__(self, n_jobs: int) -> None:
        self._threads = ThreadPoolExecutor(n_jobs, "featsieve", initializer=self._join)
        self._counting = Lock()
        self.n_free = n_jobs

    def _join(self) -> None:
        _here.pool = self

    def submit(self, fn: Callable[[T], R], item: T) -> Future[R]:
        self._count(-1)
        return self._threads.submit(self._run, copy_context(), fn, item)

    def _run(self, context: Context, fn: Callable[[T], R], item: T) -> R:
        try:
            return context.run(fn, item)
        finally:  # who waits for the result finds the thread free
            self._count(1)

    def take_back(self, futures: Collection[Future[R]]) -> list[Future[R]]:
        """What no thread has begun is left out; those that have been begun come back."""
        begun = [future for future in futures if not future.cancel()]
        self._count(len(futures) - len(begun))
        return begun

    def _count(self, change: int) -> None:
        with self._counting:
            self.n_free += change


def _pool(n_jobs: int) -> _Pool:
    """The threads are kept: new ones would have to get their memory from the system again."""
    with _opening:
        if n_jobs not in _pools:
            _pools[n_jobs] = _Pool(n_jobs)
        return _pools[n_jobs]


def is_worker() -> bool:
    """Whether this is a thread of a pool."""
    return hasattr(_here, "pool")


def _forget_pools() -> None:
    """A forked process has a copy of the pools, but none of their threads."""
    global _opening, _here
    _pools.clear()
    _opening, _here = Lock(), local()
    _one_thread.unlock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pools)


def single_threaded_blas() -> AbstractContextManager[Any]:
    """The same sums for any number of threads, and no waiting of threads on small matrices."""
    return _one_thread.asked_for()


class _OneThread:
    """BLAS on one thread as long as anybody wants that.

    Fits that run at once, and generators, end in any order: each would put back what it met, which
    may be the one thread of another. So the last puts back what the first met.
    """

    def __init__(self) -> None:
        self._counting = Lock()
        self._n_asking = 0
        self._first: Any = None

    def unlock(self) -> None:
        """Another thread may have been counting when this process was forked."""
        self._counting = Lock()

    @contextmanager
    def asked_for(self) -> Iterator[None]:
        controller = _blas_controller()
        if controller is None:
            yield
            return
        self._count(1, controller)
        try:
            yield
        finally:
            self._count(-1, controller)

    def _count(self, change: int, controller: Any) -> None:
        with self._counting:
            if change > 0:  # each sets it, for some libraries keep one number per thread
                limit = controller.limit(limits=1, user_api="blas")
                self._first = self._first if self._n_asking else limit
            self._n_asking += change
            if not self._n_asking:
                self._first.restore_original_limits()


_one_thread = _OneThread()


@lru_cache(maxsize=1)
def _blas_controller() -> Any:
    """Looking up the loaded BLAS libraries costs milliseconds, so it is done once."""
    from threadpoolctl import ThreadpoolController

    controller = ThreadpoolController()
    return controller if controller.info() else None
