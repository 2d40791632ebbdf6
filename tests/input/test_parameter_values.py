"""Strange values for every parameter of every method: it works, or it is refused in one sentence.

The parameters come from the signatures, so a new method or parameter is covered by existing.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from joblib import parallel_config

from featsieve.errors import InputError
from tests.estimators import METHODS, quick_selector, target_for

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 3))
Y = X[:, 0] + 0.1 * RNG.normal(size=24)

STRANGE = {
    "a word": "zzz",
    "a duration": np.timedelta64(2, "s"),
    "no characters": "",
    "an empty list": [],
    "an empty mapping": {},
    "an object": object(),
    "an array": np.ones((2, 2)),
    "a list of words": ["zzz"],
    "a nested list": [[]],
    "a mapping to a number": {"a": 0},
    "zero": 0,
    "minus two": -2,
    "five": 5,
    "two and a half": 2.5,
    "not a number": float("nan"),
    "infinity": float("inf"),
    "a huge integer": 10**30,
    "a complex number": 1j,
    "bytes": b"1",
    "None": None,
    "True": True,
}


def parameter_names():
    for method in METHODS:
        for name in sorted(method.load()().get_params(deep=False)):
            yield pytest.param(method, name, id=f"{method.name}-{name}")


@pytest.mark.parametrize(("method", "name"), list(parameter_names()))
def test_a_strange_value_works_or_is_refused_in_one_sentence(method, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a value may be the name of a file
    y = target_for(method, Y)
    for words, value in STRANGE.items():
        selector = quick_selector(method, max_time=1)
        setattr(selector, name, value)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                with parallel_config(backend="threading"):  # a wrapper would start processes
                    selector.fit(X, y)
            except TimeoutError:
                pass  # a huge count is a long run
            except InputError as error:
                assert_one_sentence(str(error), f"{name} = {words}")
            except Exception as error:
                raise AssertionError(f"{name} = {words}: {error!r}") from error


def assert_one_sentence(text, case):
    assert "\n" not in text, case
    assert text.endswith("."), f"{case}: {text}"
    assert len(text) < 400, f"{case}: {text}"
