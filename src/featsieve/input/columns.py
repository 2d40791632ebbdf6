"""Columns of a table: their names, groups and states, and what is allowed."""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from featsieve.arrays import Array
from featsieve.errors import InputError
from featsieve.input.parameters import brief, is_integer, not_allowed
from featsieve.input.refusals import (
    no_columns,
    not_a_column,
    not_as_before,
    not_one_type,
    warn_of_text,
)
from featsieve.input.sparse import refuse_damaged
from featsieve.input.tables import (
    floats_of,
    is_frame,
    is_missing,
    is_sparse,
    narrowed,
    unmasked,
)
from featsieve.runtime.user_warnings import warn_user
from featsieve.schema import Schema

GROUPS = "a mapping from a name to columns, a list of lists of columns or None"
COLUMNS = "a list of column names or indices, or one True or False per column"


def warn_of_other_order(X: Any, values: Any, name: str) -> None:
    """Rows of pandas objects are taken by position, which is seldom meant if labels disagree."""
    index, labels = (_pandas_index(part) for part in (X, values))
    if index is None or labels is None or len(index) != len(labels) or index.equals(labels):
        return
    if len(index.symmetric_difference(labels, sort=False)) == 0:
        warn_user(
            f"X and {name} have the same index in different orders, and rows are taken by "
            f"position; if they belong together by label, give {name}.loc[X.index]."
        )


def _pandas_index(values: Any) -> Any:
    """None for anything but a series or dataframe: pandas' own arrays have no labels."""
    return getattr(values, "index", None) if type(values).__module__.startswith("pandas") else None


def numeric_values(column: Any) -> Array:
    """A numeric column without a copy where possible; nulls become NaN."""
    if isinstance(column, np.ndarray):
        return column
    import narwhals.stable.v2 as nw

    if column.dtype == nw.Unknown:
        return narrowed(np.asarray(column.to_native()))
    if column.dtype == nw.Object or column.dtype.is_decimal():
        return floats_of(column.to_list(), f"column {column.name!r}")
    if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
        raise not_as_before(column.name)
    if column.null_count() or column.dtype in (nw.Int128, nw.UInt128):
        column = column.cast(nw.Float64)
    return np.asarray(column.to_numpy())


MOST_STATES = 4096


@dataclass(frozen=True)
class StateScan:
    """The states seen in each categorical column; adds over blocks of rows.

    ``texts``: in how many rows a column of plain text has one.
    """

    states: dict[int, frozenset[Any]]
    texts: Counter[int] = field(default_factory=Counter)

    def merge(self, other: Self) -> Self:
        states = {c: s | other.states[c] for c, s in self.states.items()}
        return type(self)(states, self.texts + other.texts)


def scan_frame(frame: Any, columns: Sequence[int]) -> StateScan:
    """States of some columns of a dataframe (or of one block of it)."""
    import narwhals.stable.v2 as nw

    wrapped = nw.from_native(frame, eager_only=True)
    names = wrapped.columns  # once: each look at it lists all columns again
    series = {c: wrapped.get_column(names[c]) for c in columns}
    texts = {c: len(s) - s.null_count() for c, s in series.items() if s.dtype == nw.String}
    return StateScan({c: _states_of_series(s) for c, s in series.items()}, Counter(texts))


def scan_array(values: Any, columns: Sequence[int]) -> StateScan:
    """States of some columns of an array or sparse matrix."""
    source = unmasked(values)
    if is_sparse(values):
        refuse_damaged(values)
        source = values.tocsc()  # columns of CSR are slow to take
    return StateScan({c: _states_of_array(source[:, [c]]) for c in columns})


def _states_of_series(series: Any) -> frozenset[Any]:
    return frozenset(s for s in series.drop_nulls().unique().to_list() if s == s)


def _states_of_array(column: Any) -> frozenset[Any]:
    dense = column if isinstance(column, np.ndarray) else column.toarray()
    states = np.unique(dense)
    return frozenset(states[states == states].tolist())


def sorted_categories(scan: StateScan, names: Sequence[str]) -> dict[int, tuple[Any, ...]]:
    """States in one order whatever the engine; too many of them are refused by name."""
    for column, states in scan.states.items():
        if len(states) > MOST_STATES:
            raise InputError(
                f"the categorical column {names[column]!r} has {len(states)} states, at most "
                f"{MOST_STATES} are allowed; drop it if it is an identifier, or group its states."
            )
        if not states:
            raise InputError(
                f"the categorical column {names[column]!r} has no value at all; drop it."
            )
        warn_of_text(names[column], states, scan.texts[column])
    return {c: tuple(sorted(s, key=_state_key)) for c, s in scan.states.items()}


def _state_key(state: Any) -> tuple[int, Any]:
    return (0, state) if isinstance(state, numbers.Real) else (1, str(state))


def check_names(names: Sequence[Any]) -> None:
    """There must be columns, with names different from each other."""
    if not len(names):
        raise no_columns()
    kinds = sorted({type(name).__name__ for name in names})
    if "str" in kinds and len(kinds) > 1:
        raise InputError(
            f"the names of the columns are of the types {', '.join(kinds)}, so that 1 and '1' "
            "could be two of them; make them all text by X.columns = X.columns.astype(str)."
        )
    seen: set[Any] = set()
    for name in names:
        if name in seen:
            raise InputError(
                f"there are two columns named {name!r}; give every column a different name."
            )
        seen.add(name)


