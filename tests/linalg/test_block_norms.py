"""Norms of blocks of rows: values, proximal steps and faces against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from featsieve.linalg import project_l1_ball
from featsieve.linalg.block_norms import NORMS, BlockPenalty, RowBlocks, epigraph_level
from tests.reference import block_norm, block_penalty

ORDERS = [np.inf, 2, 1]
numbers = st.floats(-10, 10, allow_nan=False, width=32)
matrices = arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 4)), elements=numbers)


@pytest.mark.parametrize("p", ORDERS)
@given(A=matrices)
def test_norm_is_its_definition_and_the_dual_bounds_products(p, A):
    norm = NORMS[p]
    np.testing.assert_allclose(norm.of(A), [block_norm(row, p) for row in A], atol=1e-12)
    B = np.roll(A, 1, axis=1)
    products = np.abs((A * B).sum(axis=1))
    assert (products <= norm.of(A) * norm.dual(B) * (1 + 1e-12) + 1e-12).all()


@pytest.mark.parametrize("p", ORDERS)
@given(A=matrices, t=st.floats(0.01, 20), seed=st.integers(0, 100))
def test_shrink_minimises_what_it_says(p, A, t, seed):
    shrunk = NORMS[p].shrink(A, t)
    rng = np.random.default_rng(seed)

    def objective(B):
        return 0.5 * ((A - B) ** 2).sum(axis=1) + t * NORMS[p].of(B)

    for scale in (1e-3, 0.1, 1.0):
        other = shrunk + scale * rng.normal(size=A.shape)
        assert (objective(shrunk) <= objective(other) + 1e-9).all()
    assert (objective(shrunk) <= objective(np.zeros_like(A)) + 1e-9).all()


@given(A=matrices, t=st.floats(0.01, 20))
def test_shrink_of_the_max_norm_is_what_the_l1_projection_leaves(A, t):
    expected = [row - project_l1_ball(row, t) for row in A]
    np.testing.assert_allclose(NORMS[np.inf].shrink(A, t), expected, atol=1e-9)


@given(w=arrays(np.float64, st.integers(1, 6), elements=numbers), bound=numbers)
def test_epigraph_projection_is_the_nearest_feasible_point(w, bound):
    level = float(epigraph_level(np.abs(w)[None], np.array([bound]))[0])

    def distance(t):
        return ((w - np.clip(w, -t, t)) ** 2).sum() + (t - bound) ** 2

    grid = np.linspace(0, 25, 2001)
    assert distance(level) <= min(map(distance, grid)) + 1e-9


def test_epigraph_projection_divides_by_one_more_than_the_number_above():
    assert epigraph_level(np.array([[4.0, 2.0, 0.0]]), np.array([1.0])).tolist() == [2.5]


owners = st.lists(st.integers(0, 3), min_size=1, max_size=6).map(
    lambda given: np.unique(given, return_inverse=True)[1].astype(np.intp)
)


@pytest.mark.parametrize("p", ORDERS)
@given(owner=owners, q=st.integers(1, 3), seed=st.integers(0, 100))
def test_blocks_in_any_order_are_found(p, owner, q, seed):
    W = np.random.default_rng(seed).normal(size=(len(owner), q))
    penalty = BlockPenalty(RowBlocks(owner), p, 0.7)
    assert penalty.value(W) == pytest.approx(block_penalty(W, owner, p, 0.7))
    shrunk = penalty.shrink(W, 0.5)
    for block in np.unique(owner):
        rows = W[owner == block]
        expected = NORMS[p].shrink(rows.reshape(1, -1), 0.35).reshape(rows.shape)
        np.testing.assert_allclose(shrunk[owner == block], expected)


@pytest.mark.parametrize("p", ORDERS)
@settings(max_examples=30)
@given(owner=owners, seed=st.integers(0, 1000))
def test_the_slope_of_a_face_is_the_derivative_there(p, owner, seed):
    rng = np.random.default_rng(seed)
    penalty = BlockPenalty(RowBlocks(owner), p, 0.4)
    W = penalty.shrink(rng.normal(size=(len(owner), 3)), 1.0)
    C = rng.normal(size=W.shape)
    face = penalty.face(W)
    z = face.coordinates(W)
    np.testing.assert_array_equal(face.matrix(z), W)

    def objective(z):
        moved = face.matrix(z)
        return (C * moved).sum() + block_penalty(moved, owner, p, 0.4)

    slope = face.slope(W, C)
    for i in range(len(z)):
        shift = np.zeros(len(z))
        shift[i] = 1e-6
        limit = min(face.longest_step(z, shift), face.longest_step(z, -shift))
        if limit > 1:
            numeric = (objective(z + shift) - objective(z - shift)) / 2e-6
            assert slope[i] == pytest.approx(numeric, abs=1e-6)


def test_a_step_as_long_as_allowed_stays_on_the_face():
    penalty = BlockPenalty(RowBlocks(np.array([0, 1])), np.inf, 1.0)
    W = np.array([[1.0, 0.5], [2.0, -2.0]])
    face = penalty.face(W)
    z = face.coordinates(W)
    direction = np.array([1.0, -0.5, 0.0])  # the free entry grows, the first size shrinks
    longest = face.longest_step(z, direction)
    assert longest == pytest.approx(1 / 3)
    moved = face.matrix(z + longest * direction)
    assert moved[0, 0] == pytest.approx(moved[0, 1])


@pytest.mark.parametrize("p", ORDERS)
def test_residual_does_not_depend_on_units(p):
    rng = np.random.default_rng(0)
    W, G = rng.normal(size=(2, 4, 3))
    blocks = RowBlocks(np.arange(4))
    expected = BlockPenalty(blocks, p, 0.3).residual(W, G)
    assert BlockPenalty(blocks, p, 300.0).residual(1e5 * W, 1e3 * G) == pytest.approx(expected)


@pytest.mark.parametrize("p", ORDERS)
def test_zero_is_stationary_from_the_largest_dual_norm_on(p):
    G = np.random.default_rng(0).normal(size=(4, 3))
    blocks = RowBlocks(np.arange(4))
    largest = BlockPenalty(blocks, p, 1.0).dual_sizes(G).max()
    assert BlockPenalty(blocks, p, largest).residual(np.zeros_like(G), G) == 0
    assert BlockPenalty(blocks, p, 0.9 * largest).residual(np.zeros_like(G), G) > 0.1
