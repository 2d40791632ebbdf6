"""Blocks of columns with a factor of their own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import squareform

from featsieve.inference.knockoffs.blocks import _best_blocks, _gain, block_loadings, one_factor
from featsieve.inference.knockoffs.structure import blocked_target, edge_cost, misfit, structured


def correlation_of_blocks(sizes, rng):
    """One factor per block, loadings of both signs."""
    width = sum(sizes)
    loadings = np.zeros((width, len(sizes)))
    start = 0
    for number, size in enumerate(sizes):
        signs = rng.choice([-1.0, 1.0], size)
        loadings[start : start + size, number] = signs * rng.uniform(0.5, 0.8, size)
        start += size
    correlation = loadings @ loadings.T
    np.fill_diagonal(correlation, 1.0)
    return correlation, loadings


def sample(correlation, n, rng):
    X = rng.normal(size=(n, len(correlation))) @ np.linalg.cholesky(correlation).T
    return np.corrcoef(X.T)


def test_a_factor_of_one_block_is_recovered_with_its_signs():
    truth, loadings = correlation_of_blocks([12], np.random.default_rng(0))
    fitted = one_factor(truth)
    assert np.outer(fitted, fitted) == pytest.approx(np.outer(loadings, loadings), abs=1e-6)


def test_copied_columns_keep_something_to_themselves():
    assert (one_factor(np.ones((4, 4))) ** 2).max() < 1.0


def test_the_gain_is_what_the_likelihood_of_the_whole_model_says():
    rng = np.random.default_rng(1)
    correlation = sample(correlation_of_blocks([6, 4], rng)[0], 100, rng)
    block = np.array([0, 2, 3, 5])
    model = np.eye(10)
    inside = one_factor(correlation[np.ix_(block, block)])
    model[np.ix_(block, block)] = np.outer(inside, inside)
    np.fill_diagonal(model, 1.0)
    expected = 100 * (misfit(correlation, np.eye(10)) - misfit(correlation, model)) - 4 * 7.0
    assert _gain(correlation, block, 100, 7.0) == pytest.approx(expected, rel=1e-10)


def test_no_cut_of_the_tree_at_one_height_gains_more():
    rng = np.random.default_rng(2)
    correlation = sample(correlation_of_blocks([8, 5, 3, 14], rng)[0], 60, rng)
    cost = edge_cost(60, 30)

    def total(blocks):
        return sum(_gain(correlation, block, 60, cost) for block in blocks if len(block) > 1)

    chosen = total(_best_blocks(correlation, 60, cost))
    tree = linkage(squareform(1.0 - np.abs(correlation), checks=False), "average")
    for labels in cut_tree(tree).T:
        assert total([np.flatnonzero(labels == label) for label in set(labels)]) <= chosen
    assert chosen > 0


def test_blocks_are_found_where_a_graph_would_need_an_edge_for_every_pair():
    rng = np.random.default_rng(3)
    truth, loadings = correlation_of_blocks([20, 30, 10, 20], rng)
    correlation = sample(truth, 300, rng)
    model, structure = structured(correlation, 300)
    assert (structure.n_blocks, structure.n_factors, structure.n_edges) == (4, 0, 0)
    assert not structure.too_few_rows
    assert structure.shrinkage > 0.9
    assert np.linalg.norm(model - truth) < 0.4 * np.linalg.norm(correlation - truth)
    found = block_loadings(correlation, 300, edge_cost(300, 80)) != 0
    assert {tuple(row) for row in found.T} == {tuple(row) for row in (loadings != 0).T}


def test_blocks_under_a_common_factor():
    rng = np.random.default_rng(4)
    truth = 0.7 * correlation_of_blocks([20] * 4, rng)[0] + 0.3
    target = blocked_target(sample(truth, 400, rng), 400, 1)
    assert target.n_blocks == 4
    assert np.diag(target.correlation) == pytest.approx(1.0, abs=0.0)
    assert np.linalg.eigvalsh(target.correlation)[0] > 0


@pytest.mark.parametrize("width", [1, 2, 3, 40])
def test_independent_columns_have_no_blocks(width):
    rng = np.random.default_rng(5)
    correlation = np.atleast_2d(np.corrcoef(rng.normal(size=(100, width)).T))
    assert block_loadings(correlation, 100, edge_cost(100, width)).shape == (width, 0)
