"""The set of columns that comes after the rows of W: never below them in the criterion."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from featsieve.input.boundary import Settings, open_engine
from featsieve.measures import HSIC, hsic
from featsieve.searches.refinement import best_columns


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 8))
    X /= X.std(axis=0)
    return X, (X[:, 2] + X[:, 5] ** 2 > 1).astype(int)


def sets_of(X, y, **settings):
    measure = HSIC(estimator="v_statistic", target_kernel="delta")
    return measure.bind(open_engine(X, y, Settings(**settings))).column_sets()


@pytest.mark.parametrize("subset", [[0], [5, 2], [1, 3, 4]])
def test_values_are_hsic_with_the_variance_as_square_of_the_width(table, subset):
    X, y = table
    expected = hsic(
        X[:, subset],
        y,
        target_kernel="delta",
        bandwidth=np.sqrt(len(subset)),
        estimator="v_statistic",
        task="classification",
    )
    sets = sets_of(X, y)
    assert sets.value(subset) == pytest.approx(expected, rel=1e-10)
    assert sets.values_with(subset[:-1], subset[-1:])[0] == pytest.approx(expected, rel=1e-10)
    assert sets.values_without([*subset, 7], [7])[0] == pytest.approx(expected, rel=1e-10)


def test_the_unit_of_a_table_does_not_matter(table):
    X, y = table
    assert sets_of(1e6 * X, y).value([2, 5]) == pytest.approx(sets_of(X, y).value([2, 5]))


def test_a_category_has_the_spread_of_its_mismatches(table):
    X, y = table
    X[:, 0] = np.arange(120) % 3
    engine = open_engine(X, y, Settings(categorical_features=(0,)))
    bound = HSIC(estimator="v_statistic", target_kernel="delta").bind(engine)
    mismatch = X[:, :1] != X[:, 0]
    assert bound.column_sets()._widths.spreads[0] == pytest.approx(mismatch.mean() / 2)


def test_a_given_width_stays(table):
    X, y = table
    bound = HSIC(bandwidth=0.7).bind(open_engine(X, y, Settings()))
    assert bound.column_sets().value([2, 5]) == pytest.approx(bound.value([2, 5]))


@pytest.mark.parametrize("start", [(0, 1), (2, 7), (6, 3)])
def test_from_any_start_the_best_set_of_a_small_table(table, start):
    sets = sets_of(*table)
    best = max(combinations(range(8), 2), key=sets.value)
    assert sorted(best_columns(sets, start, np.arange(8))) == sorted(best) == [2, 5]


def test_two_columns_that_matter_only_together_stay():
    """Forward selection does not see them: the start is kept."""
    rng = np.random.default_rng(1)
    X = np.sign(rng.normal(size=(200, 30)))
    y = (X[:, 3] * X[:, 8] > 0).astype(int)
    assert sorted(best_columns(sets_of(X, y), [3, 8], np.arange(30))) == [3, 8]


@pytest.mark.parametrize("k", [1, 8])
def test_one_column_and_all_columns(table, k):
    sets = sets_of(*table)
    expected = [int(np.argmax(sets.values_with([], range(8))))] if k == 1 else list(range(8))
    assert sorted(best_columns(sets, range(k), np.arange(8))) == expected
