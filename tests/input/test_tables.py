"""Arrays as users hold them: shapes, masked cells, objects, and sparse cells stored in parts."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from featsieve import MRMR, HSICRanking, LassoSelector, PearsonRanking, ReliefF
from featsieve.errors import InputError
from featsieve.inference import permutation_test
from featsieve.measures import hsic, kta, pearson

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
Y = X[:, 2] + 0.2 * RNG.normal(size=40)
WORDS = np.array([["a", "b"]] * 40)


def stored_in_parts(values):
    """Each cell is the sum of two stored ones."""
    n_rows, n_columns = values.shape
    columns = np.repeat(np.tile(np.arange(n_columns), n_rows), 2)
    starts = 2 * n_columns * np.arange(n_rows + 1)
    halves = np.repeat(values.ravel(), 2) / 2
    return sp.csr_matrix((halves, columns, starts), shape=values.shape)


@pytest.mark.parametrize("selector", [PearsonRanking(), MRMR(), HSICRanking(), LassoSelector()])
def test_cells_stored_in_parts_are_added_up(selector):
    parts = stored_in_parts(X)
    assert not parts.has_canonical_format
    expected = selector.fit(sp.csr_matrix(X), Y).scores_
    assert selector.fit(parts, Y).scores_ == pytest.approx(expected, abs=1e-12)
    assert parts.nnz == 2 * X.size  # as it was given


def test_cells_stored_in_parts_in_functions_and_on_dask():
    expected = hsic(X, Y)
    assert hsic(stored_in_parts(X), Y) == pytest.approx(expected)
    da = pytest.importorskip("dask.array")
    lazy = da.from_array(X, chunks=(20, 4)).map_blocks(stored_in_parts)
    scores = PearsonRanking().fit(lazy, Y).scores_
    assert scores == pytest.approx(PearsonRanking().fit(X, Y).scores_)


@pytest.mark.parametrize("act", ["fit", "transform"])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.coo_array])
def test_indices_beyond_the_matrix_are_refused(act, make):
    selector = PearsonRanking().fit(X, Y)
    damaged = make(X)
    (damaged.row if damaged.format == "coo" else damaged.indices)[0] = 99
    with pytest.raises(InputError, match="is damaged: its indices do not fit its shape"):
        getattr(selector, act)(damaged, *([Y] if act == "fit" else []))


BAD = {
    "one column": (X[:, 0], r"^Expected 2D array, but X has the shape \(40,\)\. Reshape"),
    "a series": (pd.Series(X[:, 0]), "X.to_frame"),
    "three dimensions": (X[None], r"X is an array of 3 dimensions .* give a table of rows and"),
    "nothing": (None, "X is None, which is not a table; give an array"),
    "rows of two lengths": ([[1, 2], [3]] * 20, "its rows differ in length"),
    "records": (pd.DataFrame(X).to_records(), r"array of records, .* give pandas.DataFrame\(X\)"),
    "complex": (X + 1j, "Complex data not supported: X holds complex numbers, .* give X.real"),
    "sparse complex": (sp.csr_array(X + 1j), "Complex data not supported: X holds"),
    "words": (WORDS, "X is an array of text .* in which columns of text are categories"),
    "objects of words": (WORDS.astype(object), "objects of which some are not numbers .*'a'"),
    "huge": (np.array([[10**400, 1]] * 40, dtype=object), "too large for a floating-point number"),
    "tiny": (np.array([[Decimal("1e-400"), 1]] * 40), "too small for a floating-point number"),
    "strings": (WORDS.astype(np.dtypes.StringDType()), "X is an array of text"),
    "a class": (pd.DataFrame, "DataFrame'>, which is not a table"),
}


@pytest.mark.skipif(np.longdouble(0).itemsize <= 8, reason="long doubles are doubles here")
def test_long_doubles_that_doubles_round_to_zero():
    small = X.astype(np.longdouble) * np.longdouble("1e-4000")
    with pytest.raises(InputError, match="too small for a floating-point number"):
        PearsonRanking().fit(small, Y)
    with pytest.raises(InputError, match="too small for a floating-point number"):
        PearsonRanking().fit(X, small[:, 0])
    zeros = np.where(X > 0, X, 0.0)
    expected = PearsonRanking().fit(zeros, Y).scores_
    assert PearsonRanking().fit(zeros.astype(np.longdouble), Y).scores_ == pytest.approx(expected)


@pytest.mark.parametrize("dtype", [str, object])
def test_dask_arrays_of_text_are_refused_as_others(dtype):
    da = pytest.importorskip("dask.array")
    words = da.from_array(np.full((40, 2), "q", dtype=dtype), chunks=(20, 2))
    with pytest.raises(InputError, match=r"X is an array of (text|objects)"):
        PearsonRanking().fit(words, Y)
    with pytest.raises(InputError, match=r"no columns \(0 feature"):
        PearsonRanking().fit(words[:, :0], Y)


@pytest.mark.parametrize(("table", "sentence"), BAD.values(), ids=BAD)
def test_what_is_no_table_is_one_sentence(table, sentence):
    with pytest.raises(InputError, match=sentence) as refusal:
        PearsonRanking().fit(table, Y)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 220


def test_gaps_among_objects():
    """pandas.NA refuses to become a float."""
    gaps = X.astype(object)
    gaps[3, 1] = pd.NA
    holed = X.copy()
    holed[3, 1] = np.nan
    assert MRMR().fit(gaps, Y).scores_ == pytest.approx(MRMR().fit(holed, Y).scores_)
    with pytest.raises(InputError, match="column 'x1' has 1 missing"):
        PearsonRanking().fit(gaps, Y)


def test_fractions_are_numbers_in_columns_and_targets():
    X_of, y_of = ([[Fraction(int(1e6 * v), 10**6) for v in row] for row in X], X[:, 2].tolist())
    selector = PearsonRanking(n_features_to_select=1).fit(np.array(X_of, dtype=object), y_of)
    assert selector.indices_.tolist() == [2]
    selector = PearsonRanking(n_features_to_select=1).fit(X, [Fraction(v) for v in X[:, 1]])
    assert (selector.task_, selector.indices_.tolist()) == ("regression", [1])


def test_long_doubles_beyond_doubles_are_infinite():
    if np.finfo(np.longdouble).max == np.finfo(float).max:
        pytest.skip("long doubles are doubles here")
    huge = X.astype(np.longdouble) * np.longdouble("1e1000")
    with pytest.raises(InputError, match=r"column 'x0' .* has 40 missing"):
        PearsonRanking().fit(huge, Y)
    with pytest.raises(InputError, match=r"the target has 40 missing \(NaN\) or infinite"):
        PearsonRanking().fit(X, huge[:, 0])


def test_transform_keeps_the_mask():
    masked = np.ma.masked_array(X, mask=X > 1.5)
    kept = ReliefF(n_features_to_select=2).fit(masked, Y).transform(masked)
    assert isinstance(kept, np.ma.MaskedArray)
    assert kept.mask.any()


def test_masked_cells_on_dask_are_missing():
    da = pytest.importorskip("dask.array")
    masked = da.ma.masked_greater(da.from_array(X, chunks=(20, 4)), 1.5)
    with pytest.raises(InputError, match="missing"):
        PearsonRanking().fit(masked, Y)
    holed = np.where(X > 1.5, np.nan, X)
    assert MRMR().fit(masked, Y).scores_ == pytest.approx(MRMR().fit(holed, Y).scores_)


def test_masked_weights_are_no_weights():
    weight = np.ma.masked_array(np.ones(40), mask=np.arange(40) == 3)
    with pytest.raises(InputError, match="sample_weight holds a negative or infinite"):
        PearsonRanking().fit(X, Y, sample_weight=weight)
    with pytest.raises(InputError, match=r"sample_weight is .* not numbers"):
        PearsonRanking().fit(X, Y, sample_weight=[10**400] * 40)


@pytest.mark.parametrize(
    "function", [hsic, kta, pearson, lambda X, y: permutation_test(X, y, n_permutations=9)]
)
def test_functions_look_at_arrays_as_fit_does(function):
    masked = np.ma.masked_array(X, mask=X > 1.5)
    with pytest.raises(InputError, match=r"column 'x\d' .*missing"):
        function(masked, Y)
    with pytest.raises(InputError, match="Complex data not supported"):
        function(X + 1j, Y)
    with pytest.raises(InputError, match="X is 3, which is not a table"):
        function(3, Y)
    with pytest.raises(InputError, match="n_samples = 1"):
        function(X[:1], Y[:1])


def test_one_dimension_is_one_column_in_functions():
    expected = pearson(X[:, :1], Y).tolist()
    for column in (X[:, 0], X[:, 0].tolist(), pd.Series(X[:, 0])):
        assert pearson(column, Y).tolist() == expected
        assert hsic(column, Y) == hsic(X[:, :1], Y)
