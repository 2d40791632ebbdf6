"""A real cluster on loopback: workers of their own, one of which dies in mid-run."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from featsieve import MRMR, HSICRanking, PearsonRanking
from featsieve.engines.dask_calls import MERGED_AT_ONCE, Homes, ResidentCalls
from featsieve.errors import ClusterError
from featsieve.input.boundary import Settings, open_engine
from featsieve.statistics.moments import column_moments

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@contextmanager
def two_workers():
    import dask
    from distributed import Client, LocalCluster

    settings = {"distributed.scheduler.allowed-failures": 5, "distributed.admin.tick.limit": "60s"}
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as cluster,
        Client(cluster) as found,
    ):
        yield found


@pytest.fixture(scope="module")
def client():
    with two_workers() as found:
        yield found


@pytest.fixture
def client_to_lose():
    """Dask does not always start a killed worker again, so this cluster has one user."""
    with two_workers() as found:
        yield found


def part(seed: int, n_rows: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n_rows, 5)) + seed


def part_that_kills_its_worker_once(seed: int, n_rows: int, marker: str) -> np.ndarray:
    if not Path(marker).exists():
        Path(marker).touch()
        os._exit(1)
    return part(seed, n_rows)


def lazy_table(marker: str | None):
    import dask
    import dask.array as da

    deadly = dask.delayed(part_that_kills_its_worker_once, pure=True)(3, 50, marker)
    plain = [dask.delayed(part, pure=True)(seed, 50) for seed in range(6)]
    parts = [deadly if marker and seed == 3 else plain[seed] for seed in range(6)]
    return da.concatenate([da.from_delayed(p, (50, 5), dtype=float) for p in parts])


@pytest.fixture(scope="module")
def expected():
    X = np.concatenate([part(seed, 50) for seed in range(6)])
    return X, X[:, 2] - X[:, 3]


def test_the_cluster_gives_the_same_answer(client, expected):
    X, y = expected
    memory = PearsonRanking(n_features_to_select=2).fit(X, y)
    cluster = PearsonRanking(n_features_to_select=2).fit(lazy_table(None), y)
    assert_allclose(cluster.scores_, memory.scores_, rtol=0, atol=1e-12)
    assert cluster.indices_.tolist() == memory.indices_.tolist()


def test_a_killed_worker_changes_nothing(client, expected, tmp_path):
    X, y = expected
    marker = tmp_path / "died"
    survivor = PearsonRanking(n_features_to_select=2).fit(lazy_table(str(marker)), y)
    assert marker.exists()
    memory = PearsonRanking(n_features_to_select=2).fit(X, y)
    assert_allclose(survivor.scores_, memory.scores_, rtol=0, atol=1e-12)


@pytest.mark.parametrize("memory_limit", ["1GiB", "64KiB"])
def test_codes_stay_on_the_workers_and_give_the_same_answer(client, memory_limit):
    """With little memory the codes are not fetched: each pass sends counts only."""
    import dask.array as da

    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 6))
    y = (X[:, 1] + X[:, 4] > 0).astype(int)
    expected = MRMR(n_features_to_select=4).fit(X, y)
    lazy = da.from_array(X, chunks=(100, 6))
    selector = MRMR(n_features_to_select=4, memory_limit=memory_limit).fit(lazy, y)
    assert selector.indices_.tolist() == expected.indices_.tolist()
    assert_allclose(selector.scores_, expected.scores_, rtol=1e-12)


@pytest.mark.parametrize("discretizer", ["quantile", "caim"])
def test_cuts_are_found_where_the_rows_are(client, discretizer):
    """Cells travel between workers, a tile of columns each; the cuts are those of all rows."""
    import dask.array as da

    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 7))
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 3] *= 1e200
    y = (X[:, 1] > 0).astype(int)
    parameters = {"n_features_to_select": 3, "discretizer": discretizer, "memory_limit": "64KiB"}
    expected = MRMR(**parameters).fit(X, y)
    selector = MRMR(**parameters).fit(da.from_array(X, chunks=(90, 7)), y)
    assert selector.indices_.tolist() == expected.indices_.tolist()
    assert_allclose(selector.scores_, expected.scores_, rtol=1e-12)


@pytest.mark.parametrize("approximation", ["none", "block"])
def test_tiles_of_row_pairs_are_summed_by_the_workers(client, approximation, monkeypatch):
    import dask.array as da

    from featsieve.measures.hsic import hsic, passes, tiles

    asked = []
    share = tiles.SharedRowPairs.reduce_each

    def counted(self, fn, columns):
        asked.append(len(columns))
        return share(self, fn, columns)

    monkeypatch.setattr(passes, "WORTH_A_CLUSTER", 1)
    monkeypatch.setattr(tiles, "WORTH_A_CLUSTER", 1)
    monkeypatch.setattr(tiles.SharedRowPairs, "reduce_each", counted)
    monkeypatch.setattr(hsic, "BLOCK_ROWS", 200)
    X = np.random.default_rng(0).normal(size=(900, 4))
    y = X[:, 1] + X[:, 3] ** 2
    parameters = {"n_features_to_select": 2, "approximation": approximation}
    expected = HSICRanking(**parameters).fit(X, y)
    assert not asked
    selector = HSICRanking(**parameters).fit(da.from_array(X, chunks=(250, 4)), y)
    assert 4 in asked
    assert selector.indices_.tolist() == expected.indices_.tolist()
    assert_allclose(selector.scores_, expected.scores_, rtol=1e-9)


def test_kept_parts_are_reduced_where_they_are(client):
    import dask.array as da

    X = np.arange(40.0).reshape(20, 2)
    engine = open_engine(da.from_array(X, chunks=(6, 2)), X[:, 0] / 3, Settings())
    kept = engine.keep(first_moments)
    assert kept.reduce(itself).mean.tolist() == X.mean(axis=0).tolist()


@pytest.fixture
def persisted(client):
    return parts_in_memory()


def parts_in_memory():
    """40 parts, one of them empty, in the memory of both workers."""
    import dask
    import dask.array as da
    from distributed import wait

    lengths = [0 if seed == 7 else 20 for seed in range(40)]
    lazy = [
        da.from_delayed(dask.delayed(part, pure=True)(seed, n), (n, 5), dtype=float)
        for seed, n in enumerate(lengths)
    ]
    table = da.concatenate(lazy).persist()
    wait(table)
    return table, np.concatenate([part(seed, n) for seed, n in enumerate(lengths)])


def test_parts_in_memory_are_one_task_per_thread_and_run(client, persisted):
    table, X = persisted
    calls = open_engine(table, X[:, 0], Settings())._calls
    assert isinstance(calls, ResidentCalls)
    assert sorted(number for batch in calls._numbers for number in batch) == list(range(39))
    holders = client.who_has(table)
    # Where the parts are is the scheduler's choice: on a busy machine perhaps all on one worker.
    runs = [[number // MERGED_AT_ONCE for number in batch] for batch in calls._numbers]
    workers = [[holders[rows.key] for rows, _, _ in batch] for batch in calls._batches]
    tasks = [set(zip(*task, strict=True)) for task in zip(runs, workers, strict=True)]
    assert all(len(places) == 1 for places in tasks)
    assert len(tasks) == len(set.union(*tasks)) <= 4  # two runs, and two workers of one thread


@pytest.mark.parametrize("where", ["array", "cluster"])
@pytest.mark.parametrize("memory_limit", ["1GiB", "64KiB"])
def test_parts_in_memory_give_the_same_answer(client, persisted, where, memory_limit):
    """Bitwise that of a table that is still to be computed: parts are merged in the same order."""
    import dask.array as da

    table, X = persisted
    y = X[:, 2] - X[:, 3]
    lazy = da.concatenate([table.blocks[number] + 0.0 for number in range(table.numblocks[0])])
    target = y if where == "array" else da.from_array(y, chunks=100).persist()
    for selector in (PearsonRanking(n_features_to_select=2), MRMR(n_features_to_select=3)):
        selector.set_params(memory_limit=memory_limit)
        memory, expected = clone(selector).fit(X, y), clone(selector).fit(lazy, y)
        selector.fit(table, target)
        assert selector.indices_.tolist() == memory.indices_.tolist()
        assert_allclose(selector.scores_, memory.scores_, rtol=0, atol=1e-12)
        assert selector.scores_.tolist() == expected.scores_.tolist()


def test_parts_that_are_lost_with_their_worker_are_computed_again(client_to_lose):
    client = client_to_lose
    table, X = parts_in_memory()
    engine = open_engine(table, X[:, 0], Settings())
    victim = min(client.nthreads())
    client.run(
        os.kill,
        client.run(os.getpid, workers=[victim])[victim],
        9,
        workers=[victim],
        on_error="ignore",
    )
    moments = engine.reduce_rows(first_moments)
    assert_allclose(moments.mean, X.mean(axis=0), rtol=1e-12)


def test_parts_that_lie_on_few_workers_may_travel():
    """Twice the share of a worker is the most that stays where it is."""
    client = _ClusterWith({"a": 1, "b": 1}, {"x": "a", "y": "a", "z": "a"})
    assert Homes.of(client, client.parts) is not None
    crowded = _ClusterWith({"a": 1, "b": 1, "c": 1}, {"x": "a", "y": "a", "z": "a"})
    assert Homes.of(crowded, crowded.parts) is None
    lost = _ClusterWith({"a": 1, "b": 1}, {"x": "a", "y": "gone"})
    assert Homes.of(lost, lost.parts) is None


class _ClusterWith:
    def __init__(self, threads, holder):
        self._threads, self._holder = threads, holder
        self.parts = [SimpleNamespace(key=key) for key in holder]

    def nthreads(self):
        return self._threads

    def who_has(self, futures):
        return {future.key: [self._holder[future.key]] for future in futures}


def first_moments(block):
    return column_moments(block.X)


def itself(moments):
    return moments


def part_that_always_kills_its_worker(seed: int) -> np.ndarray:
    os._exit(1)


def test_a_cluster_that_gives_up_is_one_sentence(client, expected):
    import dask
    import dask.array as da

    deadly = dask.delayed(part_that_always_kills_its_worker, pure=False)(0)
    table = da.from_delayed(deadly, (300, 5), dtype=float)
    client.cluster.scheduler.allowed_failures = 0
    try:
        with pytest.raises(ClusterError, match=r"lost the work \(KilledWorker: .*fit again\.$"):
            PearsonRanking().fit(table, expected[1])
    finally:
        client.cluster.scheduler.allowed_failures = 5
