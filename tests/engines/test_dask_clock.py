"""The time limit is looked at while Dask's tasks run, on every kind of scheduler.

The clock is not read: it is late from the moment a task has begun, and that task goes on until the
test lets it go, so nothing here depends on the speed of the machine.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager

import numpy as np
import pytest

from featsieve import MRMR, PearsonRanking
from featsieve.engines.dask_run import LONGEST_ALONE, Workers, compute, scatter
from featsieve.errors import ClusterError
from featsieve.runtime import progress

N_PARTS = 40
LATE = 1e9


class HeldTask:
    """Partitions of which each waits to be let go; counts those that began."""

    def __init__(self) -> None:
        self.began, self.may_end = threading.Event(), threading.Event()
        self.count = 0

    def part(self, seed: int) -> np.ndarray:
        self.count += 1
        self.began.set()
        self.may_end.wait(60)
        return np.random.default_rng(seed).normal(size=(10, 3))

    def clock(self) -> float:
        return LATE if self.began.is_set() else 0.0

    def table(self):
        import dask
        import dask.array as da

        parts = [dask.delayed(held_part)(seed) for seed in range(N_PARTS)]
        return da.concatenate([da.from_delayed(part, (10, 3), dtype=float) for part in parts])


TASKS: list[HeldTask] = []  # a cluster pickles its tasks, and no lock can be pickled


def held_part(seed: int) -> np.ndarray:
    return TASKS[-1].part(seed)


@contextmanager
def threads():
    yield


@contextmanager
def an_executor():
    from concurrent.futures import ThreadPoolExecutor

    import dask

    with ThreadPoolExecutor(2) as pool, dask.config.set(scheduler=pool):
        yield


@contextmanager
def in_this_thread():
    import dask

    with dask.config.set(scheduler="sync"):
        yield


@contextmanager
def a_cluster():
    from distributed import Client

    threads = {"processes": False, "n_workers": 1, "threads_per_worker": 2}
    with Client(**threads, dashboard_address="127.0.0.1:0", silence_logs=50):
        yield


@pytest.fixture
def held():
    TASKS.append(HeldTask())
    yield TASKS[-1]
    TASKS[-1].may_end.set()


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("scheduler", [threads, an_executor, in_this_thread, a_cluster])
def test_a_running_task_does_not_hold_up_the_limit(scheduler, held, monkeypatch):
    monkeypatch.setattr(progress, "perf_counter", held.clock)
    y = np.arange(10.0 * N_PARTS)
    with scheduler():
        with pytest.raises(TimeoutError, match="max_time passed before the first answer"):
            PearsonRanking(max_time=1.0).fit(held.table(), y)
        assert not held.may_end.is_set()
        held.may_end.set()
    assert held.count < N_PARTS  # what had not begun never began


def test_a_limit_that_is_kept_changes_nothing():
    import dask.array as da

    X = np.random.default_rng(0).normal(size=(60, 4))
    lazy, y = da.from_array(X, chunks=(20, 2)), X[:, 2] + X[:, 0] ** 2
    for method in (PearsonRanking, MRMR):
        limited = method(n_features_to_select=2, max_time=1e9).fit(lazy, y)
        plain = method(n_features_to_select=2).fit(lazy, y)
        assert limited.indices_.tolist() == plain.indices_.tolist()
        assert (limited.scores_ == plain.scores_).all()


def test_an_error_of_a_task_comes_through_under_a_limit():
    import dask
    import dask.array as da

    def fail():
        raise OSError("the disk is gone")

    broken = da.from_delayed(dask.delayed(fail)(), (20, 3), dtype=float)
    with pytest.raises(OSError, match="the disk is gone"):
        PearsonRanking(max_time=1e9).fit(broken, np.arange(20) / 3)


def test_no_thread_is_left_after_a_limited_run():
    import dask.array as da

    X = np.random.default_rng(0).normal(size=(60, 4))
    before = set(threading.enumerate())
    PearsonRanking(max_time=1e9).fit(da.from_array(X, chunks=(20, 4)), X[:, 0])
    for thread in set(threading.enumerate()) - before:
        thread.join(60)
        assert not thread.is_alive()


def test_values_that_are_not_lazy_come_back_under_a_limit():
    import dask

    values = [np.arange(3), dask.delayed(7)]
    for monitor in (progress.Monitor(max_time=60.0), progress.Monitor()):
        assert compute(values, monitor)[1] == 7
        assert compute(values[:1], monitor)[0] is values[0]


class _ClusterOf:
    """A client that says how many workers there are."""

    def __init__(self, n_workers):
        self.n_workers = n_workers

    def scheduler_info(self):
        return {"workers": {str(i): {} for i in range(self.n_workers)}}


def test_a_cluster_that_lost_all_its_workers_is_not_waited_for():
    now = 0.0
    client = _ClusterOf(2)
    workers = Workers(client, lambda: now)
    workers.check()
    client.n_workers = 0
    now = LONGEST_ALONE
    workers.check()
    client.n_workers, now = 1, 2 * LONGEST_ALONE  # a new one has come
    workers.check()
    client.n_workers, now = 0, 3.5 * LONGEST_ALONE
    with pytest.raises(ClusterError, match="no worker for 120 s"):
        workers.check()


def test_a_cluster_without_workers_from_the_start_is_given_the_same_time():
    now = 0.0
    workers = Workers(_ClusterOf(0), lambda: now)
    now = LONGEST_ALONE
    workers.check()
    now = 1.1 * LONGEST_ALONE
    with pytest.raises(ClusterError, match="no worker for 120 s"):
        workers.check()


def test_a_value_that_no_worker_takes_is_a_cluster_error():
    class WithoutWorkers:
        def scatter(self, value, broadcast):
            raise TimeoutError("No valid workers found")

    with pytest.raises(ClusterError, match="No valid workers found"):
        scatter(WithoutWorkers(), 1)
