"""The l1-ball search on test doubles: exactly k, restarts, fallback, time limit."""

from __future__ import annotations

import time

import numpy as np
import pytest

from featsieve.errors import InputError
from featsieve.result import COMPLETED, TIME_LIMIT
from featsieve.runtime.progress import SILENT, Monitor, drive
from featsieve.searches import L1Ball
from featsieve.searches.ascent import Ascent
from featsieve.searches.l1_ball import SIZE_NOT_MET


class Hill:
    """−½‖w − peak‖²: the best weights on the ball are the soft-thresholded peak."""

    def __init__(self, peak, monitor=SILENT, delay=0.0):
        self.peak = np.asarray(peak, dtype=float)
        self.n_units = len(self.peak)
        self.monitor = monitor
        self.delay = delay

    def value_and_gradient(self, weights):
        time.sleep(self.delay)
        away = self.peak - weights
        return -0.5 * float(away @ away), away


class Tunable(Hill):
    """A hill that remembers where it was tuned."""

    def __init__(self, peak):
        super().__init__(peak)
        self.tuned = []

    def tune(self, weights):
        self.tuned.append(weights.copy())


class Restartable(Hill):
    """Every restart sees another hill; only some contain the best set."""

    def restart(self, seed):
        rng = np.random.default_rng(seed)
        return Hill(self.peak * rng.uniform(0.5, 1.5, self.n_units), self.monitor)


def run(bound, k, **kwargs):
    return drive(L1Ball(random_state=0, **kwargs).steps(bound, k), bound.monitor)


@pytest.mark.parametrize("step", ["adaptive", "authors"])
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_exactly_k_of_the_highest(step, k):
    result = run(Hill([0.2, 3.0, 1.0, 2.0, 0.6]), k, n_init=3, step=step)
    assert sorted(result.indices) == sorted([1, 3, 2, 4, 0][:k])
    assert result.stop_reason == COMPLETED
    assert result.indices[0] == 1


def test_value_belongs_to_the_weights():
    hill = Hill([0.2, 3.0, 1.0, 2.0])
    result = run(hill, 2, n_init=2, step="authors")
    assert result.objective == pytest.approx(hill.value_and_gradient(result.scores)[0], rel=1e-12)
    assert result.scores.sum() <= result.extras["radius"] * (1 + 1e-12)


def test_path_is_sorted_by_radius_and_holds_the_answer():
    result = run(Hill([0.2, 3.0, 1.0, 2.0]), 3, n_init=1)
    radii = [step.radius for step in result.path]
    assert radii == sorted(radii)
    assert any(np.array_equal(step.weights, result.scores) for step in result.path)


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_same_answer_for_any_n_jobs(n_jobs):
    hill = Restartable([1.0, 1.1, 0.9, 1.0, 0.8])
    for n_agree in (None, 2):
        one = run(hill, 2, n_init=7, n_agree=n_agree)
        many = run(hill, 2, n_init=7, n_agree=n_agree, n_jobs=n_jobs)
        np.testing.assert_array_equal(one.scores, many.scores)
        assert one.trace == many.trace


def test_restarts_end_when_enough_of_them_agree():
    assert len(run(Hill([3.0, 2.0, 1.0]), 1, n_init=9).trace) == 9
    assert len(run(Hill([3.0, 2.0, 1.0]), 1, n_init=9, n_agree=3).trace) == 3


def test_tuning_schedule_is_the_authors():
    hill = Tunable([2.0, 1.9, 1.8])
    Ascent("authors", max_iter=12, tol=0.0).run(hill, np.full(3, 0.1), 1.0, k=1)
    assert len(hill.tuned) == 5  # evaluations 1, 2, 3, 5, 10
    np.testing.assert_array_equal(hill.tuned[0], np.full(3, 0.1))


def test_size_that_cannot_be_met_gives_the_nearest_smaller_set():
    pairs = Hill([2.0, 2.0, 1.0, 1.0])
    result = run(pairs, 3, n_init=2)
    assert sorted(result.indices) == [0, 1]
    assert result.stop_reason == SIZE_NOT_MET


def test_more_than_asked_for_is_said():
    result = run(Hill([1.0, 1.0, 0.0]), 1, n_init=2)
    assert sorted(result.indices) == [0, 1]
    assert result.stop_reason == SIZE_NOT_MET


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_time_limit_gives_the_best_so_far(n_jobs):
    hill = Hill(np.linspace(1, 2, 6), Monitor(max_time=0.2), delay=0.01)
    result = run(hill, 3, n_init=1000, n_jobs=n_jobs)
    assert result.stop_reason == TIME_LIMIT
    assert result.elapsed < 2
    assert len(result.indices)


def test_no_gain_anywhere_still_gives_a_set():
    result = run(Hill([0.0, 0.0, 0.0]), 1, n_init=2)
    assert len(result.indices)
    assert result.stop_reason == SIZE_NOT_MET


@pytest.mark.parametrize("params", [{"n_init": 0}, {"max_iter": 1.5}, {"step": "newton"}])
def test_refuses_impossible_parameters(params):
    with pytest.raises(InputError):
        run(Hill([1.0, 2.0]), 1, **params)


class Crowd(Hill):
    """A hill of many units whose context scores name the best ones."""

    def context_scores(self):
        return self.peak


def test_every_second_restart_on_many_units_starts_from_the_screened():
    peak = np.zeros(80)
    peak[[5, 60]] = 3.0, 2.0
    path = run(Crowd(peak), 2, n_init=2).extras["restarts"]
    assert [step.support for step in path] == [(5, 60), (5, 60)]
    first = L1Ball(n_init=2, max_iter=1, random_state=0)
    sizes = [
        step.size for step in drive(first.steps(Crowd(0 * peak), 2), SILENT).extras["restarts"]
    ]
    assert sizes == [80, 10]
