"""The kernels of Relief against plain NumPy; they also run without the JIT."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from featsieve.compiled import relief

STARTS = np.array([0, 3, 3, 11])  # the group in the middle has no rows


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return rng.random((8, 5)).astype(np.float32), rng.random((8, 11)).astype(np.float32)


@pytest.fixture
def total():
    return np.random.default_rng(1).integers(0, 5, size=(4, 11)).astype(np.float32)


def test_differences_and_mismatches_add_up(rows):
    Q, B = rows
    distances = np.ones((5, 11), np.float32)
    relief.add_differences(distances, Q, B)
    expected = 1 + np.abs(Q[:, :, None] - B[:, None, :]).sum(axis=0)
    assert_allclose(distances, expected, rtol=1e-6)
    codes = np.zeros((5, 11), np.float32)
    relief.add_mismatches(codes, np.floor(4 * Q), np.floor(4 * B))
    assert_allclose(codes, (np.floor(4 * Q)[:, :, None] != np.floor(4 * B)[:, None]).sum(axis=0))


def test_few_differences_are_those_of_many_bit_for_bit(rows):
    few, many = np.ones((2, 5, 11), np.float32)
    Q, B = (np.tile(part, (3, 1)) for part in rows)
    relief.add_few(few, Q, B)
    relief.add_many(many, Q, B)
    assert_array_equal(few, many)


@pytest.mark.parametrize("few", [0, relief.FEW_VALUES])
@pytest.mark.parametrize("k", [1, 2, 5, 20])
def test_kth_smallest_of_each_group(total, k, few, monkeypatch):
    monkeypatch.setattr(relief, "FEW_VALUES", few)
    found = relief.kth_smallest(total, STARTS, k)
    for i, row in enumerate(total):
        for g in range(3):
            values = np.sort(row[STARTS[g] : STARTS[g + 1]])
            assert found[i, g] == (values[k - 1] if k <= len(values) else np.inf)


def test_ranks_are_shared_among_ties():
    distance = np.array([3.0, 1.0, 2.0, 2.0, 2.0, 9.0])
    first, rank_sum = np.array([0, 6, 6]), np.array([0.0, 5.0, 8.0, 10.0])
    nearest, at_edge = relief.nearest_distances(distance, first, 3)
    assert nearest.tolist() == [[1, 2, 2], [np.inf] * 3]
    assert at_edge.tolist() == [3, 0]
    share = relief.neighbour_shares(distance, first, nearest, at_edge, rank_sum)
    assert_allclose(share, [0, 5 / 10, 5 / 30, 5 / 30, 5 / 30, 0])


def test_exact_distances_and_weighted_sums_of_pairs(rows):
    Q, B = (part.T.astype(np.float64).copy() for part in rows)
    row, other = np.array([0, 4, 2]), np.array([10, 0, 3])
    apart = np.abs(Q[row] - B[other])
    assert_allclose(relief.pair_distances(Q, B, row, other), apart.sum(axis=1))
    weights = np.array([[1.0, -2.0, 0.5], [0.0, 1.0, 3.0]])
    assert_allclose(relief.weighted_differences(Q, B, row, other, weights), weights @ apart)
