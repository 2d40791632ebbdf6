"""WrapperSelector finds the number of columns itself, against a loop over all sets."""

from __future__ import annotations

from itertools import combinations

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, KFold, cross_val_score

from featsieve import WrapperSelector
from featsieve.errors import InputError

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 5))
Y = X[:, 1] + 0.5 * X[:, 3] + 0.8 * RNG.normal(size=60)
FOLDS = KFold(4, shuffle=True, random_state=0)


def fold_scores(columns):
    return cross_val_score(LinearRegression(), X[:, sorted(columns)], Y, cv=FOLDS)


ALL_SETS = {
    subset: fold_scores(subset) for size in range(1, 6) for subset in combinations(range(5), size)
}


def fitted(search, count):
    return WrapperSelector(
        LinearRegression(), search=search, cv=FOLDS, n_features_to_select=count
    ).fit(X, Y)


def test_all_subsets_of_any_size():
    best = max(ALL_SETS, key=lambda subset: ALL_SETS[subset].mean())
    selector = fitted("exhaustive", "auto")
    assert tuple(sorted(selector.indices_.tolist())) == best
    assert selector.result_.objective == pytest.approx(ALL_SETS[best].mean())


def best_of_each_size():
    return [
        max(combinations(range(5), size), key=lambda subset: ALL_SETS[subset].mean())
        for size in range(1, 6)
    ]


def test_the_smallest_set_within_one_standard_error():
    sets = best_of_each_size()
    best = max(sets, key=lambda subset: ALL_SETS[subset].mean())
    floor = ALL_SETS[best].mean() - ALL_SETS[best].std(ddof=1) / 2
    expected = next(subset for subset in sets if ALL_SETS[subset].mean() >= floor)
    selector = fitted("exhaustive", "parsimonious")
    assert tuple(sorted(selector.indices_.tolist())) == expected
    sizes = [size for size, _, _ in selector.result_.extras["score_curve"]]
    assert set(sizes) == {1, 2, 3, 4, 5}
    assert len(expected) < 5


@pytest.mark.parametrize("search", ["forward", "backward"])
def test_stepwise_searches_choose_among_the_sets_they_meet(search):
    free = fitted(search, "auto")
    by_size = [fitted(search, size).indices_.tolist() for size in range(1, 6)]
    scores = [ALL_SETS[tuple(sorted(subset))].mean() for subset in by_size]
    assert sorted(free.indices_.tolist()) == sorted(by_size[int(np.argmax(scores))])
    assert len(fitted(search, "parsimonious").indices_) <= len(free.indices_)


def test_too_many_sets_are_refused():
    wide = RNG.normal(size=(20, 25))
    selector = WrapperSelector(LinearRegression(), search="exhaustive", n_features_to_select="auto")
    with pytest.raises(InputError, match="there are 33554431 sets of 25 features"):
        selector.fit(wide, wide[:, 0])


def test_a_word_is_not_an_estimator():
    with pytest.raises(InputError, match="estimator='ridge' is not allowed; give"):
        WrapperSelector("ridge").fit(X, Y)
    assert WrapperSelector("ridge").__sklearn_tags__() is not None


@pytest.mark.parametrize("count", [2, "auto"])
def test_groups_reach_the_splitter(count):
    groups = np.repeat(np.arange(6), 10)
    selector = WrapperSelector(LinearRegression(), cv=GroupKFold(3), n_features_to_select=count)
    with pytest.raises(InputError, match="groups"):
        selector.fit(X, Y)
    fitted = selector.fit(X, Y, groups=groups)
    chosen = np.sort(fitted.indices_)
    expected = cross_val_score(
        LinearRegression(), X[:, chosen], Y, cv=GroupKFold(3), groups=groups
    ).mean()
    assert fitted.result_.objective == pytest.approx(expected)


@pytest.mark.parametrize(("seconds", "asked_for"), [(0.0, {2}), (np.inf, set())])
def test_processes_are_started_for_long_folds_only(seconds, asked_for, monkeypatch):
    """The first fold is scored here, which tells how long one takes; the others of all sets of a
    round are shared out together."""
    from featsieve.measures import cross_val_score

    asked, at_once = set(), []

    def noted(n_jobs):
        def run(calls):
            calls = list(calls)
            asked.add(n_jobs)
            at_once.append(len(calls))
            return [task(*args, **kwargs) for task, args, kwargs in calls]

        return run

    monkeypatch.setattr(cross_val_score, "Parallel", noted)
    monkeypatch.setattr(cross_val_score, "delayed", joblib.delayed)
    monkeypatch.setattr(cross_val_score, "WORTH_A_PROCESS", seconds)
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 1] + X[:, 2] ** 2
    two = WrapperSelector(LinearRegression(), n_features_to_select=2, n_jobs=2).fit(X, y)
    assert asked == asked_for
    assert at_once == ([2] * 12 if asked_for else [])  # 15 folds and 10, one of them scored here
    one = WrapperSelector(LinearRegression(), n_features_to_select=2).fit(X, y)
    assert one.scores_.tolist() == two.scores_.tolist()


@pytest.mark.filterwarnings("ignore:R.2 score is not well-defined")
def test_a_score_that_is_not_a_number_is_refused():
    """R² of one row is NaN: every set would be as good as any other."""
    with pytest.raises(InputError, match="is NaN in a fold of 1 test rows; give folds of more"):
        WrapperSelector(LinearRegression(), cv=len(X)).fit(X, Y)
    with pytest.raises(InputError, match="is NaN in a fold of 15 test rows"):
        WrapperSelector(LinearRegression(), cv=FOLDS, scoring=lambda *_: np.nan).fit(X, Y)


def test_an_estimator_without_a_score_is_named():
    with pytest.raises(InputError, match=r"estimator=.* give an object with fit, predict and sco"):
        WrapperSelector(WrapperSelector()).fit(X, Y)


class Knotted(LinearRegression):
    def __init__(self, shrink=0.0):
        super().__init__()
        self.shrink = shrink
        self.itself = self


def test_only_parameters_of_an_estimator_are_looked_at():
    """It may hold itself, or anything else."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    for shrink in (0.5, np.float32(0.5)):
        estimator = Knotted(shrink)
        selector = WrapperSelector(estimator, n_features_to_select=1, cv=2).fit(X, X[:, 1])
        assert selector.indices_.tolist() == [1]
        assert selector.estimator is estimator
        assert estimator.shrink is shrink
