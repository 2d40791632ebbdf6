"""QPFS: the authors' figures, the solver against enumeration, and Nyström's approximation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from featsieve import QPFS
from featsieve.errors import InputError
from featsieve.linalg.simplex_qp import minimize_on_simplex, nystrom_factor, positive_factor
from featsieve.measures import entropy, mutual_information
from tests import reference
from tests.golden_data import golden, toy


@pytest.mark.parametrize("name", ["andor_t1", "quad_t1", "xor_t1"])
def test_weights_are_the_authors(name):
    X, y = toy(name)
    expected = golden("information")["qpfs"][name]
    fitted = QPFS(n_features_to_select=2).fit(X, y)
    assert_allclose(fitted.result_.extras["relevance"], expected["f"], atol=1e-12)
    assert_allclose(fitted.alpha_, expected["alpha"], atol=1e-6)
    assert_allclose(fitted.weights_, expected["w"], atol=1e-6)
    assert_allclose(fitted.result_.objective, expected["obj"], atol=1e-7)


@given(st.integers(0, 2**31), st.integers(1, 6), st.integers(1, 7), st.booleans())
def test_solver_finds_the_minimum_for_any_rank(seed, m, rank, with_diagonal):
    rng = np.random.default_rng(seed)
    V, b = rng.normal(size=(m, rank)), rng.normal(size=m)
    D = rng.random(m) if with_diagonal else np.zeros(m)
    found = minimize_on_simplex(V, b, D)
    assert found.weights.min() >= 0
    assert_allclose(found.weights.sum(), 1.0, rtol=1e-12)
    expected = reference.simplex_minimum_by_enumeration(V @ V.T + np.diag(D), b)[1]
    assert_allclose(found.value, expected, atol=1e-8)


@given(st.integers(0, 2**31), st.integers(20, 60))
def test_solver_meets_the_conditions_of_optimality(seed, m):
    rng = np.random.default_rng(seed)
    V, b = rng.normal(size=(m, m // 3)), rng.normal(size=m)
    w = minimize_on_simplex(V, b).weights
    gradient = V @ (V.T @ w) - b
    level = w @ gradient
    assert (gradient >= level - 1e-7).all()
    assert_allclose(gradient[w > 1e-9], level, atol=1e-7)


def test_information_as_similarity():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(150, 4))
    y = (X[:, 0] + rng.integers(0, 2, 150)) % 3
    fitted = QPFS(similarity="mi", discretizer=None, n_features_to_select=1, alpha=0.5).fit(X, y)
    Q = np.array([[mutual_information(a, b) for b in X.T] for a in X.T])
    np.fill_diagonal(Q, [entropy(x) for x in X.T])
    f = np.array([mutual_information(x, y) for x in X.T])
    expected = reference.simplex_minimum_by_enumeration(0.5 * Q, 0.5 * f)[0]
    assert_allclose(fitted.weights_, expected, atol=1e-7)
    assert fitted.indices_.tolist() == [0]


def test_nystrom_from_all_columns_is_exact():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(9, 9))
    Q = A @ A.T
    V, D = nystrom_factor(Q, np.arange(9))
    assert_allclose(V @ V.T + np.diag(D), Q, atol=1e-9)
    assert_allclose(positive_factor(Q) @ positive_factor(Q).T, Q, atol=1e-9)


def test_nystrom_finds_the_relevant_columns():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 60))
    y = (X[:, 10] + X[:, 30] > 0).astype(int)
    exact = QPFS(n_features_to_select=2).fit(X, y)
    few = QPFS(n_features_to_select=2, n_columns=20, random_state=0).fit(X, y)
    assert set(exact.indices_) == set(few.indices_) == {10, 30}
    assert "20 of 60" in few.result_.approximation


def test_constant_copied_and_categorical_columns():
    import pandas as pd

    rng = np.random.default_rng(3)
    x = rng.normal(size=80)
    colour = np.where(x > 0, "warm", "cold")
    frame = pd.DataFrame({"x": x, "copy": x, "one": 1.0, "colour": pd.Categorical(colour)})
    fitted = QPFS(n_features_to_select=2).fit(frame, x + 0.1 * rng.normal(size=80))
    assert_allclose(fitted.weights_.sum(), 1.0)
    assert fitted.weights_[2] < fitted.weights_[[0, 1, 3]].max()


def test_impossible_parameters_are_refused():
    X, y = toy("andor_t1")
    for parameters in ({"alpha": 2.0}, {"alpha": "best"}, {"similarity": "x"}, {"n_columns": 0}):
        with pytest.raises(InputError):
            QPFS(**parameters).fit(X, y)


def test_alpha_comes_from_the_raw_matrix():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(8, 12))  # |correlations| of few rows: not positive semidefinite
    y = X[:, 0] + rng.normal(size=8)
    Q = np.abs(np.corrcoef(X.T))
    assert np.linalg.eigvalsh(Q)[0] < -1e-3
    f = np.abs([np.corrcoef(x, y)[0, 1] for x in X.T])
    fitted = QPFS(n_features_to_select=2, task="regression").fit(X, y)
    assert fitted.alpha_ == pytest.approx(Q.mean() / (Q.mean() + f.mean()), rel=1e-12)


def test_tags_of_an_impossible_parameter_do_not_raise():
    assert QPFS(similarity="x").__sklearn_tags__() is not None


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_numbers_beyond_range_are_refused_or_handled():
    X, y = toy("andor_t1")
    X = X.copy()
    wanted = QPFS(n_features_to_select=2).fit(X, y).indices_.tolist()
    X[:, 1] *= 1e200
    try:
        assert QPFS(n_features_to_select=2).fit(X, y).indices_.tolist() == wanted
    except InputError as refusal:
        assert "overflow" in str(refusal)  # noqa: PT017 - either answer is right


@pytest.mark.parametrize("similarity", ["correlation", "mi"])
def test_the_first_of_equal_columns_has_the_weight_of_all(similarity):
    """Any share of it would be a minimum, and rounding would decide."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    y = X[:, 1] + X[:, 3] + 0.5 * rng.normal(size=80)
    X[:, 4], X[:, 5] = X[:, 1], 8.0 * X[:, 3]
    chosen = QPFS(n_features_to_select=2, similarity=similarity).fit(X, y)
    assert sorted(chosen.indices_.tolist()) == [1, 3]
    np.testing.assert_array_equal(chosen.weights_[4:], 0.0)
    assert chosen.weights_.sum() == pytest.approx(1.0)
