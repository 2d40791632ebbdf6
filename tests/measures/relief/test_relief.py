"""Relief against brute-force twins, documented figures, and itself on every engine."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from featsieve import ReliefF, open_parquet
from featsieve.datasets import make_binary_xor, make_xor
from featsieve.errors import InputError
from featsieve.measures.relief import passes
from featsieve.measures.relief.comparison import Nearest, pairs_within
from tests import reference
from tests.golden_data import toy

TWO, THREE = "two", "three"


def scores(X, y, **params):
    return ReliefF(n_features_to_select=1, **params).fit(X, y).scores_


def random_table(seed, n_rows, kind, n_values=6, n_columns=4, gaps=0.0):
    """Few distinct values, so that distances tie."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, size=(n_rows, n_columns)) * 1.0
    X[rng.random(X.shape) < gaps] = np.nan
    if kind == "regression":
        return X, np.r_[0.25, 1.75, rng.normal(size=n_rows - 2)]
    n_classes = {TWO: 2, THREE: 3}[kind]
    return X, np.r_[np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)]


def twin(X, y, kind, k, categorical=()):
    return (reference.rrelieff if kind == "regression" else reference.relieff)(X, y, k, categorical)


KINDS = st.sampled_from([TWO, THREE, "regression"])


def test_iris_weights_are_the_documented_ones():
    # ReliefF with 10 neighbours on Fisher's iris data, as documented by a commercial toolbox.
    iris = load_iris()
    found = scores(iris.data, iris.target)
    assert_allclose(found, [0.1399, 0.1226, 0.3590, 0.3754], rtol=0, atol=5e-5)


@settings(max_examples=40)
@given(st.integers(0, 2**31), st.integers(4, 25), KINDS, st.integers(1, 12), st.integers(2, 50))
def test_equals_its_slow_twin(seed, n_rows, kind, k, n_values):
    X, y = random_table(seed, n_rows, kind, n_values)
    assert_allclose(scores(X, y, n_neighbors=k), twin(X, y, kind, k), rtol=0, atol=1e-12)


@settings(max_examples=25)
@given(st.integers(0, 2**31), st.integers(6, 20), KINDS, st.sampled_from([0.0, 0.2, 0.7]))
def test_codes_and_gaps_equal_their_slow_twin(seed, n_rows, kind, gaps):
    X, y = random_table(seed, n_rows, kind, gaps=gaps)
    found = scores(X, y, n_neighbors=3, categorical_features=[1, 3])
    coded = X.copy()
    for c in (1, 3):  # codes count the states that occur
        known = ~np.isnan(X[:, c])
        coded[known, c] = np.unique(X[known, c], return_inverse=True)[1]
    assert_allclose(found, twin(coded, y, kind, 3, {1, 3}), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", [THREE, "regression"])
def test_many_columns_of_real_numbers_equal_the_twin(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 35)) * 10.0 ** rng.integers(-9, 9, 35)
    y = rng.normal(size=40) if kind == "regression" else np.arange(40) % 3
    assert_allclose(scores(X, y), twin(X, y, kind, 10), rtol=0, atol=1e-12)


def test_xor_pair_is_found():
    for make in (make_xor, make_binary_xor):
        data = make(200, random_state=1)
        selector = ReliefF(n_features_to_select=2).fit(data.data, data.target)
        assert set(selector.indices_.tolist()) == set(np.asarray(data.relevant).tolist())


def test_toy_data_of_the_papers_is_ranked_as_a_public_package_ranks_it():
    X, y = toy("xor_t1")
    assert set(ReliefF(n_features_to_select=2).fit(X, y).indices_.tolist()) == {0, 1}
    X, y = toy("quad_t1")
    assert set(ReliefF(n_features_to_select=2).fit(X, y).indices_.tolist()) == {0, 1}
    X, y = toy("andor_t1")  # relevant columns and their copies score alike, noise far below
    assert set(ReliefF(n_features_to_select=7).fit(X, y).indices_.tolist()) == set(range(7))


def test_one_neighbour_and_two_classes_is_relief():
    rng = np.random.default_rng(3)
    X, y = rng.random((30, 3)), np.arange(30) % 2
    Z = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    weight = np.zeros(3)
    for i in range(30):
        apart = np.abs(Z - Z[i])
        near = apart.sum(axis=1)
        near[i] = np.inf
        hit = min((j for j in range(30) if y[j] == y[i]), key=lambda j: near[j])
        miss = min((j for j in range(30) if y[j] != y[i]), key=lambda j: near[j])
        weight += (apart[miss] - apart[hit]) / 30
    assert_allclose(scores(X, y, n_neighbors=1), weight, rtol=0, atol=1e-12)


# --- The same answer in every way to get it ------------------------------------------------------


def mixed_table(kind, n_rows=150):
    X, y = random_table(5, n_rows, kind, n_values=40, n_columns=6, gaps=0.1)
    X[:, 0] = np.random.default_rng(1).normal(size=n_rows)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(6)])
    states = np.where(np.isnan(X[:, 3]), None, np.char.add("s", (X[:, 3] % 4).astype(str)))
    frame["c3"] = pd.Categorical(states)
    return frame, y


