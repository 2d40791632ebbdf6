"""Every registered method on random tables: a small fixed budget; the long run is a benchmark."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.registry import METHODS
from tests.fuzz.cases import Case
from tests.fuzz.containers import CONTAINERS, contain, unchanged
from tests.fuzz.fits import Outcome, problems, run, same_selection

EXAMPLES = 3


def cases(method):
    drawn = {name: st.sampled_from(of) for name, of in Case.choices().items()}
    return st.builds(Case, method=st.just(method), seed=st.integers(0, 2**31 - 1), **drawn)


@pytest.mark.parametrize("method", [method.name for method in METHODS])
def test_nothing_unexplained_happens(method):
    @given(case=cases(method))
    @settings(max_examples=EXAMPLES, deadline=None, derandomize=True)
    def holds(case):
        assert list(problems(case.made_cheap())) == []

    holds()


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container(container):
    tally = Counter()
    for categories in (False, True):
        case = Case("PearsonRanking", container=container, categories=categories, target="numbers")
        assert list(problems(case, tally)) == []
    assert tally["fit answered"] == 2


def test_a_case_can_be_written_down_and_drawn_again():
    case = Case.numbered(3, 14)
    assert case == Case.numbered(3, 14) == Case.from_dict(case.as_dict())
    assert case != Case.numbered(4, 14)


def test_selections_may_part_only_at_a_tie():
    scores = np.array([1.0, 1.0 + 1e-9, 2.0])
    assert same_selection(Outcome((2, 0), scores), Outcome((2, 1), scores))
    assert not same_selection(Outcome((2, 0), scores), Outcome((0, 2), scores))
    assert not same_selection(Outcome((2, 0), scores), Outcome((2,), scores))
    assert not same_selection(Outcome((2, 0), scores), Outcome((2, 0), scores + 0.1))
    steps = np.array([1.0, 0.2, 2.0]), np.array([0.2, 1.0, 2.0])  # equal when they were chosen
    chosen = Outcome((2, 0), steps[0]), Outcome((2, 1), steps[1])
    assert same_selection(*chosen, by_step=True)
    assert not same_selection(*chosen)


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_change_of_the_input_is_noticed(container):
    values = Case("PearsonRanking").values()
    X, same, other = (contain(container, v) for v in (values, values, values + 1.0))
    assert unchanged((X,), (same,))
    assert not unchanged((X,), (other,))


def test_a_warning_that_is_not_ours_and_a_raw_error_are_problems():
    class Selector:
        def fit(self, X, y):
            return 1 / y if X is None else np.float64(1.0) / np.zeros(1)

    assert "ZeroDivisionError" in run(Selector(), None, 0).problem
    assert "RuntimeWarning" in run(Selector(), 0, 0).problem


def test_an_answer_that_depends_on_the_container_is_a_problem(monkeypatch):
    monkeypatch.setattr("tests.fuzz.fits.contain", lambda name, X: np.ascontiguousarray(X[:, ::-1]))
    case = Case("PearsonRanking", container="pandas", target="numbers", shape=(60, 12))
    assert [problem.partition(":")[0] for problem in problems(case)] == ["container"]
