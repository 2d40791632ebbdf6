"""The named methods of the HSIC family."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso
from sklearn.utils.estimator_checks import parametrize_with_checks

from featsieve import BAHSIC, FOHSIC, L1HSIC, FeatureSelector, HSICLasso, HSICRanking
from featsieve.datasets import make_quad, make_xor
from featsieve.linalg.nonnegative_lar import nonnegative_lar
from featsieve.measures import HSIC
from featsieve.measures.hsic.estimates import centred
from featsieve.searches import Exhaustive
from tests.reference import rbf_gram

FAMILY = [
    HSICRanking(),
    HSICRanking(bandwidth="dimension", criterion="kta", n_features_to_select=1),
    FOHSIC(),
    BAHSIC(),
    BAHSIC(kernel="laplace", bandwidth="median", step=1, estimator="biased"),
    L1HSIC(n_init=2, max_iter=10),
    HSICLasso(n_features_to_select=1),
]


@pytest.mark.filterwarnings("ignore:.* found .* features where:UserWarning")
@parametrize_with_checks(FAMILY)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("selector", [HSICRanking(), FOHSIC(step=1), BAHSIC(), HSICLasso()])
def test_quad_is_found(selector):
    data = make_quad(400, random_state=0)
    selector.set_params(n_features_to_select=2)
    selector.fit(data.data, data.target)
    assert sorted(selector.indices_.tolist()) == [0, 1]


@pytest.mark.parametrize("selector", [BAHSIC(), L1HSIC(n_init=3, random_state=0)])
def test_xor_is_found_by_those_who_see_interaction(selector):
    data = make_xor(300, random_state=1)
    selector.set_params(n_features_to_select=2)
    selector.fit(data.data, data.target)
    assert sorted(selector.indices_.tolist()) == [0, 1]
    assert selector.task_ == "classification"


def test_exhaustive_search_works_without_code_of_its_own():
    data = make_xor(100, random_state=0)
    selector = FeatureSelector(HSIC(), Exhaustive(), n_features_to_select=2)
    assert sorted(selector.fit(data.data, data.target).indices_.tolist()) == [0, 1]


def test_a_gram_matrix_as_target():
    data = make_quad(80, random_state=0)
    gram = rbf_gram(data.target[:, None], 1.0)
    with_gram = HSICRanking(target_kernel="precomputed").fit(data.data, gram)
    with_numbers = HSICRanking(target_kernel="rbf", target_bandwidth=1.0)
    np.testing.assert_allclose(
        with_gram.scores_, with_numbers.fit(data.data, data.target).scores_, rtol=1e-9
    )


def test_groups_are_kept_together_and_categories_count():
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=(120, 4)), rng.integers(0, 3, 120)]
    y = X[:, 0] * X[:, 2] + 2.0 * (X[:, 4] == 1)
    for selector in (BAHSIC(), HSICLasso(), L1HSIC(n_init=2, random_state=0)):
        selector.set_params(
            n_features_to_select=2, feature_groups=[[0, 2]], categorical_features=[4]
        )
        assert set(selector.fit(X, y).indices_.tolist()) == {0, 2, 4}


def test_l1hsic_keeps_its_weights():
    data = make_quad(150, random_state=0)
    selector = L1HSIC(n_features_to_select=2, n_init=2, random_state=0).fit(data.data, data.target)
    assert (np.flatnonzero(selector.weights_ > 1e-8) == np.flatnonzero(selector.support_)).all()
    assert selector.weights_.sum() <= selector.radius_ * (1 + 1e-9)
    again = L1HSIC(n_features_to_select=2, n_init=2, random_state=0, n_jobs=2)
    np.testing.assert_array_equal(again.fit(data.data, data.target).weights_, selector.weights_)


# --- engines --------------------------------------------------------------------------------------


def mixed_numbers(n=300):
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=(n, 4)), rng.integers(0, 3, n)]
    return X, X[:, 0] + X[:, 1] ** 2 + (X[:, 4] == 2)


@pytest.mark.parametrize(
    "selector",
    [HSICRanking(), BAHSIC(), FOHSIC(), HSICLasso(), L1HSIC(n_init=1, max_iter=10, random_state=0)],
    ids=lambda s: type(s).__name__,
)
def test_memory_streamed_blocks_and_dask_agree(selector):
    import dask.array as da

    X, y = mixed_numbers()
    selector.set_params(n_features_to_select=2, categorical_features=[4])
    whole = selector.fit(X, y).scores_.copy()
    order = selector.indices_.tolist()
    streamed = selector.set_params(memory_limit=20_000).fit(X, y)
    np.testing.assert_allclose(streamed.scores_, whole, rtol=1e-9, atol=1e-9)
    assert streamed.indices_.tolist() == order
    lazy = da.from_array(X, chunks=(90, 5))
    for limit in ("1GiB", 20_000):
        found = selector.set_params(memory_limit=limit).fit(lazy, da.from_array(y, chunks=90))
        np.testing.assert_allclose(found.scores_, whole, rtol=1e-9, atol=1e-9)
        assert found.indices_.tolist() == order


# --- HSIC Lasso -----------------------------------------------------------------------------------


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_lar_corners_are_lasso_solutions(seed):
    """At every corner: gradient equal to the penalty where β > 0, no larger elsewhere."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(30, 8))
    A[:, 5] = A[:, 2]
    A /= np.linalg.norm(A, axis=0)
    b = A[:, :3] @ np.array([1.0, 0.7, 0.5]) + 0.3 * rng.normal(size=30)
    last = np.inf
    for point in nonnegative_lar(A.T @ b, lambda j: A.T @ A[:, j], 7):
        slack = A.T @ (b - A @ point.coefficients)
        assert point.penalty < last + 1e-12
        assert (point.coefficients >= -1e-12).all()
        assert (slack <= point.penalty + 1e-9).all()
        np.testing.assert_allclose(slack[list(point.active)], point.penalty, atol=1e-9)
        last = point.penalty


