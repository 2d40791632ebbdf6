"""The scale of weights: their ratios are kept, integers are found again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from featsieve.errors import InputError
from featsieve.statistics.weights import relative_weights, weights_of_table

FACTORS = [0.1, 1 / 3, 7.0, 1e-200, 1e160, 1e300]


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=30), st.sampled_from(FACTORS))
def test_whole_numbers_are_found_again(counts, factor):
    weight = np.array([1, *counts], dtype=float)
    assert_array_equal(relative_weights(weight * factor), weight)
    assert_array_equal(relative_weights(weight / weight.sum()), weight)


@given(st.integers(0, 10**6), st.sampled_from(FACTORS))
def test_other_weights_have_the_mean_one(seed, factor):
    weight = np.random.default_rng(seed).random(20) + 1e-3
    found = relative_weights(weight * factor)
    assert found.mean() == pytest.approx(1.0)
    assert_allclose(found / found[0], weight / weight[0], rtol=1e-12)


@pytest.mark.parametrize("weight", [[5e-324, 1e308], [1e-300, 1e300], [1e308, 1e308], [5e-324] * 2])
def test_extreme_weights_stay_finite(weight):
    found = relative_weights(np.array(weight))
    assert np.isfinite(found).all()
    assert (found > 0).all()


@pytest.mark.parametrize("largest", [1e14, 1e100, 1e308])
def test_one_row_with_nearly_all_of_the_weight_is_refused(largest):
    with pytest.raises(InputError, match="times the weight of all others together"):
        weights_of_table(np.array([1.0, largest, 2.0]))


@pytest.mark.parametrize("weight", [[1.0, 1e11, 2.0], [3.0], [1e308, 1e308, 1.0]])
def test_other_weights_are_only_put_on_their_scale(weight):
    weight = np.array(weight)
    assert_array_equal(weights_of_table(weight), relative_weights(weight))
