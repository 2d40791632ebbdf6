"""``load_table`` and ``write_table``: parameters that cannot be are refused, not passed over."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from featsieve import PearsonRanking
from featsieve.errors import InputError
from featsieve.io import load_table, read_table, write_table

TABLE = pa.table({"a": np.arange(9.0), "y": np.arange(9.0) ** 2})


@pytest.fixture
def csv(tmp_path):
    write_table([TABLE], tmp_path / "t.csv", target="y")
    return tmp_path / "t.csv"


@pytest.mark.parametrize(
    ("target", "parameters", "sentence"),
    [
        ("Y", {}, "t.csv has no column 'Y'; did you mean 'y'"),
        (3, {}, "3 is not the name of a column; give it as text"),
        ("y", {"drop": ["y"]}, "would leave out the target; drop other columns"),
        ("y", {"drop": "ab"}, "drop='ab' is not allowed; give a list of names"),
        ("y", {"no_fix": "numbers"}, "no_fix='numbers' is not allowed; give a list of names"),
        ("y", {"missing": "fill"}, "missing='fill' is not allowed; give 'impute', 'drop' or"),
        ("y", {"task": "classify"}, "task='classify' is not allowed; give"),
        ("y", {"header": "no"}, "header='no' is not allowed; give True or False"),
    ],
)
def test_what_load_table_refuses(csv, target, parameters, sentence):
    with pytest.raises(InputError, match=sentence):
        load_table(csv, target, **parameters)


@pytest.mark.parametrize("path", [None, 3, b"t.csv", TABLE])
def test_what_is_no_path(path):
    with pytest.raises(InputError, match=r"the path is .*; give the name of a file as text"):
        load_table(path, "y")


@pytest.mark.parametrize(
    ("parts", "target", "sentence"),
    [
        ([], "y", "there is nothing to write; give pyarrow tables, in a list"),
        ([[1, 2]], "y", "there is nothing to write; give pyarrow tables, in a list"),
        ([TABLE], "z", "the tables have no column 'z' to be the target; name another"),
    ],
)
def test_what_write_table_refuses(tmp_path, parts, target, sentence):
    with pytest.raises(InputError, match=sentence):
        write_table(parts, tmp_path / "out.csv", target=target)
    assert list(tmp_path.iterdir()) == []


def test_a_target_that_is_there_twice(tmp_path):
    columns = [TABLE.column("a"), TABLE.column("y"), TABLE.column("y")]
    pq.write_table(pa.Table.from_arrays(columns, names=["a", "y", "y"]), tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"t\.parquet has two columns named 'y', so the target"):
        PearsonRanking().fit(tmp_path / "t.parquet", "y")


# --- what NPZ, LIBSVM and Arrow hold --------------------------------------------------------------


@pytest.fixture
def load(tmp_path):
    def go(target, /, **arrays):
        np.savez(tmp_path / "t.npz", **arrays)
        return load_table(tmp_path / "t.npz", target)

    return go


def test_columns_of_an_archive_keep_their_types(load):
    large = 2**60 + np.arange(9)
    days = np.arange("2020-01-01", "2020-01-10", dtype="M8[D]")
    X, _ = load("y", id=large, day=days, word=["u", "v", "w"] * 3, y=np.arange(9.0))
    assert X.column("id").to_pylist() == large.tolist()
    assert X.column("day").to_pylist() == [18262 + j for j in range(9)]
    assert X.column("word").to_pylist() == ["u", "v", "w"] * 3


def test_the_other_target_is_not_a_feature(load):
    X, y = load("y", X=np.eye(9), y=np.arange(9), target=np.arange(9) > 4)
    assert X.column_names == [f"X{j}" for j in range(1, 10)]
    assert y.tolist() == list(range(9))


def test_bytes_are_text_and_long_doubles_are_doubles(load):
    X, y = load("y", X=np.eye(9, dtype=np.longdouble), feature_names=[b"a"] * 0, y=[b"u"] * 9)
    assert X.column("X2").to_pylist() == [0.0, 1.0] + [0.0] * 7
    assert y.tolist() == ["u"] * 9
    X, _ = load("y", X=np.eye(2), feature_names=[b"a", "\u00e9".encode()], y=[1.0, 2.0])
    assert X.column_names == ["a", "\u00e9"]


def notes_of(path):
    return [str(note) for note in read_table(path).notes]


def test_what_is_not_used_is_said(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.eye(3), y=np.arange(3), groups=np.arange(3))
    assert notes_of(tmp_path / "t.npz") == ["'groups': not used, since the archive has a matrix"]
    (tmp_path / "t.svm").write_text("1 qid:1 1:2\n0 qid:2 2:3\n")
    assert notes_of(tmp_path / "t.svm") == ["query ids (qid) are not used"]
    (tmp_path / "t.svm").write_text("1 1:2\n0 2:3\n")
    assert notes_of(tmp_path / "t.svm") == []


@pytest.mark.parametrize("values", [[0.0, -0.0, 1.5] * 3, [date(2020, 1, j) for j in range(1, 10)]])
def test_dictionaries_of_decimals_and_dates_are_plain_columns_as_in_parquet(tmp_path, values):
    table = TABLE.append_column("b", pa.array(values).dictionary_encode())
    feather.write_feather(table, tmp_path / "t.arrow")
    pq.write_table(table, tmp_path / "t.parquet")
    parts = [load_table(tmp_path / f"t.{kind}", "y")[0] for kind in ("arrow", "parquet")]
    assert parts[0].column("b").to_pylist() == parts[1].column("b").to_pylist()
    assert parts[0].column("b").type == pa.float64()


def test_large_integers_with_gaps_stay_integers(tmp_path):
    large = [2**63 + j if j != 4 else None for j in range(9)]
    table = TABLE.append_column("b", pa.array(large, pa.uint64()))
    pq.write_table(table, tmp_path / "t.parquet")
    X, _ = load_table(tmp_path / "t.parquet", "y", missing="impute")
    assert X.column("b").type == pa.uint64()
    assert X.column("b")[4].as_py() == 2**63 + 5


@pytest.mark.parametrize("limit", ["1GiB", 2000])
def test_bytes_with_gaps_are_refused_for_their_type(tmp_path, limit):
    table = TABLE.append_column("b", pa.array([b"u", None, b"v"] * 3))
    pq.write_table(table, tmp_path / "t.parquet")
    X, y = load_table(tmp_path / "t.parquet", "y", missing="impute", memory_limit=limit)
    with pytest.raises(InputError, match="column 'b' has dtype binary; allowed are"):
        PearsonRanking().fit(X, y)
