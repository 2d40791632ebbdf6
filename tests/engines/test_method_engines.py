"""The method × engine table of the docs is true: a budget below the table's size shows it."""

from __future__ import annotations

import numpy as np
import pytest
from docs.tables import example_method

from featsieve import open_parquet
from featsieve.errors import MemoryBudgetError
from featsieve.registry import METHODS

N_ROWS, N_COLUMNS = 2000, 4
BELOW_THE_TABLE = 8 * N_ROWS * (N_COLUMNS - 1)
BELOW_A_COLUMN = 1024
STREAMING = [method for method in METHODS if method.engines == "streams"]
GATHERING = [method for method in METHODS if method.engines == "gathers"]


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_COLUMNS))
    y = (X[:, 1] + 0.1 * rng.normal(size=N_ROWS) > 0).astype(int)
    return X, y


@pytest.fixture
def file_table(columns, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = columns
    named = {f"c{j}": X[:, j] for j in range(N_COLUMNS)}
    pq.write_table(pa.table({**named, "y": y}), tmp_path / "table.parquet", row_group_size=500)
    return open_parquet(tmp_path / "table.parquet"), "y"


@pytest.fixture(params=["file", "dask"])
def lazy_table(request, columns, file_table):
    if request.param == "file":
        return file_table
    import dask.array as da

    X, y = columns
    return da.from_array(X, chunks=(500, N_COLUMNS)), y


def selected(method, table, memory_limit):
    selector = example_method(method).set_params(n_features_to_select=1, memory_limit=memory_limit)
    return selector.fit(*table).indices_.tolist()


@pytest.mark.parametrize("method", STREAMING, ids=lambda method: method.name)
def test_streaming_method_needs_less_memory_than_the_table_has(method, lazy_table):
    assert selected(method, lazy_table, BELOW_THE_TABLE) == [1]


@pytest.mark.parametrize("method", GATHERING, ids=lambda method: method.name)
def test_gathering_method_reads_a_table_that_fits(method, lazy_table):
    assert selected(method, lazy_table, "1GiB") == [1]


@pytest.mark.parametrize("method", GATHERING, ids=lambda method: method.name)
def test_gathering_method_refuses_a_file_that_does_not_fit(method, file_table):
    with pytest.raises(MemoryBudgetError, match="memory_limit is 1"):
        selected(method, file_table, BELOW_A_COLUMN)
