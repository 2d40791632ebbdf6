"""States of a categorical column as codes."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from featsieve.arrays import Array
from featsieve.errors import InputError
from featsieve.input.columns import numeric_values


def encode_states(column: Any, categories: tuple[Any, ...], name: str) -> Array:
    """Codes of the states in ``categories``, −1 for a missing cell; others are an error."""
    import narwhals.stable.v2 as nw

    if isinstance(column, np.ndarray):
        return _encode_array(column, categories, name)
    if column.dtype.is_float() or _is_half(column):
        return _encode_array(numeric_values(column), categories, name)
    column = _comparable(column)
    codes = column.replace_strict(
        list(categories), list(range(len(categories))), default=-1, return_dtype=nw.Int32
    ).to_numpy()
    if int((codes < 0).sum()) > int(column.null_count()):
        _refuse_unknown_state(name)
    return np.asarray(codes, dtype=np.int32)


def _comparable(column: Any) -> Any:
    """Old polars warns of two encodings of categories; Arrow looks up no views of text."""
    import narwhals.stable.v2 as nw

    is_coded = column.implementation.is_polars() and column.dtype == nw.Categorical
    is_view = str(getattr(column.to_native(), "type", "")) == "string_view"
    return column.cast(nw.String) if is_coded or is_view else column


def _is_half(column: Any) -> bool:
    """Neither pandas nor Arrow looks up such numbers, and old narwhals has no name for them."""
    return bool(getattr(column.to_native(), "dtype", None) == np.float16)


def _encode_array(values: Array, categories: tuple[Any, ...], name: str) -> Array:
    try:
        states = np.asarray(categories, dtype=values.dtype)
    except ValueError:  # the states are words
        _refuse_unknown_state(name)
    codes = np.minimum(np.searchsorted(states, values), len(states) - 1).astype(np.int32)
    missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
    codes[missing] = -1
    if (states[codes[~missing]] != values[~missing]).any():
        _refuse_unknown_state(name)
    return codes


def _refuse_unknown_state(name: str) -> NoReturn:
    raise InputError(
        f"the categorical column {name!r} holds a state that was not there when its states were "
        "listed; declare all of them in the column's dtype."
    )
