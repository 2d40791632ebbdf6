"""From one variable's states, of any type, to codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from featsieve.errors import InputError
from featsieve.schema import Array, IntArray
from featsieve.targets import is_missing

_MISSING = object()


def state_codes(x: Any, name: str) -> IntArray:
    """Codes 0, 1, … of one variable's states; continuous numbers are refused.

    Missing cells of any kind are one state, and text is never equal to a number.

    >>> state_codes(["1", None, 1, float("nan")], "x").tolist()
    [0, 1, 2, 1]
    """
    values = as_states(x)
    if values.ndim != 1 or not len(values):
        raise InputError(f"{name} has shape {values.shape}; give one state a row, at least one.")
    if values.dtype == object:
        return _codes_of_objects(values.tolist(), name)
    _refuse_fractions(values, name)
    return np.unique(values, return_inverse=True)[1].reshape(-1)


def as_states(x: Any) -> Array:
    """An array; a list with text keeps each value as given, where NumPy would make all text."""
    values = np.asarray(x)
    if values.dtype.kind in "US" and not isinstance(x, np.ndarray):
        return np.array(x, dtype=object)
    return values


def _codes_of_objects(values: list[Any], name: str) -> IntArray:
    keys = [_MISSING if is_missing(value) else value for value in values]
    _refuse_fractions(np.array([key for key in keys if isinstance(key, float)], float), name)
    try:
        code_of = {key: code for code, key in enumerate(dict.fromkeys(keys))}
    except TypeError:
        raise InputError(
            f"{name} holds values that cannot be compared; give numbers, text or booleans."
        ) from None
    return np.array([code_of[key] for key in keys], dtype=np.intp)


def _refuse_fractions(values: npt.NDArray[Any], name: str) -> None:
    if values.dtype.kind != "f":
        return
    known = values[~np.isnan(values)]
    if (known != np.rint(known)).any():
        raise InputError(
            f"{name} holds continuous numbers where codes are expected; discretise it first, see "
            "featsieve.discretize."
        )
