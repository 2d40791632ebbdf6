"""The counting and cutting kernels against definitions, with and without JIT."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from featsieve.compiled.counting import (
    add_counts,
    add_weights,
    direct_row,
    pack_planes,
    segment_sums,
)
from featsieve.compiled.discretizing import code_ranges, encode_few_cuts, encode_many_cuts
from featsieve.discretize import CAIM, Quantile
from featsieve.measures import cmi_matrix
from featsieve.measures.information.pair_sums import Planes
from tests import reference

N_LOG_N = np.array([0.0, *(n * np.log(n) for n in range(1, 200))])


def sorted_codes(n_rows=150, states=(2, 3, 5), seed=0):
    """Codes whose rows are sorted by a class that takes the values 0, 1, 2."""
    rng = np.random.default_rng(seed)
    y = np.sort(rng.integers(0, 3, n_rows))
    codes = np.stack([rng.integers(0, s, n_rows) for s in states], axis=1).astype(np.uint8)
    return codes, y


def sum_n_log_n(*variables):
    """Σ n log n = n log n_rows − n H."""
    n = len(variables[0])
    return n * np.log(n) - n * reference.entropy_by_definition(*(v.tolist() for v in variables))


def test_bit_planes_give_the_sums_of_all_pairs():
    codes, y = sorted_codes()
    rows = np.bincount(y, minlength=3)
    bounds = np.concatenate([[0], np.cumsum(-(-rows // 64))])
    states = codes.max(axis=0).astype(np.int64) + 1
    starts = np.concatenate([[0], np.cumsum(states - 1)])
    words = np.zeros((bounds[-1], starts[-1] + 1), dtype=np.uint64)
    pack_planes(codes, y, np.zeros(3, dtype=np.int64), bounds, starts, words)
    cells = np.concatenate([[0], np.cumsum(states)])[:-1]
    margins = np.zeros((3, states.sum()), dtype=np.int64)
    add_counts(codes, y, cells, margins)
    planes = Planes.with_margins(words, bounds, states, margins, N_LOG_N)
    pair, triple = planes.tile(np.arange(3), 0, np.full(3, 3))
    for i in range(3):
        for j in range(3):
            assert_allclose(pair[i, j], sum_n_log_n(codes[:, i], codes[:, j]))
            assert_allclose(triple[i, j], sum_n_log_n(codes[:, i], codes[:, j], y))


def test_direct_counting_gives_the_same_sums():
    codes, y = sorted_codes()
    by_column = np.ascontiguousarray(codes.T)
    bounds = np.concatenate([[0], np.cumsum(np.bincount(y))])
    states = codes.max(axis=0).astype(np.int64) + 1
    pair, triple = np.zeros(3), np.zeros(3)
    direct_row(by_column, bounds, states, 1, np.arange(3), N_LOG_N, pair, triple)
    for j in range(3):
        assert_allclose(pair[j], sum_n_log_n(codes[:, 1], codes[:, j]))
        assert_allclose(triple[j], sum_n_log_n(codes[:, 1], codes[:, j], y))
    within = segment_sums(by_column, bounds, N_LOG_N)
    assert_allclose(within, [sum_n_log_n(codes[:, j], y) for j in range(3)])


def test_weights_count_as_repeated_rows():
    codes, y = sorted_codes(30)
    weights = np.random.default_rng(1).integers(0, 4, 30)
    cells = np.array([0, 2, 5])
    weighted, repeated = np.zeros((3, 10)), np.zeros((3, 10), dtype=np.int64)
    add_weights(codes, y, weights.astype(float), cells, weighted)
    add_counts(np.repeat(codes, weights, axis=0), np.repeat(y, weights), cells, repeated)
    assert_array_equal(weighted, repeated)


@pytest.mark.parametrize("most_states", [2, 6])
def test_the_whole_matrix_is_the_definition(most_states):
    rng = np.random.default_rng(most_states)
    codes, y = rng.integers(0, most_states, (70, 4)), rng.integers(0, 3, 70)
    found = cmi_matrix(codes, y)
    for i in range(4):
        for j in range(4):
            x, z = codes[:, j].tolist(), codes[:, i].tolist()
            expected = (
                reference.information_by_definition(x, y.tolist())
                if i == j
                else reference.conditional_information_by_definition(x, y.tolist(), z)
            )
            assert_allclose(found[i, j], expected, atol=1e-12)


def test_codes_count_the_cuts_below_and_missing_is_a_state_of_its_own():
    values = np.array([0.0, 0.5, 2.0, np.nan, -1.0, np.inf])
    few = np.array([[0.0, 0.5], [1.0, np.inf]])  # 0 and 1 for the first column, 0.5 for the second
    X, codes = np.stack([values, values], axis=1), np.empty((6, 2), dtype=np.uint8)
    encode_few_cuts(X, few, np.array([3, 2], dtype=np.uint8), codes)
    assert codes.T.tolist() == [[0, 1, 2, 3, 0, 2], [0, 0, 1, 2, 0, 1]]
    many = np.empty(6, dtype=np.uint8)
    encode_many_cuts(values, np.arange(20.0), many)
    assert many.tolist() == [0, 1, 2, 21, 0, 20]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_code_ranges_skip_missing_cells_and_count_what_is_not_a_code(dtype):
    X = np.array([[1, 0.5, np.nan], [-3, 2, np.nan], [np.nan, np.inf, np.nan]], dtype=dtype)
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    fractions = np.zeros(3, dtype=np.int64)
    code_ranges(X, low, high, fractions)
    assert low.tolist() == [-3, 0.5, np.inf]
    assert high.tolist() == [1, np.inf, -np.inf]
    assert fractions.tolist() == [0, 2, 0]


@pytest.mark.parametrize("n_bins", [2, 5])
def test_quantile_cuts_are_those_of_the_definition(n_bins):
    rng = np.random.default_rng(n_bins)
    X = np.stack([rng.normal(size=60), rng.integers(0, 4, 60), np.full(60, np.nan)], axis=1)
    X[::7, 0] = np.nan
    cuts = Quantile(n_bins).fit(X).cuts_
    for column in range(3):
        expected = reference.quantile_cuts_by_definition(X[:, column].tolist(), n_bins)
        assert cuts[column].tolist() == expected


def test_caim_accepts_the_cuts_of_the_definition():
    rng = np.random.default_rng(5)
    values, classes = rng.integers(0, 9, 40) / 2, rng.integers(0, 3, 40)
    found = CAIM().fit(values[:, None], classes).cuts_[0]
    assert_allclose(found, reference.caim_by_definition(values.tolist(), classes.tolist()))
