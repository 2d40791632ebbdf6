"""What stays on the workers of a cluster between passes, so that only summaries travel."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

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


class KeptParts:
    """Results on the workers of a cluster; they are let go with the last reference to this.

    A pass is one task per thread of a worker: a task per part would cost more than its work. So the
    summaries of a pass must not depend on the order in which they are merged, as counts do not.
    """

    def __init__(self, client: Any, parts: Sequence[Any], monitor: Monitor) -> None:
        self._client = client
        self._monitor = monitor
        self._groups = self._by_worker([_future(part) for part in client.persist(list(parts))])

    def reduce(self, fn: Callable[[Any], S]) -> S:
        submit = partial(self._client.submit, _summary, Shipped(fn), pure=False)
        summaries = gather(self._client, [submit(group) for group in self._groups], self._monitor)
        total: S = _merged(summaries)
        return total

    def _by_worker(self, parts: list[Any]) -> list[Any]:
        """The parts of each thread of each worker as one list there; nothing is moved."""
        wait_for(self._client, parts, self._monitor)
        holders, threads = self._client.who_has(parts), self._client.nthreads()
        at: dict[str | None, list[Any]] = defaultdict(list)
        for part in parts:
            known = [worker for worker in holders.get(part.key, ()) if worker in threads]
            at[known[0] if known else None].append(part)
        groups = []
        for worker, own in at.items():
            n_lists = min(threads.get(worker, 1), len(own))
            where = {"workers": [worker], "allow_other_workers": True} if worker else {}
            lists = [own[start::n_lists] for start in range(n_lists)]
            groups += [self._client.submit(list, part, pure=False, **where) for part in lists]
        return groups


def _future(value: Any) -> Any:
    from distributed import futures_of

    return futures_of(value)[0]


def _summary(shipped: Shipped, parts: Sequence[Any]) -> Any:
    return _merged([shipped.fn(part) for part in parts])


def _merged(summaries: Sequence[Any]) -> Any:
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
        n_pieces = len(pieces)
        columns = [shipped] * n_pieces, [self._value] * n_pieces, list(pieces)
        futures = self._client.map(_call_with, *columns, pure=False)
        return gather(self._client, futures, self._monitor)


def _call_with(shipped: Shipped, value: Any, piece: Any) -> Any:
    return shipped.fn(value, piece)
