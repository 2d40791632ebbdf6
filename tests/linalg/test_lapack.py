"""LAPACK by its address against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from featsieve.linalg.lapack import (
    factor_in_place,
    invert_in_place,
    multiply_in_place,
    solve_in_place,
)

RNG = np.random.default_rng(0)
K = np.cov(RNG.normal(size=(7, 40))) + 0.1 * np.eye(7)


def test_upper_triangle_is_the_factor_and_the_lower_one_stays():
    factor = K.copy()
    factor_in_place(factor)
    assert_allclose(np.triu(factor), np.linalg.cholesky(K).T)
    assert (np.tril(factor, -1) == np.tril(K, -1)).all()


def test_rows_become_solutions():
    factor, right = K.copy(), RNG.normal(size=(3, 7))
    wanted = np.linalg.solve(K, right.T).T
    factor_in_place(factor)
    solve_in_place(factor, right)
    assert_allclose(right, wanted)


@pytest.mark.parametrize("n_rows", [0, 1, 3])
def test_rows_are_multiplied_by_the_upper_triangle(n_rows):
    rows = RNG.normal(size=(n_rows, 7))
    wanted = rows @ np.triu(K)
    multiply_in_place(rows, K)
    assert_allclose(rows, wanted)


def test_squares_of_the_inverse_factor_are_the_diagonal_of_the_inverse():
    inverse = K.copy()
    factor_in_place(inverse)
    invert_in_place(inverse)
    assert_allclose((np.triu(inverse) ** 2).sum(axis=1), np.diag(np.linalg.inv(K)))


def test_a_matrix_that_is_not_positive_definite_is_refused():
    with pytest.raises(np.linalg.LinAlgError, match="dpotrf of LAPACK stopped with code 3"):
        factor_in_place(np.diag([1.0, 1.0, -1.0]))


@pytest.mark.parametrize(
    "wrong", [K.astype(np.float32), np.asfortranarray(RNG.normal(size=(3, 2)))]
)
def test_other_arrays_are_refused(wrong):
    with pytest.raises(TypeError, match="rows of float64"):
        factor_in_place(wrong)
