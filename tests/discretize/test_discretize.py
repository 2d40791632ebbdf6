"""Discretisers: golden cuts, the slow twin, and what must hold for any column."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from featsieve.discretize import CAIM, EqualWidth, Quantile, SigmaCuts, bins
from featsieve.discretize.base import MAX_CUTS, Cuts
from featsieve.discretize.bins import FEW_BINS, TargetBins, choose_discretizer
from featsieve.discretize.caim import accepted_boundaries
from featsieve.errors import InputError
from tests import reference
from tests.golden_data import golden

ALL = [CAIM(), Quantile(), EqualWidth(), SigmaCuts()]


def test_caim_cuts_of_iris():
    X, y = load_iris(return_X_y=True)
    cuts = CAIM().fit(X, y).cuts_
    for column in range(4):
        assert_allclose(cuts[column], golden("information")["caim"][f"iris_{column}"]["cuts"])


@given(st.integers(0, 2**31), st.integers(2, 30), st.integers(1, 4), st.integers(1, 9))
def test_caim_equals_its_slow_twin(seed, n_rows, n_classes, n_values):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, n_values, n_rows) * 1.0
    classes = rng.integers(0, n_classes, n_rows)
    found = CAIM().fit(values[:, None], classes).cuts_[0]
    assert_allclose(found, reference.caim_by_definition(values.tolist(), classes.tolist()))


def test_caim_ties_go_to_the_lowest_boundary():
    # Classes 0, 1, 1, 0 along four values: the outer boundaries are worth the same.
    cumulative = np.array([[0, 0], [1, 0], [1, 1], [1, 2], [2, 2]], dtype=float)
    assert accepted_boundaries(cumulative).tolist() == [1, 3]


@given(st.integers(0, 2**31), st.integers(2, 60), st.sampled_from([Quantile, EqualWidth]))
def test_fit_and_transform_agree_on_values_equal_to_a_cut(seed, n_rows, kind):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, size=(n_rows, 2)) * 1.0
    fitted = kind(4).fit(X)
    for column, cuts in enumerate(fitted.cuts_):
        at_cuts = np.repeat(cuts[:, None], 2, axis=1) if len(cuts) else np.empty((0, 2))
        if len(at_cuts):
            assert_array_equal(fitted.transform(at_cuts)[:, column], np.arange(len(cuts)))
        expected = [sum(cut < x for cut in cuts) for x in X[:, column]]
        assert_array_equal(fitted.transform(X)[:, column], expected)


@given(st.integers(0, 2**31), st.integers(5, 80), st.integers(2, 6))
def test_quantile_states_differ_by_one_row_at_most(seed, n_rows, n_bins):
    values = np.random.default_rng(seed).permutation(n_rows) * 1.0
    counts = np.bincount(Quantile(n_bins).fit_transform(values[:, None])[:, 0])
    assert counts.max() - counts.min() <= 1
    assert len(counts) == min(n_bins, n_rows)


COLUMNS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "single": lambda rng, n: rng.normal(size=n).astype(np.float32),
    "cauchy": lambda rng, n: rng.standard_cauchy(n),
    "few values": lambda rng, n: rng.integers(0, 7, n) * 1.0,
    "many zeros": lambda rng, n: rng.normal(size=n) * (rng.random(n) < 0.3),
    "offset": lambda rng, n: 1e15 + rng.normal(size=n),
    "huge": lambda rng, n: rng.uniform(-1, 1, n) * 1.7e308,
    "tiny": lambda rng, n: rng.normal(size=n) * 1e-308,
    "gaps": lambda rng, n: np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
    "infinite": lambda rng, n: np.where(rng.random(n) < 0.2, np.inf, rng.normal(size=n)),
    "sorted": lambda rng, n: np.sort(rng.normal(size=n)),
}


@given(
    st.integers(0, 2**31),
    st.integers(1, 300),
    st.sampled_from([2, 3, 5, FEW_BINS, FEW_BINS + 1]),
    st.sampled_from(sorted(COLUMNS)),
)
def test_quantile_cuts_equal_those_of_the_slow_twin(seed, n_rows, n_bins, kind):
    values = COLUMNS[kind](np.random.default_rng(seed), n_rows)
    expected = reference.quantile_cuts_by_definition(values.tolist(), n_bins)
    assert Quantile(n_bins).cuts_of(values).tolist() == expected  # sorted: few columns
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bins, "FEW_COLUMNS", 0)  # compiled
        assert Quantile(n_bins).cuts_of(values).tolist() == expected


@given(st.integers(0, 2**31), st.integers(1, 40), st.sampled_from([np.float32, np.float64]))
def test_codes_are_numbers_of_cuts_below(seed, n_cuts, dtype):
    """Few cuts are counted, many are bisected: the states are the same."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 30, (20, 3)).astype(dtype)
    X[rng.random(X.shape) < 0.2] = np.nan
    columns = tuple(np.unique(rng.integers(0, 60, size)) / 2 for size in (n_cuts, 2, 0))
    expected = [
        [
            len(cuts) + 1 if np.isnan(x) else int((cuts < x).sum())
            for x, cuts in zip(row, columns, strict=True)
        ]
        for row in X
    ]
    assert Cuts(columns).encode(X).tolist() == expected
    assert Cuts(columns).encode(np.asfortranarray(X)).tolist() == expected
    rows = 257 // len(X) + 1  # more than are coded at a time
    assert (
        Cuts(columns).encode(np.asfortranarray(np.tile(X, (rows, 1)))).tolist() == expected * rows
    )


