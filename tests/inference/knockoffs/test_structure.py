"""Factors and graph: what correlations are shrunk toward."""

from __future__ import annotations

import numpy as np
import pytest

from featsieve import KnockoffSelector
from featsieve.inference.knockoffs.structure import (
    edge_cost,
    fitted_target,
    graph,
    graph_model,
    neighbours,
    principal_axes,
    shrinkage,
    structured,
)
from tests import reference


def autoregressive(width, rho=0.5):
    places = np.arange(width)
    return rho ** np.abs(np.subtract.outer(places, places))


def dense(width):
    mix = np.random.default_rng(5).normal(size=(width, 2 * width))
    covariance = mix @ mix.T
    scale = np.sqrt(np.diag(covariance))
    return covariance / np.outer(scale, scale)


def drawn(correlation, n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, len(correlation))) @ np.linalg.cholesky(correlation).T


def sample(correlation, n, seed=0):
    return np.corrcoef(drawn(correlation, n, seed).T)


def model_of(correlation, n, seed=0):
    return structured(sample(correlation, n, seed), n)


def test_neighbours_are_those_of_stepwise_regression():
    correlation = sample(autoregressive(12, 0.7), 80)
    cost = edge_cost(80, 12)
    for column in range(12):
        expected = reference.stepwise_neighbours(correlation, column, 80, cost)
        assert neighbours(correlation, column, 80, cost) == expected


def test_the_graph_model_keeps_edges_and_has_no_other_partial_correlations():
    correlation = sample(dense(15), 100)
    edges = np.abs(correlation) > 0.2
    np.fill_diagonal(edges, False)
    model = graph_model(correlation, edges)
    assert np.abs((model - correlation)[edges]).max() < 1e-4
    inverse = np.linalg.inv(model)
    assert np.abs(inverse[~edges & ~np.eye(15, dtype=bool)]).max() < 1e-3
    assert np.linalg.eigvalsh(model)[0] > 0
    assert np.array_equal(graph_model(correlation, np.zeros_like(edges)), np.eye(15))


def test_a_chain_is_found_and_not_weakened():
    truth = autoregressive(60)
    model, structure = model_of(truth, 400)
    assert structure.n_factors == 0
    assert 59 <= structure.n_edges <= 65
    assert structure.shrinkage > 0.9
    assert not structure.too_few_rows
    beside = np.diag(model, 1)
    assert beside.mean() == pytest.approx(0.5, abs=0.03)


def test_a_common_factor_is_found_and_not_weakened():
    truth = 0.75 * np.eye(80) + 0.25
    model, structure = model_of(truth, 100)
    assert structure.n_factors == 1
    assert not structure.too_few_rows
    apart = ~np.eye(80, dtype=bool)
    assert model[apart].mean() == pytest.approx(sample(truth, 100)[apart].mean(), abs=0.01)


def test_what_no_structure_explains_is_taken_as_it_is_from_two_rows_per_column_on():
    model, structure = model_of(dense(40), 200)
    assert structure.shrinkage == 0.0
    assert not structure.too_few_rows
    assert model == pytest.approx(sample(dense(40), 200), abs=1e-12)
    _, scarce = model_of(dense(40), 70)
    assert scarce.too_few_rows
    assert 0 < scarce.shrinkage < 1


def test_too_few_rows_are_a_warning():
    X = drawn(dense(60), 70)
    y = X[:, 0] + 0.1
    with pytest.warns(UserWarning, match="70 rows are too few for the correlations of 60 columns"):
        KnockoffSelector(random_state=0, allow_empty=True).fit(X, y)


def test_shrinkage_is_the_weight_of_least_error():
    truth = autoregressive(30)
    target = autoregressive(30, 0.4)
    weights = [shrinkage(sample(truth, 100, seed), target, 100) for seed in range(30)]
    losses = []
    for weight in np.linspace(0, 1, 21):
        errors = [
            weight * target + (1 - weight) * sample(truth, 100, seed) - truth for seed in range(30)
        ]
        losses.append(np.mean([(error**2).sum() for error in errors]))
    assert np.mean(weights) == pytest.approx(np.linspace(0, 1, 21)[np.argmin(losses)], abs=0.1)


def test_principal_axes_recover_loadings():
    rng = np.random.default_rng(0)
    loadings = rng.uniform(0.4, 0.8, size=(30, 1))
    truth = loadings @ loadings.T
    np.fill_diagonal(truth, 1.0)
    fitted = principal_axes(truth, 1)
    assert np.abs(fitted) == pytest.approx(loadings, abs=0.01)
    assert principal_axes(truth, 0).shape == (30, 0)


@pytest.mark.parametrize("width", [1, 2, 3])
def test_few_columns(width):
    correlation = sample(autoregressive(3), 30)[:width, :width]
    model, structure = structured(correlation, 30)
    assert model.shape == (width, width)
    assert np.linalg.eigvalsh(model)[0] > 0
    assert not structure.too_few_rows


def test_copied_columns_leave_the_target_regular():
    correlation = sample(autoregressive(20), 60)
    doubled = np.block([[correlation, correlation], [correlation, correlation]])
    target = fitted_target(doubled, 60, 0)
    assert np.isfinite(target.criterion)
    assert np.linalg.eigvalsh(target.correlation)[0] > 0
    assert target.correlation[0, 20] > 0.99
    edges = graph(doubled, 60, edge_cost(60, 40))
    assert edges[0, 20]
    assert np.array_equal(edges, edges.T)
