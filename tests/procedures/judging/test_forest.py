"""Trees grown one by one against scikit-learn's forest, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from featsieve import TreeImportance
from featsieve.procedures.judging.forest import (
    Grower,
    mean_importance,
    mean_prediction,
    tree_seeds,
)


@pytest.fixture(params=[1, 3], ids=["one target", "three targets"])
def data(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    Y = X[:, :1] * X[:, 1:2] + 0.1 * rng.normal(size=(80, request.param))
    return X, Y


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_trees_are_those_of_a_forest(data, weighted, n_jobs):
    X, Y = data
    weight = np.random.default_rng(1).random(len(X)) if weighted else None
    forest = ExtraTreesRegressor(12, min_samples_leaf=3, max_features=0.5, random_state=7)
    forest.fit(X, Y[:, 0] if Y.shape[1] == 1 else Y, weight)
    grower = Grower(X, Y, weight, min_rows=3, max_features=0.5)
    trees = list(grower.trees(tree_seeds(7, 12), n_jobs))
    expected = forest.predict(X).reshape(len(X), -1)
    assert mean_prediction(trees, X).tolist() == expected.tolist()
    assert mean_importance(trees).tolist() == forest.feature_importances_.tolist()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_trees_from_drawn_rows_are_those_of_a_random_forest(data, n_jobs):
    X, Y = data
    forest = RandomForestRegressor(25, max_depth=4, max_features=0.5, random_state=7)
    forest.fit(X, Y[:, 0] if Y.shape[1] == 1 else Y)
    grower = Grower(X, Y, min_rows=1, max_features=0.5, max_depth=4, draws=True)
    trees = list(grower.trees(tree_seeds(7, 25), n_jobs))
    expected = forest.predict(X).reshape(len(X), -1)
    assert mean_prediction(trees, X).tolist() == expected.tolist()
    assert mean_importance(trees).tolist() == forest.feature_importances_.tolist()


def test_rows_are_drawn_by_their_weights():
    X = np.arange(6.0)[:, None]
    weight = np.array([0.0, 1.0, 0.0, 2.0, 0.0, 0.0])
    trees = Grower(X, X, weight, min_rows=1, draws=True).trees(range(10))
    assert {value for tree in trees for value in tree.predict(X.astype(np.float32))} == {1.0, 3.0}


def test_a_forest_of_stumps_without_a_branch_has_no_importance():
    X = np.zeros((10, 3))
    trees = list(Grower(X, np.ones((10, 1))).trees([0, 1]))
    assert mean_importance(trees).tolist() == [0.0, 0.0, 0.0]
    assert mean_prediction(trees, X).tolist() == [[1.0]] * 10


def test_the_first_seeds_do_not_depend_on_how_many_there_are():
    assert tree_seeds(3, 5) == tree_seeds(3, 9)[:5]


def test_branches_that_part_nothing_have_no_importance():
    """Four rows: a draw may hold one row of each class, which a first branch already parts."""
    for seed in range(10):
        X = np.random.default_rng(seed).normal(size=(4, 4))
        scores = TreeImportance(n_features_to_select=2, random_state=0).fit(X, [0, 1, 0, 1]).scores_
        assert np.isfinite(scores).all()
