"""``n_features_to_select="auto"`` for every method."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, TimeSeriesSplit

from featsieve import (
    BAHSIC,
    CMIM,
    HSICRanking,
    PearsonRanking,
    PrincipalFeatures,
    WrapperSelector,
    open_parquet,
)
from featsieve.datasets import make_quad, make_xor
from featsieve.errors import InputError
from featsieve.input.boundary import Settings, open_engine
from featsieve.procedures.judging.rows import draw_rows, split_rows
from featsieve.procedures.variance_count import rebuilt_share
from featsieve.schema import Dependence
from tests.estimators import METHODS, method_ids, quick_selector, target_for

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5))
Y = X[:, 1] + X[:, 4] ** 2 + 0.3 * RNG.normal(size=60)


@pytest.mark.parametrize("method", METHODS, ids=method_ids)
def test_every_method_says_its_rule_and_keeps_its_curve(method):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = quick_selector(method, n_features_to_select="auto")
        selector.fit(X, target_for(method, Y))
    extras = selector.result_.extras
    assert "count" in extras["count_rule"]
    counts = [count for count, _, _ in extras["count_curve"]]
    assert len(selector.indices_) in counts
    assert all(np.isfinite(point).all() for point in extras["count_curve"])


def test_the_answer_is_that_of_the_count_it_found():
    auto = CMIM(n_features_to_select="auto").fit(X, Y)
    given = CMIM(n_features_to_select=len(auto.indices_)).fit(X, Y)
    assert auto.indices_.tolist() == given.indices_.tolist()
    assert auto.scores_ == pytest.approx(given.scores_, nan_ok=True)


def test_the_count_is_the_smallest_within_one_error():
    curve = CMIM(n_features_to_select="auto").fit(X, Y).result_.extras["count_curve"]
    _, least, error = min(curve, key=lambda point: point[1])
    expected = min(count for count, value, _ in curve if value <= least + error)
    assert CMIM(n_features_to_select="auto").fit(X, Y).support_.sum() == expected


@pytest.mark.parametrize("make", [make_xor, make_quad])
def test_counts_of_the_toy_sets(make):
    data = make(300, random_state=0)
    selector = BAHSIC(n_features_to_select="auto").fit(data.data, data.target)
    assert sorted(selector.indices_.tolist()) == sorted(data.relevant)


def test_noise_keeps_few_columns():
    rng = np.random.default_rng(1)
    counts = []
    for _ in range(8):
        noise, y = rng.normal(size=(60, 40)), rng.integers(0, 2, 60)
        counts.append(PearsonRanking(n_features_to_select="auto").fit(noise, y).support_.sum())
    assert np.median(counts) <= 5


def test_a_file_gives_the_answer_of_memory(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {f"x{j}": X[:, j] for j in range(5)} | {"y": Y}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=13)
    from_file = CMIM(n_features_to_select="auto").fit(open_parquet(tmp_path / "t.parquet"), "y")
    from_memory = CMIM(n_features_to_select="auto").fit(X, Y)
    assert from_file.indices_.tolist() == from_memory.indices_.tolist()
    assert from_file.result_.extras["count_curve"] == from_memory.result_.extras["count_curve"]


def test_more_rows_than_the_sample():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(3000, 4))
    selector = PearsonRanking(n_features_to_select="auto").fit(X, X[:, 2] + 0.01 * X[:, 0])
    assert selector.indices_.tolist() == [2]


def test_weights_groups_and_missing_cells():
    weight = np.r_[np.ones(50), np.zeros(10)]
    weighted = PearsonRanking(n_features_to_select="auto").fit(X, Y, sample_weight=weight)
    assert weighted.support_.any()
    groups = {"a": [0, 1], "b": [2, 3, 4]}
    grouped = HSICRanking(n_features_to_select="auto", feature_groups=groups).fit(X, Y)
    assert grouped.support_.sum() in (2, 3, 5)
    gaps = X.copy()
    gaps[::7, 1] = np.nan
    assert CMIM(n_features_to_select="auto").fit(gaps, Y).support_[1]


@pytest.mark.parametrize("y", [[0, 1, 0, 1, 0], [0.5, 1, 2, 4, 9], list("aaaaaaaaab")])
def test_few_rows_and_a_class_of_one_row(y):
    rows = len(y)
    selector = PearsonRanking(n_features_to_select="auto").fit(X[:rows], y)
    assert 1 <= selector.support_.sum() <= 5
    assert selector.result_.extras["count_rule"]


def test_constant_columns():
    selector = PearsonRanking(n_features_to_select="auto", task="regression")
    selector.fit(np.ones((20, 3)), np.arange(20.0))
    assert selector.support_.sum() == 1


def test_without_a_target_ninety_percent_of_the_variance():
    rng = np.random.default_rng(0)
    source = rng.normal(size=(200, 3))
    table = source @ rng.normal(size=(3, 12)) + 0.01 * rng.normal(size=(200, 12))
    selector = PrincipalFeatures(n_features_to_select="auto").fit(table)
    assert selector.support_.sum() <= 3
    assert "90 %" in selector.result_.extras["count_rule"]
    count, left, _ = selector.result_.extras["count_curve"][-1]
    assert count == selector.support_.sum()
    assert left <= 0.1


def test_the_share_of_the_variance_is_that_of_least_squares():
    from sklearn.linear_model import LinearRegression

    sample = draw_rows(open_engine(X, Y, Settings()), 0)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    predicted = LinearRegression().fit(scaled[:, [0, 3]], scaled).predict(scaled[:, [0, 3]])
    expected = 1 - ((scaled - predicted) ** 2).sum() / (scaled**2).sum()
    assert rebuilt_share(sample, np.array([3, 0])) == pytest.approx(expected)


def test_a_gram_matrix_as_target_is_refused():
    with pytest.raises(InputError, match="give a number"):
        BAHSIC(n_features_to_select="auto", target_kernel="precomputed").fit(X, X @ X.T)


@pytest.mark.parametrize("kept", ["groups", "time"])
def test_inside_folds_of_another_its_own_keep_what_those_keep(kept, monkeypatch):
    seen = []

    def watched(*arguments):
        seen.extend(split_rows(*arguments))
        return seen

    monkeypatch.setattr("featsieve.procedures.auto_count.split_rows", watched)
    groups = np.repeat(np.arange(12), 5)
    dependence = Dependence(groups) if kept == "groups" else Dependence(in_order=True)
    PearsonRanking(n_features_to_select="auto")._within(dependence).fit(X, Y)
    assert len(seen) == 5
    for fold in seen:
        if kept == "groups":
            assert not set(groups[fold.train]) & set(groups[fold.test])
        else:
            assert fold.train.max() < fold.test.min()


def test_a_wrapper_inside_folds_of_another_splits_as_those_do():
    groups = np.repeat(np.arange(12), 5)
    selector = WrapperSelector(Ridge(), cv=4)
    cv, told = selector._within(Dependence(groups))._split()
    assert isinstance(cv, GroupKFold)
    assert told["groups"] is groups
    assert isinstance(selector._within(Dependence(in_order=True))._split()[0], TimeSeriesSplit)
    grouped = selector._within(Dependence(groups)).fit(X, Y)
    by_hand = WrapperSelector(Ridge(), cv=GroupKFold(4)).fit(X, Y, groups=groups)
    assert grouped.scores_.tolist() == by_hand.scores_.tolist()
