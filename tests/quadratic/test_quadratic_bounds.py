"""No set may exceed a bound, and the bounds keep their known order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.quadratic import bounds, relaxation, solve
from featsieve.quadratic.exact import NODES_PER_STEP, Tree, prove, split_bound
from featsieve.quadratic.heuristics import improve
from featsieve.quadratic.problem import Options, make_problem
from featsieve.quadratic.relaxation import relax, upper_bound
from featsieve.runtime.progress import Monitor
from tests.quadratic.test_quadratic_solvers import KINDS, random_matrix
from tests.reference import bqp_optimum


@settings(deadline=None, max_examples=80)
@given(st.integers(0, 10**6), st.integers(2, 9), st.sampled_from(KINDS), st.data())
def test_upper_bound_is_never_below_the_optimum(seed, n, kind, data):
    k = data.draw(st.integers(1, n - 1))
    rng = np.random.default_rng(seed)
    problem = make_problem(random_matrix(rng, n, kind), k)
    optimum = bqp_optimum(problem.Q, k)
    slack = 1e-12 * (abs(optimum) + problem.scale)
    for effort in ("cheap", "auto", "sdp"):
        assert upper_bound(problem, effort) >= optimum - slack
    assert bounds.sphere_bound(problem) >= optimum - slack
    assert bounds.sphere_bound(problem, rng.standard_normal(n)) >= optimum - slack
    multipliers = rng.standard_normal(n)
    assert bounds.lifted_bound(problem, multipliers) >= optimum - slack
    assert problem.row_bound >= optimum - slack
    split = split_bound(problem, optimum - data.draw(st.floats(0, 2)))
    assert optimum - slack <= split <= problem.row_bound + slack


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 10), st.data())
def test_order_of_the_bounds_for_non_negative_matrices(seed, n, data):
    k = data.draw(st.integers(1, n - 1))
    problem = make_problem(random_matrix(np.random.default_rng(seed), n, "uniform"), k)
    assert problem.row_bound <= bounds.lp2_bound(problem) + 1e-12
    largest = np.linalg.eigvalsh(problem.Q)[-1]
    assert bounds.sphere_bound(problem) <= k * largest * (1 + 1e-9)
    assert bounds.perron_bound(problem) >= k * largest * (1 - 1e-12)
    assert bqp_optimum(problem.Q, k) <= bounds.perron_bound(problem)


def test_perron_bound_is_close_for_dense_matrices():
    problem = make_problem(random_matrix(np.random.default_rng(0), 200, "uniform"), 10)
    largest = 10 * np.linalg.eigvalsh(problem.Q)[-1]
    assert largest <= bounds.perron_bound(problem) <= 1.02 * largest


@pytest.mark.parametrize("k", [3, 20, 30, 57])
def test_sdp_closes_its_own_gap_and_beats_the_sphere(k):
    problem = make_problem(random_matrix(np.random.default_rng(1), 60, "uniform"), k)
    relaxed = relax(problem)
    V = relaxed.factor
    primal = np.vdot(V, problem.Q @ V)
    assert relaxed.upper_bound == pytest.approx(primal, rel=2e-3)
    assert relaxed.upper_bound <= bounds.sphere_bound(problem) * (1 + 1e-6)
    np.testing.assert_allclose(V.sum(axis=0), [k, *[0.0] * (V.shape[1] - 1)], atol=1e-8)
    np.testing.assert_allclose((V**2).sum(axis=1), V[:, 0], atol=2e-2)


@pytest.mark.parametrize("kind", ["uniform", "normal", "low rank"])
@pytest.mark.parametrize("k", [3, 60, 119])
def test_cholesky_proves_nearly_the_same_sphere_bound(kind, k, monkeypatch):
    problem = make_problem(random_matrix(np.random.default_rng(2), 120, kind), k)
    exact = bounds.sphere_bound(problem)
    monkeypatch.setattr(bounds, "EIGEN_LIMIT", 0)
    proven = bounds.sphere_bound(problem)
    assert exact * (1 - 1e-9) <= proven <= exact * 1.05


def test_very_large_matrices_get_closed_forms(monkeypatch):
    monkeypatch.setattr(relaxation, "SPHERE_LIMIT", 0)
    problem = make_problem(random_matrix(np.random.default_rng(2), 300, "uniform"), 40)
    found = solve(problem.Q, 40, solver="tpower", bound="cheap")
    assert found.value < found.upper_bound == problem.row_bound
    assert bounds.perron_bound(make_problem(np.zeros((5, 5)), 2)) == 0.0


def test_max_time_ends_the_proof_with_an_honest_bound():
    problem = make_problem(random_matrix(np.random.default_rng(3), 80, "uniform"), 40)
    answer = solve(problem.Q, 40, solver="exact", max_time=0.5)
    assert not answer.proven_optimal
    assert answer.value < answer.upper_bound <= problem.row_bound
    assert answer.elapsed < 20


@pytest.mark.parametrize("scale", [1e-9, 1e9])
@pytest.mark.parametrize("solver", ["exact", "sdp", "tpower", "auto"])
def test_units_do_not_matter(solver, scale):
    Q = random_matrix(np.random.default_rng(4), 25, "uniform")
    plain = solve(Q, 6, solver=solver, random_state=0)
    scaled = solve(scale * Q, 6, solver=solver, random_state=0)
    np.testing.assert_array_equal(plain.indices, scaled.indices)
    assert scaled.upper_bound == pytest.approx(scale * plain.upper_bound, rel=1e-4)
    assert scaled.proven_optimal == plain.proven_optimal


@pytest.mark.parametrize("k", [3, 20, 57])
def test_the_plain_form_is_closed_by_its_own_dual_and_is_the_weaker_one(k):
    problem = make_problem(random_matrix(np.random.default_rng(1), 60, "uniform"), k)
    plain = relax(problem, "plain")
    V = plain.factor
    assert V[:, 0].sum() == pytest.approx(k)
    assert plain.upper_bound == pytest.approx(np.vdot(V, problem.Q @ V), rel=5e-3)
    assert plain.upper_bound >= relax(problem).upper_bound * (1 - 1e-9)


@pytest.mark.parametrize("form", ["product", "plain"])
def test_both_forms_give_an_answer_with_a_valid_bound(form):
    Q = random_matrix(np.random.default_rng(5), 12, "uniform")
    answer = solve(Q, 4, solver="sdp", sdp_form=form, random_state=0)
    assert answer.value <= bqp_optimum(Q, 4) + 1e-12 <= answer.upper_bound + 1e-9


class _Ending(Monitor):
    """Time is up after so many looks at the clock."""

    def __init__(self, looks):
        super().__init__()
        self.looks = looks

    def remaining(self):
        self.looks -= 1
        return self.looks

    def check(self, grace=0.0):
        pass


@pytest.mark.parametrize(("looks", "nodes"), [(5, 5), (1000, NODES_PER_STEP)])
def test_proof_hands_over_its_bound_when_the_time_is_up(looks, nodes, monkeypatch):
    expanded, expand = [], Tree.expand
    monkeypatch.setattr(Tree, "expand", lambda *given: (expanded.append(0), expand(*given))[1])
    Q = np.random.default_rng(0).normal(size=(60, 60))
    problem = make_problem(Q, 20)
    start = improve(problem, problem.top(problem.row_sums), 200)
    answer = next(prove(problem, start, Options(monitor=_Ending(looks))))
    assert len(expanded) == nodes
    assert problem.value(start.indices) <= answer.value < answer.upper_bound
