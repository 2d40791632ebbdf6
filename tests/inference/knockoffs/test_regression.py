"""The regression behind copies of categories and the diagnostic, against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from featsieve.inference.knockoffs.regression import fit_regression
from featsieve.runtime.progress import Monitor, TimeUp


def table(n_classes):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(200, 6))
    noisy = X[:, 0] - X[:, 1] + rng.normal(size=200)
    return X, np.argsort(np.argsort(noisy)) * n_classes // 200


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("penalty", [1.0, 100.0])
def test_probabilities_are_those_of_scikit_learn(n_classes, penalty):
    X, codes = table(n_classes)
    ours = fit_regression(X, codes, penalty=penalty, tol=1e-9).logits(X)
    peer = LogisticRegression(C=1 / penalty, tol=1e-9, max_iter=200).fit(X, codes)
    odds = np.exp(ours)
    assert_allclose(odds / odds.sum(axis=1, keepdims=True), peer.predict_proba(X), atol=1e-6)


def test_the_clock_is_looked_at_for_each_gradient():
    times = iter([0.0, 0.0, 0.0, 2.0])
    with pytest.raises(TimeUp):
        fit_regression(*table(3), monitor=Monitor(max_time=1.0, clock=lambda: next(times)))
