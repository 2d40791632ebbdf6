"""The compiled loops of the permutation test against plain definitions; also run without JIT."""

from __future__ import annotations

import numpy as np
import pytest

from featsieve.compiled.permutation import count_reached, shuffle


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_shuffle_writes_a_permutation(n):
    order = np.full(n, -1, dtype=np.intp)
    shuffle(np.random.default_rng(n).random(n), order)
    assert sorted(order.tolist()) == list(range(n))


def test_every_permutation_of_three_is_drawn_from_its_own_sixth_of_the_cube():
    counts: dict[tuple[int, ...], int] = {}
    for second in (0.25, 0.75):
        for third in (1 / 6, 3 / 6, 5 / 6):
            order = np.empty(3, dtype=np.intp)
            shuffle(np.array([0.5, second, third]), order)
            counts[tuple(order.tolist())] = counts.get(tuple(order.tolist()), 0) + 1
    assert sorted(counts.values()) == [1] * 6


@pytest.mark.parametrize("n_passes", [1, 3])
def test_counts_are_those_of_the_definitions_whatever_the_passes(n_passes):
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 6, size=(5, 40)).astype(np.float64)
    floor = rng.integers(1, 6, size=5).astype(np.float64)
    worst_first = np.argsort(floor, kind="stable")
    single, stepdown = np.zeros(5, dtype=np.intp), np.zeros(5, dtype=np.intp)
    for part in np.array_split(scores, n_passes, axis=1):
        running = np.full(part.shape[1], -np.inf)
        count_reached(np.ascontiguousarray(part), worst_first, floor, running, single, stepdown)
    for position, unit in enumerate(worst_first):
        up_to_here = scores[worst_first[: position + 1]].max(axis=0)
        assert single[unit] == (scores[unit] >= floor[unit]).sum()
        assert stepdown[unit] == (up_to_here >= floor[unit]).sum()
