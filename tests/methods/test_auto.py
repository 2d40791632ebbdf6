"""AutoSelector: the race, its report, and what it copes with."""

from __future__ import annotations

import pickle
import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from featsieve import BAHSIC, CMIM, AutoSelector, WrapperSelector, open_parquet
from featsieve.datasets import make_and_or, make_quad, make_xor
from featsieve.errors import InputError
from featsieve.methods.portfolio import PORTFOLIO
from featsieve.procedures.judging.rows import split_rows
from featsieve.procedures.race import Race
from featsieve.procedures.runners import Runner
from featsieve.registry import METHODS
from featsieve.runtime.progress import TimeUp

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 6))
Y = X[:, 1] + X[:, 4] ** 2 + 0.3 * RNG.normal(size=80)
QUICK = {
    "methods": ["pc", "cmim", "treeimportance"],
    "judges": ["neighbors", "ridge"],
    "max_time": None,  # planned like the default, and the same on a machine that stands still
}


@pytest.mark.parametrize("make", [make_xor, make_quad, make_and_or])
def test_interaction_non_linearity_and_redundancy(make):
    data = make(300, random_state=1)
    k = len(data.relevant)
    selector = AutoSelector(n_features_to_select=k, max_time=None).fit(data.data, data.target)
    assert sorted(selector.indices_.tolist()) == sorted(data.relevant)


def test_a_target_with_rare_large_deviations():
    rng = np.random.default_rng(3)
    table = rng.normal(size=(300, 8))
    y = 0.2 * table[:, 0] + np.where(table[:, 5] > 1.8, 30.0, 0.0) + 0.1 * rng.normal(size=300)
    assert AutoSelector(**QUICK, n_features_to_select=2).fit(table, y).support_[5]


def test_candidates_on_threads_change_nothing_but_their_seconds():
    one, two = (AutoSelector(random_state=0, max_time=None, n_jobs=n).fit(X, Y) for n in (1, 2))
    assert one.indices_.tolist() == two.indices_.tolist()
    assert one.scores_.tolist() == two.scores_.tolist()
    rows = [[row | {"seconds": 0} for row in selector.race_] for selector in (one, two)]
    assert rows[0] == rows[1]


def test_candidates_on_threads_leave_the_filters_of_warnings_as_they_were():
    before = list(warnings.filters)
    AutoSelector(**QUICK, n_features_to_select=2, n_jobs=2).fit(X, Y)
    assert warnings.filters == before


def test_threads_do_not_report():
    threads = set()
    callback = lambda progress: threads.add(threading.get_ident())  # noqa: E731
    AutoSelector(**QUICK, n_features_to_select=2, n_jobs=2, callback=callback).fit(X, Y)
    assert threads == {threading.get_ident()}


def test_the_race_has_one_row_per_candidate_and_says_why():
    selector = AutoSelector(**QUICK, n_features_to_select=2).fit(X, Y)
    raced = {"PearsonRanking", "CMIM", "TreeImportance", "combination"}
    assert {row["method"] for row in selector.race_} == raced
    winner = selector.race_[0]
    assert winner["method"] == selector.method_
    assert winner["outcome"].startswith("won")
    for row in selector.race_:
        assert row["outcome"]
        assert row["error"] >= 0
        assert row["seconds"] > 0
    assert selector.method_ == "combination"
    assert isinstance(selector.selector_, AutoSelector)
    assert selector.selector_.support_.tolist() == selector.support_.tolist()
    assert selector.selector_.transform(X).shape == (80, 2)


def test_without_a_combination_the_least_error_of_those_judged_on_all_folds_wins():
    selector = AutoSelector(**QUICK, n_features_to_select=2, combine=False).fit(X, Y)
    full = [row for row in selector.race_ if row["n_folds"] == 5]
    assert "combination" not in {row["method"] for row in selector.race_}
    assert type(selector.selector_).__name__ == selector.method_
    assert selector.race_[0]["error"] == pytest.approx(min(row["error"] for row in full))


def test_a_candidate_that_is_clearly_better_than_the_combination_wins():
    """Three blind methods outvote one that sees; its set wins all the same, inside or outside."""
    xor = make_xor(200, random_state=0)
    methods = ["bahsic", "pc", "maxrel", "lassoselector"]
    selector = AutoSelector(
        methods=methods, judges=["ridge", "neighbors"], n_features_to_select=2, max_time=None
    )
    assert sorted(selector.fit(xor.data, xor.target).indices_.tolist()) == [0, 1]


