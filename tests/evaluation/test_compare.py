"""compare: nested, resumable, and honest about failures; Nogueira's index."""

from __future__ import annotations

import copy
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectKBest, SelectorMixin, f_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, TimeSeriesSplit

from featsieve import BAHSIC, MRMR, PearsonRanking
from featsieve.errors import InputError
from featsieve.evaluation import compare, error_curve, stability
from featsieve.evaluation.journal import Journal
from featsieve.runtime.journal import settings_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 6))
Y = X[:, 1] + X[:, 4] ** 2 + 0.3 * RNG.normal(size=60)
QUICK = {"judges": ["knn"], "cv": 3, "n_bootstraps": 4}


def slow_stability(Z):
    """Nogueira et al. (2018), equation by equation."""
    M, d = Z.shape
    p = [sum(Z[i][f] for i in range(M)) / M for f in range(d)]
    k = [sum(row) for row in Z]
    k_bar = sum(k) / M
    chance = (k_bar / d) * (1 - k_bar / d)
    value = 1 - sum(M / (M - 1) * q * (1 - q) for q in p) / d / chance
    phi = []
    for i in range(M):
        first = sum(Z[i][f] * p[f] for f in range(d)) / d - k[i] * k_bar / d**2
        second = value / 2 * (2 * k_bar * k[i] / d**2 - k[i] / d - k_bar / d + 1)
        phi.append((first + second) / chance)
    mean = sum(phi) / M
    return value, 4 / M**2 * sum((q - mean) ** 2 for q in phi)


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 6), st.integers(2, 7), st.integers(0, 1000))
def test_stability_is_its_definition(n_selections, n_columns, seed):
    Z = np.random.default_rng(seed).integers(0, 2, size=(n_selections, n_columns))
    index = stability([np.flatnonzero(row) for row in Z], n_columns)
    if 0 < Z.mean() < 1:
        value, variance = slow_stability(Z)
        assert index.value == pytest.approx(value)
        assert index.variance == pytest.approx(variance)
        assert index.low <= index.value <= index.high
    else:
        assert np.isnan(index.value)


def test_stability_of_chance_is_about_zero():
    rng = np.random.default_rng(1)
    sets = [rng.permutation(40)[:5] for _ in range(200)]
    index = stability(sets, 40)
    assert index.low < 0 < index.high
    same = stability([[1, 2]] * 30, 40)
    assert same.value == 1.0
    assert same.more_stable_than(index) < 1e-6
    assert index.more_stable_than(same) > 0.5


@pytest.mark.parametrize(
    ("selections", "n_columns"),
    [
        ([[0]], 3),
        ([[0], [5]], 3),
        ([[0], [-1]], 3),
        ([[True, False, True], [False, False, True]], 3),  # would be columns 0 and 1
        ([[0.5], [1.0]], 3),
        ([["a"], ["b"]], 3),
        ([[0, 0], [1, 2]], 3),
    ],
)
def test_bad_selections(selections, n_columns):
    with pytest.raises(InputError):
        stability(selections, n_columns)


def test_indices_without_variance_are_compared_by_their_sign():
    always, other = stability([[0, 1, 2]] * 30, 10), stability([[1, 0]] * 30, 10)
    assert always.more_stable_than(other) == other.more_stable_than(always) == 0.5
    never = stability([[0], [1]] * 15, 2)
    assert (always.more_stable_than(never), never.more_stable_than(always)) == (0.0, 1.0)


def test_the_rows_hold_everything():
    outcome = compare(X, Y, ["pc", "bahsic"], n_features_to_select=2, **QUICK)
    row = outcome["bahsic"]
    assert set(row.columns) == {"x1", "x4"}
    assert row.error < outcome["pc"].error
    assert len(row.errors["knn"]) == 3
    assert row.error == pytest.approx(np.mean(row.errors["knn"]))
    assert row.seconds > 0
    assert row.stability.n_selections == 4
    assert 0 <= outcome.more_stable("bahsic", "pc") <= 1
    assert json.loads(json.dumps(outcome.as_dict()))["rows"][1]["name"] == "bahsic"
    assert "bahsic" in str(outcome)
    html = outcome._repr_html_()
    assert html.count("<tr>") == 1 + len(outcome.rows)
    assert "Every fold selects on its training rows alone." in html


