"""Trees under a time limit: the same trees, grown in pieces that the clock can end."""

from __future__ import annotations

import itertools
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from featsieve import RidgeForward, TreeImportance
from featsieve.input.boundary import Settings, open_engine
from featsieve.procedures.judging.forest import Grower
from featsieve.procedures.judging.rows import draw_rows
from featsieve.procedures.tree_importance import _expect_a_tree, importance_by_kind
from featsieve.runtime import progress

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 70))
Y = X[:, 0] + X[:, 3] ** 2


def ticking(seconds):
    """A clock that moves on by so much whenever it is looked at."""
    times = itertools.count()
    return lambda: next(times) * seconds


@pytest.mark.parametrize("method", [TreeImportance, RidgeForward])
def test_a_limit_that_is_not_reached_changes_no_bit(method):
    free, limited = (method(n_features_to_select=3, max_time=t).fit(X, Y) for t in (None, 1000))
    assert_array_equal(free.scores_, limited.scores_)


def test_the_limit_is_seen_after_each_tree_that_takes_long(monkeypatch):
    grown = []
    monkeypatch.setattr(progress, "perf_counter", ticking(1.0))
    fitted = TreeImportance(
        n_features_to_select=3, max_time=40, callback=lambda p: grown.append(p.done)
    ).fit(X, Y)
    assert fitted.result_.stop_reason == "max_time"
    trees = [done for done in grown if done]
    assert_array_equal(np.diff(trees), 1)


@pytest.mark.parametrize(("limit", "is_begun"), [(6.0, True), (3.0, False)])
def test_a_tree_that_would_end_after_the_limit_is_not_begun(limit, is_begun):
    """A stump of one second, on 256 rows: some four seconds for a tree."""
    now = [0.0]
    monitor = progress.Monitor(max_time=limit, clock=lambda: now[0])

    class SlowGrower(Grower):
        def trees(self, seeds, n_jobs=1):
            assert self.max_depth == 1
            now[0] += 1.0
            return iter(seeds)

    with nullcontext() if is_begun else pytest.raises(progress.TimeUp):
        _expect_a_tree(SlowGrower(np.zeros((256, 2)), np.zeros((256, 1))), monitor)


@pytest.mark.parametrize("weighted", [False, True])
def test_both_kinds_of_forest_share_out_importance_among_the_given_units(weighted):
    weight = np.arange(60) < 30 if weighted else None
    y = np.where(np.arange(60) < 30, X[:, 5], X[:, 7]) if weighted else X[:, 5] + 0.1 * X[:, 9]
    engine = open_engine(X, y, Settings(), sample_weight=weight)
    for shares in importance_by_kind(draw_rows(engine, 0), np.array([2, 5, 7]), 50, 0):
        assert shares.sum() == pytest.approx(1.0)
        assert shares.argmax() == 1
        assert shares[1] > 0.6


def test_the_indicators_of_a_category_are_one_unit():
    states = RNG.choice(["a", "b", "c"], 60)
    table = pd.DataFrame({"x": X[:, 0], "state": states})
    engine = open_engine(table, (states == "b").astype(int), Settings())
    for shares in importance_by_kind(draw_rows(engine, 0), np.array([0, 1]), 50, 0):
        assert shares.shape == (2,)
        assert shares[1] > 0.9
