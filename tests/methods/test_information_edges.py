"""Edge cases of the information selectors: few rows, copies, many classes, sparse and odd input."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from featsieve import (
    CIFE,
    CMIM,
    DISR,
    ICAP,
    JMI,
    MIFS,
    MRMR,
    QPFS,
    CondMI,
    GlobalCMI,
    MaxRel,
    NMIRanking,
)
from featsieve.measures import cmi_matrix, mutual_information

ALL = [MaxRel, NMIRanking, MRMR, JMI, CMIM, DISR, ICAP, CIFE, MIFS, CondMI, GlobalCMI]


@pytest.mark.parametrize("selector", [*ALL, QPFS])
def test_two_rows(selector):
    fitted = selector(n_features_to_select=1).fit([[0.0, 1.0], [0.0, 2.0]], [0, 1])
    assert fitted.indices_.tolist() == [1]


@pytest.mark.parametrize("selector", ALL)
def test_constant_copied_and_empty_columns(selector):
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    X = np.c_[np.ones(60), x, x, np.full(60, np.nan)]
    fitted = selector(n_features_to_select=1).fit(X, (x > 0).astype(int))
    assert fitted.indices_.tolist() == [1]  # of two copies, the first
    assert_allclose(fitted.scores_[[0, 3]], 0.0, atol=1e-12)


@pytest.mark.parametrize("selector", ALL)
def test_more_columns_than_rows(selector):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12, 40))
    y = (X[:, 7] > 0).astype(int)
    extra = {"solver": "tpower"} if selector is GlobalCMI else {}
    fitted = selector(n_features_to_select=3, n_bins=2, **extra).fit(X, y)
    assert len(set(fitted.indices_.tolist())) == 3


def test_many_classes_make_direct_counting_cheaper():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 5, size=(120, 4))
    y = rng.integers(0, 60, 120)
    Q = cmi_matrix(codes, y)
    assert_allclose(np.diag(Q), [mutual_information(x, y) for x in codes.T], atol=1e-12)


@pytest.mark.parametrize("selector", [MaxRel(), JMI(), MRMR(), GlobalCMI(solver="tpower")])
def test_sparse_input_counts_its_zeros(selector):
    rng = np.random.default_rng(3)
    X = rng.poisson(0.4, size=(150, 6)) * 1.0
    y = (X[:, 4] > 0).astype(int)
    dense = selector.set_params(n_features_to_select=2).fit(X, y)
    wanted = dense.indices_.tolist(), dense.scores_
    fitted = selector.fit(sparse.csr_array(X), y)
    assert fitted.indices_.tolist() == wanted[0]
    assert_allclose(fitted.scores_, wanted[1])
    assert fitted.indices_[0] == 4


def test_groups_in_greedy_and_global_searches():
    rng = np.random.default_rng(4)
    X = rng.integers(0, 2, size=(300, 6))
    y = (X[:, 1] ^ X[:, 3]) | X[:, 5]
    groups = {"xor": [1, 3]}
    for selector in (JMI, MRMR, CMIM, GlobalCMI):
        fitted = selector(n_features_to_select=2, discretizer=None, feature_groups=groups)
        fitted.fit(X, y)
        assert sorted(fitted.indices_.tolist()) == [1, 3, 5]


def test_regression_cuts_the_target():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 5))
    y = np.abs(X[:, 3]) + 0.1 * rng.normal(size=300)
    for selector in (MaxRel(), JMI(), GlobalCMI(solver="exact"), QPFS(similarity="mi")):
        assert selector.set_params(n_features_to_select=1).fit(X, y).indices_.tolist() == [3]


def test_a_stopped_search_hands_back_the_best_so_far():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(200, 30)), rng.integers(0, 2, 200)
    calls = []

    def stop_after_three(progress):
        if progress.message == "adding":
            calls.append(progress.done)
            if progress.done == 3:
                raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        fitted = JMI(n_features_to_select=9, callback=stop_after_three).fit(X, y)
    assert 2 <= len(fitted.indices_) <= 3
