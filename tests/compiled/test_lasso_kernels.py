"""Block descent against plain proximal steps, and the knots of a path; also run without JIT."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from featsieve.compiled.lasso import descend, move_to_entry, next_drop
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


def lengths_to_entry(slope, change, is_free, alpha):
    """Each side of each free column solves alpha − γ = ± (slope − γ change)."""
    lengths = np.full((2, len(slope)), np.inf)
    for side, sign in enumerate((1.0, -1.0)):
        for j in np.flatnonzero(is_free & (1 - sign * change > 1e-12)):
            lengths[side, j] = (alpha - sign * slope[j]) / (1 - sign * change[j])
    return lengths


@pytest.mark.parametrize("most", [np.inf, 1e-3])
@pytest.mark.parametrize("seed", range(5))
def test_the_first_free_column_that_reaches_alpha_enters(seed, most):
    rng = np.random.default_rng(seed)
    slope, change = rng.uniform(-1, 1, 8), rng.uniform(-1.5, 1.5, 8)
    is_free = rng.random(8) < 0.7
    before = slope.copy()
    lengths = lengths_to_entry(slope, change, is_free, 1.0)
    length, entering = move_to_entry(slope, change, is_free, 1.0, most, 1e-12)
    assert length == pytest.approx(min(lengths.min(), most), rel=1e-12)
    assert entering == (int(np.argmin(lengths)) % 8 if lengths.min() < most else -1)
    assert_allclose(slope, before - length * change, rtol=0, atol=1e-14)


def test_ties_enter_by_the_lowest_index_and_a_gap_that_never_closes_does_not():
    slope, is_free = np.array([0.5, -0.5, 0.5, -0.5]), np.array([False, True, True, True])
    assert move_to_entry(slope, np.zeros(4), is_free, 1.0, np.inf, 1e-12) == (0.5, 2)
    assert move_to_entry(slope, np.ones(4), is_free, 1.0, 0.1, 1e-12) == (0.1, -1)


def test_the_first_coefficient_that_falls_to_zero_is_dropped():
    coef, columns = np.array([0.0, 2.0, -1.0, 0.5]), np.array([3, 1, 2])
    direction = np.array([1.0, -1.0, 1.0])
    assert next_drop(coef, columns, direction, True) == (1.0, 2)
    assert next_drop(coef, columns, direction, False) == (np.inf, -1)
    assert next_drop(coef, columns, -direction, True) == (0.5, 0)
    assert next_drop(np.zeros(4), columns, direction, True) == (np.inf, -1)
