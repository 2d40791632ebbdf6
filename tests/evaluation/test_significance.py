"""Tests and counts over paired errors, against SciPy's tests and obvious twins."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare, ttest_ind, ttest_rel

from featsieve.errors import InputError
from featsieve.evaluation import (
    average_ranks,
    bold_face,
    l2_distance_score,
    paired_test,
    win_tie_loss,
)
from featsieve.evaluation.ranks import distinct_pairs
from featsieve.evaluation.significance import top_counts

ERRORS = st.lists(st.integers(0, 100).map(float), min_size=6, max_size=6)


@given(ERRORS, ERRORS)
def test_p_values_are_scipys(a, b):
    if np.ptp(np.array(a) - np.array(b)) > 0:
        expected = ttest_rel(a, b, alternative="less")
        assert paired_test(a, b).pvalue == pytest.approx(expected.pvalue, abs=1e-12)
    if np.ptp(a) > 0 or np.ptp(b) > 0:
        expected = ttest_ind(a, b, equal_var=False, alternative="less")
        assert paired_test(a, b, kind="welch").pvalue == pytest.approx(expected.pvalue, abs=1e-12)


def test_errors_without_variance_are_decided_by_their_sign():
    assert paired_test([1.0, 2.0], [1.0, 2.0]).pvalue == 0.5
    assert paired_test([1.0, 2.0], [3.0, 4.0]).pvalue == 0.0
    assert paired_test([0.3, 0.6], [0.1, 0.4]).pvalue == 1.0  # equal gaps up to rounding
    assert paired_test([1.0, 1.0], [3.0, 3.0, 3.0], kind="welch").pvalue == 0.0


@pytest.mark.parametrize("unit", [2.0**-700, 2.0**900])
@pytest.mark.parametrize("kind", ["paired", "welch"])
def test_the_unit_of_the_errors_does_not_matter(unit, kind):
    a, b = np.array([1.0, 2.0, 1.5]), np.array([3.0, 4.0, 2.0])
    assert paired_test(unit * a, unit * b, kind=kind).pvalue == paired_test(a, b, kind=kind).pvalue


def test_what_is_no_list_of_errors_is_refused():
    for call in (
        lambda: paired_test(["a", "b"], [1, 2]),
        lambda: bold_face({"A": ["x", "y"], "B": [1, 2]}),
        lambda: bold_face({"A": [1, 2]}, level=7),
        lambda: l2_distance_score({"A": 3.0, "B": 4.0}),
        lambda: average_ranks([["a", "b"], ["c", "d"]]),
        lambda: average_ranks(np.ones((4, 2)), ["A", "A"]),
    ):
        with pytest.raises(InputError):
            call()


def test_a_paired_test_needs_pairs():
    with pytest.raises(InputError, match="on the same folds"):
        paired_test([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="at least two finite errors"):
        paired_test([1], [2])
    with pytest.raises(InputError, match="at least two finite errors"):
        paired_test([1, np.nan], [2, 1])


LOW, HIGH = [1.0, 2.0, 1.5, 1.0], [9.0, 8.0, 9.5, 9.1]


def test_most_k_decide_and_a_draw_is_a_tie():
    assert win_tie_loss({1: LOW, 2: LOW}, {1: HIGH, 2: HIGH}) == "win"
    assert win_tie_loss({1: HIGH}, {1: LOW}) == "loss"
    assert win_tie_loss({1: LOW, 2: LOW}, {1: LOW, 2: HIGH}) == "tie"
    assert win_tie_loss({1: LOW, 2: HIGH}, {1: HIGH, 2: LOW}) == "tie"
    assert win_tie_loss({1: LOW, 2: HIGH, 3: LOW}, {1: HIGH, 2: LOW, 3: HIGH}) == "win"
    with pytest.raises(InputError, match="in common"):
        win_tie_loss({1: LOW}, {2: LOW})


def test_bold_face_marks_the_best_and_what_is_not_worse():
    rng = np.random.default_rng(0)
    base = rng.normal(size=40)
    jitter = rng.normal(size=40)
    near = base + 0.01 * (jitter - jitter.mean()) + 1e-6
    errors = {"best": base, "near": near, "far": base + 1.0}
    assert bold_face(errors) == ["best", "near"]
    # Without pairs the shift of one is still far outside; a shift of 0.1 is not.
    errors["far"] = base + 0.1
    assert bold_face(errors) == ["best", "near"]
    assert bold_face(errors, kind="welch") == ["best", "near", "far"]
    assert top_counts([["a", "b"], ["b"]], ["a", "b", "c"]) == {"a": 1, "b": 2, "c": 0}


def test_l2_distance_reproduces_the_papers_last_row():
    """Song et al. (2007), Table 1: three methods on the sets of the first rows, by hand."""
    errors = {"BAHSIC": [26.3, 12.3, 27.9], "FOHSIC": [37.9, 12.8, 25.0], "RFE": [33.0, 20.2, 21.6]}
    score = l2_distance_score(errors)
    assert score["BAHSIC"] == pytest.approx(6.3)
    assert score["FOHSIC"] == pytest.approx(np.sqrt(11.6**2 + 0.5**2 + 3.4**2))
    with pytest.raises(InputError, match="same data sets"):
        l2_distance_score({"a": [1.0], "b": [1.0, 2.0]})
    with pytest.raises(InputError, match="NaN"):
        l2_distance_score({"a": [1.0], "b": [float("nan")]})


def test_friedman_is_scipys_also_with_ties():
    rng = np.random.default_rng(0)
    for high in (1000, 4):  # few values: many ties
        table = rng.integers(0, high, size=(12, 5)).astype(float)
        expected = friedmanchisquare(*table.T)
        found = average_ranks(table, list("abcde"))
        assert found.friedman_statistic == pytest.approx(expected.statistic)
        assert found.friedman_pvalue == pytest.approx(expected.pvalue)


def test_critical_difference_is_that_of_demsars_table():
    """q of Demšar (2006), Table 5: 2.728 for five methods at 0.05; 2.459 at 0.10."""
    table = np.random.default_rng(0).random((30, 5))
    unit = np.sqrt(5 * 6 / (6 * 30))
    found = average_ranks(table, list("abcde"))
    assert found.critical_difference == pytest.approx(2.728 * unit, abs=2e-3)
    found = average_ranks(table, list("abcde"), level=0.1)
    assert found.critical_difference == pytest.approx(2.459 * unit, abs=2e-3)


def test_k_and_judges_are_averaged_first():
    """Using a set more often does not make it count more: N is the number of sets."""
    table = np.random.default_rng(0).random((6, 3))
    often = np.repeat(table[:, :, None], 7, axis=2)
    assert average_ranks(often, list("abc")) == average_ranks(table, list("abc"))


@pytest.mark.parametrize("n_sets", [3, 4])  # as many sets as methods, too
def test_a_mapping_may_hold_k_and_judges(n_sets):
    errors = np.random.default_rng(0).random((n_sets, 3, 5, 2))
    named = average_ranks(dict(zip("ABC", np.moveaxis(errors, 1, 0), strict=True)))
    assert named == average_ranks(errors, list("ABC"))
    assert named.n_sets == n_sets


def test_the_columns_of_a_dataframe_are_names():
    table = np.random.default_rng(0).random((6, 2))
    frame = pd.DataFrame(table, columns=["A", "B"])
    assert average_ranks(frame) == average_ranks(table, np.array(["A", "B"]))


def test_cliques_are_what_cannot_be_told_apart():
    n = 40
    table = np.tile([1.0, 2.0, 3.0, 4.0], (n, 1))
    table[: n // 2, :2] = [2.0, 1.0]
    test = average_ranks(table, ["a", "b", "c", "d"])
    assert test.cliques() == [("a", "b")]
    assert distinct_pairs(test) == [("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d")]
    with pytest.raises(InputError, match="infinite error"):
        average_ranks({"a": [1, np.nan], "b": [1, 2]})
    with pytest.raises(InputError, match="two data sets"):
        average_ranks({"a": [1], "b": [1]})
