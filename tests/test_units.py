"""The unit of a column or of the target does not matter, whatever the method and the engine."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from featsieve import HSICLasso, HSICRanking, LassoSelector, PearsonRanking, open_parquet
from featsieve.errors import InputError
from featsieve.measures import pearson
from featsieve.statistics.moments import column_moments, cross_moments
from tests.estimators import METHODS, method_ids, quick_selector

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5)) * [1, 3, 0.2, 1, 5]
Y = X[:, 3] + 5 * X[:, 2] ** 2 + 0.1 * RNG.normal(size=60)
LABELS = (np.median(Y) < Y).astype(int)
POWERS = np.ldexp(1.0, [900, -900, -300, 120, -60])
# The wrapper hands the columns to the user's model as they are.
INDEPENDENT = [method for method in METHODS if method.name != "WrapperSelector"]
FACTORS = np.array([1e300, 1e-300, 1e-200, 1e155, 1e-7])


def selected(method, X, y, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        selector = quick_selector(method, n_features_to_select=2, **parameters).fit(X, y)
    return selector.indices_.tolist()


def selected_in_plain_units(method, y, task):
    try:
        return selected(method, X, y, task=task)
    except InputError as error:
        if task == "regression" and "classes" in str(error):
            pytest.skip("a method for classes only")
        raise


@pytest.mark.parametrize("factors", [POWERS, FACTORS], ids=["powers of two", "other factors"])
@pytest.mark.parametrize("y", [Y, LABELS], ids=["numbers", "classes"])
@pytest.mark.parametrize("method", INDEPENDENT, ids=method_ids)
def test_units_of_the_columns(method, y, factors):
    task = "regression" if y is Y else "classification"
    expected = selected_in_plain_units(method, y, task)
    assert selected(method, X * factors, y, task=task) == expected


@pytest.mark.parametrize("factor", [2.0**900, 2.0**-900, 1e155, 1e-200, 1e-7, 1e9])
@pytest.mark.parametrize("method", INDEPENDENT, ids=method_ids)
def test_unit_of_the_target(method, factor):
    expected = selected_in_plain_units(method, Y, "regression")
    assert selected(method, X, Y * factor, task="regression") == expected


@pytest.mark.parametrize("factor", [2.0**600, 2.0**-600, 2.0**-24])
def test_lasso_reports_in_the_unit_of_the_target(factor):
    expected = LassoSelector(alpha=0.3, cv=3).fit(X, Y)
    found = LassoSelector(alpha=0.3 * factor, cv=3).fit(X, Y * factor)
    assert found.indices_.tolist() == expected.indices_.tolist()
    assert found.alpha_ == 0.3 * factor
    assert found.coef_path_ / factor == pytest.approx(expected.coef_path_)
    assert found.alphas_ / factor == pytest.approx(expected.alphas_)


@pytest.mark.parametrize("selector", [HSICRanking, HSICLasso])
def test_a_width_is_in_the_unit_of_the_target(selector):
    expected = selector(target_bandwidth=0.5).fit(X, Y).scores_
    scale = 2.0**600 if selector is HSICRanking else 1.0  # HSICLasso standardises the target
    found = selector(target_bandwidth=0.5 * scale).fit(X, Y * 2.0**600).scores_
    assert found == pytest.approx(expected)


def as_parquet(X, y, folder):
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y)
    frame.to_parquet(folder / "t.parquet", row_group_size=25)
    return open_parquet(folder / "t.parquet"), "y"


def as_dask(X, y, folder):
    da = pytest.importorskip("dask.array")
    return da.from_array(X, chunks=(25, 5)), y


CONTAINERS = {
    "csr": lambda X, y, folder: (sp.csr_array(X), y),
    "frame": lambda X, y, folder: (pd.DataFrame(X), y),
    "parquet": as_parquet,
    "dask": as_dask,
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_units_in_every_container(container, tmp_path):
    expected = np.abs(pearson(X, Y))
    table, target = CONTAINERS[container](X * POWERS, Y * 2.0**-700, tmp_path)
    found = PearsonRanking(task="regression").fit(table, target).scores_
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("factor", [1e30, 1e-30, 1e-42])
def test_units_in_single_precision(factor):
    narrow = X.astype(np.float32)
    # Below 1e-38 single precision has few digits left.
    tolerance = 1e-2 if factor < 1e-38 else 1e-5
    found = PearsonRanking().fit(narrow * np.float32(factor), Y).scores_
    assert found == pytest.approx(np.abs(pearson(narrow, Y)), abs=tolerance)


def test_outputs_in_different_units():
    several = np.c_[Y, X[:, 0]]
    expected = PearsonRanking().fit(X, several).result_.extras["output_scores"]
    found = PearsonRanking().fit(X, several * [1e-250, 1e200]).result_.extras["output_scores"]
    assert np.asarray(found) == pytest.approx(np.asarray(expected), rel=1e-12)


def test_a_column_of_zeros_next_to_extreme_ones():
    table = np.c_[X * 1e-250, np.zeros(60)]
    assert PearsonRanking().fit(table, Y).scores_ == pytest.approx([*np.abs(pearson(X, Y)), 0.0])


def test_extreme_units_are_refused_where_units_count():
    with pytest.raises(
        InputError, match=r"column 'x1' holds numbers of the size .e.2.., whose powers"
    ):
        HSICRanking(standardize=False).fit(X * [1, 1e250, 1, 1, 1], Y)
    with pytest.raises(
        InputError, match=r"the target holds numbers of the size .e.2.., whose power"
    ):
        HSICRanking(standardize=False).fit(X, Y * 1e250)


@pytest.mark.parametrize("rows_per_block", [60, 7])
@pytest.mark.parametrize("offset", [1e6, 1e12, 1e15])
def test_a_large_offset_hides_nothing_that_the_numbers_still_hold(offset, rows_per_block):
    shifted = X[:, [0, 1, 3, 4]] + offset
    truth = shifted - offset  # what is left after rounding
    expected = np.corrcoef(truth.T, Y)[:-1, -1]
    parts = [
        cross_moments(shifted[a : a + rows_per_block], Y[a : a + rows_per_block, None])
        for a in range(0, 60, rows_per_block)
    ]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    assert merged.correlation()[:, 0] == pytest.approx(expected, abs=1e-9)
    assert PearsonRanking().fit(shifted, Y).scores_ == pytest.approx(np.abs(expected), abs=1e-9)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e15, -7e-200])
def test_constant_columns_stay_constant(value):
    column = np.full((1001, 1), value)
    assert column_moments(column).is_constant().all()
    assert column_moments(sp.csr_array(column)).is_constant().all()
