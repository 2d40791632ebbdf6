"""The bounds of stability selection, halves of the rows, and the selector."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve import (
    MRMR,
    AutoSelector,
    KnockoffSelector,
    LassoSelector,
    MaxRel,
    PearsonRanking,
    StabilitySelector,
    TreeImportance,
    open_parquet,
)
from featsieve.engines.row_subset import RowSubset
from featsieve.errors import InputError
from featsieve.inference.stability import (
    ASSUMPTIONS,
    false_selections,
    largest_tails,
    least_threshold,
    most_selected,
    r_concave,
)
from featsieve.input.boundary import Settings, open_engine
from featsieve.procedures.stability import Halves
from tests import reference


def table(seed=0, n=200, p=20):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] + X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=n)


@given(
    q=st.integers(1, 30),
    threshold=st.sampled_from([0.6, 0.7, 0.75, 0.8, 0.9, 1.0]),
)
def test_stronger_assumptions_give_sharper_bounds(q, threshold):
    none, unimodal, concave = (
        false_selections(q, 200, threshold, 20, assumption)
        for assumption in ("none", "unimodal", "r-concave")
    )
    assert concave <= unimodal + 1e-9 <= none + 2e-9
    assert none <= q


@pytest.mark.parametrize("r", [-0.5, -0.25])
@pytest.mark.parametrize("mean", [0.05, 0.15])
def test_no_r_concave_law_has_a_larger_tail(mean, r):
    size = 12
    tails = largest_tails(mean, size, r)
    assert (np.diff(tails) <= 1e-12).all()
    points = np.arange(size + 1)
    best = np.zeros(size + 1)
    for a, last in itertools.product(np.geomspace(1e-4, 1e4, 400), range(1, size + 1)):
        weights = np.where(points <= last, (a + points) ** (1.0 / r), 0.0)
        law = weights / weights.sum()
        if law @ points <= mean * size:
            best = np.maximum(best, law[::-1].cumsum()[::-1])
    assert (best <= tails + 1e-6).all()
    lowest = int(np.ceil(2 * mean * size)) + 1
    assert best[lowest + 1 :] == pytest.approx(tails[lowest + 1 :], rel=0.35)


def test_threshold_and_count_are_the_edges_of_the_bound():
    for assumption in ASSUMPTIONS:
        threshold = least_threshold(8, 100, 0.7, 25, assumption)
        assert false_selections(8, 100, threshold, 25, assumption) <= 0.7
        assert false_selections(8, 100, threshold - 1 / 50, 25, assumption) > 0.7
        q = most_selected(100, 0.5, 0.8, 25, assumption)
        assert false_selections(q, 100, 0.8, 25, assumption) <= 0.5
        assert false_selections(q + 1, 100, 0.8, 25, assumption) > 0.5


@given(n=st.integers(4, 60), seed=st.integers(0, 99), size=st.integers(1, 5))
def test_halves_are_disjoint_and_keep_members_together(n, seed, size):
    members = np.arange(n) // size
    first, second = Halves(n, members).pair(seed)
    assert not set(first.tolist()) & set(second.tolist())
    assert not set(members[first].tolist()) & set(members[second].tolist())
    assert n - len(first) - len(second) <= size


@given(seed=st.integers(0, 999))
@settings(deadline=None, max_examples=20)
def test_some_rows_of_an_engine_are_the_table_of_those_rows(seed):
    rng = np.random.default_rng(seed)
    X, y = table(seed, n=50, p=4)
    rows = np.sort(rng.choice(50, 21, replace=False))
    engine = RowSubset(open_engine(X, y, Settings(rows_per_block=8)), rows)
    selector = PearsonRanking(n_features_to_select=2)
    *_, last = selector._steps(engine, 2)
    assert last.scores == pytest.approx(selector.fit(X[rows], y[rows]).scores_, abs=1e-12)
    assert engine.take(np.array([3, 1]))[0].tolist() == X[rows[[3, 1]]].tolist()


def test_frequencies_are_shares_of_halves():
    X, y = table()
    selector = StabilitySelector(PearsonRanking(n_features_to_select=3), n_pairs=10, random_state=0)
    selector.fit(X, y)
    assert sorted(selector.indices_.tolist()) == [0, 1, 2]
    assert selector.frequencies_.sum() == pytest.approx(3)
    assert (selector.intervals_[:, 0] <= selector.frequencies_).all()
    assert (selector.frequencies_ <= selector.intervals_[:, 1]).all()
    assert selector.result_.extras["bound"] <= 1.0
    assert "false columns are selected" in selector.guarantee_


@pytest.mark.parametrize("method", [MRMR(n_features_to_select=3), MaxRel(n_features_to_select=3)])
def test_memory_file_dask_and_threads_agree(tmp_path, method):
    import dask.array as da
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = table(p=6)
    pq.write_table(
        pa.table({f"x{j}": X[:, j] for j in range(6)} | {"y": y}),
        tmp_path / "t.parquet",
        row_group_size=70,
    )
    make = {"selector": method, "n_pairs": 4, "threshold": 0.7, "pfer": 3.0, "random_state": 0}
    expected = StabilitySelector(**make).fit(X, y).frequencies_.tolist()
    others = [
        StabilitySelector(**make).fit(open_parquet(tmp_path / "t.parquet"), "y"),
        StabilitySelector(**make).fit(da.from_array(X, chunks=(70, 6)), y),
        StabilitySelector(**make, n_jobs=2).fit(X, y),
    ]
    for other in others:
        assert other.frequencies_.tolist() == expected


def test_a_run_that_was_cut_off_goes_on(tmp_path):
    X, y = table()
    path = tmp_path / "counts.json"
    make = {"selector": PearsonRanking(n_features_to_select=3), "random_state": 0}
    StabilitySelector(**make, n_pairs=3, checkpoint=path).fit(X, y)
    calls = []
    resumed = StabilitySelector(
        **make, n_pairs=5, checkpoint=path, callback=lambda progress: calls.append(progress)
    ).fit(X, y)
    whole = StabilitySelector(**make, n_pairs=5).fit(X, y)
    assert resumed.frequencies_.tolist() == whole.frequencies_.tolist()
    assert [c.done for c in calls if c.message == "selecting from halves"] == [4, 5]
    with pytest.raises(InputError, match="other data or settings"):
        StabilitySelector(**make, checkpoint=path).fit(X + 1, y)
    path.write_text("{}")
    with pytest.raises(InputError, match="not a checkpoint"):
        StabilitySelector(**make, checkpoint=path).fit(X, y)


def test_groups_stay_together_and_are_checked():
    X, y = table(n=40)
    groups = np.repeat(np.arange(10), 4)
    selector = StabilitySelector(n_pairs=3, threshold=0.6, random_state=0, allow_empty=True)
    grouped = selector.fit(X, y, groups=groups).frequencies_
    assert grouped.tolist() != selector.fit(X, y).frequencies_.tolist()
    with pytest.raises(InputError, match="groups"):
        selector.fit(X, y, groups=groups[:-1])
    with pytest.raises(InputError, match="cannot be cut"):
        selector.fit(X, y, groups=np.repeat([0, 1], 20))
    with pytest.raises(InputError, match="give one"):
        selector.set_params(block_size=4).fit(X, y, groups=groups)


def test_an_empty_answer_is_explained():
    X, _ = table(n=60, p=60)
    y = np.random.default_rng(3).normal(size=60)
    inner = LassoSelector(n_features_to_select=2)
    with pytest.warns(UserWarning, match="no column was selected by"):
        selector = StabilitySelector(inner, n_pairs=6, random_state=0).fit(X, y)
    with pytest.raises(InputError, match="allow_empty"):
        selector.transform(X)
    greedy = StabilitySelector(PearsonRanking(n_features_to_select=40), n_pairs=4, random_state=0)
    with pytest.warns(UserWarning, match="no threshold keeps"):
        greedy.fit(X, y)


def test_expected_false_columns_stay_below_the_bound():
    false = []
    for seed in range(20):
        X, y = table(seed, n=100, p=60)
        selector = StabilitySelector(n_pairs=10, pfer=1.0, random_state=seed, allow_empty=True)
        false.append(np.sum(selector.fit(X, y).indices_ > 2))
    assert np.mean(false) <= 1.0


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_pairs": 0},
        {"threshold": 0.5},
        {"threshold": 1.1},
        {"pfer": 0},
        {"assumption": "gaussian"},
        {"block_size": 0},
        {"checkpoint": 3},
        {"checkpoint": "x", "random_state": None},
        {"selector": "mrmr"},
    ],
)
def test_bad_parameters(parameters):
    X, y = table(n=30, p=4)
    with pytest.raises(InputError):
        StabilitySelector(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("mean", "size", "r", "t"), [(0.05, 6, -0.5, 2), (0.05, 6, -0.5, 5), (0.1, 7, -0.25, 4)]
)
def test_r_concave_tails_are_the_largest_of_all_r_concave_laws(mean, size, r, t):
    found = reference.largest_r_concave_tail(mean, size, r, t)
    tail = largest_tails(mean, size, r)[t]
    assert found <= tail * (1 + 1e-6)
    assert found >= tail * (1 - 5e-3)


# What the algorithm of Shah and Samworth (2013, appendix A.4) gives in R 4.
@pytest.mark.parametrize(
    ("q", "n_units", "threshold", "n_pairs", "expected"),
    [
        (10, 200, 0.6, 50, 0.52106686),
        (10, 200, 0.75, 50, 0.12956925),
        (10, 200, 0.9, 50, 0.034099115),
        (30, 1000, 0.6, 50, 0.86933123),
        (30, 1000, 0.9, 50, 0.05887046),
        (7, 100, 0.7, 25, 0.2383397),
    ],
)
def test_r_concave_bound_is_that_of_the_authors_algorithm(q, n_units, threshold, n_pairs, expected):
    assert r_concave(q, n_units, threshold, n_pairs) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("assumption", ["unimodal", "r-concave", "none"])
def test_where_no_threshold_is_enough_the_guarantee_says_so(assumption):
    X, y = table()
    selector = StabilitySelector(
        n_pairs=3, pfer=1e-9, assumption=assumption, random_state=0, allow_empty=True
    ).fit(X, y)
    assert not len(selector.indices_)
    assert selector.guarantee_.startswith("Nothing is selected: no threshold")
    assert selector.result_.extras["bound"] == 0.0


def test_threshold_count_and_expected_number_must_agree():
    X, y = table()
    make = {"selector": MRMR(n_features_to_select=4), "n_pairs": 3, "threshold": 0.6}
    with pytest.raises(InputError, match="leave one of the three open"):
        StabilitySelector(**make, pfer=0.1).fit(X, y)
    with pytest.warns(UserWarning, match="not by pfer=1"):
        StabilitySelector(**make, random_state=0).fit(X, y)


def test_a_checkpoint_belongs_to_its_halves_and_its_count(tmp_path):
    X, y = table()
    make = {"n_pairs": 6, "checkpoint": tmp_path / "counts.json", "random_state": np.int64(0)}
    StabilitySelector(**make).fit(X, y)
    with pytest.raises(InputError, match="other data or settings"):
        StabilitySelector(**make).fit(X, y, groups=np.arange(len(X)) // 4)
    with pytest.raises(InputError, match="other data or settings"):
        StabilitySelector(**make, pfer=3.0).fit(X, y)
    with pytest.raises(InputError, match="holds 6 pairs"):
        StabilitySelector(**make | {"n_pairs": 5}).fit(X, y)


def test_a_race_can_be_run_on_halves_and_beside_copies():
    X, y = table()
    race = AutoSelector(methods=["mrmr", "pc"], n_features_to_select=2)
    assert StabilitySelector(race, n_pairs=2, random_state=0).fit(X, y).frequencies_.max() == 1.0
    assert KnockoffSelector(race, fdr=0.5, random_state=0).fit(X, y).statistics_.max() > 0
    with pytest.raises(InputError, match="methods"):
        KnockoffSelector(AutoSelector(methods=["nothing"])).fit(X, y)


def test_a_half_in_which_the_target_does_not_vary_selects_nothing():
    X, _ = table(n=40)
    y = np.zeros(40)
    y[7] = 1.5
    make = {"selector": PearsonRanking(n_features_to_select=3), "n_pairs": 5, "allow_empty": True}
    selector = StabilitySelector(**make, random_state=0).fit(X, y)
    assert selector.frequencies_.max() <= 0.5
    assert selector.result_.extras["mean_selected"] == 1.5


@pytest.mark.parametrize("method", [PearsonRanking, MRMR])
def test_columns_that_do_not_vary_are_neither_selected_nor_counted(method):
    """Ties go to the first columns: one that says nothing would be selected by every half."""
    rng = np.random.default_rng(0)
    X = np.ones((60, 20))
    X[:, 10:13] = rng.normal(size=(60, 3))
    X[7, 2] = 0.0  # varies in one half of each pair only
    y = rng.normal(size=60)
    selector = StabilitySelector(method(), n_pairs=10, pfer=3.0, random_state=0, allow_empty=True)
    frequencies = selector.fit(X, y).frequencies_
    assert selector.result_.extras["mean_selected"] <= 2  # half of the 4 that vary
    assert frequencies[2] <= 0.5
    assert not np.delete(frequencies, [2, 10, 11, 12]).any()
    nothing = selector.fit(np.ones((60, 20)), y)
    assert not nothing.support_.any()
    assert nothing.explanation_.endswith("No column came near.")


@pytest.mark.parametrize("per_half", [3, 10])
def test_an_empty_answer_names_the_bound_at_which_something_would_pass(per_half):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 30))
    y = 0.35 * X[:, 0] + rng.normal(size=80)
    make = {"selector": PearsonRanking(n_features_to_select=per_half), "n_pairs": 25}
    strict = StabilitySelector(**make, pfer=0.05, allow_empty=True, random_state=0).fit(X, y)
    assert not strict.support_.any()
    named = re.search(r"with pfer=([\d.]+) .* would: ([x\d, ]+) \(not a bound", strict.explanation_)
    lenient = StabilitySelector(**make, pfer=float(named[1]), random_state=0).fit(X, y)
    assert [f"x{column}" for column in lenient.indices_] == named[2].split(", ")


@pytest.mark.parametrize("around", [StabilitySelector, KnockoffSelector])
def test_an_integer_seed_settles_what_the_inner_selector_draws(around):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    y = X[:, 0] + 0.5 * rng.normal(size=60)
    given = {"n_pairs": 3} if around is StabilitySelector else {"fdr": 0.5}
    inner = TreeImportance(n_trees=5, n_features_to_select=2, random_state=None)
    first, second = (
        around(inner, random_state=0, allow_empty=True, **given).fit(X, y) for _ in range(2)
    )
    assert first.scores_.tolist() == second.scores_.tolist()
    assert inner.random_state is None


def test_the_guarantee_never_says_less_than_the_bound():
    X, y = table()
    for pfer in (0.3, 1.0, 2.0):
        selector = StabilitySelector(n_pairs=10, pfer=pfer, random_state=0, allow_empty=True)
        words = selector.fit(X, y).guarantee_.split()
        assert float(words[words.index("most") + 1]) >= selector.result_.extras["bound"]
    alone = StabilitySelector(PearsonRanking(), n_pairs=3, random_state=0).fit(X[:, :1], y)
    assert "at most 1 false column is selected" in alone.guarantee_
