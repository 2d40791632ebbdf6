"""Dask's computations under the time limit: whatever scheduler is active, the clock is looked at
while tasks run.

At the limit no further task is started, and the caller goes on at once. A task that already runs
cannot be ended from outside: it runs to its end where it is, and its result is thrown away.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager, suppress
from time import perf_counter
from typing import Any

from featsieve.errors import ClusterError, reason
from featsieve.runtime.progress import Monitor

LOOK_SECONDS = 0.1
LOOK_AT_WORKERS = 1.0
LONGEST_ALONE = 120.0  # seconds without a worker; a killed one is replaced within a few


def compute(values: Sequence[Any], monitor: Monitor, most_threads: int | None = None) -> list[Any]:
    """The results of all values (delayed objects or collections), in order.

    ``most_threads``: of Dask's default scheduler, where each may hold a partition and its copies.
    """
    with _named_losses():
        return _compute_in_time(values, monitor, most_threads)


def gather(client: Any, futures: Sequence[Any], monitor: Monitor) -> list[Any]:
    """The results of futures, in order."""
    with _named_losses():
        wait_for(client, futures, monitor)
        return list(client.gather(list(futures)))


def scatter(client: Any, value: Any) -> Any:
    """A value that every worker gets."""
    with _named_losses(TimeoutError):  # Dask's word for a cluster that has no worker
        return client.scatter(value, broadcast=True)


@contextmanager
def _named_losses(*builtin: type[Exception]) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        is_builtin = isinstance(error, builtin)
        if not (is_builtin or type(error).__module__.startswith("distributed")):
            raise
        raise ClusterError(
            f"the Dask cluster lost the work ({type(error).__name__}: {reason(error)}); look at "
            "the memory and the logs of its workers, then fit again."
        ) from error


def _compute_in_time(
    values: Sequence[Any], monitor: Monitor, most_threads: int | None
) -> list[Any]:
    import dask.base

    monitor.check()
    lazy = [value for value in values if dask.base.is_dask_collection(value)]
    if not lazy:
        return list(values)
    get = dask.base.get_scheduler(collections=lazy)
    client = _client_of(get)
    if client is not None:
        return _on_cluster(client, values, monitor)
    n_threads = _n_threads(get, most_threads)
    if not monitor.has_limit:
        return _compute(values, {"num_workers": n_threads} if n_threads else {})
    return _on_this_machine(get, values, monitor, n_threads)


def cluster_client() -> Any:
    """The client of the cluster that runs tasks now; None where they run in this process."""
    import dask.base

    return _client_of(dask.base.get_scheduler())


def _client_of(get: Any) -> Any:
    client = getattr(get, "__self__", None)
    return client if hasattr(client, "scheduler_info") else None


def _on_cluster(client: Any, values: Sequence[Any], monitor: Monitor) -> list[Any]:
    results = client.compute(list(values))  # what is not lazy comes back as it is
    wait_for(client, [result for result in results if hasattr(result, "done")], monitor)
    return list(client.gather(results))


def wait_for(client: Any, futures: Sequence[Any], monitor: Monitor) -> None:
    """Until all are done; at the limit none of them is started any more."""
    from distributed import wait

    workers = Workers(client)
    try:
        while not all(future.done() for future in futures):
            monitor.check()
            with suppress(NotYet):
                wait(list(futures), timeout=_pause(monitor))
                return
            workers.check()  # a question to the scheduler: only where there is time for it
    except BaseException:
        client.cancel(list(futures))
        raise


class Workers:
    """A cluster whose workers are all gone, and stay away, never ends what it was given."""

    def __init__(self, client: Any, clock: Callable[[], float] = perf_counter) -> None:
        self._client, self._clock = client, clock
        self._last_seen = clock()  # if there is none yet, it may be starting

    def check(self) -> None:
        if self._client.scheduler_info().get("workers"):
            self._last_seen = self._clock()
        elif self._clock() - self._last_seen > LONGEST_ALONE:
            raise ClusterError(
                f"the Dask cluster has had no worker for {LONGEST_ALONE:g} s; look at the memory "
                "and the logs of its workers, start new ones, then fit again."
            )


class Cancelled(Exception):  # noqa: N818 - a signal to Dask, seen by nobody
    """Raised inside the scheduler's loop, so that it starts no further task."""


def _on_this_machine(
    get: Any, values: Sequence[Any], monitor: Monitor, n_threads: int | None
) -> list[Any]:
    """The scheduler's loop runs in a thread of its own, which this one watches."""
    is_over = threading.Event()

    def before_task(*_: Any) -> None:
        if is_over.is_set():
            raise Cancelled

    pool = ThreadPoolExecutor(n_threads) if n_threads else None
    options = {"callbacks": [(None, None, before_task, None, None)]}
    loop = ThreadPoolExecutor(1)
    try:
        running = loop.submit(_compute, values, options | ({"pool": pool} if pool else {}))
        return _watch(running, monitor)
    finally:
        is_over.set()
        for executor in filter(None, (loop, pool)):
            executor.shutdown(wait=False, cancel_futures=True)


def _n_threads(get: Any, most: int | None) -> int | None:
    """Of Dask's default scheduler; None where another one runs the tasks, or a pool of the user.

    Under a time limit they are ours: those that Dask would keep for a thread of ours would outlive
    the run.
    """
    import dask.config
    import dask.system
    import dask.threaded

    if get is not dask.threaded.get or dask.config.get("pool", None) is not None:
        return None
    usual = int(dask.config.get("num_workers", None) or dask.system.CPU_COUNT)
    return usual if most is None else min(usual, most)


def _compute(values: Sequence[Any], options: dict[str, Any]) -> list[Any]:
    import dask.base

    return list(dask.base.compute(*values, **options))


def _watch(running: Future[list[Any]], monitor: Monitor) -> list[Any]:
    while True:
        try:
            return running.result(timeout=_pause(monitor))
        except NotYet:
            if running.done():  # the error is that of a task
                raise
            monitor.check()


def _pause(monitor: Monitor) -> float:
    """Until the clock, or at least the workers, are looked at again."""
    if not monitor.has_limit:
        return LOOK_AT_WORKERS
    return max(min(LOOK_SECONDS, monitor.remaining()), 0.001)
