"""A fit that does not reach its end leaves the estimator exactly as it was."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from featsieve import MaxRel, PearsonRanking
from featsieve.errors import InputError
from featsieve.selector import BaseSelector
from tests.estimators import METHODS, method_ids, quick_selector, target_for

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
Y = X[:, 2] + 0.1 * RNG.normal(size=40)
WIDER = RNG.normal(size=(40, 7))


class BrokenError(Exception):
    pass


def assert_same_state(selector, before):
    assert vars(selector).keys() == before.keys()
    assert all(vars(selector)[name] is value for name, value in before.items())


def fitted(method, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = quick_selector(method, n_features_to_select=2, **parameters)
        return selector.fit(X, target_for(method, Y))


@pytest.mark.parametrize("method", METHODS, ids=method_ids)
@pytest.mark.parametrize("stop", [BrokenError, KeyboardInterrupt, TimeoutError, MemoryError])
def test_a_fit_that_is_stopped(method, stop, monkeypatch):
    selector = fitted(method)
    before = vars(selector).copy()

    def store_half(self, engine, result, k):
        self.support_ = np.ones(7, dtype=bool)
        raise stop

    monkeypatch.setattr(BaseSelector, "_store", store_half)
    with pytest.raises(stop):
        selector.fit(WIDER, target_for(method, Y))
    assert_same_state(selector, before)


@pytest.mark.parametrize("method", METHODS, ids=method_ids)
def test_a_fit_of_bad_input(method):
    selector = fitted(method)
    before = vars(selector).copy()
    target = None if method.target == "nothing" else np.full(40, 1.5)
    with pytest.raises(InputError):
        selector.fit(WIDER if target is not None else WIDER[:1], target)
    assert_same_state(selector, before)
    assert selector.transform(X).shape == (40, selector.support_.sum())


def test_a_failing_callback():
    selector = fitted(METHODS[1])

    def fail(progress):
        raise BrokenError

    selector.set_params(callback=fail)
    before = vars(selector).copy()
    with pytest.raises(BrokenError):
        selector.fit(WIDER, Y)
    assert_same_state(selector, before)


@pytest.mark.parametrize("selector", [PearsonRanking(), MaxRel()], ids=["pearson", "information"])
def test_rows_that_are_refused_are_not_counted(selector):
    classes = RNG.integers(0, 2, size=40)
    selector.partial_fit(X, classes)
    before, scores = vars(selector).copy(), selector.scores_.copy()
    with pytest.raises(InputError):
        selector.partial_fit(X, classes + 7)
    assert_same_state(selector, before)
    selector.partial_fit(X, classes)
    assert selector.scores_ == pytest.approx(scores)


def test_a_first_part_that_is_refused_leaves_an_unfitted_estimator():
    selector = PearsonRanking()
    with pytest.raises(InputError):
        selector.partial_fit(X, np.ones(40))
    assert not hasattr(selector, "n_features_in_")
    assert selector.partial_fit(X, Y).n_features_in_ == 4


def test_what_only_the_earlier_fit_had_goes_with_it():
    selector = PearsonRanking(n_permutations=5).fit(X, Y)
    assert not hasattr(selector.set_params(n_permutations=0).fit(X, Y), "pvalues_")
