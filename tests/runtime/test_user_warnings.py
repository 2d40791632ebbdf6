"""A warning points at the line of the user who caused it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from featsieve import (
    BAHSIC,
    LassoSelector,
    MaxRel,
    PearsonRanking,
    StabilitySelector,
    WrapperSelector,
)
from featsieve.runtime.user_warnings import each_said_once, warn_user

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = X[:, 0]


def in_a_pipeline(selector, X, y):
    return make_pipeline(StandardScaler(), selector).fit(X, y)


@pytest.mark.parametrize("selector", [PearsonRanking, MaxRel, BAHSIC])
@pytest.mark.parametrize(
    "act",
    [
        lambda selector: selector.fit(X, Y),
        lambda selector: selector.fit_transform(X, Y),
        lambda selector: in_a_pipeline(selector, X, Y),
    ],
    ids=["fit", "fit_transform", "pipeline"],
)
def test_too_large_a_count_is_warned_at_the_users_line(selector, act):
    with pytest.warns(UserWarning, match="all of them are kept") as caught:
        act(selector(n_features_to_select=9))
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_an_inner_selector_says_of_each_run_is_said_once(n_jobs):
    """The limit that each half names is another number."""
    inner = LassoSelector(alpha=50.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        StabilitySelector(inner, n_pairs=4, n_jobs=n_jobs, random_state=0).fit(X, Y)
    said = [str(warning.message) for warning in caught]
    assert sum("every coefficient is 0" in message for message in said) == 1
    if n_jobs == 1:  # a thread has no line of the user
        assert {warning.filename for warning in caught} == {__file__}
    with pytest.warns(UserWarning, match="at alpha=50 every coefficient is 0"):
        inner.fit(X, Y)


def test_names_with_digits_are_different_things_to_say():
    things = (("x1", 2.5), ("x2", 2.5), ("x2", 3e-7), ("3", 1), ("4", 1))
    with warnings.catch_warnings(record=True) as caught, each_said_once():
        warnings.simplefilter("always")
        for name, number in things:
            warn_user(f"column {name!r} has {number} things")
    assert len(caught) == 4


def test_estimators_in_halves_get_a_target_of_one_dimension():
    model = LogisticRegression()
    selector = StabilitySelector(WrapperSelector(model, n_features_to_select=1), n_pairs=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataConversionWarning)
        selector.set_params(random_state=0).fit(X, Y > 0)


def test_parts_of_rows_warn_at_the_users_line():
    with pytest.warns(UserWarning, match="all of them are kept") as caught:
        PearsonRanking(n_features_to_select=9).partial_fit(X, Y)
    assert [warning.filename for warning in caught] == [__file__]


def test_too_few_found_is_warned_at_the_users_line():
    table = np.c_[X[:, 0], np.zeros((40, 2))]
    with pytest.warns(UserWarning, match="features where 3 were asked for") as caught:
        LassoSelector(n_features_to_select=3).fit(table, Y)
    assert [warning.filename for warning in caught] == [__file__]
