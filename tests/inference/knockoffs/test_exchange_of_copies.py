"""Exchanging columns with their copies changes the signs of W, to the last bit, for any method."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from docs.tables import example_method

from featsieve import KnockoffSelector
from featsieve.errors import InputError
from featsieve.input.boundary import Settings, open_engine
from featsieve.registry import METHODS

N, P = 60, 8
AROUND = {"KnockoffSelector", "StabilitySelector"}
RACES = {"AutoSelector"}  # judge by the clock
INNER = [m for m in METHODS if m.name not in AROUND | RACES]


class GivenCopies:
    """What a model of the columns would draw."""

    def __init__(self, X, copies):
        self._copies = copies
        self.sample = SimpleNamespace(X=X, rows=np.arange(len(X)))

    def copies(self, X, rows, seed):
        return self._copies[rows].astype(float)


def gaussian(rng):
    return rng.normal(size=(2, N, P))


def tied(rng):
    """Few values, two columns that are equal with copies that are, too, and a constant."""
    both = rng.integers(0, 3, size=(2, N, P)).astype(float)
    both[:, :, 1] = both[:, :, 0]
    both[:, :, 2] = 1.0
    return both


def scaled(rng):
    both = rng.normal(size=(2, N, P))
    both[:, :, 4:6] *= [1e6, 1e-6]
    both[:, :, 6] += 1e5
    return both


def statistics(method, X, copies, y):
    selector = KnockoffSelector(selector=method, random_state=7)
    engine = open_engine(X, y, Settings())
    return selector._procedure().statistics(engine, GivenCopies(X, copies), 11)


def with_seed(entry):
    method = example_method(entry)
    return method.set_params(random_state=0) if hasattr(method, "random_state") else method


@pytest.mark.parametrize("draw", [gaussian, tied, scaled])
@pytest.mark.parametrize("entry", INNER, ids=lambda entry: entry.name)
def test_signs_change_exactly(entry, draw):
    X, copies = draw(np.random.default_rng(0))
    y = X[:, 0] - X[:, 7] + np.random.default_rng(3).normal(size=N)
    for target in (y, (y > np.median(y)).astype(int)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # few columns, ties
            try:
                W = statistics(with_seed(entry), X, copies, target)
            except InputError as error:
                assert "needs classes" in str(error)  # noqa: PT017
                continue
            except ValueError:  # a classifier of the user's and numbers
                assert entry.name == "WrapperSelector"
                continue
            swapped = np.random.default_rng(2).random(P) < 0.5
            first, second = np.where(swapped, copies, X), np.where(swapped, X, copies)
            other = statistics(with_seed(entry), first, second, target)
        assert np.array_equal(other, np.where(swapped, -W, W))
        assert W.any()
