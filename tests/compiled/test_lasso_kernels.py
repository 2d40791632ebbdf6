"""Block descent against plain proximal steps; also run without JIT."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from featsieve.compiled.lasso import descend
from featsieve.procedures.lasso.paths import BlockProblem, extrapolate
from tests import reference


def make_problem(seed, n_outputs=2):
    """Blocks of 2, 1 and 1 columns; the first has a curvature of its own in each direction."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(20, 4)), rng.normal(size=(20, n_outputs))
    gram, target = X.T @ X / 20, X.T @ Y / 20
    starts = np.array([0, 2, 3, 4])
    tops = [np.linalg.eigvalsh(gram[a:b, a:b])[-1] for a, b in itertools.pairwise(starts)]
    return X, Y, BlockProblem(gram, target, starts, 1 / np.array(tops), 0.1 * np.sqrt([2, 1, 1]))


@pytest.mark.parametrize("seed", range(3))
def test_descent_ends_where_proximal_steps_end(seed):
    X, Y, problem = make_problem(seed)
    expected = reference.group_lasso(X, Y, 0.1, [[0, 1], [2], [3]], n_steps=2000)
    coef = np.zeros((4, 2))
    slope = problem.target.copy()
    done = descend(
        problem.gram, slope, coef, problem.starts, problem.steps, problem.penalty, 1e-13, 5000
    )
    assert done < 5000
    assert_allclose(coef, expected, rtol=0, atol=1e-9)
    assert_allclose(slope, problem.target - problem.gram @ coef, rtol=0, atol=1e-12)
    assert_allclose(problem.solve(np.zeros((4, 2)), 1e-13), expected, rtol=0, atol=1e-9)


def test_nothing_moves_above_the_largest_penalty():
    _, _, problem = make_problem(0)
    coef = np.zeros((4, 2))
    limit = np.full(3, np.linalg.norm(problem.target))
    done = descend(
        problem.gram, problem.target.copy(), coef, problem.starts, problem.steps, limit, 0.0, 9
    )
    assert done == 1
    assert not coef.any()


def test_extrapolation_finds_the_end_of_a_linear_recursion():
    rng = np.random.default_rng(1)
    turn = 0.9 * np.diag(rng.uniform(-1, 1, 4))
    points = [rng.normal(size=(4, 1))]
    for _ in range(5):
        points.append(turn @ points[-1] + 1.0)
    limit = np.linalg.solve(np.eye(4) - turn, np.ones((4, 1)))
    assert_allclose(extrapolate(points), limit, rtol=0, atol=1e-5)
    assert np.abs(points[-1] - limit).max() > 0.01
