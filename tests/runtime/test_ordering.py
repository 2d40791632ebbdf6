"""The one tie rule."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from featsieve.runtime.ordering import best_first, best_index
from tests import reference

VALUES = st.lists(
    st.sampled_from(
        [0.0, 1.0, 1.0 + 1e-15, 1.0 + 1e-9, -2.0, -2.0 - 1e-15, np.nan, np.inf, 1e-300]
    ),
    min_size=1,
    max_size=12,
)


@given(VALUES)
def test_order_equals_its_slow_twin(values):
    assert best_first(np.array(values)).tolist() == reference.best_first(values)


@given(VALUES)
def test_the_best_is_the_first(values):
    assert best_index(np.array(values)) == reference.best_first(values)[0]


@given(VALUES)
def test_a_scale_widens_ties_only(values):
    scores = np.array(values)
    assert best_index(scores, scale=0.0) == best_index(scores)
    top = best_index(scores)
    found = best_index(scores, scale=1e6)
    if np.isfinite(scores[top]):
        assert found == np.flatnonzero(scores >= scores[top] - 1e-6)[0]
