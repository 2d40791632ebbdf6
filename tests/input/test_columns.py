"""Columns of every container: names that are not text, text that is no category, odd types."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pads
import pytest
from sklearn.linear_model import Ridge

from featsieve import MRMR, PearsonRanking, WrapperSelector
from featsieve.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
Y = X[:, 2] + 0.2 * RNG.normal(size=40)
FRAME = pd.DataFrame(X, columns=list("abcd"))


@pytest.mark.parametrize(
    "names",
    [
        [0, 1, 2, 3],
        [3, 1, 2, 0],
        pd.MultiIndex.from_product([["a", "b"], [1, 2]]),
        pd.date_range("2020", periods=4),
        ["", "a", "\x1b[31m", "=1+1"],
    ],
    ids=["default", "numbers", "levels", "dates", "strange text"],
)
def test_names_of_any_kind(names):
    frame = pd.DataFrame(X, columns=names)
    selector = PearsonRanking(n_features_to_select=2).fit(frame, Y)
    kept = selector.transform(frame)
    assert kept.columns.tolist() == [frame.columns[j] for j in np.flatnonzero(selector.support_)]
    restored = selector.inverse_transform(kept)
    assert restored.to_numpy() == pytest.approx(np.where(selector.support_, X, 0.0))


def test_numbered_names_on_dask():
    dd = pytest.importorskip("dask.dataframe")
    lazy = dd.from_pandas(pd.DataFrame(X), npartitions=2)
    selector = PearsonRanking(n_features_to_select=2).fit(lazy, Y)
    kept = selector.transform(lazy)
    assert kept.columns.tolist() == np.flatnonzero(selector.support_).tolist()
    restored = selector.inverse_transform(kept).compute()
    assert restored.to_numpy() == pytest.approx(np.where(selector.support_, X, 0.0))


def test_an_empty_name_stays_empty_in_polars():
    frame = pl.DataFrame({"": X[:, 2], "b": X[:, 1], "c": X[:, 0]})
    kept = PearsonRanking(n_features_to_select=1).fit(frame, Y).transform(frame)
    assert kept.columns == [""]


def test_a_wrapper_takes_numbered_names():
    selector = WrapperSelector(Ridge(), n_features_to_select=1).fit(pd.DataFrame(X), Y)
    assert selector.indices_.tolist() == [2]


def test_names_of_mixed_types_are_refused():
    with pytest.raises(InputError, match=r"of the types int, str, .* X.columns.astype\(str\)"):
        PearsonRanking().fit(FRAME.set_axis(["a", 1, 2, "d"], axis=1), Y)


def test_lazy_columns_in_another_order_are_refused():
    dd = pytest.importorskip("dask.dataframe")
    selector = PearsonRanking().fit(FRAME, Y)
    other = dd.from_pandas(FRAME[list("dcba")], npartitions=2)
    with pytest.raises(InputError, match="column 0 of X is 'd', but fit saw 'a' there"):
        selector.transform(other)


def test_text_with_a_value_per_row_is_said():
    texts = FRAME.assign(a=[f"{100 * v:.3f}%" for v in X[:, 2]])
    with pytest.warns(UserWarning, match="column 'a' is text with 40 distinct values in 40 rows"):
        PearsonRanking().fit(texts, Y)
    PearsonRanking().fit(texts.astype({"a": "category"}), Y)  # as its dtype says
    PearsonRanking().fit(texts.assign(a=np.where(Y > 0, "u", "v")), Y)


def test_text_with_a_value_per_row_is_said_on_files_and_dask(tmp_path):
    dd = pytest.importorskip("dask.dataframe")
    texts = FRAME.assign(a=[f"{100 * v:.3f}%" for v in X[:, 2]], y=Y)
    texts.to_parquet(tmp_path / "t.parquet", row_group_size=15)
    lazy = dd.from_pandas(texts, npartitions=3)
    for table, y in ((tmp_path / "t.parquet", "y"), (lazy[list("abcd")], lazy["y"])):
        with pytest.warns(UserWarning, match="'a' is text with 40 distinct values in 40 rows"):
            PearsonRanking().fit(table, y)


def arrow(values, kind):
    return pa.table({"a": pa.array(values, kind), "b": X[:, 1]})


@pytest.mark.skipif(not hasattr(pl, "Int128"), reason="this version of polars has no Int128")
def test_wide_integers_of_polars():
    large = pl.Series([2**70 * int(8 * v) for v in X[:, 2]], dtype=pl.Int128)
    with pytest.warns(UserWarning, match="beyond 2\\^53"):
        scores = PearsonRanking().fit(pl.DataFrame({"a": large, "b": X[:, 1]}), Y).scores_
    expected = PearsonRanking().fit(np.c_[np.trunc(8 * X[:, 2]), X[:, 1]], Y).scores_
    assert scores == pytest.approx(expected)


def test_types_that_other_libraries_do_not_convert():
    words = np.where(Y > 0, "u", "v").tolist()
    views, texts = arrow(words, pa.string_view()), arrow(words, pa.string())
    assert PearsonRanking().fit(views, Y).scores_.tolist() == (
        PearsonRanking().fit(texts, Y).scores_.tolist()
    )
    prices = pd.array([Decimal("1.1"), None, Decimal(3), Decimal(4)] * 10)
    frame = pd.DataFrame({"a": prices.astype(pd.ArrowDtype(pa.decimal128(5, 2)))})
    holed = pd.DataFrame({"a": [1.1, np.nan, 3, 4] * 10})
    assert MRMR().fit(frame, Y).scores_ == pytest.approx(MRMR().fit(holed, Y).scores_)


def test_a_record_batch_is_a_table():
    batch = pa.record_batch({"a": np.where(Y > 0, "u", "v"), "b": X[:, 1], "c": X[:, 2]})
    selector = PearsonRanking(n_features_to_select=1).fit(batch, Y)
    assert selector.feature_names_in_.tolist() == ["a", "b", "c"]
    kept = selector.transform(batch)
    assert isinstance(kept, pa.RecordBatch)
    assert kept.schema.names == ["c"]


TABLE = pa.table({"a": X[:, 0]})
UNREAD = {
    "a data set": (pads.dataset(TABLE), r"call \.to_table\(\) first"),
    "a reader": (TABLE.to_reader(), r"call \.read_all\(\) first"),
}


@pytest.mark.parametrize(("table", "sentence"), UNREAD.values(), ids=UNREAD)
def test_tables_that_are_not_read_yet(table, sentence):
    with pytest.raises(InputError, match=sentence):
        PearsonRanking().fit(table, Y)


def test_what_is_no_table_of_dask():
    dask = pytest.importorskip("dask")
    da, dd = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    lazy = dd.from_pandas(FRAME, npartitions=2)
    whole = da.from_array(X, chunks=(20, 4))
    bad = {
        r"call \.compute\(\) first": dask.delayed(X),
        r"call \.to_frame\(\) first": lazy["a"],
        "Expected 2D array": whole[:, 0],
        "Complex data not supported": whole + 1j,
        "two columns named 'a'": lazy[["a", "a"]],
        "has 5 rows where its chunks say 20": whole.map_blocks(lambda part: part[:5], dtype=float),
    }
    for sentence, table in bad.items():
        with pytest.raises(InputError, match=sentence):
            PearsonRanking().fit(table, Y)


@pytest.mark.parametrize("groups", [{"a": ["b", "c"]}, {"g": ["a", "b"], "c": ["d"]}])
def test_a_group_is_not_called_as_a_column_beside_it(groups):
    with pytest.raises(InputError, match=r"2 units named '[ac]', .* a name of its own"):
        PearsonRanking(feature_groups=groups).fit(FRAME, Y)
