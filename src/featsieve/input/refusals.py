"""What is not a table of numbers and categories, and what to do about it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date, time, timedelta
from typing import Any

import numpy as np
from scipy.sparse import issparse

from featsieve.arrays import Array
from featsieve.errors import InputError
from featsieve.runtime.user_warnings import warn_user

TIMES = (date, time, timedelta, np.datetime64, np.timedelta64)
FEW_STATES = 20


def refuse_unread(container: Any) -> None:
    """A lazy frame of polars is a plan for rows that are not there yet."""
    kind = type(container)
    if kind.__module__.startswith("polars") and kind.__name__ == "LazyFrame":
        raise InputError(
            "the table is a LazyFrame, whose rows have not been read; call .collect() first, or "
            "use open_parquet for a file larger than memory."
        )


def refuse_times(values: Any) -> None:
    """Dates and durations in an array would pass for numbers of some unit."""
    if not isinstance(values, np.ndarray):
        kind = getattr(getattr(values, "dtype", None), "kind", None)
        values = np.empty(0, values.dtype) if kind else _array_of_list(values)
    if holds_times(values):
        raise InputError(
            "the table holds dates or times, which are not numbers; convert them, for example to "
            "days since a date, or drop them."
        )


def holds_times(values: Array) -> bool:
    if values.dtype.kind != "O":
        return values.dtype.kind in "mM"
    return any(isinstance(v, TIMES) for v in values.ravel().tolist())


def _array_of_list(values: Any) -> Array:
    """No array at all where NumPy finds none: scikit-learn has the words for that."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError):
        return np.empty(0)


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
    if kind.startswith("sparse"):
        return f"use {column}.sparse.to_dense(), or a SciPy sparse matrix for the whole table."
    if kind.startswith("complex"):
        return f"complex numbers have no order: use {column}.abs(), or real and imaginary parts."
    if kind == "null":
        return "it has no value at all; drop it."
    return (
        "allowed are numbers, booleans and categories (text or category); convert it to one of "
        "them or drop it."
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


def warn_of_numbers_in_text(name: str, states: Collection[Any]) -> None:
    """Numbers written as text are taken as categories, which is rarely meant."""
    if len(states) > FEW_STATES and are_numbers_in_text(states):
        warn_user(
            f"column {name!r} holds numbers written as text, which are taken as {len(states)} "
            f"categories; convert it with astype(float) if they are numbers."
        )


def are_numbers_in_text(states: Collection[Any]) -> bool:
    """Whether all states are text that float() reads."""
    try:
        return all(isinstance(state, str) and np.isfinite(float(state)) for state in states)
    except ValueError:
        return False


def refuse_numbers_in_text(states: Collection[Any], n_rows: int) -> None:
    """A target of numbers written as text would be one class per row."""
    if len(states) > max(FEW_STATES, np.sqrt(n_rows)) and are_numbers_in_text(states):
        raise InputError(
            f"the target holds numbers written as text (such as {min(states)!r}), "
            f"{len(states)} different ones in {n_rows} rows; convert it with astype(float), or "
            "give task='classification' if they are classes."
        )


def refuse_mapping(container: Any) -> None:
    if isinstance(container, Mapping) and not issparse(container):  # a DOK matrix is both
        raise InputError(
            "X is a mapping of columns; make it a table first, such as pandas.DataFrame(X)."
        )


def refuse_name_of_column(X: Any, y: Any) -> None:
    """The name of a column is a target only where the table stays on the disk."""
    if isinstance(y, str):
        raise InputError(
            f"the target y is {y!r}, but X is in memory: give its values, X.drop(columns={y!r}) as "
            f"X and X[{y!r}] as y; a name is enough with open_parquet."
        )
