"""Singular scatter, penalties that are too large, no convergence: an answer or one sentence.

Never an exception from inside a solver, and never fewer columns than asked for without a warning.
All registered methods are tried, each with those of the extreme settings that it has.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from featsieve.errors import InputError
from featsieve.registry import METHODS
from tests.estimators import method_ids, quick_selector, target_for

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 5))
NUMBERS = X[:, 0] + 0.3 * RNG.normal(size=24)
CLASSES = (np.median(NUMBERS) < NUMBERS).astype(float)
K = 2

TABLES = {
    "plain": X,
    "copies": np.hstack([X[:, :1]] * 4),
    "constant": np.ones((24, 4)),
    "one column varies": np.hstack([X[:, :1], np.ones((24, 3))]),
    "of rank two": X[:, :2] @ RNG.normal(size=(2, 5)),
    "more columns than rows": RNG.normal(size=(24, 40)),
    "a column is the class": np.column_stack([CLASSES, X[:, 1:]]),
    "all columns are the class": np.column_stack([CLASSES] * 4),
    "an outlier": np.where(np.arange(24)[:, None] == 3, 1e8, X),
    "almost empty": np.where(RNG.random((24, 5)) < 0.1, X, 0.0),
}
EXTREMES = [
    {"max_iter": 1},
    {"tol": 1e-300},
    {"max_iter": 1, "tol": 1e-15},
    {"C": 1e-12},
    {"C": 1e6},
    {"ridge": 0.0},
    {"ridge": 1e12},
    {"alpha": 1e12},
    {"alpha": 1e-12},
    {"radius": 1e-12},
    {"radius": 1e12},
    {"penalty": 1e12},
    {"penalty": 1e-300},
    {"lambdas": [1e12]},
    {"lambdas": [1e-300]},
    {"sigmas": [1e-9]},
    {"sigmas": [1e9]},
    {"bandwidth": 1e-9},
    {"bandwidth": 1e9},
    {"kernel": "linear"},
    {"n_components": 4},
    {"solver": "two-metric"},
]


def settings_of(method):
    known = quick_selector(method).get_params(deep=False)
    return [{}, *(extreme for extreme in EXTREMES if set(extreme) <= set(known))]


def outcome(method, table, parameters):
    """The fitted selector or the refusal, and the warnings; foreign ones are errors."""
    selector = quick_selector(method, n_features_to_select=K, **parameters)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        warnings.simplefilter("always", UserWarning)
        try:
            return selector.fit(table, target_for(method, NUMBERS)), caught
        except InputError as refusal:
            return refusal, caught


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("method", METHODS, ids=method_ids)
def test_an_answer_or_one_sentence(method, table):
    for parameters in settings_of(method):
        fitted, caught = outcome(method, TABLES[table], parameters)
        if isinstance(fitted, InputError):
            assert "\n" not in str(fitted)
            continue
        assert len(fitted.indices_) == K or caught, parameters
        assert not np.isinf(fitted.scores_).any(), parameters


@pytest.mark.parametrize("name", ["HSFS", "LDFS", "PrincipalFeatures"])
def test_no_convergence_is_a_warning_with_the_gap(name):
    method = next(method for method in METHODS if method.name == name)
    fitted, caught = outcome(method, X, {"max_iter": 1, "tol": 1e-9})
    residual = fitted.result_.extras["kkt_residual"]
    sentence = f"KKT residual of {residual:.1e} where tol=1e-09 was asked for"
    assert any(sentence in str(warning.message) for warning in caught)


@pytest.mark.parametrize("name", ["L1SVM", "SVMRFE", "L0SVM", "R2W2"])
def test_a_machine_that_did_not_converge_says_how_far_it_is(name):
    method = next(method for method in METHODS if method.name == name)
    _, caught = outcome(method, TABLES["an outlier"], {"tol": 1e-300})
    assert any("did not converge" in str(warning.message) for warning in caught)