def ways(frame, y, tmp_path):
    """(table, target, parameters), in memory and elsewhere, with and without enough memory."""
    import dask.dataframe as dd
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "table.parquet"
    pq.write_table(pa.Table.from_pandas(frame.assign(y=y)), path, row_group_size=40)
    lazy = dd.from_pandas(frame.assign(y=y), npartitions=4)
    for memory in ("1GiB", 20 * frame.size):  # the second is too little to gather the table
        yield frame, y, {"memory_limit": memory, "n_jobs": 2}
        yield open_parquet(path), "y", {"memory_limit": memory}
        yield lazy.drop(columns="y"), lazy["y"], {"memory_limit": memory}


@pytest.mark.parametrize("kind", [THREE, "regression"])
def test_every_engine_and_budget_gives_the_same_scores(kind, tmp_path, monkeypatch):
    frame, y = mixed_table(kind)
    expected = scores(frame, y)
    monkeypatch.setattr(passes, "MOST_PER_PASS", 64)
    monkeypatch.setattr(passes, "MOST_TOGETHER", 17)
    for table, target, params in ways(frame, y, tmp_path):
        assert_allclose(scores(table, target, **params), expected, rtol=0, atol=1e-12)


def test_distances_of_both_rows_at_once_change_nothing(monkeypatch):
    frame, y = mixed_table(THREE)
    expected = scores(frame, y)
    monkeypatch.setattr(passes, "TILE_ROWS", 32)
    monkeypatch.setattr(passes, "TILE_OTHERS", 48)
    assert_allclose(scores(frame, y, n_jobs=2), expected, rtol=0, atol=1e-14)
    monkeypatch.setattr(passes, "_can_square", lambda *_: False)
    assert_allclose(scores(frame, y), expected, rtol=0, atol=1e-14)


@given(st.integers(0, 2**31), st.integers(1, 6))
def test_nearest_distances_merge(seed, k):
    rng = np.random.default_rng(seed)
    parts = [rng.integers(0, 4, rng.integers(1, 8)) * 1.0 for _ in range(3)]
    merged = nearest_of(parts[0], k).merge(nearest_of(parts[1], k)).merge(nearest_of(parts[2], k))
    expected = nearest_of(np.concatenate(parts), k)
    assert_allclose(merged.distances, expected.distances)
    if np.isfinite(expected.distances[0, 0, -1]):
        assert merged.at_edge.tolist() == expected.at_edge.tolist()


def nearest_of(values, k):
    kept = np.r_[np.sort(values)[:k], np.full(max(0, k - len(values)), np.inf)]
    return Nearest(kept[None, None], np.array([[np.count_nonzero(values == kept[-1])]]))


@pytest.mark.parametrize("kind", [THREE, "regression"])
def test_rows_and_columns_in_another_order_and_unit_give_the_same_scores(kind):
    X, y = random_table(2, 60, kind, n_values=5)
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(60), rng.permutation(4)
    expected = scores(X, y)
    assert_allclose(scores(X[rows], y[rows]), expected, rtol=0, atol=1e-12)
    assert_allclose(scores(X[:, columns], y), expected[columns], rtol=0, atol=1e-12)
    assert_allclose(scores(X * [1e-300, 1e300, 3, -0.1], y), expected, rtol=0, atol=1e-12)


def test_float32_sparse_and_dense_agree():
    import scipy.sparse as sp

    X, y = random_table(0, 50, TWO, n_values=3)
    for other in (sp.csr_array(X), X.astype(np.float32), np.asfortranarray(X)):
        assert_allclose(scores(other, y), scores(X, y), rtol=0, atol=1e-12)


# --- Samples of rows and time ---------------------------------------------------------------------


def test_a_sample_is_a_function_of_seed_and_row():
    X, y = random_table(1, 30, THREE)
    fitted = ReliefF(max_samples=7, random_state=4, n_features_to_select=1).fit(X, y)
    visited = np.random.default_rng(4).permutation(30)[:7]
    expected = reference.relieff(X, y, 10, visited=visited.tolist())
    assert_allclose(fitted.scores_, expected, rtol=0, atol=1e-12)
    assert fitted.result_.approximation == "7 of 30 rows were compared with all others"
    halved = scores(X, y, max_samples=7 / 30 + 1e-9, random_state=4)
    assert_allclose(halved, expected, rtol=0, atol=1e-12)


def test_all_rows_need_no_seed():
    X, y = random_table(1, 30, THREE)
    assert (scores(X, y, random_state=1) == scores(X, y, max_samples=30, random_state=2)).all()


