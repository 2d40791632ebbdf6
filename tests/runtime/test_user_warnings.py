"""A warning points at the line of the user who caused it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from featsieve import BAHSIC, LassoSelector, MaxRel, PearsonRanking

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


def test_parts_of_rows_warn_at_the_users_line():
    with pytest.warns(UserWarning, match="all of them are kept") as caught:
        PearsonRanking(n_features_to_select=9).partial_fit(X, Y)
    assert [warning.filename for warning in caught] == [__file__]


def test_too_few_found_is_warned_at_the_users_line():
    table = np.c_[X[:, 0], np.zeros((40, 2))]
    with pytest.warns(UserWarning, match="features where 3 were asked for") as caught:
        LassoSelector(n_features_to_select=3).fit(table, Y)
    assert [warning.filename for warning in caught] == [__file__]
