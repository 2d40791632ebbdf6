"""The programs of the SVM family: R²W² with its gradient, the enclosing ball, the l1 path."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.svm import SVC, LinearSVC

from featsieve.linalg.simplex_qp import minimize_on_simplex, positive_factor
from featsieve.procedures.svm.dual import Solver
from featsieve.procedures.svm.radius_margin import GaussianKernel, LinearKernel, RadiusMargin
from featsieve.procedures.svm.rfe import on_the_same_margin
from featsieve.procedures.svm.rows import Rows, one_vs_one, one_vs_rest, problems_of
from featsieve.procedures.svm.sparse import Model, PenalisedHinge
from featsieve.runtime.progress import SILENT
from tests import reference

KERNELS = {"linear": LinearKernel(0.3), "rbf": GaussianKernel(0.1)}
EXACT = Solver(SILENT, 1e-11)
seeds = st.integers(0, 10_000)


def make_rows(seed, n=24, groups=(0, 1, 2, 3, 3, 4)):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(groups)))
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n), [-0.6, 0.6])
    y[:3] = [0, 1, 2]
    return Rows(X, np.array(groups), max(groups) + 1), y[:, None]


@given(seed=seeds, kernel=st.sampled_from(sorted(KERNELS)), classes=st.sampled_from([2, 3]))
@settings(max_examples=20)
def test_gradient_of_radius_and_margin_is_that_of_finite_differences(seed, kernel, classes):
    rows, y = make_rows(seed)
    y = np.minimum(y, classes - 1)
    bound = RadiusMargin(problems_of(y, one_vs_rest), KERNELS[kernel], 0.5, EXACT)
    scales = np.random.default_rng(seed).uniform(0.5, 2.0, rows.n_units)
    _, gradient = bound.value_and_gradient(rows, scales)
    h = 1e-5
    for unit in range(rows.n_units):
        there, back = (
            bound.value_and_gradient(rows, scales + side * h * np.eye(rows.n_units)[unit])[0]
            for side in (1, -1)
        )
        size = np.abs(gradient).max()
        assert_allclose(gradient[unit], (there - back) / (2 * h), rtol=1e-5, atol=1e-6 * size)


@pytest.mark.parametrize("kernel", KERNELS)
def test_value_is_radius_times_margins_of_a_general_solver(kernel):
    rows, y = make_rows(1)
    problems = problems_of(y, one_vs_rest)
    scales = np.linspace(0.5, 1.5, rows.n_units)
    value, _ = RadiusMargin(problems, KERNELS[kernel], 0.5, EXACT).value_and_gradient(rows, scales)
    K = KERNELS[kernel].matrix(rows, scales) + 0.5 * np.eye(rows.n_samples)
    pairs = [reference.radius_and_margin(K, problem.sign) for problem in problems]
    assert_allclose(value, pairs[0][0] * sum(margin for _, margin in pairs), rtol=1e-6)


@given(seed=seeds)
@settings(max_examples=15)
def test_enclosing_ball_is_the_quadratic_program_on_the_simplex(seed):
    rows, _ = make_rows(seed, n=15)
    K = rows.X @ rows.X.T
    ball = EXACT.enclosing_ball(K, np.full(15, 1 / 15))
    expected = minimize_on_simplex(positive_factor(2 * K), np.diag(K).copy())
    assert_allclose(ball.value, expected.value, rtol=1e-8)
    assert_allclose(ball.alpha.sum(), 1.0, rtol=1e-12)


@given(seed=seeds, C=st.sampled_from([0.01, 1.0, 100.0]))
@settings(max_examples=20)
def test_soft_margin_is_that_of_libsvm(seed, C):
    """Not only near its solution: the same steps, so the same weights far below its tolerance.

    With its shrinking it may take another way, which ends within the tolerance.
    """
    rows, y = make_rows(seed, n=40)
    for problem in problems_of(y, one_vs_one):
        X = rows.X[problem.rows]
        dual = Solver(SILENT).soft_margin(X @ X.T, problem.sign, C)
        weights = (dual.alpha * problem.sign) @ X
        for shrinking, tolerance in ((False, 1e-5), (True, 5e-3)):
            svc = SVC(kernel="linear", C=C, shrinking=shrinking).fit(X, -problem.sign)
            assert_allclose(weights, -svc.coef_[0], atol=tolerance * np.abs(weights).max(), rtol=0)


@pytest.mark.parametrize("unit", [2.0**-300, 2.0**300])
def test_a_power_of_two_in_the_kernel_is_one_in_the_cost(unit):
    rows, y = make_rows(0)
    problem = problems_of(y, one_vs_one)[0]
    X = rows.X[problem.rows]
    plain = Solver(SILENT).soft_margin(X @ X.T, problem.sign, 1.0)
    scaled = Solver(SILENT).soft_margin(X @ X.T * unit, problem.sign, 1.0 / unit)
    np.testing.assert_array_equal(scaled.alpha * unit, plain.alpha)


@given(seed=seeds, share=st.floats(0.05, 0.9), classes=st.sampled_from([2, 3]))
@settings(max_examples=20)
def test_l1_machine_meets_the_conditions_of_a_minimum(seed, share, classes):
    rows, y = make_rows(seed, n=50)
    hinge = PenalisedHinge(rows, problems_of(np.minimum(y, classes - 1), one_vs_rest), SILENT, 1e-9)
    penalty = share * hinge.largest_penalty
    model = hinge.solve(penalty, hinge.empty())
    pull, sizes = hinge.pull(model), hinge.norms(model.coef)
    assert_allclose(pull[sizes > 0], penalty, rtol=1e-6)
    assert (pull[sizes == 0] <= penalty * (1 + 1e-6)).all()
    B, intercept = reference.penalised_hinge(
        rows.X, hinge.sign, rows.unit_of, hinge.weights, penalty, n_iter=5000
    )
    theirs = Model(B, intercept, 0.0)
    C = 0.5 / penalty
    assert hinge.objective(model, C) <= hinge.objective(theirs, C) * (1 + 1e-9)


def test_at_the_largest_penalty_nothing_enters_and_just_below_one_unit_does():
    rows, y = make_rows(4, n=50)
    hinge = PenalisedHinge(rows, problems_of(y, one_vs_rest), SILENT, 1e-8)
    at, below = (
        hinge.norms(hinge.solve(f * hinge.largest_penalty, hinge.empty()).coef)
        for f in (1.0, 0.999)
    )
    assert np.count_nonzero(at) == 0
    assert np.count_nonzero(below) == 1


def test_l1_machine_is_that_of_liblinear_but_for_its_penalty_on_the_intercept():
    rows, y = make_rows(2, n=80, groups=(0, 1, 2, 3, 4, 5))
    y = np.minimum(y, 1)
    hinge = PenalisedHinge(rows, problems_of(y, one_vs_rest), SILENT, 1e-9, standardized=False)
    for C in (0.02, 0.5):
        svc = LinearSVC(
            penalty="l1", dual=False, C=C, intercept_scaling=100, tol=1e-6, max_iter=10**5,
            random_state=0,
        ).fit(rows.X, y.ravel())  # fmt: skip
        model = hinge.solve(0.5 / C, hinge.empty())
        assert_allclose(model.coef[:, 0], svc.coef_[0], rtol=0, atol=2e-3)


def test_a_coarse_and_a_fine_piece_of_training_agree(monkeypatch):
    rows, y = make_rows(0, n=60)
    problem = problems_of(y, one_vs_rest)[0]
    K = rows.X @ rows.X.T
    whole = Solver(SILENT).soft_margin(K, problem.sign, 10.0)
    monkeypatch.setattr("featsieve.procedures.svm.dual.CELLS_PER_PIECE", 1)
    pieces = Solver(SILENT).soft_margin(K, problem.sign, 10.0)
    np.testing.assert_array_equal(whole.alpha, pieces.alpha)


@pytest.mark.parametrize("C", [100.0, 0.2])
def test_alpha_for_another_kernel_on_the_same_margin(C):
    """Against training: a column that hardly matters goes, and no row crosses the margin."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 20)) * np.append(np.ones(19), 0.05)
    sign = np.where(X[:, 0] > 0, 1.0, -1.0)
    before = EXACT.soft_margin(X @ X.T, sign, C).alpha
    K = X[:, :-1] @ X[:, :-1].T
    expected = EXACT.soft_margin(K, sign, C).alpha
    assert ((before > 0) == (expected > 0)).all()
    assert ((before < C) == (expected < C)).all()
    assert_allclose(on_the_same_margin(K, sign, before, C), expected, rtol=0, atol=1e-6)
    assert np.abs(before - expected).max() > 1e-6