def categorical_by_dtype(frame: Any) -> list[int]:
    """Columns whose dtype says that they are categorical; other types are refused."""
    import narwhals.stable.v2 as nw

    wrapped = nw.from_native(frame, eager_only=True)
    return [j for j, series in enumerate(wrapped.iter_columns()) if _is_categorical(series)]


def refuse_other_kinds(table: Any, schema: Schema) -> None:
    """In later rows: columns of words or categories that held numbers in the first ones."""
    empty = getattr(table, "_meta", table)  # of a Dask dataframe
    if not hasattr(empty, "columns") or not is_frame(empty):
        return
    for column in categorical_by_dtype(empty):
        if column not in schema.categories:
            raise not_as_before(schema.names[column])


def _is_categorical(series: Any) -> bool:
    import narwhals.stable.v2 as nw

    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean or _is_number_of_pandas(series):
        return False
    if str(getattr(series.to_native(), "dtype", "")).startswith("string_view"):
        raise not_a_column(series)  # of Arrow, inside pandas, which can do nothing with it
    if dtype in (nw.Categorical, nw.Enum, nw.String):
        return True
    if dtype == nw.Object:
        return _object_is_categorical(series)
    raise not_a_column(series)


def _is_number_of_pandas(series: Any) -> bool:
    """Sparse columns and long doubles have no name in narwhals; their kind tells."""
    import narwhals.stable.v2 as nw

    kind = getattr(getattr(series.to_native(), "dtype", None), "kind", None)
    return series.dtype == nw.Unknown and kind in ("b", "i", "u", "f")


def _object_is_categorical(series: Any) -> bool:
    kinds = {type(v) for v in series.to_list() if not is_missing(v)}
    if all(issubclass(kind, (numbers.Real, np.bool_)) or _is_decimal(kind) for kind in kinds):
        return False
    if all(issubclass(kind, str) for kind in kinds):
        if series.implementation.is_polars():  # which neither compares nor converts objects
            raise not_a_column(series)
        return True
    raise not_one_type(series.name, kinds)


def _is_decimal(kind: type) -> bool:
    return kind.__name__ == "Decimal"


def _is_several(given: Any) -> bool:
    """A word is one thing, and so is an array of no dimension, although it claims to be several."""
    is_iterable = isinstance(given, Iterable) and not isinstance(given, str)
    return is_iterable and getattr(given, "shape", None) != ()


def resolve_columns(given: Iterable[Any], names: Sequence[str], parameter: str) -> list[int]:
    """Names, indices or a boolean mask to column indices."""
    if not _is_several(given):
        raise not_allowed(parameter, given, COLUMNS)
    wanted = list(given)
    if wanted and all(isinstance(item, (bool, np.bool_)) for item in wanted):
        if len(wanted) != len(names):
            raise InputError(
                f"{parameter} is a mask of {len(wanted)}, but there are {len(names)} columns."
            )
        return [j for j, kept in enumerate(wanted) if kept]
    index = {name: j for j, name in enumerate(names)}
    return [_resolve_column(item, index, parameter) for item in wanted]


def _resolve_column(item: Any, index: Mapping[str, int], parameter: str) -> int:
    if isinstance(item, str) and item in index:
        return index[item]
    if is_integer(item) and -len(index) <= item < len(index):
        return int(item) % len(index)
    import difflib

    near = difflib.get_close_matches(str(item), list(index), n=3)
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
    raise InputError(
        f"{parameter} names {brief(item)}, but there is no such column among {len(index)}{hint}"
    )


def resolve_groups(
    feature_groups: Any, names: Sequence[str]
) -> tuple[tuple[tuple[int, ...], ...], tuple[str, ...]]:
    """Groups and single columns as units, in the order of their first columns."""
    named = _named_groups(feature_groups, names)
    taken: dict[int, str] = {}
    for label, columns in named:
        for column in columns:
            if column in taken:
                raise InputError(
                    f"feature_groups puts column {names[column]!r} into both {taken[column]!r} and "
                    f"{label!r}; a column belongs to one group."
                )
            taken[column] = label
    alone = [(names[j], (j,)) for j in range(len(names)) if j not in taken]
    units = sorted([*named, *alone], key=lambda unit: unit[1][0])
    _refuse_equal_labels([label for label, _ in units])
    return tuple(columns for _, columns in units), tuple(label for label, _ in units)


def _refuse_equal_labels(labels: Sequence[str]) -> None:
    """Answers name units, and a name must mean one of them."""
    label, count = Counter(labels).most_common(1)[0]
    if count > 1:
        raise InputError(
            f"feature_groups makes {count} units named {label!r}, a group and another or a column; "
            "give the group a name of its own."
        )


def _named_groups(groups: Any, names: Sequence[str]) -> list[tuple[str, tuple[int, ...]]]:
    if isinstance(groups, Mapping):
        items: list[tuple[str | None, Any]] = [(str(g), c) for g, c in groups.items()]
    elif isinstance(groups, Sequence) and not isinstance(groups, str):
        items = [(None, columns) for columns in groups]
    else:
        raise not_allowed("feature_groups", groups, GROUPS)
    return [_named_group(label, columns, names) for label, columns in items]


def _named_group(
    label: str | None, columns: Any, names: Sequence[str]
) -> tuple[str, tuple[int, ...]]:
    if not _is_several(columns):
        raise InputError(
            f"feature_groups holds the group {brief(columns)}; give each group as {COLUMNS}."
        )
    members = tuple(sorted(set(resolve_columns(columns, names, "feature_groups"))))
    if not members:
        raise InputError("feature_groups holds an empty group; give each group a column.")
    return label or "+".join(names[j] for j in members), members
