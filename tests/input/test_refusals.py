"""Columns and targets that are neither numbers nor categories: a sentence that helps."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from featsieve import MRMR, PearsonRanking
from featsieve.errors import InputError

N = 40
X = np.random.default_rng(0).normal(size=N)
Y = (X > 0).astype(int)

COLUMNS = {
    "dates": (pd.date_range("2020", periods=N), r"use days, such as \(X\['c'\] - X\['c'\]\.min"),
    "zoned dates": (pd.date_range("2020", periods=N, tz="UTC"), r"\.dt\.days in pandas"),
    "durations": (pd.to_timedelta(np.arange(N), "D"), r"X\['c'\]\.dt\.total_seconds"),
    "periods": (pd.period_range("2020", periods=N, freq="M"), r"use X\['c'\]\.dt\.year"),
    "intervals": (pd.interval_range(0, N), r"X\['c'\]\.astype\(str\) for states"),
    "complex": (X + 1j, "complex numbers have no order"),
    "mixed": ([1, "a"] * 20, r"values of type int, str; make it all text"),
    "lists": ([[1], [2]] * 20, "values of type list; make it all numbers or all text"),
    "nothing in Arrow": (pd.array([None] * N, dtype="null[pyarrow]"), "no value at all; drop it"),
    "views of text": (
        pd.arrays.ArrowExtensionArray(pa.array(["a", "b"] * 20, pa.string_view())),
        "has dtype string_view",
    ),
    "arrays": (list(np.ones((N, 2))), "values of type ndarray; make it all numbers or all text"),
    "date objects": ([datetime.date(2020, 1, 1)] * N, r"pandas\.to_datetime"),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_that_is_not_one(kind):
    values, sentence = COLUMNS[kind]
    with pytest.raises(InputError, match=sentence) as info:
        PearsonRanking().fit(pd.DataFrame({"a": X, "c": values}), Y)
    assert "\n" not in str(info.value)


def test_long_decimals_are_read_as_numbers_or_refused():
    """Only pandas 2 reads them."""
    cells = [Decimal(k % 3) for k in range(N)]
    column = pd.array(cells, dtype=pd.ArrowDtype(pa.decimal256(50, 2)))
    frame = pd.DataFrame({"a": X, "c": column})
    if int(pd.__version__.partition(".")[0]) > 2:
        with pytest.raises(InputError, match="too long to be read; convert it to floating-point"):
            PearsonRanking().fit(frame, Y)
        return
    expected = PearsonRanking().fit(np.c_[X, np.arange(N) % 3], Y).scores_
    np.testing.assert_allclose(PearsonRanking().fit(frame, Y).scores_, expected)


def test_polars_columns():
    dates = [datetime.date(2020, 1, 1)] * N
    with pytest.raises(InputError, match=r"dtype Date; .*total_days\(\) in polars"):
        PearsonRanking().fit(pl.DataFrame({"a": X, "c": dates}), Y)
    with pytest.raises(InputError, match="dtype Null; it has no value at all; drop it"):
        PearsonRanking().fit(pl.DataFrame({"a": X, "c": [None] * N}), Y)


def test_polars_objects():
    texts = pl.Series("c", ["a", "b"] * 20, dtype=pl.Object)
    with pytest.raises(InputError, match="dtype Object; allowed are numbers"):
        PearsonRanking().fit(pl.DataFrame({"a": X}).with_columns(texts), Y)
    numbers = pl.Series("c", X.tolist(), dtype=pl.Object)
    scores = PearsonRanking().fit(pl.DataFrame({"a": X}).with_columns(numbers), Y).scores_
    assert scores[0] == scores[1]


def test_signalling_decimals_are_missing():
    cells = [Decimal("sNaN"), *map(Decimal, range(N - 1))]
    with pytest.raises(InputError, match="'c' has 1 missing"):
        PearsonRanking().fit(pd.DataFrame({"a": X, "c": cells}), Y)
    with pytest.raises(InputError, match="the target has 1 missing"):
        PearsonRanking().fit(X[:, None], cells)


def test_texts_of_numpy_are_texts():
    mixed = pd.Series([1, *map(np.str_, "ab" * 19), "c"], dtype=object)
    with pytest.raises(InputError, match="values of type int, str"):
        PearsonRanking().fit(pd.DataFrame({"a": X, "c": mixed}), Y)


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean", "string", "double[pyarrow]"])
def test_nullable_types_with_a_gap(dtype):
    """Methods that take gaps take them as gaps; the others name the column and the count."""
    values = pd.Series(np.where(Y, "b", "a") if dtype == "string" else Y).astype(dtype)
    frame = pd.DataFrame({"a": X, "c": values})
    whole = MRMR(n_features_to_select=1).fit(frame, Y)
    assert whole.scores_[1] > whole.scores_[0]
    frame.loc[3, "c"] = pd.NA
    assert MRMR(n_features_to_select=1).fit(frame, Y).indices_.tolist() == [1]
    with pytest.raises(InputError, match="column 'c' has 1 missing"):
        PearsonRanking().fit(frame, Y)


def test_numbers_written_as_text():
    text = [f"{value:.3f}" for value in X]
    with pytest.warns(UserWarning, match="column 'c' holds numbers written as text"):
        PearsonRanking().fit(pd.DataFrame({"a": X, "c": text}), Y)
    with pytest.raises(InputError, match="the target holds numbers written as text"):
        PearsonRanking().fit(X[:, None], text)
    assert PearsonRanking(task="classification").fit(X[:, None], text).task_ == "classification"
    digits = PearsonRanking().fit(X[:, None], Y.astype(str))  # few of them: classes
    assert digits.task_ == "classification"


def test_decimals_are_numbers():
    target = pd.Series([Decimal(str(value)) for value in X])
    assert PearsonRanking().fit(X[:, None], target).task_ == "regression"


def test_names_and_mappings_point_to_what_works():
    frame = pd.DataFrame({"a": X, "y": Y})
    with pytest.raises(InputError, match=r"X\.drop\(columns='y'\) as X and X\['y'\] as y"):
        PearsonRanking().fit(frame, "y")
    with pytest.raises(InputError, match="X is a mapping of columns; make it a table first"):
        PearsonRanking().fit({"a": X}, Y)
