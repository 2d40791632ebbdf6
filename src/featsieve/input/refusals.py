"""What is not a table of numbers and categories, and what to do about it."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, time, timedelta
from typing import Any

import numpy as np

from featsieve.errors import InputError
from featsieve.runtime.user_warnings import warn_user

TIMES = (date, time, timedelta, np.datetime64, np.timedelta64)
FEW_STATES = 20


def no_columns() -> InputError:
    return InputError("the table has no columns (0 feature(s)); give at least one besides y.")


def missing_targets(n_missing: int) -> InputError:
    return InputError(
        f"the target has {n_missing} missing (NaN) or infinite values; "
        "drop those rows, or fill them in."
    )


def not_a_column(series: Any) -> InputError:
    """For a column of a dataframe whose dtype is neither number nor category."""
    name, kind = series.name, _native_type(series)
    return InputError(f"column {name!r} has dtype {kind}; {_advice(name, kind.lower())}")


def _native_type(series: Any) -> str:
    """The dtype in the words of the user's own dataframe library."""
    native = series.to_native()
    return str(getattr(native, "dtype", getattr(native, "type", series.dtype)))


def _advice(name: str, kind: str) -> str:
    column = f"X[{name!r}]"
    if kind.startswith(("datetime", "timestamp", "date")):
        return (
            f"dates are not numbers: use days, such as ({column} - {column}.min()).dt.days in "
            "pandas (.dt.total_days() in polars), or drop it."
        )
    if kind.startswith(("timedelta", "duration")):
        return f"durations are not numbers: use {column}.dt.total_seconds(), or drop it."
    if kind.startswith("period"):
        return f"periods are not numbers: use {column}.dt.year, or {column}.astype(str) for states."
    if kind.startswith("interval"):
        return f"intervals are not numbers: use {column}.astype(str) for states, or their middles."
    if kind.startswith("sparse["):
        return f"use {column}.sparse.to_dense(), or a SciPy sparse matrix for the whole table."
    if kind.startswith("complex"):
        return f"complex numbers have no order: use {column}.abs(), or real and imaginary parts."
    if kind.startswith("null"):
        return "it has no value at all; drop it."
    if kind.startswith("decimal"):
        return "its decimals are too long to be read; convert it to floating-point numbers."
    return (
        "allowed are numbers, booleans and categories (text or category); convert it to one of "
        "them or drop it."
    )


def not_as_before(name: str) -> InputError:
    """For rows that come later, or lie elsewhere, than those that told the dtypes."""
    return InputError(
        f"column {name!r} holds words or categories in these rows, but numbers in the first ones; "
        "give all rows the same dtypes."
    )


def not_one_type(name: str, kinds: Collection[type]) -> InputError:
    """For a column of Python objects that are neither all numbers nor all text."""
    types = ", ".join(sorted(kind.__name__ for kind in kinds))
    if all(issubclass(kind, TIMES) for kind in kinds):
        hint = f"dates are not numbers: use pandas.to_datetime(X[{name!r}]) and count days."
    elif str in kinds:
        hint = f"make it all text by X[{name!r}].astype(str), or all numbers by pandas.to_numeric."
    else:
        hint = "make it all numbers or all text, or drop it."
    return InputError(f"column {name!r} has values of type {types}; {hint}")


def warn_of_text(name: str, states: Collection[Any], n_texts: int) -> None:
    """Numbers written as text and identifiers are taken as categories, which is rarely meant.

    ``n_texts``: in how many rows there is text; 0 where the dtype says that it is categorical.
    """
    if len(states) <= FEW_STATES:
        return
    if are_numbers_in_text(states):
        warn_user(
            f"column {name!r} holds numbers written as text, which are taken as {len(states)} "
            f"categories; convert it with astype(float) if they are numbers."
        )
    elif 2 * len(states) > n_texts > 0:
        warn_user(
            f"column {name!r} is text with {len(states)} distinct values in {n_texts} rows, taken "
            "as categories that have hardly any rows each; convert it if they are numbers or "
            "dates, drop it if they are names."
        )


def are_numbers_in_text(states: Collection[Any]) -> bool:
    """Whether all states are text that float() reads."""
    try:
        return all(isinstance(state, str) and np.isfinite(float(state)) for state in states)
    except ValueError:
        return False