def test_a_test_over_the_folds_decides_between_a_candidate_and_the_combination():
    race = Race(None, (), None, 2, [Runner("a"), Runner("b")], None, 0)
    a, b = race.runners
    combined = np.array([[0.5], [0.6], [0.55], [0.52], [0.58]])
    race.combined.losses[2] = list(combined)
    b.losses[2] = list(np.full((5, 1), 0.9))
    a.losses[2] = list(np.array([[0.4], [0.7], [0.3], [0.6], [0.5]]))
    assert a.loss(2) < race.combined.loss(2)
    assert race.winner() is race.combined
    a.losses[2] = list(combined - 0.1 - 0.001 * np.arange(5)[:, None])
    assert race.winner() is a


def test_the_count_is_the_smallest_within_one_error_of_the_difference():
    race = Race(None, (), None, None, [], None, 0)
    winner = race.combined
    first = {1: [0.9, 0.5], 2: [0.75, 0.36], 3: [0.65, 0.29], 4: [0.6, 0.3]}
    winner.losses |= {size: [np.array([v]) for v in values] for size, values in first.items()}
    winner.errors |= {size: [np.zeros(1)] * 2 for size in first}
    assert race.chosen_count(winner) == 3  # 2: 0.105 ± 0.045 above the best, 3: 0.02 ± 0.03
    for size, values in winner.losses.items():  # another judge, who wants four columns
        winner.losses[size] = [np.append(v, 1.0 / size + 0.01 * i) for i, v in enumerate(values)]
    assert race.chosen_count(winner) == 4
    selector = AutoSelector(**QUICK).fit(X, Y)
    curve = selector.result_.extras["count_curve"]
    assert selector.support_.sum() in [count for count, _, _ in curve]
    assert "one standard error" in selector.result_.extras["count_rule"]


def test_a_judge_that_does_no_better_than_a_guess_abstains():
    race = Race(None, (), None, None, [], None, 0)
    winner = race.combined
    # the first judge sees nothing, and less of it with more columns; the second sees two columns
    table = {0: (1.0, 1.0), 1: (1.6, 0.8), 2: (1.3, 0.4), 3: (1.01, 0.4)}
    for size, (first, second) in table.items():
        winner.losses[size] = [np.array([first + 0.01 * i, second]) for i in range(3)]
        winner.errors[size] = winner.losses[size]
    assert race.chosen_count(winner) == 2
    for size in table:
        winner.losses[size] = winner.errors[size] = [v[:1] for v in winner.losses[size]]
    assert race.chosen_count(winner) == 1


def test_a_difference_that_does_not_matter_is_none():
    race = Race(None, (), None, None, [], None, 0)
    for size, loss in {0: 1.0, 1: 0.0015, 2: 0.0}.items():
        race.combined.losses[size] = race.combined.errors[size] = [np.array([loss])] * 5
    assert race.chosen_count(race.combined) == 1


@pytest.mark.parametrize("numeric", [True, False])
def test_noise_keeps_few_columns_and_one_column_that_says_all_is_alone(numeric):
    rng = np.random.default_rng(1)
    noise, z = rng.normal(size=(100, 30)), rng.normal(size=100)
    y = z if numeric else z > 0
    quick = {"methods": ["pc", "mrmr"], "max_time": None}
    assert AutoSelector(**quick).fit(noise, y).support_.sum() <= 3
    sure = np.c_[noise[:, :6], z if numeric else y + 0.01 * rng.normal(size=100)]
    assert AutoSelector(**quick).fit(sure, y).indices_[0] == 6
    curve = AutoSelector(**quick).fit(noise, y).result_.extras["count_curve"]
    assert curve[0][0] == 0  # what a guess costs


def test_the_same_seed_gives_the_same_answer():
    first, second = (AutoSelector(**QUICK, random_state=4).fit(X, Y) for _ in range(2))
    assert first.indices_.tolist() == second.indices_.tolist()
    assert [r["error"] for r in first.race_] == [r["error"] for r in second.race_]