def test_quantile_keeps_a_rare_state():
    X = np.r_[np.ones(99), 0.0][:, None]
    assert_array_equal(Quantile(5).fit_transform(X)[:, 0], np.r_[np.ones(99), 0])


def test_sigma_cuts_are_mean_and_multiples_of_the_deviation():
    x = np.random.default_rng(0).normal(size=200)
    expected = x.mean() + np.array([-1.5, -0.5, 0.5, 1.5]) * x.std(ddof=1)
    assert_allclose(SigmaCuts().fit(x[:, None]).cuts_[0], expected, rtol=1e-12)


def test_target_bins_keep_rare_large_deviations_apart_unless_hardly_any():
    rng = np.random.default_rng(0)
    y = rng.normal(size=1000)
    assert_array_equal(TargetBins().cuts_of(y), SigmaCuts().cuts_of(y))
    y[:50] += 30
    codes = np.searchsorted(TargetBins().cuts_of(y), y)
    assert set(codes[:50].tolist()).isdisjoint(codes[50:].tolist())
    y[:50] = 0.5
    y[0] = 1e9  # mean and deviation show nothing but this value
    assert_array_equal(TargetBins(4).cuts_of(y), Quantile(4).cuts_of(y))
    few = rng.integers(0, 3, 100) * 1.0
    assert_array_equal(TargetBins().cuts_of(few), [0.5, 1.5])


def test_equal_width_cuts():
    assert EqualWidth(4).fit(np.array([[0.0], [8.0], [1.0]])).cuts_[0].tolist() == [2, 4, 6]


@pytest.mark.parametrize("discretizer", ALL, ids=lambda d: type(d).__name__)
def test_missing_is_a_state_of_its_own_and_constants_have_one(discretizer):
    rng = np.random.default_rng(1)
    X = np.c_[rng.normal(size=50), np.full(50, 3.0), np.full(50, np.nan)]
    X[::5, 0] = np.nan
    y = rng.integers(0, 2, 50)
    codes = discretizer.fit(X, y).transform(X)
    missing = np.isnan(X[:, 0])
    assert set(codes[missing, 0]) == {len(discretizer.cuts_[0]) + 1}
    assert codes[~missing, 0].max() <= len(discretizer.cuts_[0])
    assert set(codes[:, 1]) == {0}
    assert set(codes[:, 2]) == {1}


@pytest.mark.parametrize("discretizer", ALL, ids=lambda d: type(d).__name__)
def test_threads_change_nothing(discretizer):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(80, 7)), rng.integers(0, 3, 80)
    one = discretizer.fit(X, y).cuts_
    two = type(discretizer)(n_jobs=2).fit(X, y).cuts_
    for a, b in zip(one, two, strict=True):
        assert_array_equal(a, b)


@given(
    st.integers(0, 2**31), st.sampled_from([Quantile(4), SigmaCuts(), EqualWidth(3), TargetBins()])
)
def test_weights_count_as_repeated_rows(seed, discretizer):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 9, 30) * 1.0
    weights = rng.integers(0, 4, 30)
    weighted = discretizer.cuts_of(values, weights * 1.0)
    assert_allclose(weighted, discretizer.cuts_of(np.repeat(values, weights)), rtol=1e-12)


def test_infinite_cells_are_refused_at_the_boundary_and_extreme_inside():
    with pytest.raises(ValueError, match="infinity"):
        Quantile(2).fit(np.array([[0.0], [1.0], [np.inf]]))
    assert Quantile(3).cuts_of(np.array([-np.inf, 0.0, 1.0, np.inf])).tolist() == [0.0, 1.0]


def test_never_more_states_than_a_byte_holds():
    x = np.arange(3000.0)[:, None]
    y = np.arange(3000) % 2  # every boundary pays
    assert len(CAIM().fit(x, y).cuts_[0]) <= MAX_CUTS
    assert Quantile(MAX_CUTS + 1).fit_transform(x).max() == MAX_CUTS


@pytest.mark.parametrize("n_bins", [1, 300, 2.5, True])
def test_impossible_bins_are_refused(n_bins):
    with pytest.raises(InputError, match="n_bins"):
        Quantile(n_bins).fit(np.zeros((3, 1)))