def test_the_selection_is_nested():
    rng = np.random.default_rng(2)
    noise, y = rng.normal(size=(60, 500)), rng.integers(0, 2, 60)
    row = compare(noise, y, "pc", n_features_to_select=5, judges=["knn"], n_bootstraps=0).rows[0]
    assert row.error > 0.25


def test_a_failure_is_a_row_with_its_reason():
    methods = {"good": PearsonRanking(n_features_to_select=2), "bad": BAHSIC(bandwidth=-1.0)}
    outcome = compare(X, Y, methods, **QUICK)
    assert outcome["good"].failed is None
    assert "bandwidth" in outcome["bad"].failed
    assert np.isnan(outcome["bad"].error)
    assert "failed: bandwidth" in str(outcome)
    rows = json.loads(json.dumps(outcome.as_dict(), allow_nan=False))["rows"]
    assert rows[1]["error"] is None
    assert rows[1]["failed"] == outcome["bad"].failed
    with pytest.raises(InputError):
        outcome.more_stable("good", "bad")


def test_other_selectors_and_judges():
    methods = {"F": SelectKBest(f_regression, k=2)}
    row = compare(X, Y, methods, judges=[Ridge()], cv=3, n_bootstraps=2)["F"]
    assert len(row.columns) == 2


class Answering(SelectorMixin, BaseEstimator):
    """Whatever it is told to answer."""

    def __init__(self, indices=None):
        self.indices = indices

    def fit(self, X, y=None):
        self.indices_ = self.indices
        return self

    def _get_support_mask(self):
        return np.zeros(6, dtype=bool)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ([-1], "outside of 0 to 5"),
        ([6], "outside of 0 to 5"),
        ([True, False, False, False, False, False], "a mask"),
        ([0, 0, 1], "a column twice"),
        ([0.0], "no list of integers"),
        ([], "it selected nothing"),
        (None, "it selected nothing"),
    ],
)
def test_an_answer_that_names_no_columns_is_a_failed_row_and_ends_no_other(answer, reason):
    outcome = compare(X, Y, {"odd": Answering(answer), "good": MRMR()}, **QUICK)
    assert reason in outcome["odd"].failed
    assert outcome["good"].failed is None


