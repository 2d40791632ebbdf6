"""Block HSIC, random Fourier features and Nyström against the exact values."""

from __future__ import annotations

import numpy as np
import pytest

from featsieve import BAHSIC, L1HSIC, HSICRanking
from featsieve.input.boundary import Settings, open_engine
from featsieve.measures import HSIC
from featsieve.measures.hsic import hsic as block_pairs
from featsieve.measures.hsic.grams import gram_hsic
from featsieve.measures.hsic.target_kernel import LabelVectors
from tests.reference import biased_hsic


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 128 rows, so that few rows are enough for many of them."""
    monkeypatch.setattr(block_pairs, "BLOCK_ROWS", 128)


def table(n=1100, classes=False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    y = X[:, 0] * X[:, 1] + 0.7 * X[:, 2] + 0.1 * rng.normal(size=n)
    return X, (y > 0).astype(int) if classes else y


def bound(approximation, X, y, **given):
    return HSIC(approximation=approximation, **given).bind(open_engine(X, y, Settings()))


def test_block_hsic_is_the_mean_over_its_blocks(monkeypatch):
    monkeypatch.setattr(block_pairs, "BLOCK_ROWS", 8)
    X, y = table(40)
    engine = open_engine(X, y, Settings())
    measure = HSIC(approximation="block", bandwidth=1.0, target_bandwidth=1.0)
    rows = np.random.default_rng(measure.seed).permutation(40)
    values = []
    for block in rows.reshape(5, 8):
        K, L = (np.exp(-((v[:, None] - v) ** 2) / 2) for v in (X[block, 2], y[block]))
        values.append(gram_hsic(K, L))
    found = measure.bind(engine)
    assert found.value([2]) == pytest.approx(np.mean(values), rel=1e-10)


@pytest.mark.parametrize("approximation", ["block", "rff", "nystrom"])
@pytest.mark.parametrize("classes", [True, False])
def test_approximations_are_near_and_rank_alike(approximation, classes, small_blocks):
    X, y = table(classes=classes)
    estimator = "unbiased" if approximation == "block" else "biased"
    exact = bound("none", X, y, estimator=estimator)
    near = bound(approximation, X, y, estimator=estimator)
    scale = exact.scores().max()
    np.testing.assert_allclose(near.scores(), exact.scores(), atol=0.15 * scale)
    np.testing.assert_allclose(near.value([0, 1]), exact.value([0, 1]), rtol=0.25)
    removals = near.values_without([0, 1, 2], [0, 1, 2])
    np.testing.assert_allclose(removals, exact.values_without([0, 1, 2], [0, 1, 2]), rtol=0.25)
    additions = near.values_with([0], [1, 3])
    assert additions[0] > additions[1]
    assert "%" in near.report()["approximation"]


def test_nystrom_with_all_rows_as_landmarks_is_exact():
    rng = np.random.default_rng(0)
    X, y = np.repeat(rng.normal(size=(60, 3)), 2, axis=0), np.repeat(rng.integers(0, 3, 60), 2)
    for kernel in ("rbf", "laplace"):
        near = bound("nystrom", np.repeat(X, 2, axis=0), np.repeat(y, 2), kernel=kernel)
        exact = bound(
            "none", np.repeat(X, 2, axis=0), np.repeat(y, 2), kernel=kernel, estimator="biased"
        )
        np.testing.assert_allclose(near.scores(), exact.scores(), rtol=1e-3)


def test_nystrom_takes_categories_and_rff_says_it_does_not():
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=300), rng.integers(0, 3, 300)]
    y = (X[:, 1] == 2).astype(int)
    engine = open_engine(X, y, Settings(categorical_features=[1]))
    near = HSIC(approximation="nystrom", bandwidth=1.0).bind(engine).scores()
    exact = HSIC(approximation="none", bandwidth=1.0, estimator="biased").bind(engine).scores()
    np.testing.assert_allclose(near, exact, rtol=1e-3)
    with pytest.raises(ValueError, match="numeric columns"):
        HSIC(approximation="rff").bind(engine)


def test_fourier_features_estimate_biased_hsic_without_bias():
    """The mean over seeds is within 3 standard errors of the exact value."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    X[:, 0] += y
    counts = np.bincount(y)
    labels = LabelVectors((np.array([[-1.0 / counts[0]], [1.0 / counts[1]]]),)).features(y[:, None])
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 2)
    exact = biased_hsic(K, labels @ labels.T)
    values = [bound("rff", X, y, bandwidth=1.0, random_state=s).value([0, 1]) for s in range(30)]
    assert abs(np.mean(values) - exact) < 3 * np.std(values) / np.sqrt(30)


def test_auto_takes_blocks_only_when_pairs_are_too_many(monkeypatch, small_blocks):
    X, y = table()
    assert HSICRanking().fit(X, y).result_.approximation is None
    monkeypatch.setattr(block_pairs, "EXACT_EVALUATIONS", 10**5)
    for selector in (HSICRanking(n_features_to_select=1), BAHSIC(n_features_to_select=3)):
        fitted = selector.fit(X, y)
        assert fitted.result_.approximation.startswith("block HSIC: pairs inside 4 random blocks")
        assert fitted.support_[2]
    weights = L1HSIC(n_features_to_select=1, n_init=1, max_iter=3, random_state=0).fit(X, y)
    assert weights.result_.approximation.startswith("block HSIC")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"approximation": "fast"}, "approximation='fast' is not allowed"),
        ({"approximation": "block"}, "needs at least 4096 samples, got 50"),
        ({"approximation": "rff", "criterion": "kta"}, "summed exactly"),
        ({"approximation": "rff", "kernel": "poly"}, "numeric columns and"),
        ({"approximation": "nystrom", "target_kernel": lambda a, b: a @ b.T}, "finite features"),
    ],
)
def test_bad_combinations_get_one_sentence(given, message):
    X, y = table(50)
    with pytest.raises(ValueError, match=message):
        HSIC(**given).bind(open_engine(X, y, Settings()))


@pytest.mark.parametrize("approximation", ["block", "rff", "nystrom"])
def test_constant_columns_have_no_value_and_no_error(approximation, small_blocks):
    _, y = table(600)
    found = bound(approximation, np.ones((600, 2)), y)
    np.testing.assert_allclose(found.scores(), 0.0, atol=1e-12)
    assert "nan" not in found.report()["approximation"]
