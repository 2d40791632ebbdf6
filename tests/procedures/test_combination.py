"""Sets out of several sets: votes, leave-one-out losses, and who decides when."""

from __future__ import annotations

import numpy as np
import pytest

from featsieve.input.boundary import Settings, open_engine
from featsieve.procedures import combination
from featsieve.procedures.combination import Combination, ballot_sizes, count_votes, tree_places
from featsieve.procedures.judging.leave_one_out import LeaveOneOut
from featsieve.procedures.judging.rows import draw_rows
from tests.reference import leave_one_out_losses

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 6))


def sample_of(X, y):
    return draw_rows(open_engine(X, y, Settings()), 0)


@pytest.mark.parametrize("n_classes", [0, 3])
def test_losses_are_those_of_one_model_per_row(n_classes):
    y = X[:30, 0] + X[:30, 2] ** 2
    if n_classes:
        y = np.digitize(y, [0.5, 1.5])
    sample = sample_of(X[:30], y)
    targets = np.eye(3)[y] if n_classes else ((y - y.mean()) / y.std())[:, None]
    units = [0, 2, 5]
    scaled = (X[:30] - X[:30].mean(axis=0)) / X[:30].std(axis=0)
    expected = leave_one_out_losses(scaled[:, units], targets, 0.1, 5)
    pool = np.arange(6)
    ridge = LeaveOneOut(sample, pool, 0.1).losses(units)
    both = LeaveOneOut(sample, pool, 0.1, neighbors=True).losses(units)
    assert ridge == pytest.approx(expected[:, 0])
    assert both == pytest.approx(expected.mean(axis=1))


@pytest.mark.parametrize("neighbors", [False, True])
def test_losses_of_several_sets_are_those_of_each_on_any_number_of_threads(neighbors):
    y = X[:, 0] + X[:, 2] ** 2
    one, two = (
        LeaveOneOut(
            draw_rows(open_engine(X, y, Settings(n_jobs=n_jobs)), 0),
            np.arange(6),
            0.1,
            neighbors=neighbors,
        )
        for n_jobs in (1, 2)
    )
    sets = [[1], [2, 3], [4], [5], [5, 1]]
    side_by_side = list(two.each(sets, [0]))
    for positions, losses in zip(sets, side_by_side, strict=True):
        assert losses.tolist() == one.losses([0, *positions]).tolist()


def test_spread_is_the_standard_error_of_the_mean():
    errors = LeaveOneOut(sample_of(X, X[:, 0]), np.arange(2), 0.1)
    losses = RNG.normal(size=60)
    assert errors.spread(losses) == pytest.approx(losses.std() / np.sqrt(60))


def test_sets_of_several_sizes_are_votes():
    assert ballot_sizes([2], 4) == [2]
    assert ballot_sizes([2], 12) == [2, 5, 10]
    ballots = [{2: np.array([0, 1]), 5: np.array([0, 1, 2, 3, 4])}, {2: np.array([0, 3])}]
    assert count_votes(ballots, 6, [2]) == pytest.approx(np.array([3, 2, 1, 2, 1, 0]) / 3)
    assert not count_votes([{}], 3, [2]).any()


def combined(y, ballots, k):
    voted = Combination([{k: np.array(units)} for units in ballots], 0, 500)
    return voted.sets(open_engine(X, y, Settings()), [k])[k]


def test_errors_decide_where_they_differ_and_votes_where_they_do_not():
    clear = X[:, 0] + X[:, 1]
    assert sorted(combined(clear, [[2, 3], [2, 4]], 2).indices.tolist()) == [0, 1]
    noise = RNG.normal(size=60)
    votes = [[2, 3], [2, 4], [2, 3]]
    result = combined(noise, votes, 1 + 1)
    assert 2 in result.indices
    assert result.scores == pytest.approx([0, 0, 1, 2 / 3, 1 / 3, 0])


def test_a_set_that_only_one_method_sees_wins_if_it_is_clearly_better():
    xor = (X[:, 3] * X[:, 5] > 0).astype(int)
    votes = [[0, 1], [0, 2], [0, 1], [3, 5]]
    assert sorted(combined(xor, votes, 2).indices.tolist()) == [3, 5]


def test_places_in_the_forests_are_of_the_pool_alone():
    sample = sample_of(X, X[:, 0] + 0.3 * X[:, 4])
    places = tree_places(sample, np.array([0, 2, 4]), 0)
    assert places[0] == 1.0
    assert places[2] == pytest.approx(1 / np.sqrt(2))
    without_the_best = tree_places(sample, np.array([2, 4]), 0)
    assert without_the_best.argmax() == 1


@pytest.mark.parametrize("first", [0, 1])
def test_the_forests_decide_where_errors_are_level_after_the_first_units(monkeypatch, first):
    places = np.zeros(6)
    places[4] = 1.0
    monkeypatch.setattr(combination, "tree_places", lambda *_: places)
    monkeypatch.setattr(combination, "LEVEL", np.inf)
    monkeypatch.setattr(combination, "FIRST", first)
    votes = [[1, 4, 2], [1, 4, 3], [1, 2, 3]]
    assert combined(X[:, 0], votes, 3).indices[:2].tolist() == [[4, 1], [1, 4]][first]
