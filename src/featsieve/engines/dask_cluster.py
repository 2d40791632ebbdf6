"""What lies on the workers of a cluster, and stays there: only summaries travel."""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain
from typing import Any, Self

from featsieve.engines.dask_run import gather, scatter, wait_for
from featsieve.protocols import S
from featsieve.runtime.progress import Monitor


def delayed(value: Any) -> Any:
    from dask.delayed import delayed as delay

    return delay(value)


@dataclass(frozen=True)
class Shipped:
    """A function as data: every worker gets it once, and not with every block."""

    fn: Callable[..., Any]


TASKS_PER_THREAD = 4
MOST_PIECES = 8  # of a task, where there are many
SMALL_BYTES, MOST_SMALL = 1 << 20, 64


class Tasks:
    """Tasks of a cluster, and their results, which are let go when that holds nothing up.

    A client sends one message and holds the next ones back for ten milliseconds. So all tasks of a
    step go in one message; and no message says that results are no longer needed before the next
    step is on its way, or at all, while they are small.
    """

    def __init__(self, client: Any, monitor: Monitor) -> None:
        self.client, self.monitor = client, monitor
        self._small: list[Any] = []
        self._large: list[Any] = []

    def map(self, fn: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        futures = list(self.client.map(fn, *arguments, pure=False))
        self._large.clear()
        return futures

    def gather(self, futures: Sequence[Any], *others: Any) -> list[Any]:
        """The results of futures, and the end of ``others`` that they were made of."""
        results = gather(self.client, futures, self.monitor)
        is_small = not others and _n_bytes(results) < SMALL_BYTES and len(self._small) < MOST_SMALL
        (self._small if is_small else self._large).append((futures, others))
        return results


def _n_bytes(value: Any) -> int:
    """As it travels."""
    arrays: list[pickle.PickleBuffer] = []
    words = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
    return len(words) + sum(array.raw().nbytes for array in arrays)


@dataclass(frozen=True)
class KeptList:
    """Several results that are kept together.

    Dask asks for the size. It would not look into objects of ours, take them for a few bytes, and
    send them to whichever worker has nothing to do.
    """

    results: list[Any] = field(repr=False)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.results)

    def __sizeof__(self) -> int:
        return _n_bytes(self.results)


class KeptParts:
    """Results on the workers of a cluster; they are let go with the last reference to this.

    A pass is one task per thread of a worker: a task per part would cost more than its work. So the
    summaries of a pass must not depend on the order in which they are merged, as counts do not.
    """

    def __init__(self, tasks: Tasks, groups: Sequence[Sequence[Any]]) -> None:
        """``groups`` are the futures of each thread; the first pass may be asked for before they
        are there, which spares a round of messages."""
        self._tasks, self._groups = tasks, groups

    @classmethod
    def where_they_are(cls, tasks: Tasks, parts: Sequence[Any]) -> Self:
        return cls(tasks, _by_thread(tasks, [_future(part) for part in parts]))

    def reduce(self, fn: Callable[[Any], S]) -> S:
        futures = self._tasks.map(_summary, [Shipped(fn)] * len(self._groups), self._groups)
        total: S = merge_all(self._tasks.gather(futures))
        return total


def _by_thread(tasks: Tasks, parts: list[Any]) -> list[list[Any]]:
    """The parts of each thread of each worker; nothing is moved, now or when they are used."""
    wait_for(tasks.client, parts, tasks.monitor)
    holders, threads = tasks.client.who_has(parts), tasks.client.nthreads()
    at: dict[str | None, list[Any]] = defaultdict(list)
    for part in parts:
        known = [worker for worker in holders.get(part.key, ()) if worker in threads]
        at[known[0] if known else None].append(part)
    groups = []
    for worker, its_parts in at.items():
        n_lists = min(threads.get(worker, 1), len(its_parts))
        groups += [its_parts[start::n_lists] for start in range(n_lists)]
    return groups


def _future(part: Any) -> Any:
    from distributed import futures_of

    return futures_of(part)[0]


def _summary(shipped: Shipped, lists: Sequence[KeptList]) -> Any:
    return merge_all([shipped.fn(part) for part in chain(*lists)])


def merge_all(summaries: Iterable[Any]) -> Any:
    return reduce(lambda first, second: first.merge(second), summaries)


class SharedValue:
    """A value that every worker of a cluster has."""

    def __init__(self, client: Any, value: Any, monitor: Monitor) -> None:
        self._client = client
        self._monitor = monitor
        self._value = scatter(client, value)

    def map(self, fn: Callable[[Any, Any], Any], pieces: Sequence[Any]) -> list[Any]:
        """``fn(value, piece)`` for each piece, in order, on the workers."""
        shipped = scatter(self._client, Shipped(fn))
        n_tasks = self._n_tasks(len(pieces))
        shares = [pieces[first::n_tasks] for first in range(n_tasks)]
        common = [shipped] * n_tasks, [self._value] * n_tasks
        futures = self._client.map(_call_with_each, *common, shares, pure=False)
        results: list[Any] = [None] * len(pieces)
        for first, part in enumerate(gather(self._client, futures, self._monitor)):
            results[first::n_tasks] = part
        return results

    def _n_tasks(self, n_pieces: int) -> int:
        """Few, for each costs a message; some per thread, so that all end together; none long, for
        a task that has begun cannot be stopped."""
        n_threads = sum(self._client.nthreads().values())
        return min(n_pieces, max(TASKS_PER_THREAD * n_threads, n_pieces // MOST_PIECES, 1))


def _call_with_each(shipped: Shipped, value: Any, pieces: Sequence[Any]) -> list[Any]:
    return [shipped.fn(value, piece) for piece in pieces]
