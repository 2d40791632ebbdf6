"""Normal numbers by row index, and columns beside copies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import kstest

from featsieve.compiled.copying import fill_normals, fill_quantiles, side_by_side
from featsieve.runtime.seeds import fill_row_normals, row_uniforms

# Counters wrap around by design, which NumPy's scalars report where kernels run without JIT.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")


def test_quantiles_are_those_of_scipy():
    p = np.concatenate([np.logspace(-16, -1, 200), np.linspace(0.01, 0.99, 300)])
    p = np.concatenate([p, 1 - p[p > 1e-15]])
    ours = np.empty(len(p))
    fill_quantiles(p, np.empty(len(p), np.int64), np.empty(len(p)), ours)
    assert ours == pytest.approx(ndtri(p), rel=2e-14, abs=1e-15)


def test_normals_are_quantiles_of_the_uniform_numbers_of_a_row():
    rows = np.array([5, 0, 123_456_789_012])
    out = np.full((3, 6), np.nan)
    fill_row_normals(7, rows, 4, out)
    assert out[:, :4] == pytest.approx(ndtri(row_uniforms(7, rows, 4)), rel=1e-13)
    assert np.isnan(out[:, 4:]).all()


def test_normals_are_normal_and_independent():
    out = np.empty((20_000, 5))
    fill_normals(np.uint64(99), np.arange(20_000), 5, out)
    assert kstest(out.ravel(), "norm").pvalue > 1e-4
    assert np.abs(np.corrcoef(out.T) - np.eye(5)).max() < 0.04
    assert abs(np.corrcoef(out[:-1, 0], out[1:, 0])[0, 1]) < 0.04


def test_side_by_side():
    X, copies = np.arange(6.0).reshape(2, 3), -np.arange(6.0).reshape(2, 3)
    out = np.empty((2, 6))
    side_by_side(X, copies, np.array([True, False, True]), out)
    assert out.tolist() == [[0, 1, -2, 0, -1, 2], [-3, 4, -5, 3, -4, 5]]
