"""The F-measure equals its definition by precision and recall."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featsieve.errors import InputError
from featsieve.evaluation import f_measure
from tests.reference import f_measure_by_definition

SETS = st.sets(st.integers(0, 8))


@given(SETS, SETS.filter(bool))
def test_equals_the_definition(selected, relevant):
    expected = f_measure_by_definition(selected, relevant)
    assert f_measure(list(selected), relevant) == pytest.approx(expected, abs=1e-15)


def test_one_exactly_when_the_sets_are_equal():
    assert f_measure(np.array([3, 1, 2]), np.array([1, 2, 3])) == 1.0
    assert f_measure([1, 2], [1, 2, 3]) < 1.0
    assert f_measure(["a"], ["b"]) == 0.0
    assert f_measure([], [1]) == 0.0


def test_no_truth_is_refused():
    with pytest.raises(ValueError, match="relevant is empty; give"):
        f_measure([1], [])


@pytest.mark.parametrize("selected", [np.array([True, False]), "ab", None])
def test_a_mask_or_a_name_is_not_taken_for_indices(selected):
    with pytest.raises(InputError):
        f_measure(selected, [0, 1])
