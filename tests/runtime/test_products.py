"""Products in pieces, and eigenproblems that are not begun when they cannot end in time."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from featsieve.runtime import products
from featsieve.runtime.products import watched_call, watched_product
from featsieve.runtime.progress import SILENT, Monitor, TimeUp

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("piece", [1, 50, 10**6])
def test_pieces_give_the_product(piece, monkeypatch):
    monkeypatch.setattr(products, "PIECE", piece)
    A, B = RNG.normal(size=(13, 7)), RNG.normal(size=(7, 5))
    assert_allclose(watched_product(A, B, SILENT), A @ B, rtol=1e-13)
    assert watched_product(A[:0], B, SILENT).shape == (0, 5)


def test_the_clock_is_looked_at_between_pieces(monkeypatch):
    monkeypatch.setattr(products, "PIECE", 1)
    times = iter([0.0, 0.0, 0.0, 2.0])  # start, and a look before each row
    monitor = Monitor(max_time=1.0, clock=lambda: next(times))
    with pytest.raises(TimeUp):
        watched_product(np.eye(10), np.eye(10), monitor)


def test_eigenvalues_are_not_begun_when_they_cannot_end_in_time():
    times = iter([0.0, 0.0, 0.0, 0.1, 0.1])  # start, limit?, before and after the probe, limit?
    monitor = Monitor(max_time=1.0, clock=lambda: next(times))
    sizes = []
    with pytest.raises(TimeUp):
        watched_call(lambda A: sizes.append(A.shape), np.eye(2000), monitor)
    assert sizes == [(400, 400)] * 2


def test_a_call_on_few_columns_grows_with_its_rows():
    times = iter([0.0, 0.0, 0.0, 0.1, 0.1])
    monitor = Monitor(max_time=1.0, clock=lambda: next(times))
    with pytest.raises(TimeUp):
        watched_call(lambda A: None, np.empty((4000, 401)), monitor)


def test_without_a_limit_nothing_is_probed():
    sizes = []
    watched_call(lambda A: sizes.append(len(A)), np.eye(2000), Monitor(clock=lambda: 0.0))
    assert sizes == [2000]
