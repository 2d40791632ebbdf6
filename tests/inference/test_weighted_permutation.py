"""Permutation p-values with weights: their level, whom the weights follow, rows of weight 0."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import stats

from featsieve import MaxRel, NMIRanking, PearsonRanking
from featsieve.errors import InputError
from featsieve.inference import permutation_test
from featsieve.input.boundary import Settings, open_engine
from featsieve.measures import MutualInformation

RANKINGS = [MaxRel, NMIRanking, PearsonRanking]
N_ROWS = 80


def one_table(seed, classes):
    rng = np.random.default_rng(seed)
    number = rng.normal(size=N_ROWS)
    return rng.normal(size=(N_ROWS, 1)), (number > 1.0).astype(int) if classes else number


def balanced(y):
    return len(y) / (2 * np.bincount(y))[y]


WEIGHTS = {
    "classes": (True, lambda X, y: balanced(y)),
    "number": (False, lambda X, y: np.exp(1.5 * y)),
    "rows of X, classes": (True, lambda X, y: np.exp(X[:, 0])),
    "rows of X, number": (False, lambda X, y: np.exp(X[:, 0])),
}


@pytest.mark.parametrize("ranking", RANKINGS)
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.filterwarnings("ignore:sample_weight depends on the target")
def test_level_under_independence(ranking, kind):
    classes, weight_of = WEIGHTS[kind]
    n_tables = 600 if ranking is PearsonRanking else 200
    n_small = 0
    for seed in range(n_tables):
        X, y = one_table(seed, classes)
        selector = ranking(n_features_to_select=1, n_permutations=19, random_state=seed)
        n_small += selector.fit(X, y, sample_weight=weight_of(X, y)).pvalues_[0] <= 0.05
    assert stats.binomtest(int(n_small), n_tables, 0.05, "greater").pvalue > 0.001


@pytest.mark.parametrize(
    ("weight_of", "belong"),
    [
        (lambda y, x: np.exp(y), True),
        (lambda y, x: np.abs(y), True),
        (lambda y, x: np.digitize(y, [-0.5, 0.5]) + 1.0, True),
        (lambda y, x: np.exp(x), False),
        (lambda y, x: np.exp(y + x), False),
        (lambda y, x: np.full(len(y), 0.3), False),
    ],
)
def test_whom_weights_follow(weight_of, belong):
    rng = np.random.default_rng(0)
    y, x = rng.normal(size=(2, 60))
    engine = open_engine(x[:, None], y, Settings(), sample_weight=weight_of(y, x))
    assert engine.weights_belong_to_target == belong
    order = rng.permutation(60)
    moved = engine.with_permuted_target(order)
    assert_array_equal(moved._weight, engine._weight[order] if belong else engine._weight)


def test_weights_of_classes_follow_them():
    rng = np.random.default_rng(0)
    y, x = rng.integers(0, 3, 60), rng.normal(size=60)
    of_class = np.array([0.2, 1.0, 3.0])[y]
    for weight, belong in [(of_class, True), (of_class + (x > 1), False)]:
        engine = open_engine(x[:, None], y, Settings(), sample_weight=weight)
        assert engine.weights_belong_to_target == belong


def test_weights_that_partly_depend_on_the_target_are_a_warning():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.normal(size=200)
    ranking = PearsonRanking(n_permutations=9, random_state=0)
    with pytest.warns(UserWarning, match="depends on the target without being a function of it"):
        ranking.fit(X, y, sample_weight=np.exp(y + rng.normal(size=200)))
    with pytest.warns(UserWarning, match="depends on the target without being a function of it"):
        ranking.fit(X, y > 0, sample_weight=(y > 0) + rng.random(200))
    ranking.fit(X, y, sample_weight=rng.random(200))  # warnings are errors here
    ranking.fit(X, y, sample_weight=np.exp(y))


@pytest.mark.parametrize("ranking", RANKINGS)
def test_rows_of_weight_zero_take_no_part(ranking):
    rng = np.random.default_rng(1)
    X, y, weight = rng.normal(size=(70, 3)), rng.normal(size=70), rng.random(70)
    weight[rng.random(70) < 0.4] = 0.0
    counted = weight > 0
    selector = ranking(n_permutations=99, random_state=0)
    found = selector.fit(X, y, sample_weight=weight).pvalues_
    expected = selector.fit(X[counted], y[counted], sample_weight=weight[counted]).pvalues_
    assert_array_equal(found, expected)


def test_groups_of_rows_of_weight_zero():
    rng = np.random.default_rng(2)
    X, y, weight = rng.normal(size=(60, 3)), rng.normal(size=60), rng.integers(0, 3, 60)
    groups, rows = np.arange(60) % 4, weight > 0
    options = {"n_permutations": 99, "random_state": 0}
    found = permutation_test(X, y, groups=groups, sample_weight=weight, **options)
    expected = permutation_test(
        X[rows], y[rows], groups=groups[rows], sample_weight=weight[rows], **options
    )
    assert_array_equal(found.pvalues, expected.pvalues)
    with pytest.raises(InputError, match=r"groups has shape \(5,\), expected \(60,\)"):
        permutation_test(X, y, groups=groups[:5], sample_weight=weight)


@pytest.mark.parametrize("measure", ["hsic", "xi", MutualInformation(estimator="ksg")])
def test_a_measure_that_would_ignore_weights_refuses_them(measure):
    X, y = one_table(0, False)
    with pytest.raises(InputError, match="does not take sample_weight"):
        permutation_test(X, y, measure, sample_weight=np.ones(N_ROWS))
