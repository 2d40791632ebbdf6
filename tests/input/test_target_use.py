"""What the registry says of a method's target is what the method does."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from featsieve.errors import InputError
from featsieve.registry import METHODS, methods_for_numbers
from tests.estimators import method_ids, quick_selector

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
NUMBERS = X[:, 2] + 0.1 * RNG.normal(size=40)
OTHERS = RNG.normal(size=40)


def scores(method, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        selector = quick_selector(method, task="regression", n_features_to_select=2)
        return np.asarray(selector.fit(X, y).scores_)


@pytest.mark.parametrize("method", METHODS, ids=method_ids)
def test_numbers_are_refused_used_or_ignored(method):
    if method.target == "classes":
        with pytest.raises(InputError, match=r"needs classes.*; use [A-Z].*task='classification'"):
            scores(method, NUMBERS)
    else:
        is_same = np.array_equal(scores(method, NUMBERS), scores(method, OTHERS), equal_nan=True)
        assert is_same == (method.target != "classes or numbers")


def test_names_are_those_of_the_registry():
    assert methods_for_numbers("embedded: l1 path") == "LassoSelector"
    ranking = methods_for_numbers("ranking")
    assert ranking.startswith("PearsonRanking, ")
    assert " or " in ranking
    assert "ReliefF" in ranking
    assert "LaplacianScore" not in ranking
