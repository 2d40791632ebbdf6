"""An engine seen through its own means and deviations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from featsieve.engines.standardized import StandardizedEngine
from featsieve.errors import MemoryBudgetError
from featsieve.input.boundary import Settings, open_engine
from featsieve.statistics.moments import column_moments

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4)) * [1.0, 10.0, 0.0, 3.0] + [5.0, 0.0, 7.0, 1e4]
Y = RNG.normal(size=200)


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_blocks_columns_and_rows_are_scaled_alike(ddof, container):
    engine = StandardizedEngine(open_engine(container(X), Y, Settings(rows_per_block=33)), ddof)
    scale = X.std(axis=0, ddof=ddof)
    expected = (X - X.mean(axis=0)) / np.where(scale > 1e-9, scale, np.inf)
    taken, _ = engine.take()
    assert_allclose(taken, expected, atol=1e-9)
    moments = engine.reduce_rows(lambda block: column_moments(block.X))
    assert_allclose(moments.mean, 0, atol=1e-9)
    assert_allclose(moments.scale(ddof), [1, 1, 0, 1], atol=1e-9)
    assert_allclose(engine.take(np.array([5, 2]), np.array([3]))[0], expected[[5, 2]][:, [3]])
    means = engine.map_columns(lambda values, _: (values**2).mean(axis=0))
    assert_allclose(means, (expected**2).mean(axis=0))


def test_codes_of_states_are_not_scaled():
    frame = pd.DataFrame({"x": X[:, 1], "s": pd.Categorical(np.where(Y > 0, "b", "a"))})
    taken, _ = StandardizedEngine(open_engine(frame, Y, Settings()), 1).take()
    assert sorted(set(taken[:, 1].tolist())) == [0.0, 1.0]
    assert_allclose(taken[:, 0].std(ddof=1), 1)


def test_single_precision_is_not_rounded_again():
    single = X.astype(np.float32)
    tables = [single, single.astype(np.float64)]
    first, second = (StandardizedEngine(open_engine(T, Y, Settings()), 0).take()[0] for T in tables)
    assert first.dtype == np.float64
    assert np.array_equal(first, second)


def test_sparse_with_states_is_filled_in_only_within_the_budget():
    sparse = sp.csr_array(np.round(np.abs(X)))
    settings = Settings(categorical_features=[2], memory_limit=1000)
    with pytest.raises(MemoryBudgetError, match="sparse input with categories needs"):
        open_engine(sparse, Y, settings)
    assert open_engine(sparse, Y, Settings(categorical_features=[2])).schema.n_states(2) == 1
