"""P-CMI's theorems as statements that can fail."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.quadratic import solve
from featsieve.quadratic.bounds import lp2_bound
from featsieve.quadratic.problem import make_problem
from tests.reference import bqp_optimum, table_information

Y, GIVEN, FIRST = 0, 1, 2  # axes of the joint tables: the class, X_i, then the other features


def conditional(rng: np.random.Generator, states: int, given: tuple[int, ...]) -> np.ndarray:
    """Random p(x | given) with ``given`` leading axes."""
    table = rng.random((*given, states)) + 0.05
    return table / table.sum(axis=-1, keepdims=True)


def joint_under_assumption(seed: int, n_others: int) -> np.ndarray:
    """p(y, x_i, others) with Assumption II.1: for each x_i only one other feature depends on y."""
    rng = np.random.default_rng(seed)
    base = rng.random((2, 3)) + 0.1
    joint = np.zeros((2, 3, *[2] * n_others))
    free = [conditional(rng, 2, (3,)) for _ in range(n_others)]
    dependent = conditional(rng, 2, (2, 3))
    speaker = rng.integers(0, n_others, 3)
    for y, x, *others in itertools.product(range(2), range(3), *[range(2)] * n_others):
        p = base[y, x]
        for j, state in enumerate(others):
            p *= dependent[y, x, state] if speaker[x] == j else free[j][x, state]
        joint[(y, x, *others)] = p
    return joint / joint.sum()


def pairwise_sum(joint: np.ndarray) -> float:
    """I(X_i; Y) + Σ_j I(X_j; Y | X_i)."""
    others = range(FIRST, joint.ndim)
    return table_information(joint, (GIVEN,), (Y,)) + sum(
        table_information(joint, (j,), (Y,), (GIVEN,)) for j in others
    )


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 4))
def test_theorem_ii_2_holds_under_its_assumption(seed, n_others):
    joint = joint_under_assumption(seed, n_others)
    whole = table_information(joint, tuple(range(GIVEN, joint.ndim)), (Y,))
    assert whole == pytest.approx(pairwise_sum(joint), abs=1e-12)
    assert whole > 1e-4


def test_theorem_ii_2_needs_its_assumption():
    joint = np.zeros((2, 1, 2, 2))
    for a, b in itertools.product(range(2), repeat=2):
        joint[a ^ b, 0, a, b] = 0.25  # y = a xor b: no feature tells anything alone
    assert table_information(joint, (GIVEN, 2, 3), (Y,)) == pytest.approx(np.log(2))
    assert pairwise_sum(joint) == pytest.approx(0.0, abs=1e-12)


@settings(deadline=None, max_examples=80)
@given(st.integers(0, 10**6), st.integers(2, 11), st.data())
def test_lemma_a_2_and_theorem_a_1(seed, n, data):
    k = data.draw(st.integers(1, n - 1))
    rng = np.random.default_rng(seed)
    A = rng.random((n, n)) ** data.draw(st.sampled_from([0.2, 1.0, 8.0]))
    problem = make_problem(A, k)
    optimum = bqp_optimum(problem.Q, k)
    total = problem.Q.sum()  # ||Q||_1
    linear = solve(problem.Q, k, solver="linear", bound="cheap").value
    assert lp2_bound(problem) >= optimum - 1e-12  # Lemma A.2
    assert 2 * (optimum - total) <= linear - total + 1e-12  # Theorem A.1, eq. (11)
