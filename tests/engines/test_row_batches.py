"""Batches of rows: the same rows whatever the row groups, and no more memory than allowed."""

from __future__ import annotations

import errno
import inspect
import sys
import tracemalloc
import weakref
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve import MRMR, PearsonRanking, open_parquet
from featsieve.engines import files, row_batches
from featsieve.errors import InputError
from featsieve.input.boundary import Settings, open_engine
from featsieve.statistics.moments import column_moments
from tests.fuzz.reading import forget_peak, status

MIB = 1 << 20


def mixed_table(n_rows):
    rng = np.random.default_rng(0)
    words = np.array(["red", "green", "blue"])[rng.integers(0, 3, n_rows)]
    return pa.table(
        {
            "number": rng.normal(size=n_rows),
            "with.dot": rng.integers(0, 5, n_rows),
            "word": words,
            "category": pa.array(words).dictionary_encode(),
            "gap": pa.array([None if i % 3 else i for i in range(n_rows)], pa.float32()),
        }
    )


@pytest.fixture
def tiny_budget(monkeypatch):
    """Every column is a group of its own."""
    monkeypatch.setattr(row_batches, "LEAST_BUDGET", 1)
    monkeypatch.setattr(row_batches, "MOST_FILES", 1000)


@settings(deadline=None, max_examples=40)
@given(
    n_rows=st.integers(1, 60),
    row_group=st.integers(1, 60),
    batch_rows=st.integers(1, 70),
    limit=st.sampled_from([1, 2000, 1 << 30]),
)
def test_batches_do_not_depend_on_row_groups_or_the_limit(
    tmp_path_factory, n_rows, row_group, batch_rows, limit
):
    path = tmp_path_factory.mktemp("batches") / "table.parquet"
    table = mixed_table(n_rows)
    pq.write_table(table, path, row_group_size=row_group)
    wanted = ["word", "number", "category", "with.dot", "gap"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_batches, "LEAST_BUDGET", 1)
        file = row_batches.open_file(path)
        batches = list(row_batches.read_batches(file, path, wanted, batch_rows, limit))
    assert [len(batch) for batch in batches[:-1]] == [batch_rows] * (len(batches) - 1)
    for name in wanted:
        together = [value for batch in batches for value in batch.column(name).to_pylist()]
        assert together == table.column(name).to_pylist()
    assert all(batch.column_names == wanted for batch in batches)


def test_columns_that_fit_wait_in_memory_and_others_in_a_file(tmp_path, monkeypatch):
    path, table = tmp_path / "table.parquet", mixed_table(100)
    pq.write_table(table, path, row_group_size=40)
    monkeypatch.setattr(row_batches, "LEAST_BUDGET", 1)
    taken = []
    for name in ("_held", "_spooled"):
        usual = getattr(row_batches, name)
        monkeypatch.setattr(row_batches, name, lambda *a, n=name, f=usual: taken.append(n) or f(*a))
    numbers, all_names = ["number", "with.dot", "gap"], ["word", "number", "gap"]
    held = 40 * (8 + 8)  # bytes of a row group's columns but the last
    for names, limit, expected in (
        (numbers, 2 * held, "_held"),
        (numbers, 2 * held - 2, "_spooled"),
        (all_names, 2 * held, "_spooled"),  # nobody knows how long words are
    ):
        taken.clear()
        file = row_batches.open_file(path)
        batches = list(row_batches.read_batches(file, path, names, 32, limit, even=False))
        assert set(taken) == {expected}
        assert [len(batch) for batch in batches] == [32, 8, 32, 8, 20]
        assert pa.concat_tables(batches).to_pylist() == table.select(names).to_pylist()


def test_pieces_of_row_groups_end_where_batches_do(tmp_path, tiny_budget, monkeypatch):
    path, pieces = tmp_path / "table.parquet", []
    pq.write_table(mixed_table(100), path, row_group_size=40)
    usual = row_batches._rebatched

    def noted(piece):
        pieces.append(len(piece))
        return piece

    monkeypatch.setattr(row_batches, "_rebatched", lambda p, n: usual(map(noted, p), n))
    file = row_batches.open_file(path)
    batches = list(row_batches.read_batches(file, path, ["number", "gap"], 32, 1))
    assert pieces == [32, 8, 24, 8, 8, 16, 4]
    assert [len(batch) for batch in batches] == [32, 32, 32, 4]


@pytest.mark.parametrize("row_group", [40, 100])
def test_a_batch_is_let_go_once_it_is_a_block(row_group, tmp_path, monkeypatch):
    path, batches = tmp_path / "table.parquet", []
    columns = {"x": np.arange(100.0), "y": np.arange(100.0), "z": np.arange(100.0)}
    pq.write_table(pa.table(columns), path, row_group_size=row_group)

    def watched(batch):
        batches.append(weakref.ref(batch))
        return batch

    def look(block):
        alive = [batch for ref in batches if (batch := ref()) is not None]
        assert all(batch.column("x")[0].as_py() > block.start for batch in alive)
        return column_moments(block.X)

    settings = Settings(rows_per_block=16, takes_missing=True, task="regression")
    engine = open_engine(open_parquet(path), "y", settings)
    usual = files.read_batches
    monkeypatch.setattr(files, "read_batches", lambda *a, **k: map(watched, usual(*a, **k)))
    assert engine.reduce_rows(look).weight == 100