def test_lar_with_nothing_to_explain_gives_nothing():
    assert list(nonnegative_lar(np.array([-1.0, 0.0]), lambda j: np.eye(2)[j], 2)) == []


def test_hsic_lasso_solves_its_convex_problem():
    data = make_quad(60, random_state=3)
    X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    y = (data.target - data.target.mean()) / data.target.std()
    selector = HSICLasso(n_features_to_select=3).fit(data.data, data.target)
    grams = [centred(rbf_gram(X[:, [j]], 1.0)).ravel() for j in range(X.shape[1])]
    features = np.array([g / np.linalg.norm(g) for g in grams]).T
    target = centred(rbf_gram(y[:, None], 1.0)).ravel()
    alpha = selector.alphas_[-1] / len(target)
    solver = Lasso(alpha=alpha, positive=True, fit_intercept=False, tol=1e-12, max_iter=100_000)
    np.testing.assert_allclose(selector.coef_, solver.fit(features, target).coef_, atol=1e-6)
    assert selector.coef_path_.shape == (len(selector.alphas_), X.shape[1])


def test_hsic_lasso_drops_a_copy():
    data = make_quad(150, random_state=0)
    X = np.c_[data.data[:, :2], data.data[:, 0], data.data[:, 2:]]
    selected = HSICLasso(n_features_to_select=2).fit(X, data.target).indices_.tolist()
    assert sorted(selected) == [0, 1]


def test_degenerate_tables():
    rng = np.random.default_rng(0)
    X = np.c_[np.ones(12), rng.normal(size=(12, 30))]
    y = X[:, 3] + 0.1 * rng.normal(size=12)
    for selector in (HSICRanking(), BAHSIC(), FOHSIC(), HSICLasso()):
        selector.set_params(n_features_to_select=2)
        assert 0 not in selector.fit(X, y).indices_
    with pytest.raises(ValueError, match="at least 4 samples"):
        BAHSIC().fit(X[:3], y[:3])


def test_of_two_equal_columns_the_first_is_kept():
    data = make_quad(100, random_state=0)
    X = data.data[:, [5, 1, 1, 6]]
    assert BAHSIC(n_features_to_select=1, step=1).fit(X, data.target).indices_.tolist() == [1]
