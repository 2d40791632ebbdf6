"""What the registry says of a method's target is what the method does."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from featsieve import PearsonRanking
from featsieve.errors import InputError
from featsieve.registry import METHODS, methods_for_numbers
from tests.estimators import method_ids, quick_selector

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
NUMBERS = X[:, 2] + 0.1 * RNG.normal(size=40)
OTHERS = RNG.normal(size=40)


def scores(method, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        selector = quick_selector(method, task="regression", n_features_to_select=2)
        return np.asarray(selector.fit(X, y).scores_)


@pytest.mark.parametrize("method", METHODS, ids=method_ids)
def test_numbers_are_refused_used_or_ignored(method):
    if method.target == "classes":
        with pytest.raises(InputError, match=r"needs classes.*; use [A-Z].*task='classification'"):
            scores(method, NUMBERS)
    else:
        is_same = np.array_equal(scores(method, NUMBERS), scores(method, OTHERS), equal_nan=True)
        assert is_same == (method.target != "classes or numbers")


IGNORED = {
    "one value": np.ones(40),
    "missing": np.full(40, np.nan),
    "dates": pd.date_range("2020-01-01", periods=40),
    "nothing": None,
}


@pytest.mark.parametrize("kind", IGNORED)
@pytest.mark.parametrize("name", [m.name for m in METHODS if m.target == "nothing"])
def test_a_target_that_is_not_looked_at_is_not_refused(name, kind):
    method = next(m for m in METHODS if m.name == name)
    expected = quick_selector(method, n_features_to_select=2).fit(X, NUMBERS)
    found = quick_selector(method, n_features_to_select=2).fit(X, IGNORED[kind])
    np.testing.assert_array_equal(found.scores_, expected.scores_)
    with pytest.raises(InputError, match="inconsistent numbers of samples"):
        quick_selector(method, n_features_to_select=2).fit(X, NUMBERS[:30])


def test_names_are_those_of_the_registry():
    assert methods_for_numbers("embedded: l1 path") == "LassoSelector"
    ranking = methods_for_numbers("ranking")
    assert ranking.startswith("PearsonRanking, ")
    assert " or " in ranking
    assert "ReliefF" in ranking
    assert "LaplacianScore" not in ranking


@pytest.mark.parametrize("wrap", [list, np.array, pd.Series, pd.Categorical])
def test_text_with_a_value_of_its_own_in_every_row_is_told(wrap):
    """It stays classes, as the rule of task="auto" says, but not without a word."""
    y = wrap([f"name {j}" for j in range(40)])
    with pytest.warns(UserWarning, match=r"text with 40 distinct values in 40 rows.*task='class"):
        assert PearsonRanking(n_features_to_select=1).fit(X, y).task_ == "classification"


def test_classes_that_are_meant_as_such_need_no_word():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        names = [f"name {j}" for j in range(40)]
        PearsonRanking(n_features_to_select=1, task="classification").fit(X, names)
        PearsonRanking(n_features_to_select=1).fit(X, [f"name {j % 20}" for j in range(40)])


def test_whole_numbers_of_which_none_repeats_are_classes_with_a_warning():
    rows = X[:12]
    with pytest.warns(UserWarning, match=r"different integer in each of the 12 rows.*'reg"):
        PearsonRanking(n_features_to_select=1).fit(rows, np.arange(12))
    for task in ("classification", "regression"):
        PearsonRanking(n_features_to_select=1, task=task).fit(rows, np.arange(12))