def test_a_candidate_that_fails_is_a_row_with_its_reason():
    broken = BAHSIC(bandwidth=-1.0)
    selector = AutoSelector(methods=["cmim", broken], judges=["ridge"]).fit(X, Y)
    row = next(row for row in selector.race_ if row["method"] == "BAHSIC")
    assert row["outcome"].startswith("failed: ")
    assert selector.method_ == "CMIM"


def test_who_starts_is_decided_by_modelled_costs():
    selector = AutoSelector(methods=["pc", "l1lsmi"], judges=["neighbors"], max_time=5.0)
    row = next(r for r in selector.fit(X, Y).race_ if r["method"] == "L1LSMI")
    assert row["outcome"].startswith("not started: about")


def test_the_first_answer_on_a_wide_table_does_not_wait_for_trees():
    cheapest = min(PORTFOLIO, key=lambda entry: entry.cost(200, 10_000, 10))
    assert cheapest.name == "PearsonRanking"  # RidgeForward grows trees on all columns first


def test_a_limit_that_the_user_did_not_set_is_not_silent(monkeypatch, recwarn):
    """A machine that stood still for a minute gave another answer, and said nothing."""

    def late(race):
        raise TimeUp

    monkeypatch.setattr(Race, "run", late)
    with pytest.warns(UserWarning, match="its default limit; combination is the best so far"):
        selector = AutoSelector(n_features_to_select=2).fit(X, Y)
    assert selector.result_.stop_reason == "max_time"
    AutoSelector(n_features_to_select=2, max_time=61).fit(X, Y)
    assert not [one for one in recwarn.list if "best so far" in str(one.message)]


def test_classes_only_methods_do_not_start_on_numbers():
    selector = AutoSelector(methods=["svmrfe", "pc"], judges=["neighbors"]).fit(X, Y)
    row = next(row for row in selector.race_ if row["method"] == "SVMRFE")
    assert "takes classes" in row["outcome"]


def test_missing_cells_and_categories():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(X.copy(), columns=list("abcdef"))  # pandas 2 would share it
    frame["state"] = pd.Categorical(rng.choice(["u", "v", "w"], 80))
    y = Y + 3.0 * (frame["state"] == "v")
    frame.loc[::9, "b"] = np.nan
    frame.loc[::11, "state"] = None
    methods = ["lassoselector", "cmim", "bahsic"]
    selector = AutoSelector(methods=methods, judges=["ridge"], n_features_to_select=3)
    selector.fit(frame, y)
    assert {"b", "state"} <= set(selector.get_feature_names_out())
    assert not any(row["outcome"].startswith("failed") for row in selector.race_)


def test_units_are_groups():
    groups = {"first": [0, 1, 2], "second": [3, 4, 5]}
    selector = AutoSelector(**QUICK, n_features_to_select=1, feature_groups=groups).fit(X, Y)
    assert selector.support_.sum() == 3


def test_a_number_of_folds_keeps_groups_together(monkeypatch):
    seen = []

    def watched(sample, n_folds, seed, dependence):
        seen.extend(split_rows(sample, n_folds, seed, dependence))
        return seen

    monkeypatch.setattr("featsieve.methods.auto.split_rows", watched)
    groups = np.repeat(list("abcdefgh"), 10)
    AutoSelector(**QUICK, cv=3, n_features_to_select=2).fit(X, Y, groups=groups)
    assert len(seen) == 3
    assert not any(set(groups[fold.train]) & set(groups[fold.test]) for fold in seen)


@pytest.mark.parametrize("cv", [3, GroupKFold(4), TimeSeriesSplit(3)])
def test_splitters_and_their_groups(cv):
    groups = np.arange(80) // 8 if isinstance(cv, GroupKFold) else None
    selector = AutoSelector(**QUICK, cv=cv, n_features_to_select=2).fit(X, Y, groups=groups)
    assert selector.race_[0]["n_folds"] == {GroupKFold: 4}.get(type(cv), 3)


