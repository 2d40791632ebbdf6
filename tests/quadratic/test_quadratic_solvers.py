"""The solvers against enumeration and against what each of them promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.errors import InputError
from featsieve.quadratic import SOLVERS, exact, solve
from featsieve.quadratic.heuristics import improve, psd_shift, start_vector, truncated_power
from featsieve.quadratic.lowrank import (
    Scan,
    exact_directions,
    net_directions,
    net_size,
    sample_count,
)
from featsieve.quadratic.problem import make_problem
from tests.reference import best_swap_gain, bilinear_optimum, bqp_optimum

KINDS = ("uniform", "normal", "integers", "copies", "low rank")


def random_matrix(rng: np.random.Generator, n: int, kind: str) -> np.ndarray:
    A = rng.random((n, n))
    if kind == "normal":
        A = rng.standard_normal((n, n))
    elif kind == "integers":  # many ties
        A = rng.integers(0, 3, (n, n)).astype(float)
    elif kind == "copies":  # duplicate and constant columns
        source = rng.integers(0, n, n)
        A = (A + A.T)[np.ix_(source, source)]
    elif kind == "low rank":
        B = rng.standard_normal((n, 2))
        A = B @ B.T
    return (A + A.T) / 2


def test_exact_equals_enumeration_on_200_random_matrices():
    rng = np.random.default_rng(0)
    for trial in range(200):
        n = int(rng.integers(2, 19))
        k = int(rng.integers(1, n))
        Q = random_matrix(rng, n, KINDS[trial % len(KINDS)])
        answer = solve(Q, k, solver="exact")
        optimum = bqp_optimum(Q, k)
        assert answer.value == pytest.approx(optimum, rel=1e-10, abs=1e-10)
        assert answer.proven_optimal
        assert answer.upper_bound >= optimum - 1e-12 * abs(optimum)


@pytest.mark.parametrize("kind", KINDS)
def test_looking_at_all_of_few_sets_proves_what_branch_and_bound_proves(kind, monkeypatch):
    rng = np.random.default_rng(1)
    for n, k in [(1, 1), (5, 2), (8, 3), (9, 8), (10, 5)]:
        Q = random_matrix(rng, n, kind)
        looked_at = solve(Q, k)
        with monkeypatch.context() as patch:
            patch.setattr(exact, "FEW_ENTRIES", 0)
            searched = solve(Q, k)
        assert looked_at.indices.tolist() == searched.indices.tolist()
        assert looked_at.value == searched.value
        assert looked_at.upper_bound == looked_at.value


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", ["uniform", "integers", "copies"])
def test_every_solver_gives_k_distinct_indices_and_their_value(solver, kind):
    Q = random_matrix(np.random.default_rng(3), 12, kind)
    for k in (1, 5, 11):
        answer = solve(Q, k, solver=solver, n_samples=200, random_state=0)
        assert len(set(answer.indices.tolist())) == k
        chosen = answer.indices
        assert answer.value == pytest.approx(Q[np.ix_(chosen, chosen)].sum(), rel=1e-12)
        assert answer.value <= bqp_optimum(Q, k) + 1e-12 <= answer.upper_bound + 2e-12
        assert answer.gap >= 0


@pytest.mark.parametrize("solver", SOLVERS)
def test_same_seed_same_answer_and_input_unchanged(solver):
    A = np.random.default_rng(4).random((30, 30))
    before = A.copy()
    first = solve(A, 7, solver=solver, n_samples=500, random_state=5, bound="cheap")
    second = solve(A, 7, solver=solver, n_samples=500, random_state=5, bound="cheap")
    np.testing.assert_array_equal(first.indices, second.indices)
    np.testing.assert_array_equal(A, before)
    mirrored = solve((A + A.T) / 2, 7, solver=solver, n_samples=500, random_state=5, bound="cheap")
    np.testing.assert_array_equal(first.indices, mirrored.indices)


@pytest.mark.parametrize("solver", ["linear", "spectral", "tpower", "lowrank", "sdp"])
def test_swaps_never_lose_and_end_in_a_local_optimum(solver):
    Q = random_matrix(np.random.default_rng(6), 25, "uniform")
    plain = solve(Q, 8, solver=solver, n_samples=100, random_state=0, local_search=False)
    swapped = solve(Q, 8, solver=solver, n_samples=100, random_state=0, local_search=True)
    assert swapped.value >= plain.value
    assert best_swap_gain(Q, swapped.indices.tolist()) <= 1e-10


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 12), st.sampled_from(KINDS), st.data())
def test_swap_search_and_tabu(seed, n, kind, data):
    k = data.draw(st.integers(1, n - 1))
    rng = np.random.default_rng(seed)
    problem = make_problem(random_matrix(rng, n, kind), k)
    start = rng.permutation(n)[:k]
    climbed = improve(problem, start)
    assert climbed.value >= problem.value(start) - 1e-12
    assert best_swap_gain(problem.Q, climbed.indices.tolist()) <= 1e-9
    assert improve(problem, start, patience=50).value >= climbed.value - 1e-9


def test_ties_go_to_the_lowest_index():
    assert sorted(solve(np.ones((6, 6)), 3).indices.tolist()) == [0, 1, 2]
    Q = np.ones((6, 6)) + np.diag([0.0, 0, 1, 0, 1, 1])
    assert sorted(solve(Q, 4).indices.tolist()) == [0, 2, 4, 5]


def test_zero_matrix_is_solved_and_proven():
    for solver in SOLVERS:
        answer = solve(np.zeros((5, 5)), 2, solver=solver, n_samples=10, random_state=0)
        assert answer.value == 0.0
        assert answer.gap == 0.0


# --- TPower --------------------------------------------------------------------------------------


def test_full_shift_makes_binary_power_steps_monotone():
    rng = np.random.default_rng(7)
    for _ in range(20):
        problem = make_problem(random_matrix(rng, 20, "normal"), 6)
        shift = psd_shift(problem)
        assert np.linalg.eigvalsh(problem.Q)[0] + shift >= -1e-9
        x = start_vector(problem, "linear")
        values = []
        for _ in range(10):
            values.append(x @ problem.Q @ x)
            run = truncated_power(problem, x, iterates="binary", shift=shift, max_iter=1, tol=0.0)
            x = run.last
        assert np.diff(values).min() >= -1e-9


@pytest.mark.parametrize("iterates", ["binary", "real"])
@pytest.mark.parametrize("shift", ["none", "partial", "full", "schedule"])
def test_tpower_keeps_its_best_iterate(iterates, shift):
    rng = np.random.default_rng(8)
    for _ in range(10):
        Q = random_matrix(rng, 30, "uniform")
        linear = solve(Q, 9, solver="linear", bound="cheap")
        answer = solve(Q, 9, solver="tpower", iterates=iterates, shift=shift, bound="cheap")
        assert answer.value >= linear.value


def test_psd_shift_of_a_large_matrix():
    Q = random_matrix(np.random.default_rng(9), 450, "uniform")
    assert psd_shift(make_problem(Q, 5)) == pytest.approx(-np.linalg.eigvalsh(Q)[0], rel=1e-8)


# --- LowRank -------------------------------------------------------------------------------------


def low_rank_matrix(rng: np.random.Generator, n: int, signs: list[float]) -> np.ndarray:
    U = rng.standard_normal((n, len(signs)))
    return (U * signs) @ U.T


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(3, 10), st.integers(1, 2), st.data())
def test_exact_for_positive_semidefinite_rank_up_to_two(seed, n, rank, data):
    k = data.draw(st.integers(1, n - 1))
    Q = low_rank_matrix(np.random.default_rng(seed), n, [1.0] * rank)
    answer = solve(Q, k, solver="lowrank", rank=rank)
    assert answer.value == pytest.approx(bqp_optimum(Q, k), rel=1e-9)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.integers(3, 7), st.data())
def test_bilinear_form_is_exact_for_indefinite_rank_two(seed, n, data):
    k = data.draw(st.integers(1, n - 1))
    signs = data.draw(st.sampled_from([[1.0, -1.0], [-1.0, -1.0], [1.0], [-1.0]]))
    Q = low_rank_matrix(np.random.default_rng(seed), n, signs)
    values, vectors = np.linalg.eigh(Q)
    real = np.abs(values) > 1e-9
    scan = Scan(make_problem(Q, k), values[real], vectors[:, real])
    scan.add(exact_directions(scan.factors, k))
    assert scan.pair_value == pytest.approx(bilinear_optimum(Q, k), rel=1e-9)


def test_exact_directions_with_copies_and_collinear_points():
    points = np.array([[0, 0], [0, 0], [1, 1], [2, 2], [2, 2], [-1, 3], [3, -1.0]])
    Q = points @ points.T
    for k in range(1, 7):
        answer = solve(Q, k, solver="lowrank", rank=2)
        assert answer.value == pytest.approx(bqp_optimum(Q, k), rel=1e-9)


@pytest.mark.parametrize("rank", [1, 2, 3, 9])
def test_points_that_are_all_the_same(rank):
    for Q in (np.zeros((6, 6)), np.ones((6, 6))):
        answer = solve(Q, 3, solver="lowrank", rank=rank, epsilon=0.9, n_samples=rank * 10)
        assert answer.value == pytest.approx(9 * Q[0, 0])
        if rank <= 2:
            assert solve(Q, 3, solver="lowrank", rank=rank).value == pytest.approx(9 * Q[0, 0])


def test_more_samples_than_anyone_can_wait_for_are_refused():
    with pytest.raises(InputError, match=r"rank=6 .* asks for 1\..e\+09 directions"):
        solve(np.eye(10), 3, solver="lowrank", rank=6)


def test_more_samples_never_hurt_rank_three():
    Q = low_rank_matrix(np.random.default_rng(10), 14, [1.0, 1.0, 1.0])
    few = solve(Q, 5, solver="lowrank", n_samples=10, random_state=0)
    many = solve(Q, 5, solver="lowrank", n_samples=20_000, random_state=0)
    assert few.value <= many.value
    assert many.value == pytest.approx(bqp_optimum(Q, 5), rel=1e-9)


def test_sample_count_of_the_paper():
    assert sample_count(3, 0.1, 0.1) == 926_519
    assert sample_count(3, 0.5, 0.1) < 10_000


@pytest.mark.parametrize(("rank", "epsilon"), [(3, 0.4), (4, 0.7), (5, 0.9)])
def test_every_direction_or_its_opposite_is_near_the_net(rank, epsilon):
    net = net_directions(rank, epsilon, 0, net_size(rank, epsilon))
    assert len(net) == net_size(rank, epsilon)
    np.testing.assert_allclose(np.linalg.norm(net, axis=1), 1.0)
    probes = np.random.default_rng(0).standard_normal((2000, rank))
    probes /= np.linalg.norm(probes, axis=1, keepdims=True)
    cosines = np.abs(probes @ net.T).max(axis=1)
    assert np.sqrt(2 - 2 * cosines).max() <= epsilon / 2


def test_a_net_in_blocks_is_the_same_net():
    size = net_size(4, 0.8)
    blocks = [net_directions(4, 0.8, a, min(a + 7, size)) for a in range(0, size, 7)]
    np.testing.assert_array_equal(np.concatenate(blocks), net_directions(4, 0.8, 0, size))


@pytest.mark.parametrize("seed", range(5))
def test_the_net_finds_the_optimum_of_rank_three_within_epsilon(seed):
    Q = low_rank_matrix(np.random.default_rng(seed), 14, [1.0, 1.0, 1.0])
    answer = solve(Q, 5, solver="lowrank", local_search=False)
    assert answer.value >= (1 - 0.1) * bqp_optimum(Q, 5)


# --- All features, one feature, no bound ---------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_all_features_are_the_only_answer(solver, n):
    Q = random_matrix(np.random.default_rng(n), n, "uniform")
    answer = solve(Q, n, solver=solver)
    assert sorted(answer.indices.tolist()) == list(range(n))
    assert answer.value == answer.upper_bound == pytest.approx(Q.sum())
    assert answer.proven_optimal
    assert answer.gap == 0.0


@pytest.mark.parametrize("solver", ["linear", "spectral", "tpower", "lowrank", "auto"])
def test_the_bound_is_left_out_only_when_asked(solver):
    Q = random_matrix(np.random.default_rng(11), 120, "uniform")
    with_bound = solve(Q, 30, solver=solver, random_state=0)
    without = solve(Q, 30, solver=solver, random_state=0, bound="none")
    assert with_bound.upper_bound >= with_bound.value
    assert (without.upper_bound, without.gap, without.proven_optimal) == (None, None, False)
    np.testing.assert_array_equal(without.indices, with_bound.indices)


def test_low_rank_is_not_below_the_truncated_power_method():
    Q = random_matrix(np.random.default_rng(12), 300, "uniform")
    power = solve(Q, 40, solver="tpower", bound="none").value
    assert solve(Q, 40, solver="lowrank", bound="none").value >= power
