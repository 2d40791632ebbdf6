"""Information from nearest neighbours: definitions, known values, ties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

from featsieve import MaxRel
from featsieve.compiled.neighbors import common_step
from featsieve.measures.information.ksg import SPREAD_SEED, ksg_information
from tests import reference


@pytest.mark.parametrize("n_neighbors", [1, 3, 7])
def test_ksg_is_scikit_learns_on_the_same_neighbours(n_neighbors):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, 4))
    y = X[:, 0] + X[:, 1] ** 2 + 0.2 * rng.normal(size=150)
    labels = np.digitize(y, [0.0, 1.0])
    X, y = X / X.std(axis=0), y / y.std()
    continuous = mutual_info_regression(X, y, n_neighbors=n_neighbors, random_state=0)
    mixed = mutual_info_classif(X, labels, n_neighbors=n_neighbors, random_state=0)
    for column, x in enumerate(X.T):
        ours = ksg_information(x, y, n_neighbors=n_neighbors)
        assert_allclose(ours, continuous[column], atol=1e-9)
        ours = ksg_information(x, labels * 1.0, n_neighbors=n_neighbors, discrete_y=True)
        assert_allclose(ours, mixed[column], atol=1e-9)
        swapped = ksg_information(labels * 1.0, x, n_neighbors=n_neighbors, discrete_x=True)
        assert swapped == ours


def test_ksg_of_constants_lone_labels_and_missing_cells():
    x = np.array([1.0, 2.0, 4.0, 8.0, 9.0, 11.0])
    assert ksg_information(np.ones(6), x) == 0.0
    assert ksg_information(x, np.arange(6.0), discrete_y=True) == 0.0
    labels = np.array([0.0, 0, 0, 1, 1, 1])
    with_gaps = ksg_information(np.append(x, np.nan), np.append(labels, 1.0), discrete_y=True)
    assert with_gaps == ksg_information(x, labels, discrete_y=True) > 0


seeds = st.integers(0, 2**31)
sizes = st.integers(4, 25)


def dyadic(rng, n, n_values):
    """Rounded numbers that single precision holds, at least two of them different."""
    return np.append(rng.integers(0, n_values, n - 2), [0, 1]) / 4


@given(seeds, sizes, st.integers(1, 4), st.sampled_from([3, 10, 10**5]))
def test_numbers_give_the_value_of_the_slow_twin(seed, n, k, n_values):
    rng = np.random.default_rng(seed)
    x, y = dyadic(rng, n, n_values), dyadic(rng, n, n_values)
    expected = reference.ksg_by_definition(x.tolist(), y.tolist(), min(k, n - 1), SPREAD_SEED)
    assert_allclose(ksg_information(x, y, n_neighbors=k), expected, atol=1e-9)


@given(seeds, sizes, st.integers(1, 4), st.sampled_from([3, 10, 10**5]))
def test_labels_give_the_value_of_the_slow_twin(seed, n, k, n_values):
    rng = np.random.default_rng(seed)
    labels = np.append(rng.integers(0, 2, n - 4), [0, 0, 1, 1]) * 1.0
    x = dyadic(rng, n, n_values)
    expected = reference.ross_by_definition(x.tolist(), labels.tolist(), k, SPREAD_SEED)
    assert_allclose(ksg_information(x, labels, n_neighbors=k, discrete_y=True), expected, atol=1e-9)


@given(seeds, st.integers(0, 3), st.booleans())
def test_rounded_numbers_do_not_depend_on_dtype_or_row_order(seed, decimals, is_class):
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=60) * 3, decimals)
    y = np.round(x + rng.normal(size=60), decimals)
    y = (y > 0) * 1.0 if is_class else y
    expected = ksg_information(x, y, discrete_y=is_class)
    order = rng.permutation(60)
    assert ksg_information(x[order], y[order], discrete_y=is_class) == expected
    single = x.astype(np.float32), y.astype(np.float32)
    assert_allclose(ksg_information(*single, discrete_y=is_class), expected, atol=1e-12)


@given(seeds, st.integers(0, 3), st.booleans(), st.sampled_from([10.0, 1 / 3, 0.3048, 1e-200]))
@example(seed=71, decimals=3, is_class=True, unit=10.0)  # no two neighbours are one step apart
def test_rounded_numbers_do_not_depend_on_the_unit(seed, decimals, is_class, unit):
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=60) * 3, decimals)
    y = np.round(x + rng.normal(size=60), decimals)
    y, other = ((y > 0) * 1.0,) * 2 if is_class else (y, y * 9 / 5 + 32)
    expected = ksg_information(x, y, discrete_y=is_class)
    assert_allclose(ksg_information(x * unit, other, discrete_y=is_class), expected, atol=1e-9)


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=30),
    st.sampled_from([0.001, 1 / 3, 0.3048, 7.0]),
    seeds,
)
def test_the_common_step_is_the_greatest_common_divisor(counts, unit, seed):
    """Of integer numbers of steps, each known up to 1e-7 of all of them together."""
    counts = np.sort(counts) // np.gcd.reduce(counts)
    error = 1e-7 * unit * counts.sum()
    moves = np.random.default_rng(seed).uniform(-error, error, len(counts))
    gaps = np.sort(counts * unit + moves)
    step = common_step(gaps, unit / 2, error)
    assert_array_equal(np.rint(gaps / step), counts)


def test_gaps_without_a_common_step_have_none():
    gaps = np.sort(np.random.default_rng(0).uniform(0.5, 1, 20))
    assert common_step(gaps, 1e-5, 1e-7) == 0.0


@pytest.mark.parametrize("unit", [2.0**-900, 2.0**900, 3e-200, 7e200])
def test_units_do_not_matter(unit):
    rng = np.random.default_rng(3)
    x = np.round(rng.normal(size=80), 1)
    y = x + rng.normal(size=80)
    assert_allclose(ksg_information(x * unit, y), ksg_information(x, y), atol=1e-9)
    assert_allclose(ksg_information(y, x * unit), ksg_information(y, x), atol=1e-9)


@pytest.mark.parametrize("decimals", [1, 2])
def test_rounding_hardly_changes_the_estimate(decimals):
    """A normal pair with correlation 0.8: I = −½ log(1 − 0.64) = 0.511."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=2000)
    y = 0.8 * x + 0.6 * rng.normal(size=2000)
    rounded = ksg_information(np.round(x, decimals), np.round(y, decimals))
    assert abs(rounded - 0.511) < 0.06
    noise = ksg_information(np.round(x, decimals), np.round(rng.normal(size=2000), decimals))
    assert noise < 0.06


def test_discrete_numbers_have_the_information_of_their_states():
    """X = 0 or 1, Y = X for 9 of 10 rows: log 2 − H(0.1)."""
    x = np.tile([0.0, 1.0], 1000)
    y = np.where(np.arange(2000) % 20 < 2, 1 - x, x)
    expected = np.log(2) + 0.9 * np.log(0.9) + 0.1 * np.log(0.1)
    assert abs(ksg_information(x, y) - expected) < 0.06


def test_dtype_and_row_order_do_not_change_the_scores_of_a_selector():
    rng = np.random.default_rng(5)
    X = np.round(rng.normal(size=(200, 6)), 1)
    y = np.round(X[:, 0] + X[:, 1] ** 2, 1)
    expected = MaxRel(estimator="ksg").fit(X, y).scores_
    order = rng.permutation(200)
    for rows, target in [(X.astype(np.float32), y), (X[order], y[order])]:
        assert_allclose(MaxRel(estimator="ksg", n_jobs=2).fit(rows, target).scores_, expected)