def test_a_file_and_dask_give_the_answer_of_memory(tmp_path):
    import dask.array as da
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(6)
    table = rng.normal(size=(1500, 5))
    y = table[:, 2] ** 2 + table[:, 3] + 0.1 * rng.normal(size=1500)
    expected = AutoSelector(**QUICK).fit(table, y)
    columns = {f"x{j}": table[:, j] for j in range(5)} | {"y": y}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=400)
    from_file = AutoSelector(**QUICK).fit(open_parquet(tmp_path / "t.parquet"), "y")
    chunks = da.from_array(table, chunks=(500, 5)), da.from_array(y, chunks=500)
    from_dask = AutoSelector(**QUICK).fit(*chunks)
    assert expected.method_ == from_file.method_ == from_dask.method_
    assert expected.indices_.tolist() == from_file.indices_.tolist() == from_dask.indices_.tolist()


def test_clone_pickle_and_pipeline():
    selector = AutoSelector(**QUICK, n_features_to_select=2)
    model = make_pipeline(clone(selector), LinearRegression()).fit(X, Y)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.predict(X) == pytest.approx(model.predict(X))


@pytest.mark.parametrize("n_rows", [2, 3, 5])
def test_few_rows(n_rows):
    methods = [*QUICK["methods"], "l1lsmi"]
    selector = AutoSelector(**(QUICK | {"methods": methods})).fit(X[:n_rows], np.arange(n_rows) % 2)
    assert selector.support_.sum() == 3
    won, *others = selector.race_
    assert (won["method"], won["count"], won["outcome"]) == (
        selector.method_,
        3,
        "won: the cheapest",
    )
    assert len(others) == 3
    assert all(row.keys() == won.keys() for row in others)
    assert not any(row["n_folds"] for row in selector.race_)


@pytest.mark.parametrize("n_rows", [4, 30])
def test_nobody_can_race(n_rows):
    with pytest.raises(InputError, match=r"no method of the race can run .*LDFS: not started"):
        AutoSelector(methods=["ldfs"]).fit(X[:n_rows], Y[:n_rows])


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"methods": "pc"}, "methods='pc' is not allowed"),
        ({"methods": ["best"]}, "methods='best' is not allowed"),
        ({"methods": []}, r"methods=\[\] is not allowed"),
        ({"methods": [AutoSelector()]}, "names and selectors of featsieve"),
        ({"judges": ["jury"]}, "judges='jury' is not allowed"),
        ({"cv": 1}, "cv=1 is not allowed"),
        ({"cv": []}, "there are no folds"),
        ({"cv": [([0, 1], [80])]}, "out of bounds"),
        ({"cv": iter([([0, 1], [2])])}, "list of splits"),
    ],
)
def test_bad_parameters(parameters, sentence):
    with pytest.raises(InputError, match=sentence):
        AutoSelector(**parameters).fit(X, Y)


def test_the_portfolio_is_part_of_the_registry():
    names = {method.name for method in METHODS}
    assert {entry.name for entry in PORTFOLIO} <= names
    for entry in PORTFOLIO:
        assert entry.cost(100, 10, 5) < entry.cost(1000, 100, 10)
        selector = entry.method.load()(**entry.parameters)
        assert set(entry.parameters) <= set(selector.get_params())


def test_a_selector_of_the_user_races_too():
    given = CMIM(n_bins=3)
    selector = AutoSelector(
        methods=[given, "pc"], judges=["ridge"], n_features_to_select=2, combine=False
    )
    selector.fit(X, Y)
    assert selector.method_ == "CMIM"
    assert selector.selector_.n_bins == 3
    assert given.n_features_to_select is None


def test_a_model_in_the_race_gets_a_target_of_one_dimension(recwarn):
    model = WrapperSelector(KNeighborsClassifier(), cv=2)
    selector = AutoSelector(methods=[model], judges=["ridge"], n_features_to_select=1)
    selector.fit(X, np.where(X[:, 2] > 0, "a", "b"))
    assert selector.indices_.tolist() == [2]
    assert not [w for w in recwarn if "column-vector" in str(w.message)]


def test_the_cheapest_method_runs_where_all_take_too_long(monkeypatch):
    monkeypatch.setattr("featsieve.methods.auto.FINAL_SHARE", 0.0)
    selector = AutoSelector(judges=["neighbors"]).fit(X, Y)
    started = [row["method"] for row in selector.race_ if row["n_folds"]]
    cheapest = min(PORTFOLIO, key=lambda entry: entry.cost(*X.shape, 10))
    assert started == [selector.method_] == [cheapest.name]
