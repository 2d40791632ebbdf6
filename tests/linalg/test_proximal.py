"""The solvers of criterion plus row penalty, against slow ones and by their optimality."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.linalg.block_norms import BlockPenalty, RowBlocks
from featsieve.linalg.proximal import minimize_proximal
from featsieve.linalg.two_metric import minimize_two_metric
from tests.reference import constrained_l1_linf, plain_proximal_gradient

SOLVERS = [minimize_proximal, minimize_two_metric]


class LeastSquares:
    """½‖A vec(W) − b‖², a random convex criterion."""

    def __init__(self, seed, shape=None, excess=3):
        rng = np.random.default_rng(seed)
        self.shape = shape or (int(rng.integers(2, 7)), int(rng.integers(1, 4)))
        size = self.shape[0] * self.shape[1]
        self.A = rng.normal(size=(size + excess, size))
        self.b = rng.normal(size=size + excess)
        self.share = rng.uniform(0.05, 0.8)
        self.start = rng.normal(size=self.shape)
        self.owner = np.arange(self.shape[0])
        if seed % 3 == 0:  # every third problem has a block of two rows
            self.owner = np.maximum(self.owner - 1, 0)

    def __call__(self, W):
        rest = self.A @ W.ravel() - self.b
        return 0.5 * rest @ rest, (self.A.T @ rest).reshape(self.shape)

    def penalty(self, p):
        blocks = RowBlocks(self.owner)
        most = BlockPenalty(blocks, p, 1.0).dual_sizes(self(np.zeros(self.shape))[1]).max()
        return BlockPenalty(blocks, p, self.share * most)

    @property
    def curvature(self):
        return np.linalg.norm(self.A, 2) ** 2


@cache
def general_objective(seed):
    problem = LeastSquares(seed)
    weight = problem.penalty(np.inf).weight
    return constrained_l1_linf(problem, problem.start, problem.owner, weight)


@pytest.mark.parametrize("solver", SOLVERS)
def test_fifty_convex_problems_reach_a_general_solvers_objective(solver):
    for seed in range(50):
        problem = LeastSquares(seed)
        penalty = problem.penalty(np.inf)
        expected = general_objective(seed)
        solution = solver(problem, problem.start, penalty, max_iter=3000)
        assert solution.point.objective <= expected + 1e-6, seed
        assert solution.point.objective >= expected - 1e-6, seed
        assert solution.residual <= 1e-6, seed


@pytest.mark.parametrize("p", [2, 1])
def test_other_norms_reach_the_objective_of_plain_proximal_gradient(p):
    for seed in range(10):
        problem = LeastSquares(seed, excess=10)
        penalty = problem.penalty(p)
        expected = plain_proximal_gradient(
            problem, problem.start, problem.owner, p, penalty.weight, problem.curvature, 1500
        )
        solution = minimize_proximal(problem, problem.start, penalty)
        assert solution.point.objective == pytest.approx(expected, abs=1e-6), seed
        assert solution.residual <= 1e-6, seed


def assert_never_rises(trace):
    """Not by more than the rounding of one sum."""
    rounding = 1e-14 * np.abs(trace).max()
    assert (np.diff(trace) <= rounding).all()


class Wavy:
    """A criterion that is not convex: Σ cos of projections, plus a square."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.C = rng.normal(size=(4, 2))
        self.start = rng.normal(size=(4, 2))

    def __call__(self, W):
        angle = self.C * W
        value = np.cos(3 * angle).sum() + 0.5 * (W**2).sum()
        return value, -3 * self.C * np.sin(3 * angle) + W


@pytest.mark.parametrize("solver", SOLVERS)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), share=st.floats(0.01, 1.5))
def test_the_objective_never_rises(solver, seed, share):
    problem = Wavy(seed)
    penalty = BlockPenalty(RowBlocks(np.arange(4)), np.inf, share)
    solution = solver(problem, problem.start, penalty, max_iter=200)
    assert_never_rises(solution.trace)
    assert solution.trace[-1] == solution.point.objective


@pytest.mark.parametrize("p", [np.inf, 2, 1])
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), share=st.floats(0.01, 1.5))
def test_each_norm_descends_to_a_stationary_point(p, seed, share):
    problem = Wavy(seed)
    penalty = BlockPenalty(RowBlocks(np.arange(4)), p, share)
    solution = minimize_proximal(problem, problem.start, penalty, tol=1e-7)
    assert_never_rises(solution.trace)
    assert solution.residual <= 1e-6


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_weight_above_the_largest_dual_norm_gives_zero(solver):
    problem = LeastSquares(1)
    limit = problem.penalty(np.inf)
    weight = limit.weight / problem.share
    solution = solver(problem, problem.start, BlockPenalty(limit.blocks, np.inf, 1.01 * weight))
    assert not solution.W.any()
    assert solution.converged


@pytest.mark.parametrize("solver", SOLVERS)
def test_without_a_penalty_it_is_least_squares(solver):
    problem = LeastSquares(2)
    penalty = BlockPenalty(RowBlocks(problem.owner), np.inf, 0.0)
    solution = solver(problem, problem.start, penalty, tol=1e-8, max_iter=3000)
    expected = np.linalg.lstsq(problem.A, problem.b)[0]
    np.testing.assert_allclose(solution.W.ravel(), expected, atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_units_do_not_change_how_far_a_solver_gets(solver):
    problem = LeastSquares(4)
    penalty = problem.penalty(np.inf)
    plain = solver(problem, problem.start, penalty)

    def scaled(W):
        value, gradient = problem(W * 1e4)
        return 1e-6 * value, 1e-2 * gradient

    tiny = BlockPenalty(penalty.blocks, np.inf, 1e-2 * penalty.weight)
    other = solver(scaled, problem.start * 1e-4, tiny)
    assert other.converged
    np.testing.assert_allclose(1e4 * other.W, plain.W, atol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_it_stops_when_told_and_says_that_it_did_not_converge(solver):
    problem = LeastSquares(0, shape=(6, 3))
    solution = solver(problem, problem.start, problem.penalty(np.inf), max_iter=1)
    assert solution.n_iter == 1
    assert not solution.converged
    assert solution.residual > 1e-6
    late = solver(problem, problem.start, problem.penalty(np.inf), expired=lambda: True)
    assert late.n_iter == 0


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.filterwarnings("error")
def test_a_criterion_without_a_minimum_ends_with_a_finite_point(solver):
    penalty = BlockPenalty(RowBlocks(np.arange(3)), np.inf, 1.0)
    with np.errstate(over="ignore"):
        solution = solver(lambda W: (-(W**4).sum(), -4 * W**3), np.ones((3, 2)), penalty)
    assert np.isfinite(solution.point.objective)
    assert not solution.converged
