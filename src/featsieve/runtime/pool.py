"""Our own thread pool: results in order, few pieces in flight, one BLAS thread per worker."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any, TypeVar

from featsieve.input.parameters import check_n_jobs

T = TypeVar("T")
R = TypeVar("R")


def ordered_map(fn: Callable[[T], R], items: Iterable[T], n_jobs: int) -> Iterator[R]:
    """Like ``map``, on threads; at most two pieces per thread are under way at any time."""
    if n_jobs == 1:
        yield from map(fn, items)
        return
    with single_threaded_blas(), ThreadPoolExecutor(n_jobs) as pool:
        pending: deque[Future[R]] = deque()
        try:
            for item in items:
                pending.append(pool.submit(fn, item))
                if len(pending) >= 2 * n_jobs:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()


def effective_n_jobs(n_jobs: int | None) -> int:
    """Number of threads: None as scikit-learn (one, or joblib's context), −1 all cores."""
    import joblib

    return int(joblib.effective_n_jobs(check_n_jobs(n_jobs)))


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
