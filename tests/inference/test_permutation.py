"""Permutation p-values: against the definition, under the null, and the same everywhere."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.linear_model import Ridge

from featsieve import PearsonRanking, open_parquet
from featsieve.engines.standardized import StandardizedEngine
from featsieve.errors import InputError, MemoryBudgetError
from featsieve.inference import hsic_test, permutation_test
from featsieve.inference.exchange import Exchange, exchange, group_codes
from featsieve.inference.permutation import (
    benjamini_hochberg,
    benjamini_yekutieli,
    permutation_steps,
)
from featsieve.input.boundary import Settings, open_engine
from featsieve.measures import CrossValScore, Pearson
from featsieve.protocols import HasPermutedScores
from featsieve.runtime.progress import TimeUp
from featsieve.runtime.seeds import root_seed
from tests import reference
from tests.tables import as_pandas, mixed_columns


class SlowPearson(Pearson):
    """Pearson without its fast way: every permutation is bound again."""

    scale_ddof = 0

    def bind(self, engine):
        return OnlyScores(super().bind(engine))


class OnlyScores:
    def __init__(self, bound):
        self.n_units, self.monitor, self.scores = bound.n_units, bound.monitor, bound.scores


def make_table(kind, n_rows=60, seed=0):
    """Every sort of target and of columns that Pearson treats in its own way."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5)) + 100.0
    X[:, 3] = np.round(X[:, 3])
    X[:, 4] = 7.0
    number = X[:, 0] + rng.normal(size=n_rows)
    y = {
        "regression": number,
        "two classes": np.where(number > 100, "a", "b"),
        "three classes": np.digitize(number, [99.5, 100.5]),
        "outputs": np.c_[number, rng.normal(size=n_rows)],
        "class outputs": np.c_[number > 100, np.digitize(number, [99.5, 100.5])].astype(int),
    }[kind]
    return X, y


KINDS = ["regression", "two classes", "three classes", "outputs", "class outputs"]
SEVERAL = {"feature_groups": [[0, 3], [1]]}
CODED = {"categorical_features": [3]}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{}, SEVERAL, CODED, {**SEVERAL, **CODED}])
@pytest.mark.parametrize("weighted", [False, True])
def test_matrix_products_equal_binding_anew(kind, options, weighted):
    X, y = make_table(kind)
    weight = np.random.default_rng(5).random(len(X)) if weighted else None
    engine = open_engine(X, y, Settings(rows_per_block=17, **options), sample_weight=weight)
    bound = Pearson().bind(engine)
    assert isinstance(bound, HasPermutedScores)
    orders = Exchange(len(X)).orders(0, 3, 10)
    slow = [Pearson().bind(engine.with_permuted_target(order)).scores() for order in orders]
    assert_allclose(bound.permuted_scores(orders), np.array(slow).T, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{}, SEVERAL, CODED])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_matrix_products_with_weights_that_move(kind, options, convert):
    X, y = make_table(kind)
    code = y if np.ndim(y) == 1 else y[:, 0]
    weight = np.exp(0.3 * np.unique(code, return_inverse=True)[1] / len(np.unique(code)))
    container = X if options else convert(X)
    engine = open_engine(container, y, Settings(rows_per_block=17, **options), sample_weight=weight)
    assert engine.weights_belong_to_target
    orders = Exchange(len(X)).orders(0, 3, 10)
    slow = [Pearson().bind(engine.with_permuted_target(order)).scores() for order in orders]
    found = Pearson().bind(engine).permuted_scores(orders)
    assert_allclose(found, np.array(slow).T, rtol=0, atol=1e-12)


