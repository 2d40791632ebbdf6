"""Strange values for the parameters of every estimator: it works, or it is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from tests.fuzz.parameters import Subject, drawn_value, problems, subjects

EXAMPLES = 10


@pytest.mark.parametrize("subject", subjects(), ids=lambda subject: subject.name)
def test_a_strange_value_works_or_is_refused_in_one_sentence(subject):
    parameters = subject.parameters()
    rng = np.random.default_rng(len(subject.name))
    for name in list(parameters) * (1 + EXAMPLES // max(len(parameters), 1)):
        values = {name: drawn_value(parameters[name], rng)}
        assert list(problems(subject, values)) == [], values


X = np.random.default_rng(0).normal(size=(300, 3))
Y = (X[:, 0] > 0).astype(int)


def _answer(subject, **params):
    estimator = subject.make()
    if "random_state" in estimator.get_params(deep=False):
        estimator.set_params(random_state=0)
    estimator.set_params(**params)
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("ignore", UserWarning)
        selector = subject.selector(estimator).fit(X, Y)
    assert all(getattr(estimator, name) is value for name, value in params.items())
    return selector.indices_.tolist(), selector.scores_


@pytest.mark.parametrize("subject", subjects(), ids=lambda subject: subject.name)
def test_narrow_numbers_are_numbers(subject):
    """An int8 is an integer, but 3 × 300 rows do not fit into it; np.uint8(5) - 6 is 255."""
    for name, parameter in subject.parameters().items():
        default = parameter.default
        if isinstance(default, int) and not isinstance(default, bool):
            number = min(default, 100)
            indices, scores = _answer(subject, **{name: number})
            for dtype in (np.int8, np.uint8, np.uint64):
                found = _answer(subject, **{name: dtype(number)})
                assert found[0] == indices, (name, dtype)
                np.testing.assert_array_equal(found[1], scores)


class Careless:
    """Takes whatever it is given."""

    def __init__(self, *, count=1):
        self.count = count

    def get_params(self, deep=False):
        return {"count": self.count}

    def fit(self, X, y):
        self.count = range(self.count)


def test_a_raw_error_and_a_changed_parameter_are_problems():
    careless = Subject("Careless", Careless, lambda estimator: estimator)
    assert list(careless.parameters()) == ["count"]
    assert "TypeError" in next(problems(careless, {"count": "zzz"}))
    assert list(problems(careless, {"count": 2})) == ["count was changed by fit"]
