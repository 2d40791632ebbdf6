"""An engine with copies: a few rows of a block are augmented at a time."""

from __future__ import annotations

import numpy as np
import pytest

from featsieve.engines import with_copies
from featsieve.engines.with_copies import Augment, EngineWithCopies, rows_at_once
from featsieve.input.boundary import Settings, open_engine
from featsieve.statistics import slices
from featsieve.statistics.moments import ColumnMoments, column_moments

N, WIDTH = 90, 4
SWAPPED = np.array([True, False, False, True])


def negative(X, rows):
    return -X


@pytest.mark.parametrize("copied_at_once", [16, 1024])
def test_augmented_blocks_are_no_larger_than_plain_ones(copied_at_once, monkeypatch):
    X = np.random.default_rng(0).normal(size=(N, WIDTH))
    monkeypatch.setattr(slices, "NUMBERS_AT_ONCE", 32 * WIDTH)
    monkeypatch.setattr(with_copies, "MOST_ROWS_AT_ONCE", copied_at_once)
    engine = open_engine(X, X[:, 0], Settings(rows_per_block=32))
    sizes = []

    def look(block) -> ColumnMoments:
        sizes.append(block.X.size)
        return column_moments(block.X)

    moments = EngineWithCopies(engine, Augment(negative, SWAPPED)).reduce_rows(look)
    assert max(sizes) <= 32 * WIDTH
    assert moments.weight == N
    sign = np.where(SWAPPED, -1.0, 1.0)
    expected = np.concatenate([X * sign, -X * sign], axis=1)
    assert moments.mean == pytest.approx(expected.mean(axis=0), rel=1e-12)


@pytest.mark.parametrize(("n_columns", "expected"), [(3, 1024), (1000, 512), (10**6, 16)])
def test_fewer_long_rows_are_copied_at_once(n_columns, expected):
    assert rows_at_once(n_columns) == expected
