"""Integers that a float cannot hold: a warning with the column's name, from every container."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from featsieve import MRMR, PearsonRanking, ReliefF, open_parquet

N = 40
RNG = np.random.default_rng(0)
Y = RNG.normal(size=N)
SMALL = RNG.integers(0, 9, N)
LARGE = SMALL + 2**60
FRAME = pd.DataFrame({"small": SMALL, "id": LARGE, "x": RNG.normal(size=N)})
SAID = r"integers beyond 2\^53 lose their last digits"


def as_dask(frame):
    import dask.dataframe as dd

    return dd.from_pandas(frame, npartitions=3)


def as_dask_array(frame):
    import dask.array as da

    return da.from_array(frame[["small", "id"]].to_numpy(), chunks=(15, 2))


CONTAINERS = {
    "array": lambda frame: frame[["small", "id"]].to_numpy(),
    "unsigned": lambda frame: frame[["small", "id"]].to_numpy(dtype=np.uint64),
    "sparse": lambda frame: sp.csr_array(frame[["small", "id"]].to_numpy()),
    "pandas": lambda frame: frame,
    "nullable": lambda frame: frame.astype({"id": "Int64"}),
    "pyarrow": pa.Table.from_pandas,
    "dask": as_dask,
    "dask array": as_dask_array,
}


@pytest.mark.parametrize("name", CONTAINERS)
@pytest.mark.parametrize("method", [PearsonRanking, MRMR, ReliefF])
def test_the_column_is_named(name, method):
    column = (
        "x1" if ("arr" in name and name != "pyarrow") or name in ("unsigned", "sparse") else "id"
    )
    with pytest.warns(UserWarning, match=f"^'{column}': {SAID}"):
        method(n_features_to_select=1).fit(CONTAINERS[name](FRAME), Y)


@pytest.mark.parametrize("statistics", [True, False])
def test_in_a_file_with_or_without_statistics(statistics, tmp_path):
    path = tmp_path / "t.parquet"
    table = pa.Table.from_pandas(FRAME.assign(y=Y))
    pq.write_table(table, path, row_group_size=15, write_statistics=statistics)
    with pytest.warns(UserWarning, match=f"^'id': {SAID}"):
        PearsonRanking(n_features_to_select=1).fit(open_parquet(path), "y")


@pytest.mark.parametrize("values", [SMALL, SMALL + 2**53 - 9, -SMALL - 2**53 + 9, LARGE * 1.0])
def test_what_is_exact_is_not_talked_about(values, tmp_path):
    frame = FRAME.assign(id=values, y=Y)
    frame.to_parquet(tmp_path / "t.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PearsonRanking(n_features_to_select=1).fit(frame[["small", "id"]], Y)
        PearsonRanking(n_features_to_select=1).fit(open_parquet(tmp_path / "t.parquet"), "y")


def test_categories_and_classes_are_told_apart_whatever_their_size():
    frame = FRAME.assign(id=2**60 + SMALL % 2)
    y = 2**61 + SMALL % 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for target in (y, y.astype(object), y.tolist()):
            selector = PearsonRanking(n_features_to_select=1, categorical_features=["id"])
            selector.fit(frame, target)
            assert selector.task_ == "classification"
            assert selector.get_feature_names_out().tolist() == ["id"]
            assert selector.scores_[1] == pytest.approx(1.0)


def test_a_numeric_target_is_said_to_be_rounded():
    with pytest.warns(UserWarning, match=f"^'the target': {SAID}"):
        PearsonRanking(n_features_to_select=1, task="regression").fit(FRAME[["small", "x"]], LARGE)
