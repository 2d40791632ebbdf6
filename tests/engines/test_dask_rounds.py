"""A round of messages is what costs on a cluster: they are few, and nothing large travels."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from featsieve import CIFE, CMIM, DISR, ICAP, JMI, MIFS, MRMR, CondMI
from featsieve.discretize.bins import _quantiles
from featsieve.engines.cells import Units
from featsieve.engines.dask import DaskEngine, _tiles_of_parts
from featsieve.engines.dask_calls import Stack
from featsieve.engines.dask_cluster import KeptList, KeptParts, Tasks
from featsieve.input.boundary import Settings, open_engine
from featsieve.measures import MutualInformation
from featsieve.measures.information import pairs
from featsieve.measures.information.pair_sums import PackedPairs
from featsieve.measures.information.pairs import Ahead, CountedPairs

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

ASKING = (MRMR, JMI, CMIM, DISR, ICAP, CIFE, MIFS)
N_ROWS, N_COLUMNS, K = 4000, 20, 10
LITTLE = "512KiB"  # so that the codes stay on the workers


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N_ROWS, N_COLUMNS))
    X[:, 5] += X[:, 2]
    return X, (X[:, 1] + X[:, 2] * X[:, 3] + 0.5 * X[:, 8] > 0).astype(int)


@pytest.fixture(scope="module")
def client():
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1"}
    options |= {"dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    with LocalCluster(**options) as cluster, Client(cluster) as found:
        yield found


@pytest.fixture
def persisted(client, table):
    import dask.array as da
    from distributed import wait

    X, y = table
    parts = da.from_array(X, chunks=(500, N_COLUMNS)).persist()
    target = da.from_array(y, chunks=500).persist()
    wait([parts, target])
    return parts, target


@contextmanager
def counted(owner, name):
    """The calls of a method while this is open."""
    calls, method = [], getattr(owner, name)

    def call(self, *arguments):
        calls.append(arguments)
        return method(self, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, call)
        yield calls


@pytest.mark.parametrize("method", ASKING)
def test_likely_columns_come_along_and_change_no_bit(persisted, table, monkeypatch, method):
    selector = method(n_features_to_select=K, memory_limit=LITTLE)
    with counted(KeptParts, "reduce") as passes:
        together = clone(selector).fit(*persisted)
    monkeypatch.setattr(pairs, "MOST_AHEAD", 0)
    with counted(KeptParts, "reduce") as passes_alone:
        alone = clone(selector).fit(*persisted)
    assert len(passes_alone) == 1 + K - 1  # relevance, and the pairs of all but the last
    assert 2 <= len(passes) <= 7
    assert together.indices_.tolist() == alone.indices_.tolist()
    assert_array_equal(together.scores_, alone.scores_)
    memory = method(n_features_to_select=K).fit(*table)
    assert together.indices_.tolist() == memory.indices_.tolist()
    assert_allclose(together.scores_, memory.scores_, rtol=1e-9, atol=1e-12)


def test_a_fit_is_few_rounds_of_messages(persisted):
    with counted(Tasks, "gather") as rounds:
        MRMR(n_features_to_select=K, memory_limit=LITTLE).fit(*persisted)
    assert 4 <= len(rounds) <= 9  # the target, the cuts, the codes with relevance, and the pairs


def test_no_more_columns_come_along_than_are_still_needed(persisted):
    with counted(CountedPairs, "_pass") as passes:
        MRMR(n_features_to_select=3, memory_limit=LITTLE).fit(*persisted)
    assert len(passes[0][0]) == 2  # two of three are asked for their pairs
    with counted(CountedPairs, "_pass") as passes:
        CondMI(n_features_to_select=3, memory_limit=LITTLE).fit(*persisted)
    assert not passes


def test_a_column_does_not_come_along_with_itself(monkeypatch):
    asked = []

    def noted(self, columns):
        asked.append(list(columns))
        return [(np.zeros(6), np.zeros(6)) for _ in columns]

    monkeypatch.setattr(CountedPairs, "_at_once", 6)
    monkeypatch.setattr(CountedPairs, "_pass", noted)
    source = CountedPairs(None, None, 0, 1, 1, Ahead.over(1000))
    source.bring(0, [1, 2, 3, 4, 5, 0], 4)
    source.bring(5, [1, 2, 3, 4, 0, 5], 3)  # the selected are the least likely
    assert asked == [[0, 1, 2, 3, 4], [5]]


def test_here_a_row_is_counted_when_it_is_needed(table):
    with counted(PackedPairs, "row") as rows:
        MRMR(n_features_to_select=K).fit(*table)
    assert len(rows) == K - 1
    bound = MutualInformation().bind(open_engine(*table, Settings()))
    assert not bound.brings_pairs


@pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler")  # of older Dask
def test_rows_that_a_thread_pool_reads_again_bring_nothing_along(table):
    import dask
    import dask.array as da

    X, y = table
    selector = MRMR(n_features_to_select=4, memory_limit="128KiB")
    with counted(CountedPairs, "_pass") as passes, dask.config.set(scheduler="threads"):
        selector.fit(da.from_array(X, chunks=(500, N_COLUMNS)), y)
    assert [len(columns) for (columns,) in passes] == [1, 1, 1]


def test_more_come_along_as_long_as_most_of_them_are_asked_for():
    ahead, likely = Ahead.over(1000), list(range(1, 20))
    assert list(ahead.batch(0, likely, {0})) == [0, 1, 2, 3, 4]
    assert len(ahead.batch(5, likely[5:], {0, 1, 2, 5})) == 1 + 8
    assert len(ahead.batch(14, likely[14:], {0, 1, 2, 5, 14})) == 1 + 4
    assert Ahead.over(10**9).n_columns == 3
    assert Ahead.over(10**11).batch(0, likely, {0}) == [0]


def test_dask_knows_how_large_kept_blocks_are(client, persisted):
    """It would take our objects for a few bytes, and send them to a worker that is less busy."""
    from dask.sizeof import sizeof

    array = np.zeros((100, 100))
    assert sizeof(KeptList([array, Units(array + 1)])) >= 2 * array.nbytes
    assert sizeof([Stack((100,), array)]) >= array.nbytes
    engine = open_engine(*persisted, Settings())
    assert isinstance(engine, DaskEngine)
    kept = engine.keep(_block_of_numbers)
    assert kept.reduce(_total).value == N_ROWS * N_COLUMNS
    sizes = client.nbytes([f.key for group in kept._groups for f in group], summary=False)
    assert sum(sizes.values()) >= 8 * N_ROWS * N_COLUMNS


class _Total:
    def __init__(self, value):
        self.value = value

    def merge(self, other):
        return _Total(self.value + other.value)


def _block_of_numbers(block):
    return block


def _total(block):
    return _Total(block.X.size)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_quantiles_of_many_columns_are_those_of_each(missing):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 200)).astype(np.float32)
    X[rng.random(X.shape) < missing] = np.nan
    X[:, 7] = np.round(X[:, 7])
    together = _quantiles(X, (3, 200), 5)
    assert len(together) == 197
    for column, cuts in enumerate(together, start=3):
        assert_array_equal(cuts, _quantiles(X, (column, column + 1), 5)[0])


@pytest.mark.parametrize("rows", [None, np.array([0, 3, 299, 301, 302, 599])])
@pytest.mark.parametrize("scaled", [False, True])
def test_rows_of_parts_are_taken_tile_by_tile(rows, scaled):
    """Also where one part is of another type than the first."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 30)).astype(np.float32).astype(np.float64)
    X[300:600] += 1e-12
    parts = [(X[:300].astype(np.float32), 0), (X[300:600], 300), (csr_array(X[600:]), 600)]
    frame = open_engine_frame(X)
    units = Units(np.where(np.arange(30) == 4, 0.25, 1.0)) if scaled else None
    tiles = [np.arange(13), np.arange(13, 29), np.array([29, 2])]
    stacks = _tiles_of_parts(frame, units, rows, tiles, [(p, np.zeros(300), s) for p, s in parts])
    expected = X[slice(None) if rows is None else rows]
    expected = expected if units is None else expected * units.factor
    for tile, stack in zip(tiles, stacks, strict=True):
        assert sum(stack.n_rows) == len(expected)
        assert_array_equal(np.concatenate(stack.parts()), expected[:, tile])


def open_engine_frame(X):
    from featsieve.engines.dask import _Frame

    engine = open_engine(X, np.arange(len(X)) / 7, Settings(task="regression"))
    return _Frame(engine.schema, engine.target)