class BrokenJudge(BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("a | b")


def test_a_judge_that_fails_is_named_and_bars_do_not_end_a_cell():
    BrokenJudge.predict = BrokenJudge.fit
    outcome = compare(X, Y, "pc", **(QUICK | {"judges": BrokenJudge()}))
    assert outcome["pc"].failed == "the judge BrokenJudge failed: RuntimeError: a | b"
    assert "a \\| b |" in str(outcome)


def test_judges_of_the_same_name_are_numbered():
    judges = [Ridge(alpha=0.1), Ridge(alpha=1e6)]
    row = compare(X, Y, "pc", **(QUICK | {"judges": judges})).rows[0]
    assert list(row.errors) == ["Ridge", "Ridge 2"]
    assert row.errors["Ridge"] != row.errors["Ridge 2"]


@pytest.mark.parametrize("table", [None, 3, X[:, 0], X[:, :0], [["a"]] * 60, X.reshape(60, 3, 2)])
def test_what_is_no_table_is_refused_before_any_work(table):
    with pytest.raises(ValueError):
        compare(table, Y, "pc", **QUICK)
    with pytest.raises(ValueError):
        error_curve(table, Y, "pc", [1])


def test_columns_of_the_same_name_and_lists_of_rows():
    with pytest.raises(InputError, match="'a'"):
        compare(pd.DataFrame(X, columns=list("aabbcc")), Y, "pc", **QUICK)
    listed = compare(X.tolist(), Y.tolist(), "pc", **QUICK).rows[0]
    assert listed.errors == compare(X, Y, "pc", **QUICK).rows[0].errors


def test_groups_and_time_order_are_those_of_the_splitter():
    groups = np.arange(60) // 6
    outcome = compare(X, Y, "pc", groups=groups, **(QUICK | {"cv": GroupKFold(5)}))
    assert outcome.n_folds == 5
    ordered = compare(X, Y, "pc", **(QUICK | {"cv": TimeSeriesSplit(4)}))
    assert ordered.n_folds == 4


class Spy(SelectorMixin, BaseEstimator):
    """Keeps the first two columns, and in ``SEEN`` the rows it got, whose numbers are in x5."""

    def __init__(self, error=None, cv=3):
        self.error, self.cv = error, cv

    def fit(self, X, y, groups=None):
        SEEN.append((X[:, 5].astype(int), groups, self.cv))
        if self.error is not None:
            raise self.error("a reason")
        self.n_features_in_ = X.shape[1]
        return self

    def _get_support_mask(self):
        return np.arange(self.n_features_in_) < 2


SEEN: list = []
NUMBERED = np.column_stack([X[:, :5], np.arange(60)])
GROUPS = np.repeat(np.arange(12), 5)


@pytest.mark.parametrize("cv", [3, GroupKFold(3)])
def test_a_method_sees_whole_groups_and_is_told_which_they_are(cv):
    SEEN.clear()
    compare(NUMBERED, Y, Spy(), groups=GROUPS.astype(str), **(QUICK | {"cv": cv}))
    for rows, groups, inner in SEEN:
        counts = np.bincount(GROUPS[rows])
        assert (counts[counts > 0] % 5 == 0).all()
        assert (np.unique(groups, return_inverse=True)[1].shape, type(inner)) == (
            rows.shape,
            GroupKFold,
        )
        assert len({*zip(groups.tolist(), GROUPS[rows].tolist(), strict=True)}) == len({*groups})


def test_folds_inside_a_method_look_ahead_where_the_outer_ones_do():
    SEEN.clear()
    compare(NUMBERED, Y, Spy(), **(QUICK | {"cv": TimeSeriesSplit(3)}))
    for rows, _, inner in SEEN:
        assert (np.diff(rows) >= 0).all()
        assert isinstance(inner, TimeSeriesSplit)


@pytest.mark.parametrize(
    "error", [RuntimeError, IndexError, AttributeError, KeyError, ImportError, OSError]
)
def test_whatever_a_method_raises_is_a_row(error):
    outcome = compare(X, Y, {"bad": Spy(error), "good": Spy()}, **QUICK)
    assert outcome["bad"].failed.startswith(error.__name__)
    assert outcome["good"].failed is None


@pytest.mark.parametrize(
    "content", [b"my notes", b"my\nnotes\n", b"[1, 2]\n", b"3\n", b"\xff\xfe\x00", b'{"a": 1}\n']
)
def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a file of finished pieces"):
        Journal(path, {"data": 1})
    assert path.read_bytes() == content
    with pytest.raises(InputError, match="not a file of finished pieces"):
        Journal(tmp_path, {"data": 1})


def test_every_parameter_belongs_to_the_settings_of_a_run(tmp_path):
    path = tmp_path / "run.jsonl"
    long = {"kernel": "rbf", "target_kernel": "linear", "bandwidth": 1.2345, "estimator": "biased"}
    compare(X, Y, BAHSIC(n_features_to_select=2, **long, step=0.3), resume=path, **QUICK)
    with pytest.raises(InputError, match="belongs to another run"):
        compare(X, Y, BAHSIC(n_features_to_select=2, **long, step=0.9), resume=path, **QUICK)


@pytest.mark.parametrize(
    ("value", "other"),
    [
        (np.arange(5000), np.r_[np.arange(2500), 0, np.arange(2501, 5000)]),
        ([0.1 + 1e-12], [0.1]),
        (np.array([0.1 + 1e-12]), np.array([0.1])),
    ],
)
def test_arrays_among_the_settings_are_told_apart(value, other):
    def words(it):
        return settings_of(Answering(it))

    assert words(value) == words(copy.deepcopy(value)) != words(other)
    assert len(str(words(value))) < 1000


def test_bootstrap_samples_draw_whole_groups():
    from featsieve.evaluation.compare import _Trial

    groups = np.arange(60) // 6
    trial = _Trial.of(X, Y, ["knn"], 3, None, "auto", 0)
    trial = type(trial)(**{**vars(trial), "groups": groups})
    counts = np.bincount(trial.rows("sample", 0), minlength=60).reshape(10, 6)
    assert (counts == counts[:, :1]).all()
    assert counts.sum() == 60


def test_threads_change_nothing():
    one = compare(X, Y, ["pc", "mrmr"], n_jobs=1, **QUICK)
    two = compare(X, Y, ["pc", "mrmr"], n_jobs=2, **QUICK)
    assert [row.errors for row in one.rows] == [row.errors for row in two.rows]
    assert [row.columns for row in one.rows] == [row.columns for row in two.rows]


def test_progress_is_told():
    told = []
    compare(X, Y, "pc", callback=told.append, **QUICK)
    assert told[-1].done == told[-1].total == 3 + 4 + 1


def test_a_file_of_another_run_is_refused(tmp_path):
    path = tmp_path / "run.jsonl"
    compare(X, Y, "pc", resume=path, **QUICK)
    with pytest.raises(InputError, match="belongs to another run"):
        compare(X, Y, "mrmr", resume=path, **QUICK)


SCRIPT = """
import sys
import numpy as np
from featsieve.evaluation import compare
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 6))
y = X[:, 1] + X[:, 4] ** 2
outcome = compare(
    X, y, ["pc", "cmim"], n_features_to_select=2, judges=["trees"], resume=sys.argv[1]
)
print([(row.errors, row.columns, row.stability.value) for row in outcome.rows])
"""


def test_a_killed_run_continues_and_gives_the_same(tmp_path):
    path = tmp_path / "run.jsonl"
    command = [sys.executable, "-c", SCRIPT, str(path)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while not path.exists() or path.read_text().count("\n") < 5:
        assert process.poll() is None, "it was over before it could be killed"
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    n_done = path.read_text().count("\n") - 1
    continued = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    whole = subprocess.run(
        [*command[:-1], str(tmp_path / "whole.jsonl")], capture_output=True, text=True, check=True
    ).stdout
    assert continued == whole
    lines = path.read_text().splitlines()
    assert len(lines) == 1 + 2 * (5 + 30 + 1)
    assert len(lines) - 1 > n_done >= 4


def test_a_line_that_was_cut_off_is_done_again(tmp_path):
    path = tmp_path / "run.jsonl"
    journal = Journal(path, {"a": 1})
    assert journal.piece(("x", 0), lambda: [1.5]) == [1.5]
    with path.open("a") as stream:
        stream.write('{"key": ["x", 1], "pie')
    again = Journal(path, {"a": 1})
    assert ("x", 0) in again
    assert ("x", 1) not in again
    assert again.piece(("x", 1), lambda: 2) == 2
    assert len(Journal(path, {"a": 1})) == 2


@pytest.mark.parametrize(
    "parameters",
    [
        {"judges": []},
        {"judges": None},
        {"judges": [LogisticRegression()]},
        {"cv": 1},
        {"n_bootstraps": -1},
        {"random_state": -1},
        {"random_state": 2**32},
        {"methods": {}},
        {"resume": "no/such/folder/run.jsonl"},
        {"resume": 3},
    ],
)
def test_bad_parameters(parameters):
    with pytest.raises(InputError):
        compare(X, Y, **({"methods": "pc"} | parameters))


def test_masked_cells_are_missing():
    masked = np.ma.masked_array(X, mask=X > 1.5)
    holed = np.where(X > 1.5, np.nan, X)
    rows = [compare(table, Y, {"mrmr": MRMR()}, **QUICK).rows[0] for table in (masked, holed)]
    assert rows[0].columns == rows[1].columns
    assert rows[0].error == rows[1].error
