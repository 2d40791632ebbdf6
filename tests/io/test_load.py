"""``load_table`` and ``write_table``: parameters that cannot be are refused, not passed over."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featsieve import PearsonRanking
from featsieve.errors import InputError
from featsieve.io import load_table, write_table

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
