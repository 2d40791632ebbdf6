"""The generators obey the laws the papers print, and say clearly what they do not accept."""

from __future__ import annotations

import numpy as np
import pytest

from featsieve import datasets
from featsieve.datasets import (
    make_and_or,
    make_binary_xor,
    make_motor_imagery,
    make_multiclass,
    make_nonlinear_regression,
    make_quad,
    make_sparse_linear,
    make_xor,
)
from featsieve.datasets.eeg import SUBJECTS
from tests.commands import run_tool

GENERATORS = [
    make_and_or,
    make_quad,
    make_xor,
    make_binary_xor,
    make_multiclass,
    make_nonlinear_regression,
    make_sparse_linear,
    make_motor_imagery,
]
SHAPES = dict(
    zip(GENERATORS, [(10, 4), (10, 2), (10, 2), (22, 2), (22, 2), (22, 2), (100, 10)], strict=False)
)
N = 20_000
# Four standard errors of a mean of N draws with standard deviation 1/2.
COIN_ERROR = 4 * 0.5 / np.sqrt(N)


@pytest.fixture(params=GENERATORS, ids=lambda make: make.__name__)
def make(request):
    return request.param


def test_same_seed_same_rows_other_seed_other_rows(make):
    first, again, other = (make(30, random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.data, again.data)
    np.testing.assert_array_equal(first.target, again.target)
    assert not np.array_equal(first.data, other.data)


def test_generators_and_legacy_states_are_seeds_too(make):
    for kind in (np.random.default_rng, np.random.RandomState):
        a, b = (make(12, random_state=kind(5)) for _ in range(2))
        np.testing.assert_array_equal(a.data, b.data)
    assert make(3).data.shape[0] == 3


def test_a_generator_moves_on_between_two_calls(make):
    rng = np.random.default_rng(0)
    assert not np.array_equal(make(12, random_state=rng).data, make(12, random_state=rng).data)


def test_shape_names_and_relevant_columns(make):
    answer = make(17, random_state=0)
    n_columns = answer.data.shape[1]
    assert answer.data.dtype == np.float64
    assert answer.data.shape[0] == answer.target.shape[0] == 17
    assert len(set(answer.feature_names)) == n_columns
    assert answer.relevant.dtype == np.intp
    if make in SHAPES:
        assert (n_columns, len(answer.relevant)) == SHAPES[make]
        assert answer.feature_names[0] == "X1"
        assert answer.relevant.tolist() == list(range(len(answer.relevant)))


@pytest.mark.parametrize("bad", [0, -3, 2.5, "ten", True])
def test_number_of_rows_is_checked(make, bad):
    with pytest.raises(ValueError, match=r"n_samples=.* is not allowed; give an integer >= 1"):
        make(bad)


def test_seed_is_checked(make):
    with pytest.raises(ValueError, match="random_state='x' is not a seed; give a non-negative"):
        make(3, random_state="x")


def test_one_row_is_enough(make):
    assert make(1, random_state=0).data.shape[0] == 1


def test_and_or_is_the_formula_with_fair_coins_and_noisy_copies_last():
    toy = make_and_or(N, random_state=0)
    x = toy.data.astype(bool)
    expected = (x[:, 0] & x[:, 1]) | (x[:, 2] & x[:, 3])
    np.testing.assert_array_equal(toy.target, expected)
    np.testing.assert_allclose(toy.data[:, :7].mean(axis=0), 0.5, atol=COIN_ERROR)
    flipped = (x[:, 7:] != expected[:, None]).mean(axis=0)
    np.testing.assert_allclose(flipped, 0.2, atol=COIN_ERROR)
    assert np.corrcoef(x[:, 7:].T ^ expected).max(initial=0, where=~np.eye(3, dtype=bool)) < 0.04


def test_xor_is_the_formula_with_fair_and_loaded_coins():
    toy = make_xor(N, random_state=0)
    np.testing.assert_array_equal(toy.target, toy.data[:, 0] != toy.data[:, 1])
    expected = [0.5] * 5 + [0.75] * 5
    np.testing.assert_allclose(toy.data.mean(axis=0), expected, atol=COIN_ERROR)
    assert set(np.unique(toy.data)) == {0.0, 1.0}


def test_quad_is_the_formula_with_halved_copies_last():
    toy = make_quad(N, random_state=0)
    x = toy.data
    clean = (x[:, 0] ** 2 + x[:, 1]) / (0.5 + (x[:, 1] + 1.5) ** 2)
    np.testing.assert_allclose(toy.target, clean + toy.noise, rtol=1e-12)
    assert toy.noise.std() == pytest.approx(0.1, rel=0.03)
    np.testing.assert_allclose(x[:, :8].std(axis=0), 1.0, atol=0.03)
    rest = x[:, 8:] - 0.5 * x[:, :2]
    assert np.abs(rest).max() <= 1.0
    np.testing.assert_allclose(rest.var(axis=0), 1 / 3, atol=0.01)


def test_binary_xor_label_is_the_sign_of_the_product_of_the_centres():
    toy = make_binary_xor(N, spread=0.1, random_state=0)
    np.testing.assert_array_equal(toy.target, toy.data[:, 0] * toy.data[:, 1] < 0)
    correlations = np.corrcoef(toy.data.T, toy.target)[-1, :-1]
    assert np.abs(correlations).max() < 0.04  # no column tells anything alone
    np.testing.assert_allclose(toy.data[:, 2:].std(axis=0), 1.0, atol=0.03)
    assert make_binary_xor(N, random_state=0).data[toy.cluster == 1, 0].std() == pytest.approx(
        0.4, rel=0.05
    )


def test_multiclass_has_three_classes_on_a_line_and_one_off_it():
    toy = make_multiclass(N, random_state=0)
    centres = np.array([toy.data[toy.target == c, :2].mean(axis=0) for c in range(4)])
    sides = [
        np.linalg.det(np.stack([centres[1] - centres[0], centres[c] - centres[0]])) for c in (2, 3)
    ]
    assert abs(sides[0]) < 0.1
    assert abs(sides[1]) > 3.0


def test_multiclass_trend_shows_only_in_large_samples():
    """P-HSIC 6.1: with labels as numbers, Pearson picks the two columns only for large n."""

    def mean_rank(n: int) -> float:
        ranks = []
        for seed in range(10):
            toy = make_multiclass(n, random_state=seed)
            size = np.abs(np.corrcoef(toy.data.T, toy.target)[-1, :-1])
            ranks.append(np.argsort(np.argsort(-size))[:2].mean() + 1)
        return float(np.mean(ranks))

    assert mean_rank(40) > 4.0
    assert mean_rank(1000) < 2.0


def test_nonlinear_regression_is_the_formula():
    toy = make_nonlinear_regression(N, random_state=0)
    x1, x2 = toy.data[:, 0], toy.data[:, 1]
    np.testing.assert_allclose(toy.target - toy.noise, x1 * np.exp(-(x1**2) - x2**2), atol=1e-12)
    assert toy.noise.std() == pytest.approx(0.1, rel=0.03)
    assert make_nonlinear_regression(9, noise=0, random_state=0).noise.tolist() == [0.0] * 9


def test_sparse_linear_is_its_coefficients_plus_noise():
    toy = make_sparse_linear(noise=0.0, random_state=0)
    assert toy.data.shape == (1000, 100)
    np.testing.assert_allclose(toy.target, toy.data @ toy.coef, rtol=1e-12)
    assert np.flatnonzero(toy.coef).tolist() == toy.relevant.tolist() == list(range(10))
    noisy = make_sparse_linear(N, n_features=5, n_relevant=2, noise=3.0, random_state=0)
    assert (noisy.target - noisy.data @ noisy.coef).std() == pytest.approx(3.0, rel=0.03)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: make_sparse_linear(n_relevant=101), "n_relevant=101 is more than n_features=100"),
        (
            lambda: make_sparse_linear(n_features=0),
            "n_features=0 .* give an integer >=",
        ),
        (
            lambda: make_sparse_linear(noise=-1.0),
            "noise=-1.0 .* give a finite number >= 0",
        ),
        (
            lambda: make_binary_xor(spread=np.nan),
            "spread=nan .* give a finite number >= 0",
        ),
        (lambda: make_motor_imagery(subject="bb"), "subject='bb' is unknown; give one of aa, al"),
        (
            lambda: make_motor_imagery(n_channels=0),
            "n_channels=0 .* give an integer >=",
        ),
    ],
)
def test_other_parameters_are_checked(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


@pytest.fixture(scope="module", params=SUBJECTS)
def imagery(request):
    return make_motor_imagery(600, subject=request.param, n_channels=30, random_state=1)


def log_correlations(trials):
    return np.abs(np.corrcoef(np.log(trials.data).T, trials.target)[-1, :-1])


def test_mu_answers_more_than_beta_and_beta_more_than_the_rest(imagery):
    size, f, peaks = log_correlations(imagery), imagery.frequencies, SUBJECTS[imagery.subject]
    in_mu, in_beta = np.abs(f - peaks.mu) <= 1, np.abs(f - peaks.beta) <= 1
    elsewhere = np.setdiff1d(np.arange(len(f)), imagery.relevant)
    assert size[in_mu].mean() > size[in_beta].mean() > 1.3 * size[elsewhere].mean()
    assert size.argmax() in imagery.relevant


def test_subjects_differ_as_in_table_2():
    """'al' answers best and 'av' worst."""
    strength = {}
    for subject in ("al", "aa", "av"):
        trials = make_motor_imagery(300, subject=subject, n_channels=30, random_state=2)
        strength[subject] = np.sort(log_correlations(trials))[-5:].mean()
    assert strength["al"] > strength["aa"] > strength["av"]


def test_columns_are_the_mean_power_spectrum_of_the_signals():
    trials = make_motor_imagery(6, n_channels=7, return_signals=True, random_state=0)
    assert trials.signals.shape == (6, 7, 350)
    assert trials.signals.dtype == np.float32
    power = np.abs(np.fft.rfft(trials.signals, axis=2, norm="ortho")) ** 2
    np.testing.assert_allclose(power.mean(axis=1)[:, 1:], trials.data, rtol=1e-4)
    assert trials.frequencies[-1] == trials.sampling_rate / 2
    quiet = make_motor_imagery(6, n_channels=7, random_state=0)
    np.testing.assert_array_equal(quiet.data, trials.data)
    assert "signals" not in quiet


def test_classes_of_motor_imagery_are_balanced():
    assert np.bincount(make_motor_imagery(41, n_channels=4, random_state=0).target).tolist() == [
        21,
        20,
    ]


def test_importing_the_package_is_light():
    code = (
        "import sys, featsieve.datasets as d\n"
        "assert 'make_xor' in dir(d)\n"
        "heavy = {'sklearn', 'scipy', 'pandas', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    assert run_tool("-c", code).returncode == 0


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'make_moons'"):
        _ = datasets.make_moons
