"""Entropies and information of codes: definitions, golden matrices, corrections, posterior."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.metrics import normalized_mutual_info_score

from featsieve.errors import InputError
from featsieve.measures import (
    cmi_matrix,
    conditional_mutual_information,
    entropy,
    information_posterior,
    joint_entropy,
    mutual_information,
    normalized_mutual_information,
)
from featsieve.measures.information.counts import CodedRows, Layout
from featsieve.measures.information.functions import posterior_of_table
from featsieve.measures.information.pair_sums import PackedPairs, PlaneSplit
from tests import reference
from tests.golden_data import golden, toy

SEEDS = st.integers(0, 2**31)


def draw(seed, n_rows, n_columns, most_states, n_classes):
    rng = np.random.default_rng(seed)
    states = rng.integers(1, most_states + 1, n_columns)
    codes = np.stack([rng.integers(0, s, n_rows) for s in states], axis=1)
    return codes, rng.integers(0, n_classes, n_rows)


def brute_matrix(codes, y):
    columns = codes.T.tolist()
    m = len(columns)
    Q = np.empty((m, m))
    for i in range(m):
        for j in range(m):
            Q[i, j] = (
                reference.information_by_definition(columns[i], y.tolist())
                if i == j
                else reference.conditional_information_by_definition(
                    columns[j], y.tolist(), columns[i]
                )
            )
    return Q


@given(SEEDS, st.integers(1, 30), st.integers(1, 5))
def test_functions_equal_their_definitions(seed, n_rows, most_states):
    codes, _ = draw(seed, n_rows, 3, most_states, 2)
    x, y, z = codes.T.tolist()
    assert_allclose(entropy(x), reference.entropy_by_definition(x), atol=1e-12)
    assert_allclose(joint_entropy(x, y), reference.entropy_by_definition(x, y), atol=1e-12)
    expected = reference.information_by_definition(x, y)
    assert_allclose(mutual_information(x, y), expected, atol=1e-12)
    expected = reference.conditional_information_by_definition(x, y, z)
    assert_allclose(conditional_mutual_information(x, y, z), expected, atol=1e-12)


def test_normalised_information_is_the_lectures():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 4, 200), rng.integers(0, 3, 200)
    expected = normalized_mutual_info_score(x, y, average_method="geometric")
    assert_allclose(normalized_mutual_information(x, y), expected, rtol=1e-9)
    assert normalized_mutual_information(x, np.zeros(200, int)) == 0.0


@pytest.mark.parametrize("name", ["andor_t1", "xor_t1"])
def test_golden_cmi_matrices(name):
    X, y = toy(name)
    assert_allclose(cmi_matrix(X, y), golden("information")["cmi"][name]["H"], atol=1e-12)


@given(SEEDS, st.integers(2, 90), st.integers(1, 6), st.integers(1, 9), st.integers(1, 4))
def test_cmi_matrix_equals_its_definition(seed, n_rows, n_columns, most_states, n_classes):
    codes, y = draw(seed, n_rows, n_columns, most_states, n_classes)
    assert_allclose(cmi_matrix(codes, y), brute_matrix(codes, y), atol=1e-12)


@given(SEEDS, st.integers(2, 300))
def test_planes_and_direct_counting_agree(seed, n_rows):
    codes, y = draw(seed, n_rows, 8, 7, 3)
    codes = codes.astype(np.uint8)
    layout = Layout(codes.max(axis=0).astype(np.int64) + 1, 3)
    counts = layout.count(codes, y)
    answers = []
    for thin in (np.arange(8), np.arange(0), np.arange(0, 8, 3)):
        split = PlaneSplit(layout, thin, np.setdiff1d(np.arange(8), thin))
        rows = CodedRows(codes, y[:, None])
        sums = PackedPairs.of_rows(counts, split, lambda rows=rows: [rows], n_jobs=2)
        answers.append(np.array([sums.row(i) for i in range(8)]))
        few = np.array([5, 2, 7])
        assert_allclose(np.array(sums.row(3, few)), answers[-1][3][:, few], rtol=1e-13)
    assert_allclose(answers[1], answers[0], rtol=1e-13)
    assert_allclose(answers[2], answers[0], rtol=1e-13)


@given(SEEDS, st.lists(st.integers(1, 60), min_size=1, max_size=4))
def test_pair_tables_add_over_row_blocks(seed, sizes):
    n_rows = sum(sizes)
    codes, y = draw(seed, n_rows, 4, 5, 3)
    codes = codes.astype(np.uint8)
    layout = Layout(codes.max(axis=0).astype(np.int64) + 1, 3)
    whole = PackedPairs.of_codes(codes, y, layout)
    parts = [
        CodedRows(codes[rows], y[rows, None])
        for rows in np.split(np.arange(n_rows), np.cumsum(sizes)[:-1])
    ]
    counts = [layout.count(part.codes, part.classes[:, 0]) for part in parts]
    streamed = [layout.count_with(part.codes, part.classes[:, 0], 2) for part in parts]
    merged = reduce(lambda a, b: a.merge(b), counts)
    assert (merged.table == whole.counts.table).all()
    packed = PackedPairs.of_rows(merged, whole.split, lambda: parts)
    assert (packed.planes.words == whole.planes.words).all()  # blocks leave no trace
    assert_allclose(np.array(packed.row(2)), np.array(whole.row(2)), rtol=1e-13)
    sums = reduce(lambda a, b: a.merge(b), streamed).sums()
    assert_allclose(sums, whole.row(2), rtol=1e-12, atol=1e-12)


def test_wide_and_tall_matrices_use_every_kind_of_tile():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, size=(70, 300))
    codes[:, [4, 200]] = rng.integers(0, 60, size=(70, 2))
    y = rng.integers(0, 2, 70)
    Q = cmi_matrix(codes, y, n_jobs=2)
    for i, j in [(4, 200), (200, 4), (0, 299), (299, 0), (130, 131), (4, 9), (9, 4), (5, 5)]:
        x, other = codes[:, i], codes[:, j]
        expected = (
            mutual_information(x, y) if i == j else conditional_mutual_information(other, y, x)
        )
        assert_allclose(Q[i, j], expected, atol=1e-12)


def test_text_booleans_negative_codes_and_missing_cells_are_states():
    assert_allclose(entropy(["a", "b", None, "a"]), 1.5 * np.log(2))
    assert_allclose(entropy([True, False]), np.log(2))
    assert_allclose(entropy([1.0, np.nan, np.nan, 2.0]), 1.5 * np.log(2))
    codes = np.array([[-3, 100], [4, 7], [-3, 7], [4, 100]])
    assert_allclose(cmi_matrix(codes, [0, 1, 0, 1])[0, 0], np.log(2))


def test_bad_codes_are_refused_in_words():
    with pytest.raises(InputError, match="continuous"):
        entropy([0.5, 1.0])
    with pytest.raises(InputError, match="continuous"):
        cmi_matrix(np.array([[0.5], [1.0]]), [0, 1])
    with pytest.raises(InputError, match="column 1 of codes has 300 states"):
        cmi_matrix(np.c_[np.zeros(300, int), np.arange(300)], np.arange(300) % 2)
    with pytest.raises(InputError, match="numbers of rows differ"):
        mutual_information([0, 1], [0, 1, 1])
    with pytest.raises(InputError, match="correction"):
        entropy([0, 1], correction="jackknife")
    with pytest.raises(InputError, match="shape"):
        entropy([[0, 1]])


# --- corrections of bias ------------------------------------------------------------------------


def test_miller_madow_adds_half_a_state_a_row():
    x, y = [0, 0, 1, 2], [0, 1, 0, 1]
    assert_allclose(entropy(x, correction="miller_madow"), entropy(x) + 2 / 8)
    expected = mutual_information(x, y) + (2 + 1 - 3) / 8
    assert_allclose(mutual_information(x, y, correction="miller_madow"), expected)


def test_shrinkage_is_hausser_and_strimmers():
    x = [0] * 6 + [1] * 3 + [2]
    p, n = np.array([0.6, 0.3, 0.1]), 10
    lam = (1 - (p**2).sum()) / ((n - 1) * ((1 / 3 - p) ** 2).sum())
    shrunk = lam / 3 + (1 - lam) * p
    assert_allclose(entropy(x, correction="shrink"), -(shrunk * np.log(shrunk)).sum())


@pytest.mark.parametrize("correction", ["miller_madow", "shrink"])
def test_corrections_lower_the_bias_of_independent_columns(correction):
    rng = np.random.default_rng(4)
    pairs = [(rng.integers(0, 5, 40), rng.integers(0, 3, 40)) for _ in range(60)]
    plain = np.mean([mutual_information(x, y) for x, y in pairs])
    corrected = np.mean([mutual_information(x, y, correction=correction) for x, y in pairs])
    assert corrected < plain / 2


def information_of_draws(table, n_draws):
    p = np.random.default_rng(0).dirichlet(table.ravel(), n_draws).reshape(-1, *table.shape)
    margins = p.sum(axis=2, keepdims=True) * p.sum(axis=1, keepdims=True)
    ratio = np.divide(p, margins, out=np.ones_like(p), where=p > 0)
    return (p * np.log(ratio)).sum(axis=(1, 2))


def test_posterior_equals_sampling_from_the_dirichlet():
    table = np.array([[30.0, 10.0, 3.0], [5.0, 20.0, 9.0]]) + 0.5
    draws = information_of_draws(table, 100_000)
    found = posterior_of_table(table)
    assert_allclose(found.mean, draws.mean(), rtol=5e-3)
    assert_allclose(found.variance, draws.var(), rtol=2e-2)
    assert_allclose([found.low, found.high], np.quantile(draws, [0.025, 0.975]), atol=0.01)


@pytest.mark.parametrize(
    ("shape", "n_rows"), [((5, 5), 20), ((8, 8), 60), ((6, 4), 40), ((3, 3), 100), ((5, 5), 500)]
)
def test_posterior_of_sparse_and_full_tables_is_that_of_the_dirichlet(shape, n_rows):
    x, y = (np.random.default_rng(s).integers(0, m, n_rows) for s, m in enumerate(shape))
    table = np.zeros(shape)
    np.add.at(table, (x, y), 1.0)
    values = information_of_draws(table + 1 / table.size, 20_000)
    found = information_posterior(x, y)
    assert_allclose(found.mean, values.mean(), rtol=0.01)
    assert_allclose(found.variance, values.var(), rtol=0.06)
    spread = values.std()
    expected = np.quantile(values, (0.025, 0.975))
    assert_allclose((found.low, found.high), expected, atol=0.15 * spread)
    assert found == information_posterior(x, y)


def test_posterior_of_a_table_of_many_cells_stays_small():
    x, y = np.random.default_rng(0).integers(0, 100, (2, 300))
    found = information_posterior(x, y)
    assert 0 < found.low < found.mean < found.high


def test_posterior_refuses_what_it_cannot_take():
    with pytest.raises(InputError, match="prior"):
        information_posterior([0, 1], [0, 1], prior="haldane")
    with pytest.raises(InputError, match="level"):
        information_posterior([0, 1], [0, 1], level=1.0)
    assert information_posterior([0, 0], [0, 1]).mean == 0.0
