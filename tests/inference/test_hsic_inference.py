"""hsic_test and hsic_interval."""

from __future__ import annotations

import numpy as np
import pytest

from featsieve.compiled.permutation import permuted_sums
from featsieve.inference import hsic_interval, hsic_test
from featsieve.measures import hsic
from featsieve.measures.hsic.grams import centred
from tests.reference import biased_hsic, median_pair_distance, rbf_gram
from tests.tables import as_pandas, mixed_columns


def test_permuted_sums_equal_permuted_copies():
    rng = np.random.default_rng(0)
    K, L = rbf_gram(rng.normal(size=(9, 2)), 1.0), rbf_gram(rng.normal(size=(9, 1)), 0.5)
    orders = np.array([rng.permutation(9) for _ in range(7)])
    expected = [np.vdot(K, L[np.ix_(order, order)]) for order in orders]
    np.testing.assert_allclose(permuted_sums(K, L, orders), expected, rtol=1e-13)


def test_statistic_is_biased_hsic():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(20, 2)), rng.normal(size=(20, 1))
    K, L = (rbf_gram(v, median_pair_distance(v)) for v in (x, y))
    for method in ("permutation", "gamma"):
        found = hsic_test(x, y, method=method, n_permutations=9, random_state=0)
        assert found.statistic == pytest.approx(biased_hsic(K, L), rel=1e-10)
        assert found.method == method


def test_permutation_pvalue_counts_ties_and_itself():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=8), rng.integers(0, 2, 8)
    y[:2] = 0, 1
    K = rbf_gram(x[:, None], median_pair_distance(x[:, None]))
    L = (y[:, None] == y).astype(float)
    state = np.random.RandomState(5)
    orders = [state.permutation(8) for _ in range(50)]
    values = np.array([np.vdot(centred(K), L[np.ix_(o, o)]) for o in orders])
    n_as_large = (values >= np.vdot(centred(K), L) - 1e-12).sum()
    found = hsic_test(x, y, n_permutations=50, random_state=5)
    assert found.pvalue == (1 + n_as_large) / 51


@pytest.mark.parametrize("method", ["permutation", "gamma"])
def test_level_on_null_data_and_power_on_dependent_data(method):
    """200 null sets: between 1 % and 10 % rejected (the 1,000-set figure is in benchmarks)."""
    rng = np.random.default_rng(3)

    def pvalue(x, y):
        return hsic_test(
            x, y, method=method, n_permutations=99, random_state=rng.integers(1000)
        ).pvalue

    null = [pvalue(rng.normal(size=(40, 2)), rng.normal(size=40)) for _ in range(200)]
    assert 0.01 <= np.mean(np.array(null) <= 0.05) <= 0.1
    x = rng.normal(size=(60, 1))
    assert pvalue(x, np.cos(2 * x[:, 0])) <= 0.01


def test_gamma_agrees_with_permutation_for_any_kernel():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(50, 2)), rng.integers(0, 3, 50)
    for kernels in ({"target_kernel": "mul"}, {"kernel": "linear"}, {"kernel": "laplace"}):
        exact = hsic_test(x, y, n_permutations=2000, random_state=0, **kernels).pvalue
        assert hsic_test(x, y, method="gamma", **kernels).pvalue == pytest.approx(exact, abs=0.05)


@pytest.mark.parametrize("kernel", ["rbf", "laplace", "linear", "poly"])
@pytest.mark.parametrize("bandwidth", ["median", "dimension", 1.3])
def test_functions_and_tests_use_the_same_kernels(kernel, bandwidth):
    frame = as_pandas(mixed_columns(30))
    X, y = frame.drop(columns="target"), frame["target"].to_numpy()
    value = hsic(X, y, kernel=kernel, bandwidth=bandwidth, estimator="biased")
    found = hsic_test(X, y, kernel=kernel, bandwidth=bandwidth, method="gamma")
    assert found.statistic == pytest.approx(value, rel=1e-9)


def test_an_optimised_width_is_no_test():
    with pytest.raises(ValueError, match="is for selection"):
        hsic_test(np.arange(9.0), np.arange(9) / 2, bandwidth="optimize")


def test_strings_by_a_precomputed_gram():
    words = ["gattaca", "gattata", "cattaca", "ttttggg", "ttgtggg", "tttgggg"]
    codes = [[word.count(a + b) for a in "acgt" for b in "acgt"] for word in words]
    K = np.array(codes) @ np.array(codes).T
    found = hsic_test(K, [0, 0, 0, 1, 1, 1], kernel="precomputed", random_state=0)
    assert found.pvalue <= 0.2
    assert hsic(K, [0, 0, 0, 1, 1, 1], kernel="precomputed") > 0


def test_same_seed_same_pvalue_also_the_second_time():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=30), rng.normal(size=30)
    found = [hsic_test(x, y, n_permutations=99, random_state=7) for _ in range(3)]
    assert found[0] == found[1] == found[2]


def test_interval_covers_under_dependence():
    rng = np.random.default_rng(6)
    truth = np.mean([_dependent_value(rng) for _ in range(200)])
    hits = 0
    for _ in range(100):
        x = rng.normal(size=100)
        found = hsic_interval(x, x + rng.normal(size=100), bandwidth=1.0, target_bandwidth=1.0)
        hits += found.low <= truth <= found.high
    assert 85 <= hits <= 100


def _dependent_value(rng):
    x = rng.normal(size=100)
    return hsic(x, x + rng.normal(size=100), bandwidth=1.0, target_bandwidth=1.0)


def test_constant_side_gives_no_evidence():
    x = np.ones(10)
    y = np.arange(10) / 3
    assert hsic_test(x, y, method="gamma").pvalue == 1.0
    assert hsic_test(x, y, n_permutations=19, random_state=0).pvalue == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "normal"}, "method='normal' is not allowed; give 'permutation' or 'gamma'"),
        ({"n_permutations": 0}, "n_permutations=0 is not allowed; give an integer >= 1"),
        ({"kernel": "precomputed"}, "square"),
    ],
)
def test_bad_options_get_one_sentence(options, message):
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=message):
        hsic_test(rng.normal(size=(9, 2)), rng.normal(size=9), **options)
    with pytest.raises(
        ValueError, match=r"confidence=95 is not allowed; give a number > 0 and < 1"
    ):
        hsic_interval(rng.normal(size=9), rng.normal(size=9), confidence=95)
    with pytest.raises(ValueError, match="at least 4 samples"):
        hsic_test(rng.normal(size=3), rng.normal(size=3))


def test_gamma_is_near_the_permutation_law_on_few_rows():
    """Where two moments reject too often, three follow 20,000 permutations."""
    rng = np.random.default_rng(8)
    for _ in range(5):
        x, y = rng.normal(size=25), rng.normal(size=25)
        exact = hsic_test(x, y, n_permutations=20_000, random_state=0).pvalue
        assert hsic_test(x, y, method="gamma").pvalue == pytest.approx(exact, abs=0.012)


def test_gamma_never_gives_zero():
    x = np.arange(300.0) / 2
    tiny = hsic_test(x, x, method="gamma").pvalue
    assert 0 < tiny < 1e-20
    few = hsic_test(x[:5], x[:5], method="gamma").pvalue
    assert few >= 1 / 120
