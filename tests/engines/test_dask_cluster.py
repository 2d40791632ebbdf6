"""A real cluster on loopback: workers of their own, one of which dies in mid-run."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from featsieve import MRMR, HSICRanking, PearsonRanking
from featsieve.errors import ClusterError
from featsieve.input.boundary import Settings, open_engine
from featsieve.statistics.moments import column_moments

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(scope="module")
def client():
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

    from featsieve.measures.hsic import tiles

    asked = []
    share = tiles.SharedRowPairs.reduce_each

    def counted(self, fn, columns):
        asked.append(len(columns))
        return share(self, fn, columns)

    monkeypatch.setattr(tiles, "WORTH_A_CLUSTER", 1)
    monkeypatch.setattr(tiles.SharedRowPairs, "reduce_each", counted)
    monkeypatch.setattr(tiles, "BLOCK_ROWS", 200)
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
    engine = open_engine(da.from_array(X, chunks=(6, 2)), X[:, 0], Settings())
    kept = engine.keep(first_moments)
    assert kept.reduce(itself).mean.tolist() == X.mean(axis=0).tolist()


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
