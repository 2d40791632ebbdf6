"""Folders and patterns of Parquet files are one table, in memory and on the disk."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from featsieve import MRMR, PearsonRanking, open_parquet
from featsieve.cli import main
from featsieve.errors import InputError
from featsieve.io import read_table
from featsieve.io.model import ArrowTable, FileTable, ReadOptions


@pytest.fixture
def folder(tmp_path):
    """Two files of 50 rows; the column ``day`` holds dates, which no method takes."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(100, 3)), columns=["a", "b", "c"])
    frame["day"] = pd.date_range("2020", periods=100)
    frame["y"] = frame["b"] + 0.1 * frame["c"]
    for part in range(2):
        frame[50 * part : 50 * part + 50].to_parquet(tmp_path / f"part-{part}.parquet")
    return tmp_path


@pytest.mark.parametrize("limit", ["1GiB", 3000])
@pytest.mark.parametrize("name", ["", "part-*.parquet", "part-?.parquet"])
def test_one_table_of_several_files(folder, name, limit):
    table = read_table(folder / name, ReadOptions(memory_limit=limit))
    assert isinstance(table, FileTable if limit == 3000 else ArrowTable)
    assert (table.n_rows, table.names) == (100, ("a", "b", "c", "day", "y"))
    split = table.without(["day"]).split("y")
    selector = PearsonRanking(n_features_to_select=1).fit(split.X, split.y)
    assert split.names[selector.indices_[0]] == "b"


@pytest.mark.parametrize("limit", ["1GiB", "20KiB"])
def test_drop_acts_before_any_check(folder, limit, capsys):
    words = ["select", str(folder), "--target", "y", "-k", "1", "--method", "pc", "--drop", "day"]
    code = main([*words, "--memory-limit", limit, "--format", "json"])
    out, err = capsys.readouterr()
    assert code == 0, err
    assert json.loads(out)["selected"] == ["b"]
    assert json.loads(out)["n_features"] == 3


def test_dropped_columns_cannot_be_the_target(folder):
    table = open_parquet(folder).without(["day", "a"])
    assert table.column_names == ["b", "c", "y"]
    with pytest.raises(InputError, match="there is no column 'a'"):
        table.with_target("a")


def test_no_file_matches(folder):
    with pytest.raises(InputError, match=r"no file matches 'x-\*\.parquet'"):
        read_table(folder / "x-*.parquet")


def test_a_path_is_enough_for_fit(folder):
    for path in (folder / "part-0.parquet", str(folder / "part-0.parquet")):
        with pytest.raises(InputError, match="dates are not numbers"):
            MRMR(n_features_to_select=1).fit(path, "y")
    pd.read_parquet(folder / "part-0.parquet").drop(columns="day").to_parquet(folder / "t.parquet")
    selector = PearsonRanking(n_features_to_select=1).fit(str(folder / "t.parquet"), "y")
    assert selector.get_feature_names_out().tolist() == ["b"]
    with pytest.raises(InputError, match=r"others by X, y = featsieve\.io\.load_table"):
        PearsonRanking().fit("table.csv", "y")


def test_all_files_of_a_folder_are_read_whatever_the_case_of_their_ending(folder):
    (folder / "part-1.parquet").rename(folder / "part-1.PQ")
    (folder / "_log").mkdir()
    (folder / "_log" / "checkpoint.parquet").write_bytes(b"")
    assert open_parquet(folder).shape[0] == 100


def test_files_in_deeper_folders_are_not_left_out_without_a_word(folder):
    (folder / "more").mkdir()
    (folder / "part-1.parquet").rename(folder / "more" / "part-1.parquet")
    with pytest.raises(InputError, match="also has Parquet files in its folder 'more'"):
        open_parquet(folder)
