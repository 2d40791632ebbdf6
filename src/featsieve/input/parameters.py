"""Checks of the shared parameters."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.errors import InputError
from featsieve.runtime.user_warnings import warn_user

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def resolve_count(n_features_to_select: Any, n_units: int, *, auto: bool = False) -> int | None:
    """How many units to keep; None means that the method finds the number itself (``"auto"``).

    >>> resolve_count(None, 5), resolve_count(0.4, 5), resolve_count(3, 5)
    (2, 2, 3)
    """
    given = n_features_to_select
    if given is None:
        return max(1, n_units // 2)
    if isinstance(given, str) and given == "auto" and auto:
        return None
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool) and given >= 1:
        return _capped(int(given), n_units)
    if _is_fraction(given):
        return max(1, int(given * n_units))
    allowed = "a whole number from 1, a fraction in (0, 1], or None for half"
    raise InputError(
        f"n_features_to_select={given!r} is not possible; give {allowed}"
        f"{', or auto' if auto else ''}."
    )


def _is_fraction(given: Any) -> bool:
    return isinstance(given, (float, np.floating)) and bool(0 < given <= 1)


def _capped(count: int, n_units: int) -> int:
    if count > n_units:
        warn_user(
            f"n_features_to_select={count} is more than the {n_units} features there are; "
            "all of them are kept."
        )
    return min(count, n_units)


def parse_memory(memory_limit: Any) -> int:
    """Bytes of ``"1GiB"``, ``"500 MB"`` or a number.

    >>> parse_memory("1GiB"), parse_memory(1024)
    (1073741824, 1024)
    """
    if isinstance(memory_limit, (int, float, np.number)) and memory_limit > 0:
        return int(memory_limit)
    found = re.fullmatch(r"\s*([\d.]+)\s*([a-zA-Z]*)\s*", str(memory_limit))
    if found and found[2].upper() in UNITS and float(found[1]) > 0:
        return int(float(found[1]) * UNITS[found[2].upper()])
    raise InputError(
        f"memory_limit={memory_limit!r} is not an amount of memory; give bytes or, for example, "
        "'1GiB' or '500MB'."
    )


def check_time(max_time: Any) -> float | None:
    if max_time is None:
        return None
    numeric = isinstance(max_time, (int, float, np.number)) and not isinstance(max_time, bool)
    if numeric and max_time > 0:
        return float(max_time)
    raise InputError(f"max_time={max_time!r} is not possible; give seconds above 0, or None.")


def check_callback(callback: Any) -> Any:
    if callback is None or callable(callback):
        return callback
    raise InputError(
        f"callback={callback!r} cannot be called; give a function of one argument, or None."
    )


def check_flag(name: str, value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise InputError(f"{name}={value!r} is not possible; give True or False.")


def check_sample_weight(sample_weight: Any, n_samples: int) -> FloatArray | None:
    """Finite, non-negative, one a row; a single number means no weights."""
    if sample_weight is None:
        return None
    weight = _as_numbers(sample_weight)
    if weight.ndim > 1:
        raise InputError("Sample weights must be 1D array or scalar: give one number a row.")
    if weight.ndim and weight.shape != (n_samples,):
        raise InputError(
            f"sample_weight.shape == {weight.shape}, expected {(n_samples,)}; give one a row."
        )
    if not np.isfinite(weight).all() or (weight < 0).any() or not weight.any():
        raise InputError(
            "sample_weight holds a negative or not finite number, or only zeros; give weights "
            "from 0 up, some of them above 0."
        )
    return weight if weight.ndim else None


def _as_numbers(sample_weight: Any) -> FloatArray:
    values = np.asarray(sample_weight)
    try:
        if values.dtype.kind not in "biufO":
            raise TypeError
        return values.astype(np.float64)
    except (TypeError, ValueError):
        given = repr(sample_weight) if values.ndim == 0 else f"an array of {values.dtype}"
        raise InputError(
            f"sample_weight is {given}, not numbers; give one number a row (a column itself, not "
            "its name), or None."
        ) from None
