"""Estimates from Gram matrices against definitions, theorems and the authors' numbers."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.measures import hsic, kta, mmd
from featsieve.measures.hsic.grams import (
    asymptotic_moments,
    centred,
    gram_hsic,
    gram_kta,
    permutation_moments,
)
from featsieve.measures.hsic.passes import fixed_matrix
from featsieve.measures.hsic.target_kernel import binary_labels, multiclass_labels
from tests import golden_data
from tests.golden_data import golden
from tests.reference import biased_hsic, four_index_hsic, four_index_R, rbf_gram

FIGURES = golden("hsic")


def toy(name, rows=None):
    """The first rows of a data set as the figures name it ("andor_t1.csv rows 0..199")."""
    X, y = golden_data.toy(name.split(".")[0])
    return X[:rows], y[:rows]


def random_grams(seed, m):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(m, 2)), rng.normal(size=(m, 1))
    return rbf_gram(X, 1.0), rbf_gram(Y + X[:, :1], 0.7)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), m=st.integers(4, 9))
def test_unbiased_is_the_four_index_statistic(seed, m):
    K, L = random_grams(seed, m)
    assert gram_hsic(K, L) == pytest.approx(four_index_hsic(K, L), abs=1e-13)


def test_unbiased_is_the_four_index_statistic_at_twelve():
    K, L = random_grams(1, 12)
    assert gram_hsic(K, L) == pytest.approx(four_index_hsic(K, L), abs=1e-13)


def test_R_is_its_definition():
    K, L = random_grams(2, 7)
    moments = asymptotic_moments(K, L)
    assert pytest.approx(four_index_R(K, L), rel=1e-10) == moments.R
    assert moments.variance == pytest.approx(max(16 / 7 * (moments.R - moments.value**2), 0))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), m=st.integers(2, 20))
def test_biased_is_its_trace(seed, m):
    K, L = random_grams(seed, m)
    expected = biased_hsic(K, L)
    assert gram_hsic(K, L, "biased") == pytest.approx(expected, abs=1e-14)
    assert gram_hsic(K, L, "v_statistic") == pytest.approx(
        expected * (m - 1) ** 2 / m**2, abs=1e-14
    )


@pytest.mark.parametrize("case", FIGURES["unbiased_variance"], ids=lambda c: c["dataset"])
def test_authors_value_R_and_variance(case):
    X, y = toy(case["dataset"], 200)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    K = rbf_gram(X, np.sqrt(10.0))  # exp(−0.05 d²)
    if "quad" in case["dataset"]:
        L = rbf_gram(((y - y.mean()) / y.std())[:, None], 1.0)
    else:
        L = np.outer(2 * y - 1, 2 * y - 1)
    found = asymptotic_moments(K, L)
    assert found.value == pytest.approx(case["unbiased_hsic"], rel=1e-12)
    assert pytest.approx(case["R"], rel=1e-12) == found.R
    assert found.variance == pytest.approx(case["variance"], rel=1e-12)


def test_unbiased_mean_is_the_population_value_on_a_discrete_law():
    """Two binary variables with P(equal) = 0.8: 2,000 samples of 10, within 3 standard errors."""
    joint = np.array([[0.4, 0.1], [0.1, 0.4]])
    k = np.array([[1.0, np.exp(-0.5)], [np.exp(-0.5), 1.0]])
    px, py = joint.sum(axis=1), joint.sum(axis=0)
    both = sum(
        joint[a, b] * joint[c, d] * k[a, c] * k[b, d] for a, b, c, d in np.ndindex(2, 2, 2, 2)
    )
    partial = sum(joint[a, b] * (k[a] @ px) * (k[b] @ py) for a, b in np.ndindex(2, 2))
    population = both + (px @ k @ px) * (py @ k @ py) - 2 * partial  # P-HSIC eq. (3)
    rng = np.random.default_rng(0)
    values = []
    for _ in range(2000):
        x, y = np.divmod(rng.choice(4, 10, p=joint.ravel()), 2)
        values.append(gram_hsic(k[np.ix_(x, x)], k[np.ix_(y, y)]))
    assert abs(np.mean(values) - population) < 3 * np.std(values) / np.sqrt(len(values))


def test_deviation_under_dependence_agrees_with_equation_8():
    rng = np.random.default_rng(1)
    values, variances = [], []
    for _ in range(400):
        x = rng.normal(size=(200, 1))
        found = asymptotic_moments(_gram(x, 1.0), _gram(x + 0.5 * rng.normal(size=x.shape), 1.0))
        values.append(found.value)
        variances.append(found.variance)
    assert np.std(values) == pytest.approx(np.sqrt(np.mean(variances)), rel=0.15)


def _gram(x, sigma):
    return np.exp(-((x - x.T) ** 2) / (2 * sigma**2))


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_theorem_3_with_rho_labels(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(6, 30))
    x, y = rng.normal(size=(m, 2)), np.r_[0, 1, rng.integers(0, 2, m - 2)]
    alignment = kta(x, y, bandwidth=1.3)
    assert mmd(x, y, bandwidth=1.3) == pytest.approx(alignment, rel=1e-12)
    biased = hsic(x, y, bandwidth=1.3, estimator="biased")
    assert biased * (m - 1) ** 2 == pytest.approx(alignment, rel=1e-12)
    K = rbf_gram(x, 1.3)
    groups = [K[np.ix_(y == a, y == b)].mean() for a, b in [(0, 0), (1, 1), (0, 1)]]
    assert alignment == pytest.approx(groups[0] + groups[1] - 2 * groups[2], rel=1e-11)


def test_normalised_alignment():
    K, L = random_grams(0, 8)
    assert gram_kta(K, K, normalize=True) == pytest.approx(1.0)
    assert gram_kta(K, L, normalize=True) == pytest.approx(
        np.sum(K * L) / np.sqrt((K**2).sum() * (L**2).sum())
    )


@pytest.mark.parametrize("n", [4, 5, 6, 7])
def test_permutation_moments_are_exact(n):
    K, L = random_grams(3, n)
    L += np.outer(np.arange(n), np.arange(n))  # no unit diagonal
    orders = [list(p) for p in permutations(range(n))]
    values = np.array([np.vdot(centred(K), L[np.ix_(p, p)]) for p in orders])
    moments = permutation_moments(K, L, third=True)
    assert moments.mean == pytest.approx(values.mean(), rel=1e-12)
    assert moments.variance == pytest.approx(values.var(), rel=1e-12)
    assert moments.third == pytest.approx(np.mean((values - values.mean()) ** 3), rel=1e-9)
    assert permutation_moments(K, L).third is None


def test_label_vectors_of_equation_9():
    assert binary_labels(np.array([3, 5])).ravel().tolist() == [-1 / 3, 1 / 5]
    labels = multiclass_labels(np.array([2, 3, 5]))
    assert labels[0].tolist() == [1 / 2, 1 / (3 - 10), 1 / (5 - 10)]
    assert labels[2].tolist() == [1 / (2 - 10), 1 / (3 - 10), 1 / 5]


def test_fixed_matrix_names_what_is_allowed():
    with pytest.raises(ValueError, match="at least 4 samples, got n_samples = 3"):
        fixed_matrix(3)
    with pytest.raises(ValueError, match=r"estimator=.* is not allowed; give 'unbiased'"):
        fixed_matrix(10, "best")
    with pytest.raises(ValueError, match=r"criterion=.* is not allowed; give 'hsic'"):
        fixed_matrix(10, criterion="cka")