def test_unknown_words_and_missing_classes_are_refused():
    with pytest.raises(InputError, match="discretizer='square' is not allowed; give 'quantile'"):
        choose_discretizer("square", 5)
    with pytest.raises(InputError, match="requires y"):
        CAIM().fit(np.zeros((3, 1)))
    with pytest.raises(InputError, match="multiples"):
        SigmaCuts(multiples=[np.nan]).fit(np.zeros((3, 1)))


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ([0.0, 1.0, np.nan, 1.0], r"y has 1 missing .* CAIM cuts by classes; drop those rows"),
        (["a", "b", None, "b"], "y has 1 missing"),
        ([0.5, 1.5, 2.5, 3.5], "y is continuous, and CAIM cuts by classes; give labels"),
    ],
)
def test_caim_refuses_what_are_no_classes(labels, sentence):
    with pytest.raises(InputError, match=sentence):
        CAIM().fit(np.arange(4.0)[:, None], pd.Series(labels))


@pytest.mark.parametrize("discretizer", [CAIM(), EqualWidth(), Quantile(), SigmaCuts()])
def test_names_stay_and_frames_come_out(discretizer):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [4.0, 3.0, 2.0, 1.0]})
    found = discretizer.set_output(transform="pandas").fit_transform(frame, [0, 0, 1, 1])
    assert list(found.columns) == list(discretizer.get_feature_names_out()) == ["a", "b"]


@pytest.mark.parametrize("discretizer", [EqualWidth(), SigmaCuts(), Quantile()])
def test_infinite_cells_do_not_move_the_other_cuts(discretizer):
    """They fall into the first and the last state; by rank they count as any other cell."""
    values = np.random.default_rng(0).normal(size=200)
    codes = choose_discretizer(discretizer, 5).cuts_of(values)
    extended = choose_discretizer(discretizer, 5).cuts_of(np.r_[values, np.inf, -np.inf])
    tolerance = 0.05 if isinstance(discretizer, Quantile) else 0
    np.testing.assert_allclose(extended, codes, rtol=0, atol=tolerance)


@pytest.mark.parametrize("factor", [2.0**900, 2.0**-900, 2.0**1020])
@pytest.mark.parametrize("discretizer", [EqualWidth(), SigmaCuts(), Quantile()])
def test_states_do_not_depend_on_the_unit(discretizer, factor):
    X = np.random.default_rng(0).normal(size=(50, 2))
    expected = discretizer.fit_transform(X)
    np.testing.assert_array_equal(discretizer.fit_transform(X * factor), expected)


@pytest.mark.parametrize("factor", [0.01, 0.1, 1 / 3, 1e-3, 7.0, 1e160])
@pytest.mark.parametrize("n_rows", [50, 100, 997])
def test_only_ratios_of_weights_count(factor, n_rows):
    values = np.arange(float(n_rows))
    counts = np.random.default_rng(0).integers(1, 4, n_rows)
    for discretizer in (Quantile(5), SigmaCuts(), TargetBins(5)):
        for weight in (np.ones(n_rows), counts):
            cuts = discretizer.cuts_of(values, weight * 1.0)
            assert_allclose(discretizer.cuts_of(values, weight * factor), cuts, rtol=1e-12)
            assert_allclose(discretizer.cuts_of(values, weight / weight.sum()), cuts, rtol=1e-12)


def test_quantiles_of_sums_that_round():
    weights = np.full(100, 0.01)  # as they are, without a common unit that is found beforehand
    cuts = Quantile(5)._cuts(np.arange(100.0), None, weights)
    assert_array_equal(cuts, [19.0, 39.0, 59.0, 79.0])


def test_masked_cells_are_missing_and_long_integers_are_named():
    X = np.arange(20.0)[:, None]
    masked = np.ma.array(X, mask=X > 9)
    expected = Quantile(n_bins=2).fit(X[:10]).cuts_[0]
    assert Quantile(n_bins=2).fit(masked).cuts_[0].tolist() == expected.tolist()
    with pytest.warns(UserWarning, match=r"'x0': integers beyond 2\^53"):
        Quantile().fit(np.arange(20)[:, None] + 2**60)


def test_the_largest_numbers_of_both_signs():
    X = np.array([[-1.7e308], [1.7e308]] * 5)
    assert Quantile(n_bins=2).fit(X).cuts_[0].tolist() == [0.0]


@pytest.mark.parametrize("n_bins", [np.uint64(2), np.int8(2)])
def test_any_type_of_integer_is_a_number_of_bins(n_bins):
    X = np.random.default_rng(0).normal(size=(40, 3))
    expected = Quantile(n_bins=2).fit_transform(X)
    np.testing.assert_array_equal(Quantile(n_bins=n_bins).fit_transform(X), expected)
