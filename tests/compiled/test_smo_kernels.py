"""The kernels of support vector machines against slow twins."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from featsieve.compiled.hinge import descend_hinge
from featsieve.compiled.smo import optimise_pairs
from tests import reference


def make_kernel(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    sign = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    return X @ X.T + 0.1 * np.eye(n), sign


@pytest.mark.parametrize("bound", [0.05, 1.0, 1e6])
@pytest.mark.parametrize("seed", range(3))
def test_pairs_reach_the_minimum_of_exact_steps_on_all_pairs(bound, seed):
    K, sign = make_kernel(9, seed)
    Q = K * np.outer(sign, sign)
    alpha, slope = np.zeros(9), -np.ones(9)
    steps, gap = optimise_pairs(Q, np.diag(K).copy(), sign, bound, alpha, slope, 1e-10, 10**6)
    assert steps < 10**6
    assert gap < 1e-10
    assert_allclose(alpha, reference.soft_margin_dual(K, sign, bound), rtol=0, atol=1e-7)
    assert_allclose(slope, Q @ alpha - 1, rtol=0, atol=1e-9)
    assert alpha.min() >= 0
    assert alpha.max() <= bound
    assert abs(alpha @ sign) < 1e-12


def test_every_step_descends_and_a_run_in_pieces_is_the_same_run():
    K, sign = make_kernel(20, 0)
    Q, diagonal = K * np.outer(sign, sign), np.diag(K).copy()
    alpha, slope = np.zeros(20), -np.ones(20)
    values = []
    while optimise_pairs(Q, diagonal, sign, 1.0, alpha, slope, 1e-8, 1)[0]:
        values.append(alpha @ Q @ alpha / 2 - alpha.sum())
    assert (np.diff(values) <= 1e-14 * np.abs(values[-1])).all()
    at_once, its_slope = np.zeros(20), -np.ones(20)
    optimise_pairs(Q, diagonal, sign, 1.0, at_once, its_slope, 1e-8, 10**6)
    np.testing.assert_array_equal(alpha, at_once)


def test_nothing_moves_where_all_rows_are_of_one_class():
    alpha, slope = np.zeros(3), -np.ones(3)
    steps, gap = optimise_pairs(np.eye(3), np.ones(3), np.ones(3), 1.0, alpha, slope, 1e-3, 100)
    assert (steps, gap, alpha.any()) == (0, 0.0, False) or gap < 1e-3


@pytest.mark.parametrize(("n_problems", "groups"), [(1, [0, 1, 2, 3, 4]), (3, [0, 0, 1, 2, 2])])
@pytest.mark.parametrize("penalty", [0.5, 3.0])
def test_hinge_descent_reaches_the_minimum_of_accelerated_steps(n_problems, groups, penalty):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 5))
    sign = np.where(rng.normal(size=(n_problems, 25)) + X[:, 0] > 0, 1.0, -1.0)
    sizes = np.bincount(groups)
    weights = np.sqrt(sizes)
    columns = np.vstack([X.T, np.ones(25)])
    starts = np.concatenate([[0], np.cumsum([*sizes, 1])])
    tops = [np.linalg.norm(columns[a:b], 2) ** 2 for a, b in pairwise(starts)]
    coef, slack = np.zeros((6, n_problems)), np.ones((n_problems, 25))
    limit = np.array([*(penalty * weights), 0.0])
    done, worst = descend_hinge(
        columns, sign, slack, coef, starts, 1 / np.array(tops), limit, 1e-11, 100_000
    )
    assert done < 100_000
    assert worst <= 1e-11
    B, intercept = reference.penalised_hinge(X, sign, groups, weights, penalty)
    assert_allclose(coef[:-1], B, rtol=0, atol=1e-8)
    assert_allclose(coef[-1], intercept, rtol=0, atol=1e-8)
    assert_allclose(slack, 1 - sign * (coef.T @ columns), rtol=0, atol=1e-10)
