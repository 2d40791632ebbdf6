"""NumPy scalars as Python numbers: ``np.uint8(20) * 20`` is 144, and ``np.uint8(5) - 6`` is 255."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from typing import Any

import numpy as np

from featsieve.input.parameters import is_integer


@contextmanager
def in_python_numbers(estimator: Any) -> Iterator[None]:
    """Its parameters, and those of estimators among them, while it fits; then as given."""
    given = estimator.get_params(deep=False)
    vars(estimator).update(_changed(given))
    try:
        yield
    finally:
        vars(estimator).update(given)


def python_number(value: Any) -> Any:
    """
    >>> python_number(np.uint8(3)), python_number("auto")
    (3, 'auto')
    """
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, np.integer) and is_integer(value):
        return int(value)
    return float(value) if isinstance(value, np.floating) else value


def _changed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those parameters that are NumPy scalars, or estimators that have some, in Python numbers."""
    plain = {name: _with_python_numbers(value) for name, value in values.items()}
    return {name: value for name, value in plain.items() if value is not values[name]}


def _with_python_numbers(value: Any) -> Any:
    """An estimator itself stays as it is: a copy has the numbers."""
    if not hasattr(value, "get_params") or isinstance(value, type):
        return python_number(value)
    changed = _changed(vars(value)) if hasattr(value, "__dict__") else {}
    if not changed:
        return value
    other = copy(value)
    vars(other).update(changed)
    return other
