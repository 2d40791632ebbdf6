"""The same answer from memory, small blocks, files and Dask."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from featsieve import PearsonRanking, open_parquet
from featsieve.discretize.base import map_taken
from featsieve.engines import row_tiles
from featsieve.engines.base import block_rows, spans
from featsieve.errors import InputError, MemoryBudgetError
from featsieve.input.boundary import Settings, open_engine
from featsieve.measures.pearson.pearson import Pearson
from tests.tables import FRAMES, as_pandas, mixed_columns


def make_numbers(n_rows=500, n_columns=7, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) + 1e3
    y = X[:, 1] - X[:, 4] + rng.normal(size=n_rows)
    return X, y


def scores_of(engine):
    return Pearson().bind(engine).scores()


@pytest.fixture
def parquet(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = make_numbers()
    table = pa.table({**{f"c{j}": X[:, j] for j in range(X.shape[1])}, "y": y})
    path = tmp_path / "table.parquet"
    pq.write_table(table, path, row_group_size=130)
    return path


@pytest.mark.parametrize("rows_per_block", [1, 3, 64, 10_000])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_blocks_and_threads_do_not_change_the_scores(rows_per_block, n_jobs):
    X, y = make_numbers()
    expected = np.abs([np.corrcoef(X[:, j], y)[0, 1] for j in range(X.shape[1])])
    settings = Settings(rows_per_block=rows_per_block, n_jobs=n_jobs)
    assert_allclose(scores_of(open_engine(X, y, settings)), expected, rtol=0, atol=1e-12)


def test_file_engine_agrees_with_memory(parquet):
    X, y = make_numbers()
    table = open_parquet(parquet)
    from_file = scores_of(open_engine(table, "y", Settings(rows_per_block=50, n_jobs=2)))
    assert_allclose(from_file, scores_of(open_engine(X, y, Settings())), rtol=0, atol=1e-12)


def test_dask_array_agrees_with_memory():
    import dask.array as da

    X, y = make_numbers()
    expected = scores_of(open_engine(X, y, Settings()))
    lazy = da.from_array(X, chunks=(130, 3))
    for target in (y, da.from_array(y, chunks=200)):
        assert_allclose(
            scores_of(open_engine(lazy, target, Settings())), expected, rtol=0, atol=1e-12
        )


def test_dask_frame_with_categories_agrees_with_memory():
    import dask.dataframe as dd

    frame = as_pandas(mixed_columns(200))
    X, y = frame.drop(columns="target"), frame["target"]
    expected = scores_of(open_engine(X, y, Settings()))
    lazy = dd.from_pandas(frame, npartitions=4)
    engine = open_engine(lazy.drop(columns="target"), lazy["target"], Settings())
    assert_allclose(scores_of(engine), expected, rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask's own call of pandas
def test_dask_frame_whose_target_has_other_partitions(parquet):
    import dask.dataframe as dd

    frame = dd.read_parquet(parquet, split_row_groups=True)
    X, y = make_numbers()
    engine = open_engine(frame.drop(columns="y"), frame["y"], Settings())
    expected = scores_of(open_engine(X, y, Settings()))
    assert_allclose(scores_of(engine), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("library", FRAMES)
def test_frames_of_all_libraries_give_the_same_scores(library):
    columns = mixed_columns()
    frame = FRAMES[library](columns)
    selector = PearsonRanking(n_features_to_select=2)
    y = np.array(columns["target"])
    X = {name: values for name, values in columns.items() if name != "target"}
    selector.fit(FRAMES[library](X) if library != "pandas" else frame.drop(columns="target"), y)
    assert selector.get_feature_names_out().tolist() == ["size", "colour"]
    assert selector.feature_names_in_.tolist() == ["noise", "size", "colour", "flag"]


def test_sparse_is_summed_without_being_filled_in():
    rng = np.random.default_rng(1)
    X = sp.random(300, 20, density=0.1, random_state=rng, format="csc")
    y = np.asarray(X[:, [3]].toarray()).ravel() + 0.01 * rng.normal(size=300)
    dense = scores_of(open_engine(X.toarray(), y, Settings()))
    for container in (X, sp.csr_array(X), X.tocsr()):
        found = scores_of(open_engine(container, y, Settings(rows_per_block=32)))
        assert_allclose(found, dense, rtol=1e-10, atol=1e-12)


def test_take_gives_rows_in_the_order_asked_for(parquet):
    import dask.array as da

    X, y = make_numbers()
    rows, columns = np.array([400, 3, 77, 3]), np.array([2, 0])
    engines = [
        open_engine(X, y, Settings()),
        open_engine(open_parquet(parquet), "y", Settings(rows_per_block=64)),
        open_engine(da.from_array(X, chunks=(90, 7)), y, Settings()),
    ]
    for engine in engines:
        taken, target = engine.take(rows, columns)
        assert_allclose(taken, X[rows][:, columns])
        assert_allclose(target[:, 0], y[rows])


def test_taking_more_than_the_budget_is_refused_in_one_sentence():
    X, y = make_numbers()
    engine = open_engine(X, y, Settings(memory_limit=1024))
    with pytest.raises(
        MemoryBudgetError, match=r"500 × 7 needs 27\.3 KiB, but memory_limit is 1\.0"
    ):
        engine.take()


@pytest.mark.parametrize("width", [1, 2])
def test_map_columns_visits_every_column_once(width, monkeypatch):
    monkeypatch.setattr("featsieve.engines.base.TILE_COLUMNS", width)
    X, y = make_numbers()
    engine = open_engine(X, y, Settings(n_jobs=2))
    assert_allclose(engine.map_columns(lambda values, _: values.mean(axis=0)), X.mean(axis=0))


class Total:
    def __init__(self, value):
        self.value = value

    def merge(self, other):
        return Total(self.value + other.value)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("memory_limit", ["1GiB", 4 * 8 * 50 * 3])
@pytest.mark.parametrize("n_values", [1, 1 << 17, 1 << 20])
def test_each_taken_column_has_one_result(n_values, memory_limit, n_jobs, parquet):
    """Also where only three columns fit the budget at once."""
    X, _ = make_numbers()
    rows, columns = np.arange(0, 500, 10), np.array([5, 0, 2, 6, 1])
    settings = Settings(n_jobs=n_jobs, memory_limit=memory_limit)
    engine = open_engine(open_parquet(parquet), "y", settings)

    def sums(cells, tile):
        return cells[:, slice(*tile)].sum(axis=0).tolist()

    found = map_taken(engine, sums, rows, columns, n_values, "adding", engine.n_jobs)
    assert_allclose(found, X[np.ix_(rows, columns)].sum(axis=0), rtol=1e-13)


def pair_sum(first, second):
    products = first.X @ second.X.T
    same = first.start == second.start
    return Total(products.sum() if same else 2 * products.sum())


def manhattan(first, second):
    return np.abs(first.X[:, None, :] - second.X[None, :, :]).sum(axis=2)


@pytest.fixture(params=["memory", "threads", "file", "dask", "large partitions"])
def pair_engine(request, parquet, monkeypatch):
    import dask.array as da

    monkeypatch.setattr(row_tiles, "TILE_ROWS", 40 if request.param == "large partitions" else 1024)
    X, y = make_numbers()
    return {
        "memory": lambda: open_engine(X, y, Settings(rows_per_block=64)),
        "threads": lambda: open_engine(X, y, Settings(rows_per_block=64, n_jobs=2)),
        "file": lambda: open_engine(open_parquet(parquet), "y", Settings()),
        "dask": lambda: open_engine(da.from_array(X, chunks=(130, 7)), y, Settings()),
        "large partitions": lambda: open_engine(da.from_array(X, chunks=(130, 7)), y, Settings()),
    }[request.param]()


def test_tiles_cover_every_pair_of_rows_once(pair_engine):
    X, _ = make_numbers()
    assert_allclose(pair_engine.reduce_tiles(pair_sum).value, (X @ X.T).sum(), rtol=1e-12)


def test_nearest_rows_are_those_of_brute_force(pair_engine):
    X, _ = make_numbers()
    distances = np.abs(X[:, None, :] - X[None, :, :]).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    expected = np.argsort(distances, axis=1, kind="stable")[:, :5]
    found, rows = pair_engine.topk_tiles(manhattan, 5)
    assert (rows == expected).all()
    assert_allclose(found, np.take_along_axis(distances, expected, axis=1))


def test_missing_cells_are_refused_with_name_count_and_advice(parquet):
    X, y = make_numbers()
    X[3, 2] = X[100, 2] = np.nan
    X[7, 5] = np.inf
    with pytest.raises(
        InputError, match=r"column 'x2' \(and 1 more column\) has 2 missing \(NaN\)"
    ):
        scores_of(open_engine(X, y, Settings(rows_per_block=50)))


def test_block_grid_depends_on_shape_before_budget():
    assert block_rows(10, 1 << 30, 1) == block_rows(10, 1 << 30, 2)
    assert list(spans(0, 4)) == []


@pytest.mark.parametrize("columns", [None, np.array([4, 1])])
def test_rows_taken_on_threads_are_the_same(columns, monkeypatch):
    monkeypatch.setattr("featsieve.engines.memory.WORTH_THREADS", 1)
    monkeypatch.setattr("featsieve.engines.memory.BYTES_TAKEN", 1)
    X = np.random.default_rng(0).normal(size=(300, 6))
    rows = np.random.default_rng(1).permutation(300)[:200]
    engine = open_engine(X, X[:, 0], Settings(n_jobs=2))
    taken, y = engine.take(rows, columns)
    expected = X[rows] if columns is None else X[np.ix_(rows, columns)]
    assert taken.tolist() == expected.tolist()
    assert taken.flags.c_contiguous
    assert y[:, 0].tolist() == X[rows, 0].tolist()


def test_an_array_is_lent_where_it_is_what_would_be_copied():
    X = np.random.default_rng(0).normal(size=(50, 4))
    y = X[:, 0]
    assert open_engine(X, y, Settings()).lent() is X
    read_only = X.copy()
    read_only.flags.writeable = False
    for other in (np.asfortranarray(X), X[::2], X.astype(np.int64), sp.csr_array(X), read_only):
        assert open_engine(other, y[: other.shape[0]], Settings()).lent() is None
    huge = X.copy()
    huge[:, 1] *= 1e200
    assert open_engine(huge, y, Settings(rescale=True)).lent() is None
    with pytest.raises(InputError, match="missing"):
        open_engine(np.where(X > 2, np.nan, X), y, Settings()).lent()


def test_columns_of_arrow_may_come_in_pieces():
    """Numbers with and without gaps, and states with gaps, in one piece and in several."""
    import pyarrow as pa

    rng = np.random.default_rng(0)
    states = [None if i % 7 == 0 else f"s{i % 3}" for i in range(60)]
    whole = pa.table(
        {
            "plain": rng.normal(size=60),
            "counts": np.arange(60),
            "gaps": [None if i % 5 == 0 else float(i) for i in range(60)],
            "states": pa.array(states).dictionary_encode(),
        }
    )
    pieces = pa.concat_tables([whole.slice(0, 11), whole.slice(11, 30), whole.slice(41)])
    assert pieces.column("plain").num_chunks == 3
    settings = Settings(takes_missing=True)
    (X, _), (Z, _) = (open_engine(t, np.arange(60.0), settings).take() for t in (whole, pieces))
    np.testing.assert_array_equal(X, Z)
    assert np.isnan(Z[:, 3]).sum() == states.count(None)
