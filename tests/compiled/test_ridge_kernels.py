"""Small ridge systems and permuted sums against NumPy, with and without JIT."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from featsieve.compiled.permutation import permuted_sums
from featsieve.compiled.ridge import ridge_solutions, slopes


def positive_matrices(*shape, seed=0):
    A = np.random.default_rng(seed).normal(size=shape)
    return A @ np.swapaxes(A, -1, -2)


def ridge_solution(H, h, lam):
    """One fold, none left out, and a ψ that is 1 everywhere."""
    sums = H[None], np.ones((1, 1, 1)), h[None]
    return ridge_solutions(*sums, np.ones(1), np.array([lam]), np.array([-1]))[0][0, 0]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 11, 30])
@pytest.mark.parametrize("lam", [0.1, 10.0])
def test_the_solution_is_that_of_numpy(size, lam):
    H, h = positive_matrices(size, size), np.arange(1.0, size + 1)
    expected = np.linalg.solve(H + lam * np.eye(size), h)
    assert_allclose(ridge_solution(H, h, lam), expected, rtol=1e-6, atol=1e-12)


def test_a_singular_system_is_held_up_by_the_ridge():
    H, h = np.ones((4, 4)), np.ones(4)
    assert_allclose(ridge_solution(H, h, 1e-3), np.full(4, 1 / (4 + 1e-3)))


def random_sums(n_folds=3, size=4, shared=False):
    gram_x = positive_matrices(n_folds, size, size, seed=1)
    gram_y = positive_matrices(n_folds, 1 if shared else size, 1 if shared else size, seed=2)
    cross = np.random.default_rng(3).normal(size=(n_folds, size))
    return gram_x, gram_y, cross


@pytest.mark.parametrize("shared", [False, True])
def test_solutions_without_each_fold_are_those_of_the_others(shared):
    gram_x, gram_y, cross = random_sums(shared=shared)
    counts, lambdas, left_out = np.array([5.0, 6.0, 7.0]), np.array([0.01, 1.0]), [0, 1, 2, -1]
    found, losses = ridge_solutions(gram_x, gram_y, cross, counts, lambdas, np.array(left_out))
    for o, k in np.ndindex(4, 2):
        others = [g for g in range(3) if g != left_out[o]]
        n = counts[others].sum()
        H = gram_x[others].sum(axis=0) * gram_y[others].sum(axis=0) / n**2
        h = cross[others].sum(axis=0) / n
        alpha = np.linalg.solve(H + lambdas[k] * np.eye(4), h)
        assert_allclose(found[o, k], alpha)
        if left_out[o] >= 0:
            n = counts[left_out[o]]
            H = gram_x[left_out[o]] * gram_y[left_out[o]] / n**2
            expected = alpha @ H @ alpha / 2 - cross[left_out[o]] @ alpha / n
            assert_allclose(losses[o, k], expected)


def test_slopes_are_those_of_whole_matrices():
    rng = np.random.default_rng(0)
    phi, psi, factor, alpha = (rng.random(shape) for shape in [(5, 3), (5, 3), (5, 3), 3])
    out, by_row = slopes(phi, psi, alpha, factor)
    assert_allclose(out, phi * (psi * alpha - factor))
    assert_allclose(by_row, out.sum(axis=1))


def test_permuted_sums_equal_those_of_permuted_copies():
    rng = np.random.default_rng(4)
    K, L = positive_matrices(9, 9, seed=5), positive_matrices(9, 9, seed=6)
    orders = np.array([rng.permutation(9) for _ in range(5)])
    expected = [(K * L[np.ix_(order, order)]).sum() for order in orders]
    assert_allclose(permuted_sums(K, L, orders), expected)
