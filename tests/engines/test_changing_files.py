"""Files that change or lie are refused in one sentence with their name."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from featsieve import PearsonRanking, open_parquet
from featsieve.errors import InputError
from featsieve.input.boundary import Settings, open_engine
from featsieve.statistics.moments import column_moments

RNG = np.random.default_rng(0)


def frame(n_rows=400, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.normal(size=(n_rows, 4)), columns=[*"abc", "y"])


@pytest.fixture
def path(tmp_path):
    frame().to_parquet(tmp_path / "table.parquet", row_group_size=100)
    return tmp_path / "table.parquet"


def moments(block):
    return column_moments(block.X)


def rewritten(path):
    frame(seed=1).to_parquet(path, row_group_size=100)


def shortened(path):
    path.write_bytes(path.read_bytes()[:-30])


def removed(path):
    path.unlink()


@pytest.mark.parametrize("change", [rewritten, shortened, removed])
def test_a_file_that_changes_between_two_passes(path, change):
    engine = open_engine(open_parquet(path), "y", Settings())
    engine.reduce_rows(moments)
    change(path)
    with pytest.raises(InputError, match=r"^table\.parquet was changed or removed while it was be"):
        engine.reduce_rows(moments)


def test_a_file_that_changes_within_a_pass(path):
    engine = open_engine(open_parquet(path), "y", Settings(rows_per_block=50))

    def summarise(block):
        if block.start == 100:
            rewritten(path)
        return column_moments(block.X)

    with pytest.raises(InputError, match=r"table\.parquet was changed or removed"):
        engine.reduce_rows(summarise)


def test_a_new_file_under_the_same_name_is_a_new_table(path):
    before = PearsonRanking().fit(open_parquet(path), "y").scores_
    rewritten(path)
    after = PearsonRanking().fit(open_parquet(path), "y").scores_
    assert not np.allclose(before, after)


def test_pages_that_cannot_be_read(path):
    content = bytearray(path.read_bytes())
    content[40 : len(content) // 2] = RNG.bytes(len(content) // 2 - 40)
    path.write_bytes(content)
    with pytest.raises(
        InputError,
        match=r"^table\.parquet is not a complete Parquet file, or it is damaged \(.*\); wri",
    ):
        PearsonRanking().fit(open_parquet(path), "y")


def test_a_number_that_changed_on_disk_is_noticed_by_the_checksum_of_its_page(path):
    settings = {"row_group_size": 100, "compression": "none", "use_dictionary": False}
    frame().to_parquet(path, write_page_checksum=True, **settings)
    content = bytearray(path.read_bytes())
    at = content.index(frame()["a"].to_numpy()[7:8].tobytes())
    content[at] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"^table\.parquet is not a complete .* or it is damaged"):
        PearsonRanking().fit(open_parquet(path), "y")


def test_a_truncated_file_is_refused_at_opening(path):
    shortened(path)
    with pytest.raises(InputError, match=r"^table\.parquet is not a complete Parquet file"):
        open_parquet(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda table: table.drop(columns="b"), "column 'b' differs"),
        (lambda table: table.assign(d=1.0), "column 'd' differs"),
        (lambda table: table.assign(c=table["c"].astype(str)), "column 'c' differs"),
        (lambda table: table[["b", "a", "c", "y"]], "the order of columns differs"),
    ],
)
def test_a_folder_of_differing_files_is_refused_at_opening(path, change, words):
    change(frame()).to_parquet(path.parent / "zz.parquet")
    with pytest.raises(
        InputError, match=rf"^zz\.parquet has other columns .*: {words}; give files"
    ):
        open_parquet(path.parent)


def test_a_folder_of_like_files(path):
    frame(seed=1).to_parquet(path.parent / "zz.parquet")
    both = pd.concat([frame(), frame(seed=1)])
    expected = PearsonRanking().fit(both[[*"abc"]], both["y"]).scores_
    assert PearsonRanking().fit(open_parquet(path.parent), "y").scores_ == pytest.approx(expected)


def test_a_table_is_pickled_without_its_open_files(path):
    table = open_parquet(path)
    assert table.shape == (400, 4)
    copied = pickle.loads(pickle.dumps(table))
    assert copied.shape == table.shape
    scores = [PearsonRanking(n_features_to_select=2).fit(t, "y").scores_ for t in (table, copied)]
    np.testing.assert_array_equal(*scores)


def test_a_pickled_table_knows_what_its_file_looked_like(path):
    table = open_parquet(path)
    list(table.batches(["a"], 100, 2**20))
    copied = pickle.loads(pickle.dumps(table))
    rewritten(path)
    with pytest.raises(InputError, match=r"^table\.parquet was changed"):
        list(copied.batches(["a"], 100, 2**20))