@given(
    st.integers(2, 12), st.integers(1, 5), st.integers(1, 40), st.booleans(), st.integers(0, 10**6)
)
def test_pvalues_are_those_of_the_definition(n_rows, n_columns, n_permutations, coarse, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    X = np.round(X) if coarse else X  # ties and constant columns
    y = rng.permutation(n_rows).astype(float)
    engine = open_engine(X, y, Settings(task="regression"))
    found = list(permutation_steps(engine, Pearson(), n_permutations, seed))[-1]
    orders = Exchange(n_rows).orders(seed, 0, n_permutations)
    permuted = [Pearson().bind(engine.with_permuted_target(o)).scores() for o in orders]
    expected = reference.permutation_pvalues(found.scores, permuted)
    assert_array_equal(found.pvalues, expected[0])
    assert_array_equal(found.adjusted_wy, expected[1])
    assert_allclose(found.adjusted_bh, stats.false_discovery_control(found.pvalues), rtol=1e-12)


def test_pvalues_are_uniform_under_the_null():
    """999 permutations give p on a grid of 1/1000, fine enough for Kolmogorov and Smirnov."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(80, 600))
    for y in (rng.normal(size=80), rng.integers(0, 2, 80), rng.integers(0, 4, 80)):
        found = permutation_test(X, y, n_permutations=999, random_state=3)
        assert stats.kstest(found.pvalues, "uniform").pvalue > 0.01
        assert found.adjusted_wy.min() > 0.01


def test_signal_is_found_and_constant_columns_never_are():
    X, y = make_table("regression")
    found = permutation_test(X, y, n_permutations=199, random_state=0)
    assert found.pvalues[0] == found.adjusted_wy[0] == 1 / 200
    assert found.pvalues[4] == 1.0
    assert (found.adjusted_wy >= found.pvalues).all()


@pytest.mark.parametrize("kind", ["regression", "three classes"])
def test_every_engine_thread_count_and_budget_gives_the_same_pvalues(kind, tmp_path):
    import dask.array as da
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = make_table(kind, n_rows=200)
    expected = permutation_test(X, y, n_permutations=50, random_state=1)
    pq.write_table(
        pa.table({**{f"c{j}": X[:, j] for j in range(5)}, "y": y}), tmp_path / "t.parquet"
    )
    options = {"n_permutations": 50, "random_state": 1}
    others = [
        permutation_test(X, y, n_jobs=2, **options),
        permutation_test(X, y, memory_limit=2**15, **options),
        permutation_test(sp.csr_array(X), y, **options),
        permutation_test(da.from_array(X, chunks=(70, 2)), y, **options),
        permutation_test(open_parquet(tmp_path / "t.parquet"), "y", **options),
        permutation_test(X, y, SlowPearson(), **options),
        permutation_test(open_parquet(tmp_path / "t.parquet"), "y", SlowPearson(), **options),
    ]
    for found in others:
        assert_array_equal(found.pvalues, expected.pvalues)
        assert_array_equal(found.adjusted_wy, expected.adjusted_wy)


def test_a_user_model_is_tested_by_binding_anew():
    frame = as_pandas(mixed_columns(40))
    X, y = frame[["noise", "size"]], frame["target"]
    measure = CrossValScore(Ridge(), cv=3)
    found = permutation_test(X, y, measure, n_permutations=30, random_state=0)
    assert found.pvalues[1] == 1 / 31
    again = permutation_test(X, y.tolist(), measure, n_permutations=30, random_state=0)
    assert_array_equal(found.pvalues, again.pvalues)


def test_scaled_rows_are_permuted_without_scaling_again():
    X, y = make_table("regression")
    engine = open_engine(X, y, Settings())
    order = Exchange(len(X)).orders(0, 0, 1)[0]
    scaled = StandardizedEngine(engine, 0).with_permuted_target(order)
    values, target = scaled.take()
    assert_allclose(values[:, :4].std(axis=0), 1.0)
    assert_array_equal(target[:, 0], y[order])


def test_permutations_depend_on_seed_and_index_only():
    whole = Exchange(9).orders(5, 0, 40)
    assert_array_equal(np.sort(whole, axis=1), np.tile(np.arange(9), (40, 1)))
    assert_array_equal(Exchange(9).orders(5, 13, 35), whole[13:35])
    assert (Exchange(9).orders(6, 0, 40) != whole).any()


def test_all_permutations_are_equally_likely():
    drawn = Exchange(3).orders(0, 0, 6000) @ [9, 3, 1]
    counts = np.unique(drawn, return_counts=True)[1]
    assert stats.chisquare(counts).pvalue > 0.01
    assert len(counts) == 6


@pytest.mark.parametrize("state", [3, np.random.RandomState(0), np.random.default_rng(0), None])
def test_any_random_state_gives_a_seed(state):
    assert root_seed(state) >= 0


def test_missing_scores_are_no_tests():
    adjusted = benjamini_hochberg(np.array([0.2, np.nan, 0.01]))
    assert_allclose(adjusted, [0.2, np.nan, 0.02])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_permutations": 0}, "n_permutations=0 is not allowed; give an integer >= 1"),
        ({"measure": "perason"}, "measure='perason' is not known"),
        ({"measure": len}, "measure=<built-in function len> is not a measure; give an object"),
        ({"n_permutations": np.timedelta64(9, "s")}, "give an integer >= 1"),
        ({"random_state": "x"}, "random_state='x' is not allowed"),
    ],
)
def test_wrong_parameters_are_refused(options, message):
    X, y = make_table("regression")
    with pytest.raises(InputError, match=message):
        permutation_test(X, y, **options)


def test_a_budget_below_one_permutation_is_refused():
    X, y = make_table("regression")
    with pytest.raises(MemoryBudgetError, match="one permutation of all columns needs"):
        permutation_test(X, y, memory_limit=1000)


def test_ranking_fills_pvalues():
    X, y = make_table("three classes")
    selector = PearsonRanking(n_features_to_select=1, n_permutations=99, random_state=2).fit(X, y)
    expected = permutation_test(X, y, n_permutations=99, random_state=2)
    assert_array_equal(selector.pvalues_, expected.pvalues)
    assert_array_equal(selector.result_.extras["adjusted_wy"], expected.adjusted_wy)
    assert selector.indices_.tolist() == [0]
    assert not hasattr(selector.set_params(n_permutations=0).fit(X, y), "pvalues_")


def test_ranking_gives_a_group_its_pvalue():
    X, y = make_table("regression")
    groups = {"both": [0, 2]}
    selector = PearsonRanking(n_permutations=49, random_state=0, feature_groups=groups).fit(X, y)
    assert selector.pvalues_.tolist()[0] == selector.pvalues_.tolist()[2] == 1 / 50


class StopAfter:
    """A callback that ends the run at the n-th report of permutations."""

    def __init__(self, n, error):
        self.left, self.error = n, error

    def __call__(self, progress):
        if progress.message == "permutations":
            self.left -= 1
            if self.left == 0:
                raise self.error


@pytest.mark.parametrize(
    ("error", "reason"), [(TimeUp(), "max_time"), (KeyboardInterrupt(), "interrupted")]
)
def test_a_stopped_run_keeps_the_permutations_it_has(error, reason):
    X, y = make_table("regression")
    stopped = permutation_test(
        X, y, SlowPearson(), n_permutations=100, random_state=0, callback=StopAfter(2, error)
    )
    whole = permutation_test(X, y, SlowPearson(), n_permutations=32, random_state=0)
    assert (stopped.stop_reason, stopped.n_permutations) == (reason, 32)
    assert_array_equal(stopped.pvalues, whole.pvalues)


def test_a_stopped_ranking_still_selects():
    X, y = make_table("regression")
    selector = PearsonRanking(
        n_features_to_select=1, n_permutations=50, callback=StopAfter(1, KeyboardInterrupt())
    ).fit(X, y)
    assert selector.indices_.tolist() == [0]
    assert selector.result_.stop_reason == "interrupted"


# --- rows that are not exchangeable ---------------------------------------------------------------


@given(st.integers(2, 30), st.integers(1, 5), st.integers(1, 4), st.integers(0, 10**6))
def test_restricted_permutations_keep_groups_and_blocks(n_rows, n_groups, block_size, seed):
    groups = np.random.default_rng(seed).integers(0, n_groups, n_rows)
    codes = np.unique(groups, return_inverse=True)[1]
    orders = Exchange(n_rows, codes, block_size).orders(seed, 0, 20)
    for order in orders:
        assert sorted(order.tolist()) == list(range(n_rows))
        assert_array_equal(groups[order], groups)
        for group in np.unique(groups):
            rows = np.flatnonzero(groups == group)
            moved = order[rows].tolist()
            blocks = [rows[s : s + block_size].tolist() for s in range(0, len(rows), block_size)]
            starts = [moved.index(block[0]) for block in blocks]
            assert [moved[s : s + len(b)] for s, b in zip(starts, blocks, strict=True)] == blocks


def test_orders_inside_a_group_are_equally_likely():
    drawn = Exchange(5, np.array([0, 1, 0, 1, 0])).orders(0, 0, 6000)
    counts = np.unique(drawn @ [81, 27, 9, 3, 1], return_counts=True)[1]
    assert len(counts) == 12  # 3! · 2!
    assert np.abs(counts - 500).max() < 5 * np.sqrt(500)


def test_a_difference_between_groups_is_no_evidence_inside_them():
    """x and y share the subject's level and nothing else."""
    rng = np.random.default_rng(0)
    subject = np.repeat(np.arange(6), 15)
    level = rng.normal(size=6)[subject] * 3
    X, y = (level + rng.normal(size=90))[:, None], level + rng.normal(size=90)
    options = {"n_permutations": 199, "random_state": 0}
    assert permutation_test(X, y, **options).pvalues[0] == 0.005
    assert permutation_test(X, y, groups=subject, **options).pvalues[0] > 0.05
    assert hsic_test(X, y, **options).pvalue == 0.005
    assert hsic_test(X, y, groups=subject, **options).pvalue > 0.05


def test_blocks_keep_the_level_for_time_series():
    """Two independent walks that return: single rows reject far too often, blocks do not."""

    def series(rng):
        x = np.zeros(200)
        for t in range(1, 200):
            x[t] = 0.9 * x[t - 1] + rng.normal()
        return x

    shares = []
    for block_size in (None, 40):
        pvalues = []
        for seed in range(60):
            rng = np.random.default_rng(seed)
            test = permutation_test(
                series(rng)[:, None], series(rng), n_permutations=99, random_state=seed,
                block_size=block_size,
            )  # fmt: skip
            pvalues.append(test.pvalues[0])
        shares.append(np.mean(np.array(pvalues) <= 0.05))
    assert shares[0] > 0.3
    assert shares[1] < 0.2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": [1, 2, 3]}, "one group per row"),
        ({"groups": np.arange(40)}, "leave no row"),
        ({"groups": [None] * 40}, "missing values"),
        ({"block_size": 40}, "leave no row"),
        ({"block_size": 0}, "integer >= 1"),
        ({"block_size": 2.5}, "integer >= 1"),
    ],
)
def test_bad_groups_and_blocks_get_one_sentence(options, message):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    with pytest.raises(InputError, match=message):
        permutation_test(X, y, n_permutations=9, **options)
    with pytest.raises(InputError, match=message):
        hsic_test(X, y, n_permutations=9, **options)
    with pytest.raises(InputError, match="may all change places"):
        hsic_test(X, y, method="gamma", block_size=2)


def test_benjamini_yekutieli_is_larger_by_the_harmonic_sum():
    pvalues = np.array([0.001, 0.2, np.nan, 0.03])
    expected = np.minimum(benjamini_hochberg(pvalues) * (1 + 1 / 2 + 1 / 3), 1)
    assert_allclose(benjamini_yekutieli(pvalues), expected)
    X, y = np.random.default_rng(0).normal(size=(30, 4)), np.arange(30) / 7
    test = permutation_test(X, y, n_permutations=19, random_state=0)
    assert_allclose(test.adjusted_by, benjamini_yekutieli(test.pvalues))


def test_exchange_of_all_rows_is_free():
    assert exchange(7) == Exchange(7)


def test_groups_of_numbers_and_words():
    assert_array_equal(group_codes(np.array([1, "1", 1, "1"], dtype=object), 4), [0, 1, 0, 1])
    with pytest.raises(InputError, match="groups has missing values"):
        group_codes(pd.array([1, None], dtype="Int64"), 2)