def test_a_time_limit_leaves_a_sample_of_rows(monkeypatch):
    monkeypatch.setattr(passes, "MOST_TOGETHER", 4)
    monkeypatch.setattr(passes, "_can_square", lambda *_: False)
    monkeypatch.setattr("featsieve.runtime.progress.Monitor.remaining", after_ticks(3))
    X, y = random_table(1, 60, TWO)
    fitted = ReliefF(n_features_to_select=1, max_time=1e6).fit(X, y)
    assert fitted.result_.stop_reason == "max_time"
    n_compared = fitted.result_.extras["n_rows_compared"]
    assert 0 < n_compared < 60
    visited = np.random.default_rng(0).permutation(60)[:n_compared]
    expected = reference.relieff(X, y, 10, visited=visited.tolist())
    assert_allclose(fitted.scores_, expected, rtol=0, atol=1e-12)


def after_ticks(n_calls):
    """A clock that runs out when it has been looked at some times."""
    calls = iter(range(n_calls))
    return lambda _: next(calls, -1) + 0.5


# --- Edges ----------------------------------------------------------------------------------------


def test_constant_and_empty_columns_score_zero():
    X, y = random_table(1, 40, TWO)
    X[:, 1], X[:, 2] = 7.0, np.nan
    found = scores(X, y)
    assert (found[1:3] == 0).all()
    assert_allclose(found[[0, 3]], scores(X[:, [0, 3]], y), rtol=0, atol=1e-12)


def test_duplicate_columns_score_alike_and_tie_to_the_first():
    X, y = random_table(1, 40, TWO)
    fitted = ReliefF(n_features_to_select=1).fit(np.c_[X[:, 0], X[:, 0] * 5 - 2], y)
    assert fitted.indices_.tolist() == [0]
    assert fitted.scores_[0] == pytest.approx(fitted.scores_[1], abs=1e-14)


def test_two_rows_and_a_class_of_one():
    assert scores(np.array([[0.0, 1.0], [2.0, 1.0]]), [0, 1]).tolist() == [1.0, 0.0]
    assert scores(np.array([[0.0, 1.0], [2.0, 1.0]]), [0.5, 1.5]).tolist() == [1.0, 0.0]
    X = np.array([[0.0], [0.1], [1.0]])
    assert_allclose(scores(X, [0, 0, 1]), reference.relieff(X, np.array([0, 0, 1]), 10))


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 300)), np.arange(12) % 2
    X[:, 77] += 4 * y
    assert ReliefF(n_features_to_select=1).fit(X, y).indices_.tolist() == [77]


def test_a_group_scores_the_sum_of_its_columns():
    X, y = random_table(3, 40, THREE)
    single = scores(X, y)
    fitted = ReliefF(n_features_to_select=1, feature_groups={"pair": [0, 3]}).fit(X, y)
    expected = [single[0] + single[3], single[1], single[2], single[0] + single[3]]
    assert_allclose(fitted.scores_, expected, rtol=0, atol=1e-12)


def test_several_outputs_keep_each_and_report_the_mean():
    X, y = random_table(3, 40, THREE)
    both = np.c_[y, y[::-1]]
    fitted = ReliefF(n_features_to_select=1).fit(X, both)
    each = fitted.result_.extras["output_scores"]
    assert_allclose(each, [scores(X, y), scores(X, y[::-1])], rtol=0, atol=1e-12)
    assert_allclose(fitted.scores_, each.mean(axis=0), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0 is not allowed; give an integer >= 1"),
        ({"n_neighbors": 2.5}, r"n_neighbors=2\.5 is not allowed"),
        ({"n_neighbors": True}, "n_neighbors=True is not allowed"),
        ({"max_samples": 0}, "max_samples=0 is not allowed; give an integer >= 1, a fraction"),
        ({"max_samples": 1.5}, r"max_samples=1\.5 is not allowed"),
        ({"max_samples": "all"}, "max_samples='all' is not allowed"),
    ],
)
def test_bad_parameters_are_refused(params, words):
    X, y = random_table(0, 10, TWO)
    with pytest.raises(InputError, match=words):
        ReliefF(**params).fit(X, y)


def test_infinite_cells_are_refused_by_name():
    X, y = random_table(0, 10, TWO)
    X[3, 2] = np.inf
    with pytest.raises(InputError, match="column 'x2' has 1 infinite cells, and Relief needs"):
        ReliefF().fit(X, y)


def test_pairs_within_limits_are_listed_by_row_and_group():
    total = np.random.default_rng(1).integers(0, 5, size=(4, 11)).astype(np.float32)
    total[2, 5] = np.inf
    starts = np.array([0, 3, 3, 11])  # the group in the middle has no rows
    limits = np.array([[1.0, 9.0, 2.0]] * 4)
    row, other, first = pairs_within(total, starts, limits)
    expected = [
        (i, j)
        for i in range(4)
        for g in range(3)
        for j in range(starts[g], starts[g + 1])
        if total[i, j] <= limits[i, g]
    ]
    assert list(zip(row.tolist(), other.tolist(), strict=True)) == expected
    assert first[-1] == len(expected)
    assert (np.diff(first).reshape(4, 3)[:, 1] == 0).all()
