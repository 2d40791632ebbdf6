"""Targets as users hold them: lists of mixed cells, large integers, several values in a cell."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from featsieve import FisherScore, PearsonRanking
from featsieve.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
Y = X[:, 2] + 0.2 * RNG.normal(size=40)
HALVES = Y > 0


def test_a_gap_in_a_list_of_words_is_no_class():
    """NumPy would make the word 'nan' of it."""
    words = ["yes" if half else "no" for half in HALVES]
    with pytest.raises(InputError, match="the target has 1 missing"):
        PearsonRanking().fit(X, [float("nan"), *words[1:]])


def test_a_word_and_a_number_are_two_classes():
    selector = PearsonRanking().fit(X, ["1" if half else 1 for half in HALVES])
    assert selector.scores_ == pytest.approx(PearsonRanking().fit(X, HALVES).scores_)


@pytest.mark.parametrize("least", [2**63, 2**60, 2**53, -(2**62)])
def test_classes_of_large_integers(least):
    dtype = np.uint64 if least > 2**62 else np.int64
    large = HALVES.astype(dtype) + dtype(least)
    expected = PearsonRanking().fit(X, HALVES).scores_
    assert PearsonRanking().fit(X, large).scores_ == pytest.approx(expected)


BAD = {
    "a generator": ((v for v in Y), "the target y is of the type generator and not one value"),
    "a set": (set(Y.tolist()), "the target y is of the type set"),
    "rows of two lengths": ([[1, 2], [3]] * 20, "its rows differ in length"),
    "sets": ([{1}, {2}] * 20, "the target holds a set in a cell; give one value per row"),
    "two levels": (pd.MultiIndex.from_arrays([HALVES, HALVES]), "holds a tuple in a cell"),
    "huge": ([10**400 + i for i in range(40)], "too large for a floating-point number"),
    "merged": ([2**70 + i for i in range(40)], "that floating-point numbers cannot tell apart"),
    "periods": (pd.Series(pd.period_range("2020", periods=40)), "the target holds dates or times"),
}


@pytest.mark.parametrize(("y", "sentence"), BAD.values(), ids=BAD)
def test_what_is_no_target_is_one_sentence(y, sentence):
    with pytest.raises(InputError, match=sentence) as refusal:
        PearsonRanking().fit(X, y)
    assert "\n" not in str(refusal.value)


def test_later_rows_have_as_many_outputs():
    selector = PearsonRanking().partial_fit(X, Y)
    with pytest.raises(InputError, match="the target has 2 outputs, but the first rows had 1"):
        selector.partial_fit(X, np.c_[Y, Y])


@pytest.mark.parametrize("selector", [PearsonRanking(), FisherScore()])
def test_weights_that_leave_one_class(selector):
    with pytest.raises(InputError, match=r"has only one value in the .* rows with sample"):
        selector.fit(X, HALVES, sample_weight=HALVES.astype(float))


def test_later_rows_on_dask_have_the_classes_of_the_first():
    da = pytest.importorskip("dask.array")
    y = np.array(["a", "b", "c"])[np.digitize(Y, [-0.5, 0.5])]
    rest = y != "b"  # codes of these alone would be others
    assert set(y[:20]) == {"a", "b", "c"}
    expected = PearsonRanking().partial_fit(X[:20], y[:20]).partial_fit(X[rest], y[rest])
    lazy = da.from_array(X[rest], chunks=(10, 4))
    selector = PearsonRanking().partial_fit(X[:20], y[:20]).partial_fit(lazy, y[rest])
    assert selector.scores_ == pytest.approx(expected.scores_)


def test_records_are_not_outputs():
    records = np.array([(1.0, 2.0), (2.0, 1.0)] * 5, dtype=[("a", "f8"), ("b", "f8")])
    with pytest.raises(InputError, match=r"target is an array of records"):
        PearsonRanking().fit(np.arange(20.0).reshape(10, 2), records)
