"""The compiled kernels: exp, tile sums, medians."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.compiled import hsic_tiles
from featsieve.compiled.exp import decay
from featsieve.compiled.hsic_tiles import (
    ABSOLUTE,
    PRODUCT,
    SQUARED,
    candidate_sums,
    contribution_sums,
    sum_contributions,
    unit_kernels,
    weighted_exponential,
)
from featsieve.compiled.medians import kth_difference, kth_value
from featsieve.measures.hsic import medians
from featsieve.measures.hsic.kernels import (
    kernel_function,
    median_kernel_distance,
)
from featsieve.measures.hsic.medians import median_of_column, pair_contributions
from featsieve.runtime.progress import Monitor, TimeUp
from tests.reference import median_pair_distance

SEEDS = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize(
    ("dtype", "lowest", "tolerance"), [(np.float64, -700.0, 3e-13), (np.float32, -80.0, 5e-6)]
)
def test_exp_keeps_its_stated_accuracy(dtype, lowest, tolerance):
    x = np.linspace(lowest, 0.0, 200_001).astype(dtype)
    exact = np.exp(x.astype(np.longdouble))
    found = decay(-x, dtype(1.0))
    assert np.abs(found / exact - 1).max() < tolerance
    assert found[-1] == 1.0


def test_exp_far_below_the_range_is_almost_zero_and_finite():
    assert 0 <= decay(np.array([1e6, 1e300]), 1.0)[1] < 1e-300


def test_rounding_below_zero_counts_as_zero():
    assert decay(np.array([-1e-9, -5.0]), 2.0).tolist() == [1.0, 1.0]


def test_weighted_exponential_and_its_sums():
    rng = np.random.default_rng(0)
    total, M = rng.random((5, 7)), rng.normal(size=(5, 7))
    expected = np.exp(-0.7 * total) * M
    by_row, by_column = weighted_exponential(total, 0.7, M)
    np.testing.assert_allclose(total, expected, rtol=1e-12)
    np.testing.assert_allclose(by_row, expected.sum(axis=1), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(by_column, expected.sum(axis=0), rtol=1e-12, atol=1e-14)


def contributions(a, b, codes, form):
    """One number a column, between two rows."""
    numeric = {SQUARED: (a - b) ** 2, ABSOLUTE: abs(a - b), PRODUCT: a * b}[form]
    matches = a == b if form == PRODUCT else a != b
    return np.where(codes, matches, numeric)


def random_tile(seed, form):
    rng = np.random.default_rng(seed)
    n_a, n_b, m = rng.integers(1, 40, 3)
    triangle = bool(rng.integers(2))
    codes = rng.random(m) < 0.3
    A = np.where(codes[:, None], rng.integers(0, 3, (m, n_a)), rng.normal(size=(m, n_a)))
    n_b = n_a if triangle else n_b
    B = (
        A.copy()
        if triangle
        else np.where(codes[:, None], rng.integers(0, 3, (m, n_b)), rng.normal(size=(m, n_b)))
    )
    M = rng.normal(size=(n_a, n_b))
    pieces = np.array([[contributions(A[:, i], B[:, j], codes, form) for j in range(n_b)]
                       for i in range(n_a)])  # fmt: skip
    keep = np.triu(np.ones_like(M)) if triangle else np.ones_like(M)
    return rng, A, B, M, codes, triangle, pieces, keep


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, form=st.sampled_from([SQUARED, ABSOLUTE, PRODUCT]))
def test_tile_kernels_equal_loops(seed, form):
    rng, A, B, M, codes, triangle, pieces, keep = random_tile(seed, form)
    m = len(A)
    scale = rng.random(m)
    starts = np.unique(np.r_[0, rng.integers(0, m + 1, 3), m]).astype(np.intp)
    units = [pieces[:, :, s:t].sum(axis=2) for s, t in pairwise(starts)]

    base = sum_contributions(A, B, scale, codes, form, triangle)
    np.testing.assert_allclose(base, (pieces @ scale) * keep, rtol=1e-12, atol=1e-12)

    found = contribution_sums(A, B, starts, codes, form, M, triangle)
    expected = [(u * M * keep).sum() for u in units]
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)

    degree = 3 if form == PRODUCT else 0
    rates = rng.random(len(units)) / m
    for sign in (1.0, -1.0):
        found = candidate_sums(
            A, B, starts, codes, form, base, sign, rates, M, 0.5, degree, triangle
        )
        arguments = [r * (base + sign * u) for r, u in zip(rates, units, strict=True)]
        links = [(t + 0.5) ** 3 if degree else np.exp(-t) for t in arguments]
        expected = [(k * M * keep).sum() for k in links]
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, form=st.sampled_from([SQUARED, ABSOLUTE]))
def test_one_column_units_and_unit_kernels_equal_loops(seed, form):
    rng, A, B, M, codes, triangle, pieces, keep = random_tile(seed, form)
    m = len(A)
    starts, rates = np.arange(m + 1), rng.random(m)
    base = sum_contributions(A, B, np.ones(m), codes, form, triangle)
    for sign in (1.0, -1.0):
        found = candidate_sums(A, B, starts, codes, form, base, sign, rates, M, 0.0, 0, triangle)
        expected = [
            (np.exp(-rates[u] * (base + sign * pieces[:, :, u])) * M * keep).sum() for u in range(m)
        ]
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
    K = unit_kernels(A, B, starts, codes, form, rates)
    np.testing.assert_allclose(
        K, np.exp(-rates[:, None, None] * pieces.transpose(2, 0, 1)), rtol=1e-11
    )


def test_kernels_for_numbers_alone_are_those_for_all_tables_bit_for_bit(monkeypatch):
    rng = np.random.default_rng(0)
    A, B, M = rng.normal(size=(5, 20)), rng.normal(size=(5, 30)), rng.normal(size=(20, 30))
    starts, rates, codes = np.arange(6), rng.random(5), np.zeros(5, bool)
    base = sum_contributions(A, B, np.ones(5), codes, SQUARED, False)

    def answers():
        sums = candidate_sums(A, B, starts, codes, SQUARED, base, -1.0, rates, M, 0.0, 0, False)
        return sums, unit_kernels(A, B, starts, codes, SQUARED, rates)

    of_numbers = answers()
    monkeypatch.setattr(hsic_tiles, "_are_numbers", lambda *_: False)
    for found, expected in zip(of_numbers, answers(), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_unit_without_columns_adds_nothing_to_the_base():
    rng = np.random.default_rng(0)
    base, M = rng.random((20, 30)), rng.normal(size=(20, 30))
    none, starts = np.zeros((0, 20)), np.array([0, 0])
    found = candidate_sums(
        none, np.zeros((0, 30)), starts, np.zeros(0, bool), SQUARED, base, 1.0, np.array([0.5]), M,
        0.0, 0, False,
    )  # fmt: skip
    np.testing.assert_allclose(found, [np.sum(np.exp(-0.5 * base) * M)], rtol=1e-12)


def test_single_precision_is_near_double():
    _, A, B, M, codes, triangle, _, _ = random_tile(3, SQUARED)
    starts = np.arange(len(A) + 1)

    def sums(dtype):
        zero = np.zeros(M.shape, dtype)
        return candidate_sums(
            A.astype(dtype), B.astype(dtype), starts, codes, SQUARED, zero, dtype(1),
            np.full(len(A), 0.5, dtype), M.astype(dtype), dtype(0), 0, triangle,
        )  # fmt: skip

    np.testing.assert_allclose(sums(np.float32), sums(np.float64), rtol=1e-4, atol=1e-4)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, n_values=st.integers(2, 40), ties=st.booleans())
def test_order_statistics_of_differences(seed, n_values, ties):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 4, n_values).astype(float) if ties else rng.normal(size=n_values)
    ordered = np.sort(x)
    every = np.sort([ordered[j] - ordered[i] for j in range(len(x)) for i in range(j)])
    for k in {0, len(every) // 2, len(every) - 1}:
        assert kth_difference(ordered, k) == every[k]


@pytest.mark.parametrize("draw", ["normal", "ties", "constant", "huge", "far"])
def test_kth_value_of_many(draw):
    rng = np.random.default_rng(0)
    values = {
        "normal": rng.normal(size=5000) ** 2,
        "ties": rng.integers(0, 3, 5000).astype(float),
        "constant": np.full(5000, 2.0),
        "huge": rng.lognormal(0, 20, 5000),
        "far": np.r_[rng.random(4999), 1e300],
    }[draw]
    for k in (0, 2499, 2500, 4999):
        assert kth_value(values, k) == np.sort(values)[k]


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, m=st.integers(1, 4), binary=st.booleans())
def test_median_distance_equals_loops(seed, m, binary):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    X = (rng.random((n, m)) < 0.1).astype(float) if binary else rng.normal(size=(n, m))
    expected = median_pair_distance(X)
    assert median_kernel_distance(X, kernel_function("rbf")) == pytest.approx(expected, rel=1e-14)


def test_median_falls_back_to_a_positive_number():
    assert median_of_column(np.ones(5)) == 1.0
    assert median_of_column(np.array([0.0, 0, 0, 0, 0, 3])) == 3.0


def test_pair_contributions_come_in_pair_order():
    X = np.array([[0.0, 1.0, 3.0]])
    one, no = np.ones(1), np.zeros(1, bool)
    assert pair_contributions(X, one, no, SQUARED).tolist() == [1.0, 9.0, 4.0]


def test_the_median_over_many_columns_looks_at_the_clock(monkeypatch):
    monkeypatch.setattr(medians, "TERMS_PER_TICK", 1)
    with pytest.raises(TimeUp):
        median_kernel_distance(np.eye(4), kernel_function("rbf"), Monitor(max_time=0.0))


def test_pieces_of_columns_give_the_same_median(monkeypatch):
    X = np.random.default_rng(0).normal(size=(6, 40))
    at_once = median_kernel_distance(X, kernel_function("rbf"))
    monkeypatch.setattr(medians, "TERMS_PER_TICK", 1)
    assert median_kernel_distance(X, kernel_function("rbf"), Monitor()) == at_once
