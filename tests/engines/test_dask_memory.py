"""What a pass over a Dask collection holds at a time, by counts: no other work on the machine
changes them."""

from __future__ import annotations

import gc
import time
import weakref
from threading import Lock
from typing import Any, ClassVar

import numpy as np
import pytest

from featsieve.engines.base import BYTES_PER_NUMBER, COPIES_PER_BLOCK
from featsieve.input.boundary import Settings, open_engine

pytest.importorskip("dask")

N_PARTS, ROWS, COLUMNS = 40, 8, 3
BLOCK_BYTES = COPIES_PER_BLOCK * BYTES_PER_NUMBER * ROWS * COLUMNS


def _engine(memory_limit: int, max_time: float | None = None) -> Any:
    import dask.array as da

    X = np.random.default_rng(0).normal(size=(N_PARTS * ROWS, COLUMNS))
    settings = Settings(memory_limit=memory_limit, max_time=max_time, takes_missing=True)
    return open_engine(da.from_array(X, chunks=(ROWS, COLUMNS)), X[:, 0], settings)


class Starts:
    """A summary that knows how many of its kind are alive."""

    alive: ClassVar[weakref.WeakSet[Starts]] = weakref.WeakSet()
    most: ClassVar[int] = 0

    def __init__(self, starts: tuple[int, ...]) -> None:
        self.starts = starts
        Starts.alive.add(self)
        Starts.most = max(Starts.most, len(Starts.alive))

    def merge(self, other: Starts) -> Starts:
        return Starts(self.starts + other.starts)


@pytest.mark.parametrize("max_time", [None, 1e9])
def test_a_summary_is_let_go_as_soon_as_it_is_merged(max_time):
    import dask

    gc.collect()
    Starts.most = 0
    with dask.config.set(num_workers=1):
        total = _engine(1 << 30, max_time).reduce_rows(lambda block: Starts((block.start,)))
    assert total.starts == tuple(range(0, N_PARTS * ROWS, ROWS))
    assert Starts.most <= 6


@pytest.mark.parametrize("max_time", [None, 1e9])
@pytest.mark.parametrize("affordable", [1, 2])
def test_no_more_partitions_are_worked_on_than_the_budget_has_room_for(affordable, max_time):
    import dask

    lock, at_work, most = Lock(), 0, 0

    def look(block: Any) -> Starts:
        nonlocal at_work, most
        with lock:
            at_work += 1
            most = max(most, at_work)
        time.sleep(0.001)
        with lock:
            at_work -= 1
        return Starts(())

    with dask.config.set(num_workers=4):
        _engine(affordable * BLOCK_BYTES, max_time).reduce_rows(look)
    assert most <= affordable


class Words:
    """A summary that shows how it was merged."""

    def __init__(self, text: str) -> None:
        self.text = text

    def merge(self, other: Words) -> Words:
        return Words(f"({self.text}+{other.text})")


def test_pairs_beyond_the_budget_are_merged_in_the_same_order():
    def pair(first: Any, second: Any) -> Words:
        return Words(f"{first.start}-{second.start}")

    whole = BYTES_PER_NUMBER * N_PARTS * ROWS * COLUMNS
    at_once, by_rows = (_engine(limit).reduce_tiles(pair) for limit in (whole, whole - 1))
    assert at_once.text == by_rows.text


def test_partitions_beyond_the_budget_are_not_kept_for_later_pairs():
    import dask
    import dask.array as da

    X = np.random.default_rng(0).normal(size=(N_PARTS * ROWS, COLUMNS))
    alive = most = 0

    class Part(np.ndarray):  # an array that can be watched
        pass

    def let_go() -> None:
        nonlocal alive
        alive -= 1

    def read(start: int) -> Any:
        nonlocal alive, most
        part = X[start : start + ROWS].copy().view(Part)
        weakref.finalize(part, let_go)
        alive += 1
        most = max(most, alive)
        return part

    parts = [dask.delayed(read)(start) for start in range(0, len(X), ROWS)]
    table = da.concatenate([da.from_delayed(part, (ROWS, COLUMNS), dtype=float) for part in parts])
    engine = open_engine(
        table, X[:, 0], Settings(memory_limit=X.nbytes - 1, task="regression", takes_missing=True)
    )
    with dask.config.set(num_workers=1):
        engine.reduce_tiles(lambda a, b: Words(""))
        engine.topk_tiles(lambda a, b: np.ones((a.n_rows, b.n_rows)), 1)
    assert 0 < most <= 6
