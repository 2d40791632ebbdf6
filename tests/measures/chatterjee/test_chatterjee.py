"""ξ and the conditional dependence coefficient against their definitions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel

from featsieve import FOCI, KFOCI
from featsieve.input.boundary import Settings, open_engine
from featsieve.measures import ConditionalDependence, Xi
from featsieve.measures.chatterjee.agreement import rank_agreement
from tests import reference

seeds = st.integers(0, 10_000)


def bound(measure, X, y, **settings_):
    return measure.bind(open_engine(np.asarray(X, dtype=float), y, Settings(**settings_)))


@given(seed=seeds, n=st.integers(4, 25))
@settings(deadline=None, max_examples=40)
def test_xi_without_ties(seed, n):
    rng = np.random.default_rng(seed)
    x, y = rng.permutation(n), rng.integers(0, max(2, n // 2), n) + 0.5
    if len(set(y)) == 1:
        return
    score = bound(Xi(), x[:, None], y, task="regression").scores()[0]
    assert score == pytest.approx(reference.xi_coefficient(x, y), abs=1e-12)


@given(seed=seeds, n=st.integers(3, 6))
@settings(deadline=None, max_examples=30)
def test_ties_in_the_column_are_averaged_over_their_orders(seed, n):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 3, n), rng.integers(0, 4, n) + 0.5
    if len(set(y)) == 1:
        return
    score = bound(Xi(), x[:, None], y, task="regression").scores()[0]
    assert score == pytest.approx(reference.xi_over_orders(x, y), abs=1e-12)


def test_xi_depends_neither_on_the_order_of_rows_nor_on_monotone_changes():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 9, 200).astype(float), rng.normal(size=200)
    order = rng.permutation(200)
    expected = bound(Xi(), x[:, None], y).scores()
    assert bound(Xi(), np.exp(x[order])[:, None], y[order] ** 3).scores() == pytest.approx(expected)


def test_xi_is_one_for_a_function_and_zero_for_a_constant():
    x = np.linspace(-1, 1, 2001)
    scores = bound(Xi(), np.c_[x, np.zeros(2001)], np.cos(9 * x)).scores()
    assert scores[0] > 0.98
    assert abs(scores[1]) < 0.01
    assert bound(Xi(), x[:, None], np.repeat([1, 2], [1000, 1001])).scores()[0] > 0.99


@given(seed=seeds, n=st.integers(4, 30), width=st.integers(1, 4), tied=st.booleans())
@settings(deadline=None, max_examples=60)
def test_coefficient_of_numbers(seed, n, width, tied):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, width)) if tied else rng.normal(size=(n, width))
    y = rng.integers(0, 5, n) + 0.5
    if len(set(y)) == 1:
        return
    value = bound(ConditionalDependence(), X, y, task="regression").value(range(width))
    assert value == pytest.approx(reference.codec(X.astype(float), y), abs=1e-12)


def grid_and_repeats(seed, n):
    """Many equal rows, and single ones with many equally near points."""
    rng = np.random.default_rng(seed)
    repeated = rng.integers(0, 2, (n, 2))
    grid = 10 + np.stack(np.meshgrid(np.arange(4), np.arange(4)), axis=-1).reshape(-1, 2)
    X = np.concatenate([repeated, grid]).astype(float)
    order = rng.permutation(len(X))
    return X[order], rng


@pytest.mark.parametrize("seed", range(5))
def test_all_ties_are_averaged_however_many(seed):
    X, rng = grid_and_repeats(seed, 150)
    y = rng.integers(0, 7, len(X)) + 0.5
    numbers = bound(ConditionalDependence(), X, y, task="regression").value([0, 1])
    assert numbers == pytest.approx(reference.codec(X, y), abs=1e-12)
    classes = rng.integers(0, 2, len(X))
    value = bound(ConditionalDependence(), X, classes, task="classification").value([0, 1])
    each = [reference.codec(X, (classes == label).astype(int)) for label in (0, 1)]
    assert value == pytest.approx(np.mean(each), abs=1e-12)  # both indicators have the same room


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_kernels_average_all_ties(n_outputs, monkeypatch):
    from featsieve.measures.chatterjee import agreement

    monkeypatch.setattr(agreement, "ROWS_AT_ONCE", 7)
    X, rng = grid_and_repeats(0, 60)
    y = rng.normal(size=(len(X), n_outputs))

    def kernel(a, b):
        return rbf_kernel(a.astype(float), b.astype(float), gamma=0.5)

    value = bound(ConditionalDependence(target_kernel=kernel), X, y, task="regression").value(
        [0, 1]
    )
    assert value == pytest.approx(reference.tied_kernel_codec(X, kernel(y, y)), abs=1e-12)
    features = bound(ConditionalDependence(target_kernel="linear"), X, y, task="regression")
    assert features.value([0, 1]) == pytest.approx(
        bound(
            ConditionalDependence(target_kernel="linear"),
            X,
            y,
            task="regression",
            memory_limit=2 * 8 * len(X) ** 2,
        ).value([0, 1]),
        abs=1e-12,
    )


@given(seed=seeds, n=st.integers(5, 30), k=st.integers(1, 3))
@settings(deadline=None, max_examples=40)
def test_coefficient_by_a_kernel(seed, n, k):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)), rng.normal(size=(n, 2))

    def kernel(a, b):
        return rbf_kernel(a.astype(float), b.astype(float), gamma=0.5)

    measure = ConditionalDependence(target_kernel=kernel, n_neighbors=k)
    value = bound(measure, X, y, task="regression").value([0, 1])
    assert value == pytest.approx(reference.kernel_codec(X, kernel(y, y), k), abs=1e-12)


def test_classes_are_the_ranks_of_their_indicators_taken_together():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    value = bound(ConditionalDependence(), X, y, task="classification").value([0, 1])
    rooms, shares = [], []
    for label in range(3):
        share = np.mean(y == label)
        rooms.append(share * (1 - share))
        shares.append(reference.codec(X, (y == label).astype(int)) * rooms[-1])
    assert value == pytest.approx(sum(shares) / sum(rooms), abs=1e-12)


def test_two_classes_by_a_delta_kernel_differ_only_in_the_chance_level():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    plain = bound(ConditionalDependence(), X, y).value([0, 1])
    kernel = bound(ConditionalDependence(target_kernel="delta"), X, y).value([0, 1])
    assert kernel == pytest.approx(plain, abs=2 / 500)


def test_additions_are_values_of_the_larger_sets():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(80, 5)), rng.normal(size=80)
    measure = bound(ConditionalDependence(), X, y)
    expected = [measure.value([3, c]) for c in (0, 1, 4)]
    assert measure.values_with([3], [0, 1, 4]) == pytest.approx(expected, abs=1e-12)


def test_constant_and_duplicate_columns_and_a_constant_output():
    rng = np.random.default_rng(3)
    x = rng.normal(size=300)
    X = np.c_[np.ones(300), x, x, rng.normal(size=300)]
    assert FOCI().fit(X, x**2).indices_.tolist() == [1]
    # Halves of the rows may have a constant output: it says nothing.
    constant = rank_agreement(np.full((300, 1), 2.5))
    assert constant.room == 0
    beside, alone = rank_agreement(np.c_[np.full(300, 2.5), x]), rank_agreement(x[:, None])
    rows, others = np.arange(299), np.arange(1, 300)
    assert beside.of_pairs(rows, others) == pytest.approx(alone.of_pairs(rows, others) / 2)


def test_nothing_but_noise_keeps_one_column_and_says_so():
    rng = np.random.default_rng(5)
    X = np.ones((100, 2))
    with pytest.warns(UserWarning, match="no column shows any dependence"):
        selector = FOCI().fit(X, rng.normal(size=100))
    assert len(selector.indices_) == 1


def test_same_answer_for_any_number_of_threads():
    rng = np.random.default_rng(6)
    X = rng.integers(0, 4, (300, 5)).astype(float)
    y = X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=300)
    first, second = (FOCI(n_jobs=jobs).fit(X, y).result_ for jobs in (1, 2))
    assert first.trace == second.trace
    assert {1, 2} <= set(first.indices.tolist())


def test_finds_an_interaction_and_stops():
    found = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1000, 10))
        selected = FOCI().fit(X, X[:, 1] * X[:, 4] + X[:, 8] ** 2).indices_
        found += set(selected.tolist()) == {1, 4, 8}
    assert found >= 3


def test_kernel_target_of_several_outputs_and_of_sequences():
    from featsieve.measures import SpectrumKernel

    rng = np.random.default_rng(7)
    X = rng.normal(size=(200, 4))
    letters = np.where(X[:, 2] > 0, "aaab", "bbba")
    selector = KFOCI(target_kernel=SpectrumKernel(), task="classification")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert selector.fit(X, letters).indices_.tolist() == [2]
