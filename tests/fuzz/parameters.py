"""Bad values for every parameter of every estimator, made from its signature and its defaults."""

from __future__ import annotations

import importlib
import inspect
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from docs.tables import bind_to_example, example_measure, example_method, example_search, refusal
from joblib import parallel_config

from featsieve import FeatureSelector, MaxRel
from featsieve.discretize import DISCRETIZERS
from featsieve.errors import InputError
from featsieve.measures import MEASURES
from featsieve.registry import METHODS
from featsieve.searches import SEARCHES
from tests.fuzz.fits import in_one_line, raised_by_scikit_learn

LONGEST = 400  # characters of a refusal
MAX_TIME = 1

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 3))
Y = (X[:, 0] + 0.1 * RNG.normal(size=24) > 0).astype(int)

STRANGE: tuple[Any, ...] = (
    *(None, True, False, np.bool_(True), ...),
    *(0, 1, 2, 5, -1, -2, 255, 2**31, 2**63, 10**30, -(10**30)),
    *(0.0, -0.0, 0.5, 1.0, 2.5, -0.5, 1e-300, 1e300, float("nan"), float("inf"), -float("inf")),
    *(np.int8(3), np.uint64(2), np.float16(0.5), np.float32("nan"), np.longdouble(2), 1j),
    *(np.array(2), np.array([2]), np.array([0.5, np.nan]), np.ones((2, 2)), np.array([])),
    *(np.array("auto"), np.array([None]), np.ma.masked, np.datetime64("NaT", "s"), pd.NA, pd.NaT),
    *("", "zzz", "auto", "median", "2", "nan", "1GB", "-1GB", " ", "a\nb", "\x1b[31m", "é" * 500),
    *(b"", b"auto", bytearray(b"2"), memoryview(b"2")),
    *(
        [],
        [[]],
        [None],
        [0],
        [0.5, -1],
        ["zzz"],
        [[0, 1], [2]],
        [float("nan")],
        [True, False, True],
    ),
    *((), (1, 2), {}, {"a": 0}, {"a": [0]}, {"a": [0], "b": [0]}, {0: 1}, set(), {1}, frozenset()),
    *(range(0), range(3), slice(2), Decimal(2), Fraction(1, 2)),
    *(object(), int, Exception, Exception("x"), len, lambda *_, **__: 1, lambda: 1 / 0),
    *(pd.Series([1, 2]), pd.DataFrame({"a": [1]}), np.random.default_rng(0)),
)


@dataclass(frozen=True)
class Subject:
    """An estimator with parameters, and a selector that uses it."""

    name: str
    make: Callable[[], Any]
    selector: Callable[[Any], Any]

    def parameters(self) -> dict[str, inspect.Parameter]:
        return dict(inspect.signature(type(self.make())).parameters)


def _is_itself(estimator: Any) -> Any:
    return estimator


def _load(exports: dict[str, str], name: str) -> Any:
    return getattr(importlib.import_module(exports[name]), name)


@cache
def subjects() -> tuple[Subject, ...]:
    return (*_methods(), *_measures(), *_searches(), *_discretizers())


def _methods() -> Iterator[Subject]:
    for method in METHODS:
        yield Subject(method.name, lambda method=method: example_method(method), _is_itself)


def _measures() -> Iterator[Subject]:
    for name in MEASURES:
        partner = next(s for s in SEARCHES if _go_together(name, s))
        yield Subject(
            name,
            lambda name=name: example_measure(name),
            lambda m, s=partner: FeatureSelector(m, example_search(s), n_features_to_select=1),
        )


def _searches() -> Iterator[Subject]:
    for name in SEARCHES:
        partner = next(m for m in ("Pearson", *MEASURES) if _go_together(m, name))
        yield Subject(
            name,
            lambda name=name: example_search(name),
            lambda s, m=partner: FeatureSelector(example_measure(m), s, n_features_to_select=1),
        )


def _discretizers() -> Iterator[Subject]:
    for name in DISCRETIZERS:
        yield Subject(
            name, _load(DISCRETIZERS, name), lambda discretizer: MaxRel(discretizer=discretizer)
        )


@cache
def _go_together(measure: str, search: str) -> bool:
    return refusal(bind_to_example(example_measure(measure)), example_search(search)) is None


# --- values --------------------------------------------------------------------------------------


def words_of(parameter: inspect.Parameter) -> list[str]:
    """The words that the annotation names."""
    return re.findall(r"['\"](\w+)['\"]", str(parameter.annotation))


def near_values(parameter: inspect.Parameter) -> list[Any]:
    """Nearly right: the default and the words of the annotation in the wrong form."""
    default = parameter.default
    values: list[Any] = [default, [default], (default, default), str(default), {"a": default}]
    for word in [default] if isinstance(default, str) else words_of(parameter):
        values += [word, word.upper(), f" {word}", word[:-1], word.encode(), np.str_(word)]
    if isinstance(default, (int, float)):
        values += [-default, default * 10**12, float(default), np.float32(default), default + 0.5]
        values += [np.array(default), np.array([default]), Decimal(default), complex(default)]
    return values


def drawn_value(parameter: inspect.Parameter, rng: Any) -> Any:
    values = near_values(parameter) if rng.random() < 0.3 else STRANGE
    value = values[rng.integers(len(values))]
    # What a user's function raises is the user's; so is what a model says about its parameters.
    is_users = callable(value) or parameter.name == "score_params"
    return None if is_users else value


# --- one case ------------------------------------------------------------------------------------


def numbered(seed: int, number: int) -> tuple[Subject, dict[str, Any]]:
    """An estimator and strange values for some of its parameters, the same for the same numbers."""
    rng = np.random.default_rng([seed, number])
    subject = subjects()[rng.integers(len(subjects()))]
    parameters = subject.parameters()
    if not parameters:
        return subject, {}
    names = rng.choice(sorted(parameters), size=min(len(parameters), int(rng.integers(1, 4))))
    # Without a limit a huge count may run for ever.
    names = [name for name in dict.fromkeys(names.tolist()) if name != "max_time"] or ["max_time"]
    names = [name for name in names if name in parameters]
    return subject, {name: drawn_value(parameters[name], rng) for name in names}


def problems(
    subject: Subject, values: dict[str, Any], tally: Counter[str] | None = None
) -> Iterator[str]:
    """It works, or it is refused in one sentence; the parameters stay as they were given."""
    estimator = subject.make()
    for name, value in values.items():
        setattr(estimator, name, value)
    selector = subject.selector(estimator)
    if "max_time" not in values and "max_time" in selector.get_params(deep=False):
        selector.max_time = MAX_TIME
    refusal = _refusal(selector)
    if tally is not None:
        tally["parameter answered" if refusal is None else "parameter refused"] += 1
    if refusal is not None:
        yield from refusal
    for name, value in values.items():
        if getattr(estimator, name) is not value:
            yield f"{name} was changed by fit"


def _refusal(selector: Any) -> Iterator[str] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with parallel_config(backend="threading"):  # a wrapper would start processes
                selector.fit(X, Y)
        except TimeoutError:  # a huge count is a long run
            return None
        except InputError as error:
            return _not_a_sentence(str(error))
        except Exception as error:
            return iter([] if raised_by_scikit_learn(error) else [in_one_line(error)])
    return None


def _not_a_sentence(text: str) -> Iterator[str]:
    if "\n" in text or not text.endswith((".", "?", "…")) or len(text) > LONGEST:
        yield f"not one sentence: {text[:LONGEST]!r}"
