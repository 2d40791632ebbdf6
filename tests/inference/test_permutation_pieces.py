"""Permutations and neighbour estimates in pieces that fit memory and the clock."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from featsieve import MaxRel
from featsieve.inference import permutation_test
from featsieve.inference.permutation import SECONDS_PER_PASS, _passes
from featsieve.measures.information import ksg
from featsieve.measures.pearson import permuted
from featsieve.runtime import progress

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
Y = np.digitize(X[:, 1] + RNG.normal(size=200), [-1, 0, 1])


@pytest.mark.parametrize("seconds_an_order", [1e-6, 0.01, 10.0])
def test_passes_cover_all_orders_and_grow_while_they_are_short(seconds_an_order):
    now = [0.0]
    monitor = progress.Monitor(max_time=1e9, clock=lambda: now[0])
    spans = []
    for start, stop in _passes(1000, 256, monitor):
        spans.append((start, stop))
        now[0] += (stop - start) * seconds_an_order
    sizes = [stop - start for start, stop in spans]
    assert [stop for _, stop in spans[:-1]] == [start for start, _ in spans[1:]]
    assert (spans[0][0], spans[-1][1]) == (0, 1000)
    assert max(sizes) <= max(1, 2 * SECONDS_PER_PASS / seconds_an_order)
    assert seconds_an_order > 1e-6 or max(sizes) == 256
    assert next(_passes(1000, 256, progress.SILENT)) == (0, 256)


def test_few_rows_at_a_time_give_the_same_scores(monkeypatch):
    """A hundred classes and a thousand orders made gigabytes of a small table."""
    whole = permutation_test(X, Y, n_permutations=50, random_state=0)
    monkeypatch.setattr(permuted, "NUMBERS_AT_ONCE", 1)
    monkeypatch.setattr(permuted, "FEWEST_ROWS", 7)
    pieces = permutation_test(X, Y, n_permutations=50, random_state=0)
    assert_allclose(pieces.scores, whole.scores, rtol=1e-12)
    assert_array_equal(pieces.pvalues, whole.pvalues)


def test_a_column_of_neighbours_that_would_end_after_the_limit_is_not_begun(monkeypatch):
    y = X[:, 1] + 0.1 * RNG.normal(size=200)
    free = MaxRel(estimator="ksg", n_features_to_select=1).fit(X, y)
    monkeypatch.setattr(ksg, "MANY_ROWS", 100)
    times = itertools.count()
    monkeypatch.setattr(progress, "perf_counter", lambda: float(next(times)))
    late = MaxRel(estimator="ksg", n_features_to_select=1, max_time=1e6).fit(X, y)
    assert_array_equal(late.scores_, free.scores_)
    with pytest.raises(TimeoutError, match="max_time passed before the first answer"):
        MaxRel(estimator="ksg", n_features_to_select=1, max_time=300).fit(X, y)
    assert next(times) < 300
