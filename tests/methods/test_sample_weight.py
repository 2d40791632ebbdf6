"""Every method with sample_weight: only ratios count, and rows of weight 0 do not."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from featsieve import FisherScore, LassoSelector, MaxRel, NMIRanking, PearsonRanking
from featsieve.errors import InputError
from featsieve.procedures.judging.judges import JUDGES
from tests.tables import FRAMES, mixed_columns

METHODS = {
    "PearsonRanking": PearsonRanking(n_features_to_select=2),
    "MaxRel": MaxRel(n_features_to_select=2),
    "MaxRel, sigma": MaxRel(n_features_to_select=2, discretizer="sigma"),
    "MaxRel, corrected": MaxRel(n_features_to_select=2, correction="miller_madow"),
    "NMIRanking": NMIRanking(n_features_to_select=2),
    "FisherScore": FisherScore(n_features_to_select=2),
    "LassoSelector": LassoSelector(n_features_to_select=2),
    "LassoSelector, alpha": LassoSelector(alpha=0.1),
    "PearsonRanking, auto": PearsonRanking(n_features_to_select="auto"),
    "LassoSelector, auto": LassoSelector(n_features_to_select="auto"),
    "MaxRel, permutations": MaxRel(n_features_to_select=2, n_permutations=19, random_state=0),
}
SCORES = ["scores_", "indices_", "pvalues_", "coef_path_", "mse_path_"]


def table(name, n_rows=90):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 5))
    number = X[:, 1] + 0.5 * X[:, 3] + rng.normal(size=n_rows)
    return X, (number > 0).astype(int) if name == "FisherScore" else number, rng


def assert_same(found, expected, rtol=0.0, atol=0.0):
    for attribute in SCORES:
        if hasattr(expected, attribute):
            values = getattr(expected, attribute)
            assert_allclose(getattr(found, attribute), values, rtol=rtol, atol=atol)


@pytest.fixture(params=METHODS)
def method(request):
    return request.param


def fitted(name, X, y, weight=None, **parameters):
    from sklearn.base import clone

    return clone(METHODS[name]).set_params(**parameters).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("factor", [0.1, 1 / 3, 1e160, 1e-200])
@pytest.mark.parametrize("whole", [False, True])
def test_only_ratios_of_weights_count(method, factor, whole):
    X, y, rng = table(method)
    weight = np.r_[1, rng.integers(1, 4, 89)] * 1.0 if whole else rng.random(90) + 0.1
    expected = fitted(method, X, y, weight)
    assert_same(fitted(method, X, y, weight * factor), expected, atol=1e-10)
    assert_same(fitted(method, X, y, weight / weight.sum()), expected, atol=1e-10)


def test_equal_weights_are_no_weights(method):
    X, y, _ = table(method)
    assert_same(fitted(method, X, y, np.full(90, 1 / 90)), fitted(method, X, y), atol=1e-10)


@pytest.mark.parametrize("cell", [0.0, 1e180, 1.79e308, np.nan, -np.inf])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_rows_of_weight_zero_are_as_if_they_were_not_there(method, cell, container):
    X, y, rng = table(method)
    weight = rng.integers(0, 3, 90) * 1.0
    rows = weight > 0
    X[~rows] = cell
    if METHODS[method].__class__ is not FisherScore:
        y[~rows] = 1e200
    found = fitted(method, container(X), y, weight)
    assert_same(found, fitted(method, container(X[rows]), y[rows], weight[rows]))
    assert found.scores_.any()


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("name", ["PearsonRanking", "MaxRel", "LassoSelector"])
def test_rows_of_weight_zero_of_a_frame(kind, name):
    columns = mixed_columns(80)
    y = columns.pop("target")
    weight = np.array([float(state != "blue") for state in columns["colour"]])
    rows = np.flatnonzero(weight)
    y = np.where(weight > 0, y, np.nan).tolist()
    kept = {key: [values[row] for row in rows] for key, values in columns.items()}
    options = {"categorical_features": ["colour"]}
    found = fitted(name, FRAMES[kind](columns), y, weight, **options)
    expected = fitted(name, FRAMES[kind](kept), [y[row] for row in rows], **options)
    assert_same_scores(found, expected)


def assert_same_scores(found, expected):
    """A state that only rows of weight 0 have adds a column of zeros to a path."""
    assert_allclose(found.scores_, expected.scores_, atol=1e-10)
    assert_array_equal(found.indices_, expected.indices_)


def test_given_folds_are_rows_of_the_given_table():
    X, y, rng = table("LassoSelector")
    weight = rng.integers(0, 3, 90) * 1.0
    rows, fold = np.flatnonzero(weight), np.arange(90) % 3
    given = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(3)]
    inside = [(np.flatnonzero(fold[rows] != f), np.flatnonzero(fold[rows] == f)) for f in range(3)]
    found = LassoSelector(cv=given).fit(X, y, sample_weight=weight)
    expected = LassoSelector(cv=inside).fit(X[rows], y[rows], sample_weight=weight[rows])
    assert_array_equal(found.mse_path_, expected.mse_path_)


@pytest.mark.parametrize("selector", [PearsonRanking(), FisherScore()])
def test_weights_of_rows_in_parts_have_one_scale(selector):
    X, y, rng = table("FisherScore")
    weight = rng.integers(0, 3, 90) * 0.1
    weight[45:] *= 20
    expected = selector.fit(X, y, sample_weight=weight).scores_
    for part in (slice(0, 45), slice(45, 90)):
        selector.partial_fit(X[part], y[part], classes=[0, 1], sample_weight=weight[part])
    assert_allclose(selector.scores_, expected, rtol=1e-10)


@pytest.mark.parametrize("judge", JUDGES)
def test_judges_learn_with_weights(judge):
    rng = np.random.default_rng(0)
    train, test = rng.normal(size=(60, 2)), rng.normal(size=(20, 2))
    heavy = np.arange(60) < 30
    targets = np.where(heavy, 1.0, -1.0)[:, None]
    weight = np.where(heavy, 1.0, 1e-6)
    predict = JUDGES[judge].predict
    expected = predict(train, targets, test, 0)
    even = predict(train, targets, test, 0, np.full(60, 0.25))
    assert_allclose(even, expected, atol=1e-9)
    assert predict(train, targets, test, 0, weight).mean() > max(expected.mean(), 0.5)


def test_one_counted_row_is_refused():
    X, y, _ = table("PearsonRanking")
    weight = np.zeros(90)
    weight[3] = 1.0
    with pytest.raises(InputError, match="only one value in the 1 rows with sample_weight > 0"):
        PearsonRanking().fit(X, y, sample_weight=weight)
