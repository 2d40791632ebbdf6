"""What ``partial_fit`` takes after its first rows: as many as there are, of the same kind."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from featsieve import FisherScore, MaxRel, PearsonRanking
from featsieve.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, 1] + 0.3 * RNG.normal(size=60)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


def after_first_rows(selector, X, y, first=FRAME):
    selector.partial_fit(first[:20], Y[:20])
    before = selector.scores_.copy()
    try:
        return selector.partial_fit(X, y)
    finally:
        selector.unchanged = np.array_equal(selector.scores_, before)


@pytest.mark.parametrize("selector", [PearsonRanking(), MaxRel()])
def test_one_row_at_a_time(selector):
    for start, stop in [(0, 20), *((i, i + 1) for i in range(20, 60))]:
        selector.partial_fit(X[start:stop], Y[start:stop])
    in_two = type(selector)().partial_fit(X[:20], Y[:20]).partial_fit(X[20:], Y[20:])
    assert selector.scores_ == pytest.approx(in_two.scores_)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_later_target_that_is_missing(value):
    selector, y = PearsonRanking(), Y[20:].copy()
    y[3] = value
    with pytest.raises(InputError, match=r"the target has 1 missing \(NaN\) or infinite"):
        after_first_rows(selector, FRAME[20:], y)
    assert selector.unchanged


def test_a_later_target_of_words():
    with pytest.raises(InputError, match="not numeric, but that of the first rows was"):
        after_first_rows(PearsonRanking(), FRAME[20:], ["x", "y"] * 20)
    classes = FisherScore().partial_fit(X[:20], Y[:20] > 0)
    with pytest.raises(InputError, match="holds the class None that is not among"):
        classes.partial_fit(X[20:], [None, True] * 20)


KINDS = {
    "category": (pd.Categorical(["x"] * 60), "column 'a' holds words or categories in these rows"),
    "text": ("1", "column 'a' holds words or categories in these rows"),
    "date": (pd.Timestamp("2020"), "dates are not numbers"),
    "duration": (pd.Timedelta(1, "D"), "durations are not numbers"),
    "period": (pd.Period("2020"), "periods are not numbers"),
    "complex": (1j, "complex numbers have no order"),
    "lists": (pd.Series([[1]] * 60), "values of type list"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_later_column_that_is_no_longer_numeric(kind):
    values, sentence = KINDS[kind]
    selector = PearsonRanking()
    with pytest.raises(InputError, match=sentence):
        after_first_rows(selector, FRAME.assign(a=values)[20:], Y[20:])
    assert selector.unchanged


def test_a_later_column_that_is_no_longer_categorical():
    words = FRAME.assign(a=pd.Categorical(["x", "y"] * 30))
    with pytest.raises(InputError, match="'a' holds a state that was not there"):
        after_first_rows(PearsonRanking(), FRAME[20:], Y[20:], first=words)


ARRAYS = {
    "text": (X.astype(str), "X is an array of text"),
    "complex": (X + 1j, "Complex data not supported"),
    "dates": (np.zeros(X.shape, "M8[s]"), "the table holds dates"),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_a_later_array_is_looked_at_as_the_first(kind):
    values, sentence = ARRAYS[kind]
    with pytest.raises(InputError, match=sentence):
        after_first_rows(PearsonRanking(), values[20:], Y[20:], first=X)
