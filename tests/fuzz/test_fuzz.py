"""Every registered method on random tables: a small fixed budget; the long run is a benchmark."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.registry import METHODS
from tests.fuzz.cases import CONTAINERS, Case, Outcome, problems, run, same_selection, unchanged

EXAMPLES = 2


def cases(method):
    drawn = {name: st.sampled_from(of) for name, of in Case.choices().items()}
    return st.builds(Case, method=st.just(method), seed=st.integers(0, 2**31 - 1), **drawn)


@pytest.mark.parametrize("method", [method.name for method in METHODS])
def test_nothing_unexplained_happens(method):
    @given(case=cases(method))
    @settings(max_examples=EXAMPLES, deadline=None, derandomize=True)
    def holds(case):
        assert list(problems(case)) == []

    holds()


def test_a_case_can_be_written_down_and_drawn_again():
    case = Case.numbered(3, 14)
    assert case == Case.numbered(3, 14) == Case.from_dict(case.as_dict())
    assert case != Case.numbered(4, 14)


def test_selections_may_part_only_at_a_tie():
    scores = np.array([1.0, 1.0 + 1e-9, 2.0])
    assert same_selection(Outcome((2, 0), scores), Outcome((2, 1), scores))
    assert not same_selection(Outcome((2, 0), scores), Outcome((0, 2), scores))
    assert not same_selection(Outcome((2, 0), scores), Outcome((2,), scores))


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_change_of_the_input_is_noticed(container):
    case = Case("PearsonRanking", container=container)
    X = CONTAINERS[container](case.values())
    other = CONTAINERS[container](case.values() + 1.0)
    assert unchanged((X,), (X,))
    assert not unchanged((X,), (other,))


def test_a_warning_that_is_not_ours_and_a_raw_error_are_problems():
    class Selector:
        def fit(self, X, y):
            return 1 / y if X is None else np.float64(1.0) / np.zeros(1)

    assert "ZeroDivisionError" in run(Selector(), None, 0).problem
    assert "RuntimeWarning" in run(Selector(), 0, 0).problem
