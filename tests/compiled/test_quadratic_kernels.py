"""The compiled loops of the binary quadratic problem against brute force; also run without JIT."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from featsieve.compiled.lowrank import fill_top, keep_better, scan_directions, set_value
from featsieve.compiled.quadratic import swap_search
from featsieve.compiled.selection import kth_largest
from featsieve.quadratic.exact import tighten

N, K = 8, 3


def symmetric(seed, n=N):
    Q = np.random.default_rng(seed).normal(size=(n, n))
    return Q + Q.T


def value_of(Q, chosen):
    return Q[np.ix_(chosen, chosen)].sum()


def best_value(Q, k=K):
    return max(value_of(Q, list(chosen)) for chosen in combinations(range(len(Q)), k))


@pytest.mark.parametrize("k", range(1, 7))
def test_kth_largest_is_that_of_sorting_and_leaves_the_rest_alone(k):
    values = np.array([3.0, 1.0, 3.0, -2.0, 5.0, 0.0, 99.0])
    assert kth_largest(values, 6, k) == sorted([3.0, 1.0, 3.0, -2.0, 5.0, 0.0])[-k]
    assert values[6] == 99.0


def test_top_scores_come_in_index_order_and_ties_go_to_the_lowest():
    chosen = np.empty(3, dtype=np.int64)
    fill_top(np.array([1.0, 2.0, 5.0, 2.0, 2.0]), 3, np.empty(5), chosen)
    assert chosen.tolist() == [1, 2, 3]


def test_set_value_and_keeping_the_better_set():
    Q = symmetric(0)
    assert_allclose(set_value(Q, np.array([1, 4, 6])), value_of(Q, [1, 4, 6]))
    best = np.array([0, 1, 2])
    assert keep_better(Q, np.array([3, 4, 5]), best, np.inf) == np.inf
    assert best.tolist() == [0, 1, 2]
    assert_allclose(keep_better(Q, np.array([3, 4, 5]), best, -np.inf), value_of(Q, [3, 4, 5]))
    assert best.tolist() == [3, 4, 5]


def search(Q, patience, at_once=10_000):
    """Swaps from the set {0, 1, 2} on."""
    members, best = np.arange(K), np.arange(K)
    products = Q[:, :K].sum(axis=1)
    others, free_at, state = np.arange(K, N), np.zeros(N, dtype=np.int64), np.zeros(4)
    work = (Q, members, others, products, free_at, best)
    while not swap_search(*work, patience, at_once, 1e-12, Q.min(), state):
        pass
    assert_allclose(products, Q[:, members].sum(axis=1), atol=1e-9)
    return best


@pytest.mark.parametrize("seed", range(4))
def test_swaps_end_where_no_single_swap_helps(seed):
    Q = symmetric(seed)
    chosen = search(Q, 0)
    for out in range(K):
        for into in set(range(N)) - set(chosen.tolist()):
            swapped = chosen.copy()
            swapped[out] = into
            assert value_of(Q, swapped) <= value_of(Q, chosen) + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_patience_passes_local_optima(seed):
    Q = symmetric(seed)
    assert_allclose(value_of(Q, search(Q, 100)), best_value(Q))


@pytest.mark.parametrize("seed", range(4))
def test_swaps_in_pieces_are_the_same_swaps(seed):
    Q = symmetric(seed)
    assert search(Q, 30).tolist() == search(Q, 30, at_once=1).tolist()


def tightened(Q, rounds, known, margin):
    """The row bound over all indices after some rounds."""
    shares = Q.copy()
    own = np.diagonal(Q).copy()
    found = tighten(shares, Q, own, K, rounds=rounds, value=known, margin=margin)
    pairs = ~np.eye(N, dtype=bool)
    assert_allclose((shares + shares.T)[pairs], (Q + Q.T)[pairs])  # a split, nothing lost
    return found


def row_bound(Q):
    """The K best rows, each with its K − 1 best partners."""
    rows = [Q[i, i] + sum(sorted(np.delete(Q[i], i))[-(K - 1) :]) for i in range(N)]
    return sum(sorted(rows)[-K:])


@pytest.mark.parametrize("seed", range(6))
def test_rounds_start_at_the_row_bound_and_never_fall_below_the_optimum(seed):
    Q = symmetric(seed)
    optimum = best_value(Q)
    first = tightened(Q, 1, -np.inf, -np.inf)
    last = tightened(Q, 200, optimum - 1.0, -np.inf)
    assert_allclose(first.bound, row_bound(Q))
    assert optimum - 1e-9 <= last.bound <= first.bound
    assert len(last.better) in (0, K)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_decided_holds_for_the_optimum(seed):
    Q = symmetric(seed)
    sets = sorted(combinations(range(N), K), key=lambda chosen: value_of(Q, list(chosen)))
    second, optimum = value_of(Q, list(sets[-2])), set(sets[-1])
    found = tightened(Q, 200, second, 1e-9)
    if found.decided is not None:
        assert (found.decided >= 0).any()
        assert set(np.flatnonzero(found.decided == 1).tolist()) <= optimum
        assert not set(np.flatnonzero(found.decided == 0).tolist()) & optimum
    if len(found.better):
        assert set(found.better.tolist()) == optimum


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # keys wrap without JIT
def test_scanned_directions_find_the_optimum_of_a_rank_one_matrix():
    factor = np.array([0.5, -2.0, 0.1, 1.5, -0.3, 0.9, -1.1, 0.0])
    Q = np.outer(factor, factor)
    keys = np.random.default_rng(0).integers(1, 2**64 - 1, size=N, dtype=np.uint64)
    best = np.arange(K, dtype=np.int64)
    value, pair = scan_directions(
        Q,
        factor[:, None].copy(),
        np.ones(1),
        factor[None, :].copy(),
        keys,
        np.zeros(64, dtype=np.uint64),
        best,
        -np.inf,
        -np.inf,
        np.empty(N),
        np.empty(N),
        np.empty(K, dtype=np.int64),
        np.empty(K, dtype=np.int64),
    )
    assert_allclose(value, best_value(Q))
    assert_allclose(value_of(Q, best), value)
    assert_allclose(pair, value)
