"""Error curves: selection inside the folds, the judges, and what the outputs say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.feature_selection import RFE, SelectKBest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, LeaveOneOut, StratifiedKFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier

from featsieve import BAHSIC, MRMR, PearsonRanking
from featsieve.errors import InputError
from featsieve.evaluation import JUDGES, error_curve, make_judge
from featsieve.evaluation.encoding import TableEncoder
from featsieve.evaluation.error_curve import fixed_folds, named_selectors
from featsieve.evaluation.fitting import row_dependence
from featsieve.evaluation.gaussian_svm import GaussianSVM, dealt_folds, median_distance
from featsieve.evaluation.judges import prediction_error
from featsieve.registry import METHODS


@pytest.fixture(scope="module")
def classes():
    return make_classification(90, 6, n_informative=2, n_redundant=1, random_state=3)


def test_nested_errors_are_those_of_a_loop(classes):
    X, y = classes
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    curve = error_curve(X, y, {"F": SelectKBest()}, [1, 4], judge=KNeighborsClassifier(3), cv=cv)
    for i, k in enumerate((1, 4)):
        for fold, (train, test) in enumerate(cv.split(X, y)):
            columns = SelectKBest(k=k).fit(X[train], y[train]).get_support(indices=True)
            model = KNeighborsClassifier(3).fit(X[np.ix_(train, columns)], y[train])
            error = np.mean(model.predict(X[np.ix_(test, columns)]) != y[test])
            assert curve.errors["F"][i, fold] == pytest.approx(error)
            assert curve.selections["F"][i][fold].tolist() == columns.tolist()


def test_noise_is_at_chance_when_nested_and_optimistic_when_not():
    """The reason for the labels: 60 rows, 500 columns of noise."""
    nested, optimistic = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 500)), np.arange(60) % 2
        options = {"judge": "linear_svm", "cv": 5, "random_state": seed}
        nested.append(error_curve(X, y, "pc", [10], **options))
        optimistic.append(error_curve(X, y, "pc", [10], protocol="resubstitution", **options))
    means = [np.mean([curve.mean("pc") for curve in group]) for group in (nested, optimistic)]
    assert abs(means[0] - 0.5) < 0.12
    assert means[1] < 0.3
    assert "optimistic" in str(optimistic[0])
    assert "optimistic" in optimistic[0].as_dict()["label"]
    assert "optimistic" not in str(nested[0]) + nested[0].as_dict()["label"]


@pytest.mark.parametrize(
    "name", [m.name for m in METHODS if m.search in ("ranking", "greedy", "forward")]
)
def test_the_beginning_of_a_longer_selection_is_the_shorter_one(name, classes):
    """What lets a curve use one fit for all counts."""
    X, y = classes
    method = next(m for m in METHODS if m.name == name).load()
    seed = {"random_state": 0} if "random_state" in method().get_params() else {}
    longer = method(n_features_to_select=4, **seed).fit(X, y).indices_.tolist()
    for k in (1, 3):
        assert method(n_features_to_select=k, **seed).fit(X, y).indices_.tolist() == longer[:k]


def test_groups_and_time_order_are_respected(classes):
    X, y = classes
    groups = np.arange(len(y)) // 10
    curve = error_curve(X, y, "pc", [2], judge="knn", cv=GroupKFold(3), groups=groups)
    assert curve.errors["pc"].shape == (1, 3)
    late = np.r_[np.zeros(45), np.ones(45)]  # whoever sees the future column wins
    future = np.c_[X, late * y]
    chosen = error_curve(future, y, "pc", [1], judge="knn", cv=TimeSeriesSplit(2)).selections
    assert chosen["pc"][0][0].tolist() != [6]


def test_containers_give_the_same_curve(classes):
    X, y = classes
    names = [f"x{j}" for j in range(X.shape[1])]
    expected = error_curve(X, y, ["pc", MRMR()], [2], judge="svm_median", cv=3)
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        curve = error_curve(frame, y, ["pc", MRMR()], [2], judge="svm_median", cv=3, n_jobs=2)
        for name, errors in expected.errors.items():
            np.testing.assert_allclose(curve.errors[name], errors)


def test_regression_and_its_metrics(classes):
    X, _ = classes
    y = X[:, 0] + 0.1 * X[:, 1]
    share = error_curve(X, y, BAHSIC(), [1, 2], judge="svm", cv=3)
    assert share.metric == "unexplained"
    assert share.mean("BAHSIC")[1] < 0.2
    rmse = error_curve(X, 10 * y, BAHSIC(), [1, 2], judge="svm", cv=3, metric="rmse")
    assert rmse.mean("BAHSIC")[1] < 10 * y.std() / 2
    alone = error_curve(X[:20], y[:20], "pc", [1], judge="knn", cv=LeaveOneOut())
    assert np.isfinite(alone.errors["pc"]).all()
    assert prediction_error("unexplained", np.ones(2), np.ones(2), 1.0) == 0.0
    assert prediction_error("unexplained", np.ones(2), np.zeros(2), 1.0) == np.inf


def test_nothing_given_is_changed(classes):
    X, y = classes
    before, selector, judge = X.copy(), MRMR(), KNeighborsClassifier()
    error_curve(X, y, selector, [1], judge=judge, cv=2)
    np.testing.assert_array_equal(X, before)
    assert selector.get_params() == MRMR().get_params()
    assert not hasattr(judge, "classes_")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"methods": "nosuch"}, "there is no method 'nosuch'"),
        ({"methods": []}, "methods is empty"),
        ({"methods": ["pc", "pc"]}, "two methods named 'pc'"),
        ({"methods": MRMR}, "is not a selector"),
        ({"counts": [0]}, "counts=0"),
        ({"counts": [7]}, "counts=7"),
        ({"counts": []}, "counts is empty"),
        ({"judge": "oracle"}, "judge='oracle'"),
        ({"judge": 3}, "no fit and predict"),
        ({"cv": 1}, "cv=1"),
        ({"cv": GroupKFold(3)}, "cannot split"),
        ({"cv": []}, "there are no folds"),
        ({"cv": [([0, 1], [])]}, "a fold holds no rows"),
        ({"cv": [([0, 1], [10**6])]}, "out of bounds"),
        ({"cv": [([0.0, 1.0], [2])]}, "cannot split"),
        ({"cv": [([0, 1, 2], [2, 3])]}, "fold 1 learns from rows that it also judges"),
        ({"counts": 3}, "counts=3"),
        ({"random_state": "x"}, "random_state='x'"),
        ({"methods": {}}, "methods is empty"),
        ({"judge": Ridge()}, "does not fit the task"),
        ({"protocol": "holdout"}, "protocol='holdout'"),
        ({"metric": "rmse"}, "does not fit the task"),
    ],
)
def test_bad_words_get_one_sentence(words, message, classes):
    X, y = classes
    with pytest.raises(InputError, match=message):
        error_curve(X, y, **{"methods": "pc", "counts": [1], "judge": "knn", "cv": 2} | words)


def test_masks_of_rows_are_splits_and_look_ahead(classes):
    X, y = classes
    rows = np.arange(len(y))
    kept = {"methods": "pc", "counts": [1], "judge": "knn"}
    masks = error_curve(X, y, cv=[(rows < 40, rows >= 40)], **kept)
    indices = error_curve(X, y, cv=[(rows[:40], rows[40:])], **kept)
    assert masks.errors["pc"].tolist() == indices.errors["pc"].tolist()
    folds = fixed_folds(y, [(rows < 40, rows >= 40)], None, True, 0)
    assert row_dependence(folds, None).in_order


def test_judges_cope_with_few_rows_and_extreme_units():
    neighbours = make_judge("knn", "classification").fit([[0.0], [1.0]], [0, 1])
    assert len(neighbours.predict([[0.2]])) == 1
    X = np.random.default_rng(0).normal(size=(50, 2))
    plain, huge = (TableEncoder().fit_transform(unit * X) for unit in (1.0, 2.0**1000))
    np.testing.assert_array_equal(plain, huge)


def test_selectors_of_scikit_learn_and_names():
    named = named_selectors({"a": RFE(LogisticRegression()), "b": "pc"})
    assert isinstance(named["b"], PearsonRanking)


# --- judges ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", JUDGES)
def test_every_judge_learns_both_tasks_from_a_messy_table(name):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=80), "noise": 1000 * rng.normal(size=80)})
    frame["state"] = pd.Categorical(rng.choice(["u", "v"], 80))
    frame.loc[3, "noise"] = np.nan
    frame.loc[5, "state"] = None
    y = (frame["x"] > 0).to_numpy().astype(int)
    judge = clone(make_judge(name, "classification")).fit(frame[:60], y[:60])
    assert np.mean(judge.predict(frame[60:]) != y[60:]) < 0.3
    z = np.where(frame["state"] == "u", 3.0, 0.0) + frame["x"].to_numpy()
    judge = make_judge(name, "regression").fit(frame[:60], z[:60])
    assert prediction_error("unexplained", z[60:], judge.predict(frame[60:]), z.mean()) < 0.6


def test_the_tuned_machine_beats_bad_settings():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(150, 1))
    y = (np.sin(2 * X[:, 0]) > 0).astype(int)
    tuned = GaussianSVM().fit(X, y)
    assert np.mean(tuned.predict(X) != y) < 0.1
    assert tuned.cv_errors_.mean() < 0.1
    assert (tuned.C_, tuned.sigma_) != (0.1, 2.0 * median_distance(X))
    with pytest.raises(InputError, match="at least one number"):
        GaussianSVM(C=()).fit(X, y)


def test_the_grid_is_that_of_scikit_learn():
    """Distances computed once give the errors of fitting every pair again."""
    from sklearn.svm import SVC

    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    machine = GaussianSVM(C=(1.0, 50.0), widths=(0.5, 1.5), width_unit="absolute", cv=3).fit(X, y)
    folds = dealt_folds(y, 3, classes=True)
    means = {}
    for C in (1.0, 50.0):
        for sigma in (0.5, 1.5):
            errors = []
            for fold in range(3):
                train, test = folds != fold, folds == fold
                model = SVC(C=C, gamma=1 / (2 * sigma**2)).fit(X[train], y[train])
                errors.append(np.mean(model.predict(X[test]) != y[test]))
            means[C, sigma] = np.mean(errors)
    assert machine.cv_errors_.mean() == pytest.approx(min(means.values()))
    assert means[machine.C_, machine.sigma_] == pytest.approx(min(means.values()))


def test_edge_cases_of_judges():
    one_class = GaussianSVM(C=(1.0,), widths=(1.0,)).fit([[0.0], [1.0]], [7, 7])
    assert one_class.predict([[5.0]]).tolist() == [7]
    assert median_distance(np.zeros((4, 2))) == 1.0
    assert median_distance(np.array([[0.0]] * 4 + [[2.0]])) == 2.0
    rare = np.array([0] * 9 + [1])
    assert GaussianSVM(cv=5).fit(np.arange(10.0)[:, None], rare).predict([[0.0]]).tolist() == [0]
    counts = np.bincount(dealt_folds(rare, 5, classes=True))
    assert counts.tolist() == [2] * 5
    empty = TableEncoder().fit(np.full((3, 1), np.nan))
    assert empty.transform(np.full((1, 1), np.nan)).tolist() == [[0.0]]
