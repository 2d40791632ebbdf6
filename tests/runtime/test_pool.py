"""Threads: results in order, no waiting for each other, nothing left at work."""

from __future__ import annotations

import os
import threading
import time

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from featsieve.runtime.pool import (
    is_worker,
    ordered_map,
    read_ahead,
    shared_map,
    single_threaded_blas,
)
from featsieve.runtime.progress import Monitor, TimeUp


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_results_come_in_order_whatever_takes_longest(n_jobs):
    def slow_first(item):
        time.sleep(0.02 if item == 0 else 0.0)
        return item**2

    assert list(ordered_map(slow_first, range(9), n_jobs)) == [item**2 for item in range(9)]


def test_a_map_within_a_map_ends():
    def inner(item):
        return sum(ordered_map(lambda other: other + item, range(4), 2))

    assert list(ordered_map(inner, range(8), 2)) == [6 + 4 * item for item in range(8)]


def test_an_error_comes_out_and_leaves_nothing_at_work():
    at_work, ended = threading.Semaphore(0), threading.Event()

    def work(item):
        if item == 0:
            at_work.acquire(timeout=60)
            raise OSError("the disk is full")
        at_work.release()
        time.sleep(0.05)
        ended.set()

    with pytest.raises(OSError, match="the disk is full"):
        list(ordered_map(work, range(2), 2))
    assert ended.is_set()
    assert list(ordered_map(abs, [-1, 2], 2)) == [1, 2]


def test_few_pieces_are_under_way_at_any_time():
    taken = []

    def items():
        for item in range(50):
            taken.append(item)
            yield item

    results = ordered_map(abs, items(), 2)
    assert next(results) == 0
    assert len(taken) <= 4
    results.close()


def test_as_many_pieces_are_under_way_as_are_asked_for():
    taken = []

    def items():
        for item in range(9):
            taken.append(item)
            yield item

    results = ordered_map(abs, items(), 2, lambda: 1)
    assert next(results) == 0
    assert taken == [0]
    results.close()
    assert list(ordered_map(abs, range(9), 2, lambda: 20)) == list(range(9))


def test_ctrl_c_ends_pieces_that_can_end_by_themselves():
    unwanted, told = threading.Event(), []

    begun = threading.Event()

    def interrupted():
        begun.wait(60)
        raise KeyboardInterrupt

    def work(_):
        begun.set()
        told.append(unwanted.wait(10))

    with pytest.raises(KeyboardInterrupt):
        list(ordered_map(work, range(2), 2, interrupted, unwanted))
    assert told == [True]


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_shared_work_comes_in_order_from_outside_and_inside_a_pool(n_jobs):
    def squares(count):
        return shared_map(lambda item: item**2, range(count), n_jobs)

    expected = [[item**2 for item in range(count)] for count in range(7)]
    assert [squares(count) for count in range(7)] == expected
    assert list(ordered_map(squares, range(7), n_jobs)) == expected


def test_a_thread_without_work_helps_another():
    """Each of two items waits for the other one to begin."""
    both = threading.Barrier(2)

    def alone(_):
        return shared_map(lambda _: (both.wait(60), is_worker()), range(2), 2)

    assert [is_pool for _, is_pool in alone(0)] in ([False, True], [True, False])
    assert [[is_pool for _, is_pool in each] for each in ordered_map(alone, [0], 2)] == [[True] * 2]


@pytest.mark.parametrize("failing", [0, 3])
def test_an_error_in_shared_work_comes_out_and_leaves_nothing_at_work(failing):
    at_work = []

    def work(item):
        at_work.append(item)
        time.sleep(0.01)
        if item == failing:
            raise OSError("the disk is full")
        at_work.remove(item)

    with pytest.raises(OSError, match="the disk is full"):
        shared_map(work, range(6), 2)
    assert at_work == [failing]


def test_an_error_of_a_helper_ends_shared_work():
    failed, seen = threading.Event(), []

    def work(item):
        seen.append(item)
        if is_worker():
            failed.set()
            raise OSError("the disk is full")
        failed.wait(60)
        time.sleep(0.05)

    with pytest.raises(OSError, match="the disk is full"):
        shared_map(work, range(20), 2)
    assert len(seen) <= 3


def test_blas_has_its_threads_again_when_the_last_fit_ends():
    def n_threads():
        return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]

    with threadpool_limits(2, user_api="blas"):
        before = n_threads()
        first, second = single_threaded_blas(), single_threaded_blas()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert set(n_threads()) <= {1}
        second.__exit__(None, None, None)
        assert n_threads() == before


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_process_forked_by_a_thread_of_a_pool_is_not_in_that_pool():
    def status(_):
        child = os.fork()
        if child == 0:
            os._exit(1 if is_worker() else 0)
        return os.waitpid(child, 0)[1]

    assert list(ordered_map(status, [0], 2)) == [0]


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    list(ordered_map(abs, range(4), 2))
    child = os.fork()
    if child == 0:
        answer = list(ordered_map(abs, [-1, -2, -3], 2))
        os._exit(0 if answer == [1, 2, 3] else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_reading_ahead_keeps_the_order_and_the_error():
    def items():
        yield from range(3)
        raise OSError("the disk is gone")

    seen = []
    with pytest.raises(OSError, match="the disk is gone"):
        seen.extend(read_ahead(items()))
    assert list(read_ahead(iter(range(5)))) == [0, 1, 2, 3, 4]
    assert list(read_ahead(iter([]))) == []


def test_reading_ahead_ends_with_its_reader():
    taken = []
    for item in read_ahead(taken.append(number) or number for number in range(100)):
        if item == 1:
            break
    assert len(taken) <= 4


def test_the_clock_is_looked_at_while_an_item_is_waited_for():
    ready, now = threading.Event(), [0.0]

    def items():
        now[0] = 2.0
        ready.wait(60)
        yield 1

    try:
        with pytest.raises(TimeUp):
            next(read_ahead(items(), Monitor(max_time=1.0, clock=lambda: now[0])))
        assert not ready.is_set()
    finally:
        ready.set()


def test_a_reader_that_is_nearly_done_is_waited_for():
    now, ended = [0.0], threading.Event()

    def items():
        now[0] = 2.0
        time.sleep(0.1)
        ended.set()
        yield 1

    with pytest.raises(TimeUp):
        next(read_ahead(items(), Monitor(max_time=1.0, clock=lambda: now[0])))
    assert ended.is_set()
