"""A function of each part of a Dask collection: one task per part, or per thread of a cluster."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import accumulate, chain, groupby, pairwise
from operator import getitem
from typing import Any

from featsieve.engines.dask_cluster import KeptList, KeptParts, Shipped, Tasks, delayed, merge_all
from featsieve.engines.dask_run import cluster_client, compute
from featsieve.runtime.progress import Monitor

MERGED_AT_ONCE = 32  # each level of merges costs a round of messages


@dataclass(frozen=True)
class Stack:
    """Arrays of several parts, one below the other: one piece of memory travels faster."""

    n_rows: tuple[int, ...]
    array: Any = field(repr=False)

    def __sizeof__(self) -> int:  # Dask does not look into it
        return int(self.array.nbytes)

    def parts(self) -> list[Any]:
        bounds = [0, *accumulate(self.n_rows)]
        return [self.array[first:stop] for first, stop in pairwise(bounds)]


class PlannedCalls:
    """``fn(*part)`` as a graph, for parts that may still have to be computed."""

    def __init__(
        self, parts: Sequence[tuple[Any, ...]], monitor: Monitor, most_threads: int | None = None
    ) -> None:
        self._parts, self._monitor, self._most_threads = parts, monitor, most_threads

    def results(self, fn: Callable[..., Any]) -> list[Any]:
        """All of them here, in order."""
        return compute(self._each(fn), self._monitor, self._most_threads)

    def merged(self, fn: Callable[..., Any]) -> Any:
        """Of summaries, without bringing them home."""
        return compute([tree_merge(self._each(fn))], self._monitor, self._most_threads)[0]

    def merged_in_any_order(self, fn: Callable[..., Any]) -> Any:
        """The same for summaries whose sum is exact, and small."""
        return self.merged(fn)

    def kept(self, client: Any, fn: Callable[..., Any]) -> KeptParts:
        tasks = Tasks(client, self._monitor)
        shipped, call = delayed(Shipped(fn)), delayed(_call_on_each)
        lists = [call(shipped, [part]) for part in self._parts]
        return KeptParts.where_they_are(tasks, client.persist(lists))

    def transposed(
        self,
        fn: Callable[[Sequence[Any]], list[Stack]],
        then: Callable[[list[Any]], Any],
        n_lists: int,
    ) -> list[Any]:
        """``then`` of the first stacks of all lists that ``fn`` makes of parts, of the second …"""
        shipped, call = delayed(Shipped(fn)), delayed(_call)
        lists, pick = [call(shipped, [part]) for part in self._parts], delayed(getitem)
        columns = ([pick(entries, number) for entries in lists] for number in range(n_lists))
        numbers, last = [[n] for n in range(len(lists))], delayed(Shipped(then))
        tasks = [delayed(_call_in_order)(last, numbers, column) for column in columns]
        return compute(tasks, self._monitor, self._most_threads)

    def _each(self, fn: Callable[..., Any]) -> list[Any]:
        shipped, call = delayed(Shipped(fn)), delayed(_call)
        return [call(shipped, *part) for part in self._parts]


class ResidentCalls:
    """The same for parts in the memory of workers: all parts of a thread are one task.

    A task takes about a millisecond of the scheduler; and where a worker has several, another that
    has nothing to do may take one of them, and with it a part, which costs more than its work.
    """

    def __init__(self, tasks: Tasks, parts: Sequence[tuple[Any, ...]], homes: Homes) -> None:
        self._tasks = tasks
        self._numbers = homes.batches(MERGED_AT_ONCE)
        self._n_threads = len(set(homes.threads))
        self._batches = [[list(parts[number]) for number in batch] for batch in self._numbers]

    def results(self, fn: Callable[..., Any]) -> list[Any]:
        return _in_order(self._numbers, self._tasks.gather(self._each(fn)))

    def merged(self, fn: Callable[..., Any]) -> Any:
        """In the order of the parts, as a graph would: rounding does not depend on the workers."""
        batches = self._each(fn)
        by_run = defaultdict(list)
        for numbers, batch in zip(self._numbers, batches, strict=True):
            by_run[numbers[0] // MERGED_AT_ONCE].append((numbers, batch))
        runs = [tuple(zip(*run, strict=True)) for run in by_run.values()]
        level = self._tasks.map(_merge_in_order, [r[0] for r in runs], [list(r[1]) for r in runs])
        while len(level) > 1:
            starts = range(0, len(level), MERGED_AT_ONCE)
            level = self._tasks.map(merge_all, [level[s : s + MERGED_AT_ONCE] for s in starts])
        return self._tasks.gather(level, batches)[0]

    def merged_in_any_order(self, fn: Callable[..., Any]) -> Any:
        """By each thread, and here: without a second round of tasks."""
        shipped = [Shipped(fn)] * len(self._batches)
        return merge_all(self._tasks.gather(self._tasks.map(_merge_each, shipped, self._batches)))

    def kept(self, client: Any, fn: Callable[..., Any]) -> KeptParts:
        futures = self._each(fn)
        if len(futures) > self._n_threads:  # several of a thread
            return KeptParts.where_they_are(self._tasks, futures)
        return KeptParts(self._tasks, [[future] for future in futures])

    def transposed(
        self,
        fn: Callable[[Sequence[Any]], list[Stack]],
        then: Callable[[list[Any]], Any],
        n_lists: int,
    ) -> list[Any]:
        batches = self._tasks.map(_call, [Shipped(fn)] * len(self._batches), self._batches)
        numbers = [number for number in range(n_lists) for _ in batches]
        picks = self._tasks.map(getitem, batches * n_lists, numbers)
        columns = [picks[n * len(batches) : (n + 1) * len(batches)] for n in range(n_lists)]
        same = [[value] * n_lists for value in (Shipped(then), self._numbers)]
        return self._tasks.gather(self._tasks.map(_call_in_order, *same, columns), batches, picks)

    def _each(self, fn: Callable[..., Any]) -> list[Any]:
        return self._tasks.map(_call_on_each, [Shipped(fn)] * len(self._batches), self._batches)


Calls = PlannedCalls | ResidentCalls


@dataclass(frozen=True)
class Homes:
    """The worker and its thread that each part belongs to."""

    threads: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, client: Any, futures: Sequence[Any]) -> Homes | None:
        """None where a worker has more than twice its share: the others would have little to do."""
        holders, n_threads = client.who_has(list(futures)), client.nthreads()
        workers = [min(holders.get(future.key, ()), default="") for future in futures]
        share = 2 * len(futures) / max(sum(n_threads.values()), 1)
        if any(n > share * n_threads.get(worker, 0) for worker, n in Counter(workers).items()):
            return None
        seen: Counter[str] = Counter()
        threads = []
        for worker in workers:
            threads.append((worker, seen[worker] % n_threads[worker]))
            seen[worker] += 1
        return cls(tuple(threads))

    def take(self, numbers: Sequence[int]) -> Homes:
        return Homes(tuple(self.threads[number] for number in numbers))

    def batches(self, most: int) -> list[list[int]]:
        """The numbers of the parts by thread, those of each run of ``most`` parts apart.

        >>> Homes((("a", 0), ("b", 0), ("a", 0), ("b", 0))).batches(3)
        [[0, 2], [1], [3]]
        """
        keys = [(number // most, thread) for number, thread in enumerate(self.threads)]
        order = sorted(range(len(keys)), key=lambda number: (keys[number], number))
        return [list(batch) for _, batch in groupby(order, keys.__getitem__)]


def futures_in_order(collection: Any) -> list[Any] | None:
    """The parts of a collection that is in the memory of a cluster; None where one is not."""
    from dask.core import flatten
    from distributed import futures_of

    known = {future.key: future for future in futures_of(collection)}
    keys = list(flatten(collection.__dask_keys__()))
    return [known[key] for key in keys] if keys and all(key in known for key in keys) else None


class Caller:
    """Chooses how the parts of a table are looked at, and finds out once where they are."""

    def __init__(self, rows: Sequence[Any], monitor: Monitor) -> None:
        """``rows`` are futures, or delayed objects."""
        self._monitor = monitor
        client = cluster_client()
        is_resident = client is not None and _are_resident([(part,) for part in rows])
        self._homes = Homes.of(client, rows) if is_resident else None
        self._tasks = Tasks(client, monitor)

    def on(
        self,
        parts: Sequence[tuple[Any, ...]],
        numbers: Sequence[int] | None = None,
        most_threads: int | None = None,
    ) -> Calls:
        """What calls functions of the parts with these numbers (all), and what belongs to them."""
        if self._homes is None or not _are_resident(parts):
            return PlannedCalls(parts, self._monitor, most_threads)
        homes = self._homes if numbers is None else self._homes.take(numbers)
        return ResidentCalls(self._tasks, parts, homes)


def _are_resident(parts: Sequence[tuple[Any, ...]]) -> bool:
    """Whether nothing has still to be computed."""
    from dask.base import is_dask_collection
    from distributed import Future

    is_lazy = any(is_dask_collection(value) for part in parts for value in part)
    return bool(parts) and not is_lazy and all(isinstance(part[0], Future) for part in parts)


def _call(shipped: Shipped, *arguments: Any) -> Any:
    return shipped.fn(*arguments)


def _call_on_each(shipped: Shipped, parts: Sequence[Sequence[Any]]) -> KeptList:
    return KeptList([shipped.fn(*part) for part in parts])


def _merge_each(shipped: Shipped, parts: Sequence[Sequence[Any]]) -> Any:
    return merge_all(_call_on_each(shipped, parts))


def _call_in_order(
    shipped: Shipped, numbers: Sequence[Sequence[int]], stacks: Sequence[Stack]
) -> Any:
    return shipped.fn(_in_order(numbers, [stack.parts() for stack in stacks]))


def _in_order(numbers: Sequence[Sequence[int]], lists: Sequence[Iterable[Any]]) -> list[Any]:
    """The entries of all lists by their numbers.

    >>> _in_order([[0, 2], [1]], [["a", "c"], ["b"]])
    ['a', 'b', 'c']
    """
    by_number = dict(zip(chain(*numbers), chain(*lists), strict=True))
    return [by_number[number] for number in sorted(by_number)]


def _merge_in_order(numbers: Sequence[Sequence[int]], lists: Sequence[Iterable[Any]]) -> Any:
    return merge_all(_in_order(numbers, lists))


def tree_merge(summaries: list[Any]) -> Any:
    """Merge delayed summaries in order, some at a time, without bringing them home.

    In this process a summary is merged as soon as it is there, and let go; on a cluster that would
    cost a message each. The order, and so the rounding, is the same.
    """
    merge = _one_by_one if cluster_client() is None else delayed(merge_all)
    while len(summaries) > 1:
        starts = range(0, len(summaries), MERGED_AT_ONCE)
        summaries = [merge(summaries[s : s + MERGED_AT_ONCE]) for s in starts]
    return summaries[0]


def merge_row_by_row(rows: Sequence[Sequence[Any]], result: Callable[[Any], Any]) -> Any:
    """The same sum of delayed summaries, those of a row in one computation: what only they need is
    let go before the next row is begun."""
    runs: list[Any] = []
    n_merged = 0
    for row in rows:
        while row:
            is_new = n_merged % MERGED_AT_ONCE == 0
            some = row[: MERGED_AT_ONCE - n_merged % MERGED_AT_ONCE]
            before = [] if is_new else [delayed(runs.pop())]
            runs.append(result(_one_by_one([*before, *some])))
            n_merged, row = n_merged + len(some), row[len(some) :]
    while len(runs) > 1:
        starts = range(0, len(runs), MERGED_AT_ONCE)
        runs = [merge_all(runs[s : s + MERGED_AT_ONCE]) for s in starts]
    return runs[0]


def _one_by_one(summaries: Sequence[Any]) -> Any:
    merge = delayed(_merge_two)
    return reduce(lambda first, second: merge(first, second), summaries)


def _merge_two(first: Any, second: Any) -> Any:
    return first.merge(second)
