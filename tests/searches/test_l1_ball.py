"""The l1-ball search on test doubles: exactly k, restarts, fallback, time limit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from featsieve.errors import IncompatibleError, InputError
from featsieve.result import COMPLETED, TIME_LIMIT
from featsieve.runtime.progress import SILENT, Monitor, drive
from featsieve.searches import L1Ball
from featsieve.searches.ascent import Ascent


class Hill:
    """−½‖w − peak‖²: the best weights on the ball are the soft-thresholded peak."""

    def __init__(self, peak, monitor=SILENT):
        self.peak = np.asarray(peak, dtype=float)
        self.n_units = len(self.peak)
        self.monitor = monitor

    def value_and_gradient(self, weights):
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


def test_an_ascent_leaves_a_start_whose_slope_is_much_steeper_than_its_ball_is_wide():
    """600 small weights, as of a wide table: a step of 2⁻¹¹ would end in a corner of the ball."""
    curvature, peak = 1e8, np.zeros(600)
    peak[:20] = 0.005

    class Steep(Tunable):  # measures with model selection are climbed as they are
        def value_and_gradient(self, weights):
            value, away = super().value_and_gradient(weights)
            return curvature * value, curvature * away

    start = np.random.default_rng(0).uniform(size=600)
    start *= 0.1 / start.sum()
    hill = Steep(peak)
    point, _ = Ascent().run(hill, start, 0.1, 1)
    assert point.value > 1e-6 * hill.value_and_gradient(start)[0]
    assert point.weights[:20] == pytest.approx(peak[:20], abs=1e-6)


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


class Helped(Restartable):
    """Evaluations that idle threads help; ``begun`` lists the restarts."""

    is_helped = True

    def __init__(self, peak, begun):
        super().__init__(peak)
        self.begun = begun

    def restart(self, seed):
        self.begun.append(seed)
        return Helped(self.peak, self.begun)


@pytest.mark.parametrize("n_agree", [None, 2, 3])
def test_helped_restarts_begin_when_they_are_needed(n_agree):
    begun = {1: [], 2: []}
    one, two = (
        run(Helped([3.0, 2.0, 1.0], begun[n]), 1, n_init=9, n_agree=n_agree, n_jobs=n)
        for n in (1, 2)
    )
    assert one.trace == two.trace
    assert sorted(begun[1]) == sorted(begun[2])
    assert len(begun[2]) == (n_agree or 9)


def test_restarts_end_when_enough_of_them_agree():
    assert len(run(Hill([3.0, 2.0, 1.0]), 1, n_init=9).trace) == 9
    assert len(run(Hill([3.0, 2.0, 1.0]), 1, n_init=9, n_agree=3).trace) == 3


def test_tuning_schedule_is_the_authors():
    hill = Tunable([2.0, 1.9, 1.8])
    Ascent("authors", max_iter=12, tol=0.0).run(hill, np.full(3, 0.1), 1.0, k=1)
    assert len(hill.tuned) == 5  # evaluations 1, 2, 3, 5, 10
    np.testing.assert_array_equal(hill.tuned[0], np.full(3, 0.1))


@pytest.mark.parametrize(("peak", "k"), [([2.0, 2.0, 1.0, 1.0], 3), ([1.0, 1.0, 0.0], 1)])
def test_a_jump_over_k_still_gives_exactly_k(peak, k):
    """Equal heights come and go together; the surplus is trimmed."""
    result = run(Hill(peak), k, n_init=2)
    assert len(result.indices) == k
    assert min(np.array(peak)[result.indices]) >= sorted(peak)[-k]
    assert result.stop_reason == COMPLETED


def test_more_units_than_matter_fill_the_best_set():
    """Only two units ever have a weight; the third comes in with a small one."""
    result = run(Hill([2.0, 1.5, -1.0, -0.5]), 3, n_init=2)
    assert result.indices.tolist() == [0, 1, 3]
    assert 0 < result.scores[3] < 0.1 * result.scores[1]
    assert result.scores.sum() <= result.extras["radius"] * (1 + 1e-12)


class Shrunk(Hill):
    """A hill of another size: the answer does not depend on the unit of the measure."""

    factor = 1e-9

    def value_and_gradient(self, weights):
        value, gradient = super().value_and_gradient(weights)
        return self.factor * value, self.factor * gradient


@pytest.mark.parametrize("factor", [1e-30, 1e-9, 1e6])
def test_the_size_of_the_values_does_not_matter(factor):
    peak = [0.2, 3.0, 1.0, 2.0, 0.6]
    shrunk = Shrunk(peak)
    shrunk.factor = factor
    expected, result = run(Hill(peak), 2, n_init=3), run(shrunk, 2, n_init=3)
    np.testing.assert_allclose(result.scores, expected.scores, rtol=1e-6)
    assert result.objective == pytest.approx(factor * expected.objective, rel=1e-6)


class Sets(Restartable):
    """Weights say nothing about which restart is best; the value of a set does."""

    def value(self, subset):
        return float(self.peak[list(subset)].sum())


def test_columns_can_rank_the_restarts():
    """Algorithm 1, line 24: the value of the selected columns without weights decides."""
    sets = Sets([1.0, 1.1, 0.9, 1.0, 0.8])
    result = run(sets, 2, n_init=8, rank_radii_by="columns")
    values = [sets.value(step.support) for step in result.extras["restarts"]]
    assert sets.value(result.indices) == max(values)
    assert len(set(values)) > 1
    with pytest.raises(IncompatibleError, match="a value for a set of units"):
        run(Hill([1.0, 2.0]), 1, rank_radii_by="columns")


def test_restarts_that_bring_nothing_better_end():
    """Equal units: no two restarts need to agree, and none is better than the first."""
    result = run(Restartable(np.ones(40)), 3, n_init=60, n_agree=30)
    assert len(result.trace) < 60
    assert max(result.trace[-6:]) <= max(result.trace[:-6])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_time_limit_gives_the_best_so_far(n_jobs):
    """Every look at the clock is a second."""
    monitor = Monitor(max_time=50, clock=itertools.count().__next__)
    result = run(Hill(np.linspace(1, 2, 6), monitor), 3, n_init=1000, n_jobs=n_jobs)
    assert result.stop_reason == TIME_LIMIT
    assert 50 < result.elapsed < 100
    assert 1 < len(result.trace) < 1000
    assert len(result.indices) == 3


def test_no_gain_anywhere_gives_the_lowest_indices():
    assert run(Flat([0.0, 0.0, 0.0]), 2, n_init=2).indices.tolist() in ([0, 1], [1, 0])


class Flat(Hill):
    """Constant columns: no value, no gradient."""

    def value_and_gradient(self, weights):
        return 0.0, np.zeros(self.n_units)


@pytest.mark.parametrize(
    "params", [{"n_init": 0}, {"max_iter": 1.5}, {"step": "newton"}, {"rank_radii_by": "x"}]
)
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
    started = []

    class Watched(Crowd):
        def value_and_gradient(self, weights):
            started.append(np.count_nonzero(weights))
            return 0.0, np.zeros(80)

    run(Watched(peak), 2, n_init=2)
    assert {80, 10} <= set(started)