@contextmanager
def counted_memory():
    """A pool that knows the most that Arrow held at a time."""
    usual = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(usual)
    pa.set_memory_pool(pool)
    try:
        yield pool
    finally:
        pa.set_memory_pool(usual)


# Newer writers also end a page after some rows.
HAS_ROWS_PER_PAGE = "max_rows_per_page" in inspect.signature(pq.write_table).parameters
LARGEST_PAGE = {"max_rows_per_page": 10**6} if HAS_ROWS_PER_PAGE else {}
LAYOUTS = {
    "small pages, one row group": {"row_group_size": 10**6},
    "one page a column": {"row_group_size": 10**6, "data_page_size": 1 << 30},
    "one page, not compressed": {
        "row_group_size": 10**6,
        "data_page_size": 1 << 30,
        "compression": "none",
        "use_dictionary": False,
        **LARGEST_PAGE,
    },
    "many row groups": {"row_group_size": 3000},
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(55_000, 40), (4400, 500)], ids=["tall", "wide"])
def test_a_row_group_is_not_held_in_memory(layout, shape, tmp_path, monkeypatch):
    X = np.random.default_rng(0).normal(size=shape)
    names = [f"x{j}" for j in range(shape[1])]
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table(list(map(pa.array, X.T)), names), path, **LAYOUTS[layout])
    monkeypatch.setattr(row_batches, "LEAST_BUDGET", 4 * MIB)
    tracemalloc.start()
    with counted_memory() as pool:
        file = row_batches.open_file(path)
        rows = MIB // (8 * shape[1])
        batches = row_batches.read_batches(file, path, names, rows, 8 * MIB)
        total = sum(float(batch.column("x1").to_numpy().sum()) for batch in batches)
    from_temporary_files = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == pytest.approx(X[:, 1].sum())
    assert X.nbytes > 16 * MIB
    assert pool.max_memory() < 10 * MIB
    assert from_temporary_files < 3 * MIB  # a batch, and some of the next one


def varint(number):
    """Thrift's compact form of a number that is not negative."""
    number, octets = 2 * number, []
    while number >= 128:
        octets.append(number & 127 | 128)
        number >>= 7
    return bytes([*octets, number])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peaks of memory are Linux's")
def test_a_small_file_takes_no_more_memory_than_it_has_whatever_its_pages_say(tmp_path):
    path = tmp_path / "table.parquet"
    table = pa.table({"x": range(1000)})
    pq.write_table(table, path, use_dictionary=False, compression="none")
    content = path.read_bytes()
    # The header after "PAR1": the kind of page, its size, and its size as stored (2 bytes each).
    assert content[4:7] + content[9:10] == b"\x15\x00\x15\x15"
    claim = b"\x15" + varint(10**9)
    path.write_bytes(content[:6] + 2 * claim + content[12:])
    file = row_batches.open_file(path)
    forget_peak()
    before = status("VmRSS")
    with pytest.raises(OSError, match="smaller"):
        list(row_batches.read_batches(file, path, ["x"], 100, 8 * MIB))
    assert status("VmHWM") - before < 100 * MIB


def test_selectors_give_the_same_answer_by_way_of_temporary_files(tmp_path, tiny_budget):
    X = np.random.default_rng(0).normal(size=(300, 6))
    path = tmp_path / "table.parquet"
    columns = {f"x{j}": X[:, j] for j in range(6)} | {"y": X[:, 2] + X[:, 4] ** 2}
    pq.write_table(pa.table(columns), path)
    for method in (PearsonRanking, MRMR):
        spooled = method(n_features_to_select=3, memory_limit="8KiB")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(row_batches, "LEAST_BUDGET", 1)
            spooled.fit(open_parquet(path), "y")
        plain = method(n_features_to_select=3).fit(X, columns["y"])
        assert spooled.indices_.tolist() == plain.indices_.tolist()


def test_no_room_for_the_temporary_file_is_said_in_one_sentence(tmp_path, tiny_budget, monkeypatch):
    class FullDisk:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        closed = False

        def write(self, _):
            raise OSError(errno.ENOSPC, "No space left on device")

        def flush(self):
            pass

        def tell(self):
            return 0

    path = tmp_path / "table.parquet"
    pq.write_table(mixed_table(50), path)
    monkeypatch.setattr(row_batches, "TemporaryFile", FullDisk)
    with pytest.raises(InputError, match=r"could not be copied to .*No space left.*TMPDIR"):
        list(row_batches.read_batches(row_batches.open_file(path), path, ["number", "gap"], 10, 1))
