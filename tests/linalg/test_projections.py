"""Projections on the l1 ball against the authors' values and against the definition."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.linalg import project_l1_ball
from tests.reference import l1_projection_by_bisection

# Made with the P-LSMI authors' own projection program.
GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "projection.json").read_text())

vectors = st.lists(st.floats(-5, 5), min_size=1, max_size=8).map(np.array)


@pytest.mark.parametrize("case", GOLDEN)
def test_golden(case):
    kwargs = {"rtol": 0, "atol": 1e-14}
    np.testing.assert_allclose(project_l1_ball(case["v"], case["radius"]), case["l1ball"], **kwargs)
    positive = project_l1_ball(case["v"], case["radius"], nonnegative=True)
    np.testing.assert_allclose(positive, case["pos_l1ball"], **kwargs)


@settings(deadline=None)
@given(w=vectors, radius=st.floats(0.01, 10), nonnegative=st.booleans())
def test_twin(w, radius, nonnegative):
    fast = project_l1_ball(w, radius, nonnegative=nonnegative)
    slow = l1_projection_by_bisection(w, radius, nonnegative)
    np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-10)


@settings(deadline=None)
@given(w=vectors, radius=st.floats(0.01, 10))
def test_result_is_feasible_and_projecting_again_changes_nothing(w, radius):
    once = project_l1_ball(w, radius)
    assert np.abs(once).sum() <= radius * (1 + 1e-12)
    np.testing.assert_allclose(project_l1_ball(once, radius), once, rtol=0, atol=1e-12)


def test_input_is_not_changed():
    w = np.array([3.0, -1.0])
    project_l1_ball(w, 1.0)
    assert w.tolist() == [3.0, -1.0]


def test_radius_zero_is_the_origin_and_below_is_refused():
    assert project_l1_ball([1.0, -2.0], 0.0).tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="give a number of 0 or more"):
        project_l1_ball([1.0], -1.0)


def test_a_radius_far_below_the_sizes_is_not_rounded_away():
    assert project_l1_ball([1e16, 1e16], 1.0).tolist() == [0.5, 0.5]
    assert project_l1_ball([1e18, -1e18, 3.0], 2.0).tolist() == [1.0, -1.0, 0.0]
    masked = np.ma.array([1.0, 2.0], mask=[True, False])
    for bad in ([np.inf, 1.0], [np.nan, 1.0], masked, [np.longdouble("1e4000")]):
        with pytest.raises(ValueError, match="no nearest point"):
            project_l1_ball(bad, 1.0)


def test_sizes_whose_sum_is_infinite():
    assert project_l1_ball([1e308, -1e308], 1.0).tolist() == [0.5, -0.5]


def test_what_is_not_a_number_is_refused():
    for bad in (["a"], [1j], [10**400], [[1], [1, 2]]):
        with pytest.raises(ValueError, match="w holds what is not a number"):
            project_l1_ball(bad, 1.0)
    for radius in ("1", None):
        with pytest.raises(ValueError, match=r"radius=.* give a number of 0 or more"):
            project_l1_ball([1.0], radius)
