"""The criteria of a transformation W (LDA, PCA, HSIC): values, gradients, and their best W."""

from __future__ import annotations

import numpy as np
import pytest

from featsieve.errors import InputError
from featsieve.input.boundary import Settings, open_engine
from featsieve.measures import HSIC, LDA, PCA
from featsieve.measures.covariance import DenseCovariance
from featsieve.measures.lda.lda import RatioTrace
from tests.golden_data import golden

MEASURES = [LDA(), LDA(ridge=0.5), PCA(), HSIC(bandwidth=2.0)]


def table(seed=0, n=60, d=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    return X, rng.integers(0, 3, n)


def bound_to(measure, X, y, **settings):
    return measure.bind(open_engine(X, y, Settings(**settings)))


def scatter(X, y):
    """S_W and S_B by their definitions."""
    d = X.shape[1]
    within, between = np.zeros((d, d)), np.zeros((d, d))
    for label in np.unique(y):
        rows = X[y == label]
        off = rows.mean(axis=0) - X.mean(axis=0)
        between += len(rows) / len(X) * np.outer(off, off)
        for row in rows:
            within += np.outer(row - rows.mean(axis=0), row - rows.mean(axis=0)) / len(X)
    return within, between


@pytest.mark.parametrize("measure", MEASURES, ids=repr)
@pytest.mark.parametrize("shape", [(60, 5), (12, 20)])
def test_gradient_by_differences(measure, shape):
    X, y = table(1, *shape)
    bound = bound_to(measure, X, y)
    W = np.random.default_rng(2).normal(size=(shape[1], 2)) / 2
    _, gradient = bound.value_and_gradient_matrix(W)
    for at in [(0, 0), (1, 1), (shape[1] - 1, 0)]:
        step = np.zeros_like(W)
        step[at] = 1e-5
        up, down = (bound.value_and_gradient_matrix(W + s * step)[0] for s in (1, -1))
        assert gradient[at] == pytest.approx((up - down) / 2e-5, rel=1e-5, abs=1e-8)


def test_ratio_trace_of_outside_figures():
    case = {name: np.array(values) for name, values in golden("lda_trace").items()}
    values, vectors = np.linalg.eigh(case["Sb"])
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    within = DenseCovariance(case["Sw"] + root @ root.T).less(root)
    ratio = RatioTrace(within, root, ridge=0.0, least_ridge=0.0, unit=0.0)
    value, gradient = ratio.value_and_gradient(case["W"])
    assert value == pytest.approx(float(case["ratio_trace"]), rel=1e-9)
    np.testing.assert_allclose(gradient, case["grad_ratio_trace"], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", [(60, 5), (12, 20)])
def test_lda_is_its_definition(shape):
    X, y = table(3, *shape)
    within, between = scatter(X, y)
    within += 0.3 * X.var(axis=0).mean() * np.eye(shape[1])
    W = np.random.default_rng(0).normal(size=(shape[1], 2))
    expected = np.trace(np.linalg.inv(W.T @ within @ W + np.eye(2)) @ W.T @ between @ W)
    bound = bound_to(LDA(ridge=0.3), X, y)
    assert bound.value_and_gradient_matrix(W)[0] == pytest.approx(expected, rel=1e-10)
    chosen = [0, 3]
    part = np.ix_(chosen, chosen)
    best = np.trace(np.linalg.solve(within[part], between[part]))
    assert bound.value(chosen) == pytest.approx(best, rel=1e-10)


@pytest.mark.parametrize("shape", [(60, 5), (12, 20)])
def test_pca_is_the_share_of_variance_rebuilt(shape):
    X, y = table(4, *shape)
    bound = bound_to(PCA(), X, y)
    centred = X - X.mean(axis=0)
    W = np.random.default_rng(0).normal(size=(shape[1], 2)) / 3
    U, _, Vt = np.linalg.svd(centred.T @ centred @ W, full_matrices=False)
    lost = np.square(centred - centred @ W @ (U @ Vt).T).sum()
    expected = 1 - lost / np.square(centred).sum()
    assert bound.value_and_gradient_matrix(W)[0] == pytest.approx(expected, abs=1e-10)
    for _ in range(5):  # no other orthonormal B rebuilds more
        B = np.linalg.qr(np.random.default_rng(_).normal(size=(shape[1], 2)))[0]
        assert np.square(centred - centred @ W @ B.T).sum() >= lost
    S = centred[:, [0, 2]]
    fitted = S @ np.linalg.lstsq(S, centred)[0]
    share = np.square(fitted).sum() / np.square(centred).sum()
    assert bound.value([0, 2]) == pytest.approx(share, rel=1e-8)


def test_principal_directions_rebuild_most():
    X, y = table(5)
    bound = bound_to(PCA(), X, y)
    value, gradient = bound.value_and_gradient_matrix(bound.start(2))
    variances = np.linalg.eigvalsh(np.cov(X.T))[::-1]
    assert value == pytest.approx(variances[:2].sum() / variances.sum(), rel=1e-10)
    assert np.abs(gradient).max() < 1e-10


@pytest.mark.parametrize("measure", [LDA(ridge=0.1), PCA()], ids=repr)
def test_both_forms_of_the_covariance_agree(measure):
    """More columns than rows is worked on by rows; the same table twice is not."""
    X, y = table(6, 12, 20)
    W = np.random.default_rng(0).normal(size=(20, 2))
    value, gradient = bound_to(measure, X, y).value_and_gradient_matrix(W)
    twice = bound_to(measure, np.vstack([X, X]), np.hstack([y, y]))
    other_value, other = twice.value_and_gradient_matrix(W)
    assert value == pytest.approx(other_value, rel=1e-10)
    np.testing.assert_allclose(gradient, other, rtol=1e-9, atol=1e-12)


def test_a_diagonal_matrix_is_l1_hsics_objective():
    X, y = table(7)
    bound = bound_to(HSIC(bandwidth=1.5, estimator="biased"), X, y)
    w = np.array([0.5, 0.0, 1.0, 0.2, 2.0])
    value, gradient = bound.value_and_gradient_matrix(np.diag(w))
    expected, by_weight = bound.value_and_gradient(w)
    assert value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(np.diag(gradient), by_weight, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("measure", [LDA(), PCA(), HSIC(bandwidth=1.0)], ids=repr)
def test_a_category_has_one_row_per_state_and_a_group_is_one_unit(measure):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=40), rng.integers(0, 3, 40), rng.normal(size=(40, 2))])
    y = rng.integers(0, 2, 40)
    groups = {"a": [0], "b": [1], "c": [2, 3]}
    bound = bound_to(measure, X, y, categorical_features=[1], feature_groups=groups)
    assert bound.unit_of_row.tolist() == [0, 1, 1, 1, 2, 2]
    W = rng.normal(size=(6, 2))
    value, gradient = bound.value_and_gradient_matrix(W)
    assert np.isfinite(value)
    assert gradient.shape == W.shape


def test_lda_refuses_numbers_and_names_who_takes_them():
    X, _ = table()
    with pytest.raises(InputError, match="HSFS"):
        bound_to(LDA(), X, X[:, 0] + 0.5)


def test_hsic_of_distant_states_is_that_of_its_own_category_kernel():
    """W = 1 on the indicator rows alone: two states are at distance 1, as in the set's value."""
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 3, (30, 1)).astype(float), rng.integers(0, 2, 30)
    bound = bound_to(HSIC(bandwidth=0.7), X, y, categorical_features=[0])
    assert bound.value_and_gradient_matrix(np.eye(3))[0] == pytest.approx(bound.value([0]))
