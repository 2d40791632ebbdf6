"""How well a selected set meets the true one, and how far methods are from the best one."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.errors import InputError
from featsieve.input.parameters import not_allowed


def f_measure(selected: Collection[Hashable], relevant: Collection[Hashable]) -> float:
    """Harmonic mean of precision and recall of a selection (Jitkrittum et al. 2013, 6.2).

    It is 1 exactly when the selected set is the relevant set, and 0 when they share nothing.

    Parameters
    ----------
    selected
        What was selected: indices or names, in any order; an empty selection scores 0.
    relevant
        The true ones; at least one.

    Examples
    --------
    >>> f_measure([0, 1, 2, 7], [0, 1, 2, 3])
    0.75
    """
    chosen, true = _as_set("selected", selected), _as_set("relevant", relevant)
    if not true:
        raise InputError("relevant is empty; give the indices of at least one true column.")
    # 2pr/(p + r) with p = hits/|chosen| and r = hits/|true|
    return 2 * len(chosen & true) / (len(chosen) + len(true))


def _as_set(name: str, members: Collection[Hashable]) -> set[Hashable]:
    if isinstance(members, str) or not isinstance(members, (Collection, np.ndarray)):
        raise InputError(f"{name}={members!r} is not a collection; give indices or names.")
    try:
        chosen = set(members)
    except TypeError:
        raise InputError(f"{name} holds lists; give the indices or names themselves.") from None
    if any(isinstance(member, (bool, np.bool_)) for member in chosen):
        raise InputError(f"{name} is a mask; give the indices, numpy.flatnonzero({name}).")
    return chosen


def as_column_indices(chosen: Any, n_columns: int, what: str = "a selection names") -> IntArray:
    """Indices of different columns, or one sentence that begins with ``what``.

    >>> as_column_indices([2, 0], 3)
    array([2, 0])
    """
    columns = np.asarray(chosen)
    if columns.ndim == 1 and not len(columns):
        return columns.astype(np.intp)
    if columns.ndim != 1 or columns.dtype.kind not in "iu":
        kind = "a mask" if columns.dtype.kind == "b" else "no list of integers"
        raise InputError(f"{what} columns by {kind}; give their indices, such as [0, 3].")
    if columns.min() < 0 or columns.max() >= n_columns:
        raise InputError(f"{what} a column outside of 0 to {n_columns - 1}.")
    if len(np.unique(columns)) < len(columns):
        raise InputError(f"{what} a column twice.")
    return columns.astype(np.intp)


def l2_distance_score(errors: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """How far each method is from the best one of each data set, over all sets at once.

    The square root of the summed squared differences (Song et al. 2007, section 6.2): one bad
    failure costs more than many small lags. 0 is a method that is best everywhere.

    Parameters
    ----------
    errors
        Method → one error per data set, the same sets in the same order.

    Examples
    --------
    >>> l2_distance_score({"A": [1.0, 6.0], "B": [4.0, 2.0]})
    {'A': 4.0, 'B': 3.0}
    """
    if not isinstance(errors, Mapping):
        raise not_allowed("errors", errors, "a mapping from method to errors")
    tables = {method: as_numbers("errors", values) for method, values in errors.items()}
    shapes = {table.shape for table in tables.values()}
    if len(shapes) != 1 or len(shape := shapes.pop()) != 1 or not shape[0]:
        raise InputError("errors must hold the same data sets, at least one, for every method.")
    best = np.min(list(tables.values()), axis=0)
    return {
        method: math.dist(values, best) if _all_finite(values) else math.inf
        for method, values in tables.items()
    }


def as_numbers(name: str, values: Any) -> FloatArray:
    """An array of floats, or one sentence."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (ValueError, TypeError):
        raise InputError(f"{name} must hold numbers, the same count in each row.") from None


def _all_finite(values: FloatArray) -> bool:
    if np.isnan(values).any():
        raise InputError("errors holds NaN; give a method that failed 100 %, or leave it out.")
    return bool(np.isfinite(values).all())
