"""Small ridge systems and permuted sums against NumPy, with and without JIT."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from featsieve.kernels.permuted_sums import permuted_sums
from featsieve.kernels.ridge import held_out_errors, ridge_solution


def positive_matrices(*shape, seed=0):
    A = np.random.default_rng(seed).normal(size=shape)
    return A @ np.swapaxes(A, -1, -2)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 11, 30])
@pytest.mark.parametrize("lam", [0.1, 10.0])
def test_the_solution_is_that_of_numpy(size, lam):
    H, h = positive_matrices(size, size), np.arange(1.0, size + 1)
    expected = np.linalg.solve(H + lam * np.eye(size), h)
    assert_allclose(ridge_solution(H, h, lam), expected, rtol=1e-6, atol=1e-12)


def test_a_singular_system_is_held_up_by_the_ridge():
    H, h = np.ones((4, 4)), np.ones(4)
    assert_allclose(ridge_solution(H, h, 1e-3), np.full(4, 1 / (4 + 1e-3)))


def test_held_out_errors_are_those_of_refitting_each_fold():
    n_sigmas, n_folds, size = 2, 3, 4
    gram_x = positive_matrices(n_sigmas, n_folds, size, size, seed=1)
    gram_y = positive_matrices(n_sigmas, n_folds, size, size, seed=2)
    cross = np.random.default_rng(3).normal(size=(n_sigmas, n_folds, size))
    counts, lambdas = np.array([5.0, 6.0, 7.0]), np.array([0.01, 1.0])
    found = held_out_errors(gram_x, gram_y, cross, counts, lambdas)
    for s, f, k in np.ndindex(*found.shape):
        others = [g for g in range(n_folds) if g != f]
        n_in, n_out = counts[others].sum(), counts[f]
        H = gram_x[s, others].sum(axis=0) * gram_y[s, others].sum(axis=0) / n_in**2
        alpha = np.linalg.solve(H + lambdas[k] * np.eye(size), cross[s, others].sum(axis=0) / n_in)
        H_out = gram_x[s, f] * gram_y[s, f] / n_out**2
        expected = alpha @ H_out @ alpha / 2 - cross[s, f] @ alpha / n_out
        assert_allclose(found[s, f, k], expected)


def test_permuted_sums_equal_those_of_permuted_copies():
    rng = np.random.default_rng(4)
    K, L = positive_matrices(9, 9, seed=5), positive_matrices(9, 9, seed=6)
    orders = np.array([rng.permutation(9) for _ in range(5)])
    expected = [(K * L[np.ix_(order, order)]).sum() for order in orders]
    assert_allclose(permuted_sums(K, L, orders), expected)
