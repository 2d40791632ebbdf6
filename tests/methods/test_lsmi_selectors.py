"""The selectors of the LSMI family: scikit-learn's checks, engines, what they find."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.utils.estimator_checks import parametrize_with_checks

import featsieve
from featsieve import BLSMI, FLSMI, L1LSMI, LSMIRanking, MLMIRanking
from featsieve.datasets import make_and_or, make_quad, make_xor
from featsieve.errors import InputError
from featsieve.input.boundary import Settings, open_engine
from featsieve.measures import LSMI
from featsieve.measures.lsmi import sampled as table_rows_module
from featsieve.procedures.count_rule import CurvePoint, smallest_within_one_error
from featsieve.result import SelectionResult
from featsieve.runtime import progress
from featsieve.searches import L1Ball
from tests.tables import as_pandas, mixed_columns

FAST = {"n_basis": 10, "sigmas": [0.5, 2.0], "cv": 2}


@parametrize_with_checks(
    [
        LSMIRanking(**FAST),
        FLSMI(**FAST, n_features_to_select=1),
        BLSMI(**FAST, n_features_to_select=1),
        L1LSMI(**FAST, n_features_to_select=1, n_init=2, max_iter=10),
        MLMIRanking(**FAST, n_features_to_select=1),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


# --- what they find ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "k"), [(make_and_or, 4), (make_quad, 2), (make_xor, 2)], ids=["and-or", "quad", "xor"]
)
def test_l1_lsmi_finds_the_true_columns(make, k):
    data = make(400, random_state=3)
    selector = L1LSMI(n_features_to_select=k, random_state=0).fit(data.data, data.target)
    assert sorted(selector.indices_) == list(range(k))
    assert np.flatnonzero(selector.weights_).tolist() == list(range(k))
    assert selector.weights_.sum() <= selector.radius_ * (1 + 1e-12)
    assert selector.smi_ > 0.4
    assert selector.n_iter_ > 0


def test_l1_lsmi_finds_interaction_among_many_noise_columns():
    data = make_xor(400, random_state=1)
    noise = np.random.default_rng(1).random((400, 100)) < 0.5
    X = np.c_[data.data, noise]
    selector = L1LSMI(n_features_to_select=2, random_state=0).fit(X, data.target)
    assert sorted(selector.indices_) == [0, 1]


def test_backward_sees_the_interaction_that_forward_can_miss():
    data = make_xor(300, random_state=0)
    params = {"n_features_to_select": 2, "n_basis": 50, "random_state": 0}
    assert sorted(BLSMI(**params).fit(data.data, data.target).indices_) == [0, 1]


@pytest.mark.parametrize("selector", [LSMIRanking, FLSMI, MLMIRanking])
def test_single_columns_that_matter(selector):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = X[:, 2] ** 2 + 0.1 * rng.normal(size=200)
    fitted = selector(n_features_to_select=1, n_basis=40, sigmas=[0.3, 1.0], random_state=0)
    assert fitted.fit(X, y).indices_.tolist() == [2]


# --- the same answer everywhere ------------------------------------------------------------------


def stream(monkeypatch):
    """Make every table too large to stay in memory."""
    monkeypatch.setattr(table_rows_module, "_RESIDENT_BYTES", 0)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_blocks_and_chunks_change_nothing(monkeypatch, task):
    data = make_xor(300, random_state=0)
    y = data.target if task == "classification" else data.target + data.data[:, 2] * 0.5
    kwargs = {"random_state": 0, "n_basis": 30}
    weights = np.linspace(0.1, 1, 10)

    def outcome(**settings):
        bound = LSMI(**kwargs).bind(open_engine(data.data, y, Settings(task=task, **settings)))
        value, gradient = bound.value_and_gradient(weights)
        return np.r_[value, gradient, bound.chosen, bound.value([0, 1])]

    expected = outcome()
    stream(monkeypatch)
    monkeypatch.setattr(table_rows_module, "_CHUNK_ROWS", 64)
    for settings in ({}, {"rows_per_block": 37}, {"rows_per_block": 100, "n_jobs": 2}):
        np.testing.assert_allclose(outcome(**settings), expected, rtol=1e-9, atol=1e-12)


def test_dask_and_parquet_select_the_same(tmp_path, monkeypatch):
    import dask.dataframe as dd
    import pandas as pd

    data = make_xor(300, random_state=0)
    frame = pd.DataFrame(data.data, columns=[f"c{j}" for j in range(10)])
    params = {"n_features_to_select": 2, "n_init": 2, "n_basis": 30, "random_state": 0}
    expected = L1LSMI(**params).fit(frame, data.target)
    assert sorted(expected.indices_) == [0, 1]
    stream(monkeypatch)
    lazy = dd.from_pandas(frame.assign(target=data.target), npartitions=3)
    frame.assign(target=data.target).to_parquet(tmp_path / "t.parquet")
    table = featsieve.open_parquet(tmp_path / "t.parquet", target="target")
    for X, y in ((lazy.drop(columns="target"), lazy["target"]), (table, None)):
        found = L1LSMI(**params).fit(X, y)
        np.testing.assert_allclose(found.weights_, expected.weights_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_n_jobs_changes_nothing(n_jobs):
    data = make_and_or(200, random_state=0)
    params = {"n_features_to_select": 4, "n_init": 4, "n_basis": 30, "random_state": 0}
    one = L1LSMI(**params).fit(data.data, data.target)
    many = L1LSMI(**params, n_jobs=n_jobs).fit(data.data, data.target)
    np.testing.assert_array_equal(one.weights_, many.weights_)


def test_mixed_table_with_a_group():
    columns = mixed_columns(120)
    frame = as_pandas(columns)
    groups = {"pair": ["noise", "flag"], "size": ["size"], "colour": ["colour"]}
    selector = L1LSMI(n_features_to_select=2, feature_groups=groups, n_init=3, random_state=0)
    selector.fit(frame.drop(columns="target"), frame["target"])
    assert set(selector.get_feature_names_out()) == {"size", "colour"}
    assert selector.weights_[0] == selector.weights_[3] == 0


def test_several_outputs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    Y = np.c_[X[:, 0] + 0.1 * rng.normal(size=200), X[:, 3] ** 2]
    selector = L1LSMI(n_features_to_select=2, n_init=4, random_state=0).fit(X, Y)
    assert sorted(selector.indices_) == [0, 3]


def test_time_limit_still_answers(monkeypatch):
    """Every look at the clock is a second."""
    monkeypatch.setattr(progress, "perf_counter", itertools.count().__next__)
    data = make_and_or(400, random_state=0)
    selector = L1LSMI(n_features_to_select=4, n_agree=None, max_time=50, random_state=0)
    selector.fit(data.data, data.target)
    assert selector.result_.stop_reason == "max_time"
    assert 50 < selector.result_.elapsed < 100
    assert len(selector.indices_) == 4


# --- "auto" --------------------------------------------------------------------------------------


def test_auto_finds_the_number_of_interacting_columns():
    data = make_xor(300, random_state=2)
    selector = L1LSMI(n_features_to_select="auto", n_init=3, n_basis=50, random_state=0)
    selector.fit(data.data, data.target)
    assert sorted(selector.indices_) == [0, 1]
    curve = selector.result_.extras["smi_curve"]
    assert curve[0][1] < 0.1 < curve[1][1]


def test_auto_takes_the_smallest_within_one_error():
    def point(size, smi, error):
        result = SelectionResult(np.arange(size), np.zeros(9))
        return CurvePoint(result, smi, error)

    points = [point(1, 0.1, 0.01), point(2, 0.44, 0.01), point(3, 0.45, 0.02), point(4, 0.4, 0.1)]
    assert smallest_within_one_error(points).size == 2


@pytest.mark.parametrize("limit", ["16MiB", "1MiB"])
def test_the_memory_limit_does_not_change_scores(limit):
    X = np.random.default_rng(0).normal(size=(1200, 2))
    y = X[:, 0] > 0
    roomy = LSMIRanking(random_state=0).fit(X, y).scores_
    assert_allclose(LSMIRanking(random_state=0, memory_limit=limit).fit(X, y).scores_, roomy)


@pytest.mark.parametrize("selector", [LSMIRanking(), MLMIRanking(), BLSMI(), FLSMI()])
def test_a_time_limit_before_the_first_answer_is_an_error(selector):
    X = np.random.default_rng(0).normal(size=(60, 4))
    with pytest.raises(TimeoutError, match="before the first answer"):
        selector.set_params(max_time=1e-9, n_features_to_select=2).fit(X, X[:, 0] > 0)


@pytest.mark.parametrize("at", [1, 6])
def test_ctrl_c_ends_the_automatic_count_with_what_there_is(at):
    X = np.random.default_rng(0).normal(size=(100, 4))
    reports = []

    def interrupt(progress):
        reports.extend([progress] * (progress.message == "restarts"))
        if len(reports) == at:
            raise KeyboardInterrupt

    selector = L1LSMI(n_features_to_select="auto", random_state=0, callback=interrupt)
    selector.fit(X, X[:, 0] > 0)
    assert selector.result_.stop_reason == "interrupted"
    assert selector.indices_.tolist() == [0]


def test_numbers_whose_squares_overflow_are_scaled_or_refused():
    X = np.random.default_rng(0).normal(size=(50, 2))
    plain = LSMIRanking(random_state=0).fit(X, X[:, 0]).scores_
    extreme = LSMIRanking(random_state=0).fit(X * 1e160, X[:, 0] * 1e300).scores_
    assert_allclose(extreme, plain, rtol=1e-9)
    with pytest.raises(InputError, match="column 'x0' holds numbers of the size"):
        LSMIRanking(standardize=False).fit(X * 1e160, X[:, 0] > 0)


@pytest.mark.parametrize(("n_samples", "is_little"), [(400, True), (1000, False)])
def test_little_work_stays_on_one_thread(n_samples, is_little):
    data = make_xor(n_samples, random_state=0)
    bound = LSMI().bind(open_engine(data.data, data.target, Settings()))
    assert bound.workload == n_samples * 100**2 // 2
    assert L1Ball(n_jobs=2)._n_threads(bound) == (1 if is_little else 2)


@pytest.mark.parametrize("per_look", [16, 10**6])
def test_the_clock_is_looked_at_inside_one_column_of_many_rows(monkeypatch, per_look):
    """Every look at the clock is a second."""
    monkeypatch.setattr(progress, "perf_counter", itertools.count().__next__)
    monkeypatch.setattr(table_rows_module, "_CHUNKS_PER_LOOK", per_look)
    X = np.random.default_rng(0).normal(size=(120_000, 1))
    selector = LSMIRanking(n_features_to_select=1, sigmas=[0.5, 1.0], n_basis=5, max_time=5)
    if per_look == 16:
        with pytest.raises(TimeoutError):
            selector.fit(X, X[:, 0])
    else:
        selector.fit(X, X[:, 0])
