"""Moments against their definitions, whichever way the table lies in memory."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from featsieve.statistics.moments import (
    FEW_CELLS,
    FEW_TARGETS,
    column_moments,
    cross_moments,
    rows_about,
)
from tests import reference


def sliced_columns(X):
    """Rows of a larger table that lies column by column, as pandas keeps it."""
    return np.asfortranarray(np.vstack([X + 1, X, X - 1]))[len(X) : 2 * len(X)]


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


LAYOUTS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "some rows of columns": sliced_columns,
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "backwards": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "read-only": read_only,
    "sparse": sp.csr_array,
}


def table(n_rows, n_columns, n_targets, seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) * 10.0 ** rng.integers(-3, 4, size=n_columns)
    X += rng.choice([0.0, 1.0, 1e3], size=n_columns) * X.std(axis=0)
    X[rng.random(X.shape) < 0.2] = 0.0
    X[:, rng.random(n_columns) < 0.1] = 3.0
    return X.astype(dtype), rng.normal(size=(n_rows, n_targets))


@pytest.mark.parametrize("layout", LAYOUTS)
@given(
    n_rows=st.integers(1, 40),
    n_columns=st.integers(1, 9),
    n_targets=st.sampled_from([1, 2, 3, FEW_TARGETS + 1]),
    weighted=st.booleans(),
    single=st.booleans(),
    seed=st.integers(0, 10**6),
)
@settings(max_examples=25, deadline=None)
def test_cross_moments_are_those_of_the_definition(
    layout, n_rows, n_columns, n_targets, weighted, single, seed
):
    X, Y = table(n_rows, n_columns, n_targets, seed, np.float32 if single else np.float64)
    weight = np.random.default_rng(seed).integers(0, 3, n_rows) + 0.5 if weighted else None
    arranged = LAYOUTS[layout](X)
    result = cross_moments(arranged, Y, weight)
    unit = np.ones(n_rows) if weight is None else weight
    mean, deviation, cross = reference.moments(X.astype(np.float64), Y, unit)
    size = np.abs(X).max(axis=0).astype(np.float64)
    room = 1e-13 * n_rows * size
    assert_allclose(result.x.mean, mean, atol=room.max())
    assert (np.abs(result.x.deviation - deviation) <= 1e-12 * deviation + room * 1e-12 * size).all()
    scale = np.sqrt(deviation.max() * n_rows) + size.max() * 1e-12
    assert_allclose(result.cross, cross, atol=1e-12 * (1 + scale) * n_rows)
    alone = column_moments(arranged, weight)  # may add the same numbers in another order
    rounding = n_rows * np.finfo(np.float64).eps
    assert_allclose(alone.mean, result.x.mean, atol=rounding * size.max())
    assert_allclose(alone.deviation, result.x.deviation, rtol=2 * rounding, atol=1e-12 * room.max())


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "sparse"])
def test_tiles_of_rows_and_of_columns_join(layout):
    X, Y = table(1037, 3, 2, 0)
    wide, few = table(7, 1037, 2, 0)
    for values, targets in ((X, Y), (wide, few)):
        expected = (values - values.mean(axis=0)).T @ (targets - targets.mean(axis=0))
        result = cross_moments(LAYOUTS[layout](values), targets)
        assert_allclose(result.cross, expected, rtol=1e-9, atol=1e-9)
        assert_allclose(result.x.deviation, values.var(axis=0) * len(values), rtol=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_bad_cell_spoils_its_column_only(layout, bad):
    X, Y = table(30, 4, 1, 1)
    X[17, 2] = bad
    with np.errstate(all="ignore"):
        result = cross_moments(LAYOUTS[layout](X), Y)
    assert np.isfinite(result.x.deviation).tolist() == [True, True, False, True]


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("shape", [(3, 2), (FEW_CELLS // 4 + 5, 4), (8, FEW_CELLS // 8)])
def test_rows_about_a_point_whichever_way_the_table_lies(layout, dtype, shape):
    X = np.random.default_rng(0).integers(-9, 9, size=shape).astype(dtype)
    if dtype is not np.int64:
        X[0, 0], X[-1, -1], X[1, 0] = np.nan, np.inf, -0.0
    given, origin = LAYOUTS[layout](X), np.random.default_rng(1).normal(size=shape[1])
    kept = given.tobytes()
    for point in (origin, 0.0):
        ours = rows_about(given, point)
        assert ours.flags.c_contiguous
        assert ours.tobytes() == (X.astype(np.float64) - point).tobytes()
    assert given.tobytes() == kept
