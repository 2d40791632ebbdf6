"""From y as the user gave it to the 2-D array of codes or numbers that blocks hand out."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, Self

import numpy as np

from featsieve.arrays import Array
from featsieve.errors import InputError
from featsieve.input.columns import numeric_values
from featsieve.input.parameters import brief, check_choice
from featsieve.input.refusals import FEW_STATES, are_numbers_in_text, missing_targets
from featsieve.input.tables import (
    LARGEST_EXACT,
    array_of,
    floats_of,
    holds_times,
    is_missing,
    is_rounded,
    narrowed,
    unmasked,
    warn_rounded,
)
from featsieve.registry import methods_for_numbers
from featsieve.runtime.user_warnings import warn_user
from featsieve.schema import SAFE_EXPONENT, Target, Task, is_extreme, power_of_two

FEW_CLASSES = 20
ROWS_PER_CLASS = 5
MOST_CLASSES = 65_536
TASKS = ("auto", "classification", "regression")

NO_TARGET = Target("regression", 0)  # of a table whose selector looks at X alone


@dataclass(frozen=True)
class TargetScan:
    """What one pass over y finds out; adds over blocks. One entry per output."""

    n_rows: int
    numeric: bool
    fractional: bool
    distinct: tuple[frozenset[Any], ...]
    missing: int
    largest: tuple[float, ...]
    rounded: bool = False  # integers that floating-point numbers cannot tell apart

    def merge(self, other: Self) -> Self:
        pairs = zip(self.distinct, other.distinct, strict=True)
        return type(self)(
            self.n_rows + other.n_rows,
            self.numeric and other.numeric,
            self.fractional or other.fractional,
            tuple(_capped(a | b) for a, b in pairs),
            self.missing + other.missing,
            tuple(map(max, self.largest, other.largest)),
            self.rounded or other.rounded,
        )

    def looks_like_classes(self) -> bool:
        """The contract's rule for ``task="auto"``."""
        if not self.numeric:
            return True
        most = max(FEW_CLASSES, np.sqrt(self.n_rows))
        return not self.fractional and all(len(states) <= most for states in self.distinct)


def are_too_many_classes(n_classes: int, n_rows: int) -> bool:
    """Whether text has so many distinct values that it is hardly meant as classes."""
    return n_classes > max(FEW_CLASSES, n_rows // ROWS_PER_CLASS)


def scan_target(y: Any, task: str = "auto") -> TargetScan:
    """Look at y, or at one block of it."""
    values = target_matrix(y)
    numeric = values.dtype.kind in "biuf"
    if numeric:
        missing = int(np.count_nonzero(~np.isfinite(values))) if values.dtype.kind == "f" else 0
        with np.errstate(invalid="ignore"):
            fractional = values.dtype.kind == "f" and bool((values != np.floor(values)).any())
    else:
        missing = sum(is_missing(v) for v in values.ravel().tolist())
        fractional = False
    distinct = _extremes(values) if fractional and task != "classification" else _distinct(values)
    largest = _largest(values) if numeric else (0.0,) * values.shape[1]
    return TargetScan(
        len(values), numeric, fractional, distinct, missing, largest, is_rounded(values)
    )


def _largest(values: Array) -> tuple[float, ...]:
    """The largest finite magnitude of each output."""
    size = np.abs(values.astype(np.float64))
    size[~np.isfinite(size)] = 0.0
    return tuple(size.max(axis=0, initial=0.0).tolist())


def target_matrix(y: Any) -> Array:
    """y as a 2-D array: numbers stay numbers, labels of any type become an object array."""
    values = _as_array(y)
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2 or values.shape[1] == 0:
        raise InputError(
            f"the target has {values.ndim} dimensions and shape {values.shape}; it must be one "
            "column, or one row per sample and one column per output."
        )
    if values.dtype.names:
        raise InputError(
            "the target is an array of records, whose fields are not outputs; give one column per "
            "output, for example pandas.DataFrame(y)."
        )
    if values.dtype.kind == "c":
        raise InputError("Complex data not supported: the target is complex; give real numbers.")
    if holds_times(values):
        raise InputError(
            "the target holds dates or times, which are neither numbers nor classes; convert it, "
            "for example to days since a date."
        )
    if values.dtype.kind == "O":
        values = _numeric_if_possible(values)
    return narrowed(values)


def encode_target(y: Any, target: Target) -> Array:
    """Class codes (intp) or numbers (float64), always 2-D."""
    if target.n_outputs == 0:
        return np.empty((len(y), 0))
    values = target_matrix(y)
    if values.shape[1] != target.n_outputs:
        raise InputError(
            f"the target has {values.shape[1]} outputs, but the first rows had {target.n_outputs}; "
            "give as many for all rows."
        )
    if not target.is_classification:
        if values.dtype.kind not in "biuf":
            raise InputError(
                "the target of these rows is not numeric, but that of the first rows was; give "
                "numbers for all rows."
            )
        numbers = values.astype(np.float64)
        return numbers * np.array(target.factors) if target.factors else numbers
    codes = np.empty(values.shape, dtype=np.intp)
    for output, classes in enumerate(target.classes):
        codes[:, output] = _codes(values[:, output], classes)
    return codes


def require_classes(target: Target, what: str, *searches: str) -> None:
    """Refuse numbers, with the names of the methods with these searches that take them."""
    if not target.is_classification:
        raise InputError(
            f"{what} needs classes, but the target is numeric (regression); use "
            f"{methods_for_numbers(*searches)}, or give task='classification' if the numbers are "
            "classes."
        )


def describe_target(scan: TargetScan, task: str, *, rescale: bool) -> Target:
    """Settle the task and the classes."""
    if scan.missing:
        raise missing_targets(scan.missing)
    chosen = _settle_task(scan, task)
    if chosen == "regression":
        _refuse_constant(scan, "value")
        if scan.rounded:
            warn_rounded(["the target"])
        return Target("regression", len(scan.distinct), factors=_factors(scan, rescale))
    _refuse_constant(scan, "class")
    if any(len(states) > MOST_CLASSES for states in scan.distinct):
        raise InputError(
            f"the target has more than {MOST_CLASSES} distinct classes; use task='regression'."
        )
    classes = tuple(_sorted_states(states) for states in scan.distinct)
    return Target("classification", len(classes), classes)


def _factors(scan: TargetScan, rescale: bool) -> tuple[float, ...]:
    """Powers of two that bring extreme numbers near 1: one for all outputs, which keeps their
    sizes relative to each other, but for outputs that are extreme next to the largest."""
    largest = np.array(scan.largest)
    if not is_extreme(largest).any():
        return ()
    if not rescale:
        raise InputError(
            f"the target holds numbers of the size {largest[is_extreme(largest)][0]:.0e}, whose "
            "powers leave the range of floating point; multiply it by a constant."
        )
    common = power_of_two(largest.max())
    factors = np.where(largest > 0, power_of_two(largest), common)
    apart = np.abs(np.log2(factors) - np.log2(common)) > SAFE_EXPONENT
    return tuple(np.where(apart, factors, common).tolist())


def _settle_task(scan: TargetScan, task: str) -> Task:
    if check_choice("task", task, TASKS) == "auto":
        for states in scan.distinct:
            refuse_numbers_in_text(states, scan.n_rows)
            _warn_of_many_classes(scan, len(states))
        if not scan.looks_like_classes():
            return "regression"
        _warn_of_a_class_per_row(scan)
        return "classification"
    if task == "regression":
        if not scan.numeric:
            raise InputError(
                "task='regression' was given a target that is not numeric; give numbers, or "
                "task='classification'."
            )
        return "regression"
    return "classification"


def _warn_of_many_classes(scan: TargetScan, n_classes: int) -> None:
    if not scan.numeric and are_too_many_classes(n_classes, scan.n_rows):
        warn_user(
            f"the target is text with {n_classes} distinct values in {scan.n_rows} rows, taken as "
            "classes that have hardly any rows each; give numbers if they are numbers, another "
            "target, or task='classification' if they are classes."
        )


def _warn_of_a_class_per_row(scan: TargetScan) -> None:
    n_rows = scan.n_rows
    if scan.numeric and n_rows > 2 and any(len(states) == n_rows for states in scan.distinct):
        warn_user(
            f"the target has a different integer in each of the {n_rows} rows, taken as "
            "classes of one row each, between which columns can hardly differ; give "
            "task='regression' if they are numbers."
        )


def _refuse_constant(scan: TargetScan, word: str) -> None:
    for output, states in enumerate(scan.distinct):
        if len(states) == 1:
            which = "the target" if len(scan.distinct) == 1 else f"output {output} of the target"
            raise InputError(
                f"{which} has only one {word} in {scan.n_rows} rows, so nothing can depend on it; "
                f"give at least two distinct values (one class or 1 sample is not enough)."
            )


def _as_array(y: Any) -> Array:
    if isinstance(y, np.ndarray):
        return np.asarray(unmasked(y))
    if hasattr(y, "toarray"):
        return np.asarray(y.toarray())
    import narwhals.stable.v2 as nw

    wrapped = nw.from_native(y, pass_through=True, allow_series=True, eager_only=True)
    if isinstance(wrapped, nw.Series):
        return _series_array(wrapped)
    if isinstance(wrapped, nw.DataFrame):
        parts = [_series_array(wrapped[name]) for name in wrapped.columns]
        return np.stack(parts, axis=1) if parts else np.empty((len(wrapped), 0))
    return _sequence_array(y)


def _series_array(series: Any) -> Array:
    if series.dtype.is_numeric() or str(series.dtype) == "Boolean":
        return numeric_values(series)
    return _object_array(series.to_list())


def refuse_scalar(y: Any) -> None:
    if y is None or np.isscalar(y):
        raise InputError(
            f"the target y is {brief(y)}; it must be a column with one value per row of X."
        )


def _sequence_array(y: Any) -> Array:
    refuse_scalar(y)
    values = array_of(y)
    if values is None or values.ndim == 0:
        raise InputError(
            f"the target y is of the type {type(y).__name__} and not one value per row, or its "
            "rows differ in length; give a list, an array or a column."
        )
    # A list of strings and numbers would become strings by itself: keep each value as given.
    if values.dtype.kind not in "US" or isinstance(y, np.ndarray):
        return values
    cells = np.asarray(y, dtype=object)
    return values if all(isinstance(v, (str, bytes)) for v in cells.ravel().tolist()) else cells


def _object_array(values: list[Any]) -> Array:
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def _numeric_if_possible(values: Array) -> Array:
    """An object array of numbers is numeric, as scikit-learn treats it."""
    cells = values.ravel().tolist()
    if not all(isinstance(v, (Real, Decimal, np.bool_)) for v in cells):
        _refuse_several_in_a_cell(cells)
        return values
    if all(isinstance(v, int) and abs(v) < 1 << 63 for v in cells):  # floats would merge classes
        return values.astype(np.int64)
    floats = floats_of(cells, "the target")
    if all(isinstance(v, int) for v in cells) and len(np.unique(floats)) < len(set(cells)):
        raise InputError(
            "the target holds integers that floating-point numbers cannot tell apart; "
            "subtract a constant, or give text if they are classes."
        )
    return floats.reshape(values.shape)


def _refuse_several_in_a_cell(cells: list[Any]) -> None:
    several = next((v for v in cells if not isinstance(v, Hashable) or isinstance(v, tuple)), None)
    if several is not None:
        raise InputError(
            f"the target holds a {type(several).__name__} in a cell; give one value per row, or "
            "one column per output."
        )


def _extremes(values: Array) -> tuple[frozenset[Any], ...]:
    """All that a regression needs to know: whether the target is constant."""
    return tuple(frozenset({float(c.min()), float(c.max())}) for c in values.T)


def _distinct(values: Array) -> tuple[frozenset[Any], ...]:
    if values.dtype.kind in "biuf":
        return tuple(frozenset(_distinct_numbers(c)[: MOST_CLASSES + 1].tolist()) for c in values.T)
    return tuple(frozenset(v for v in c.tolist() if not is_missing(v)) for c in values.T)


def _distinct_numbers(column: Array) -> Array:
    """Sorted; small integers are counted, which is far faster than sorting them."""
    if column.dtype.kind in "iu" and len(column):
        low, high = int(column.min()), int(column.max())
        if low >= -MOST_CLASSES and high <= MOST_CLASSES:
            counts = np.bincount(column.astype(np.int64) - low, minlength=high - low + 1)
            return np.flatnonzero(counts) + low
    return np.unique(column)


def _capped(states: frozenset[Any]) -> frozenset[Any]:
    """Enough states to know that they are too many; the rest would only cost memory."""
    if len(states) <= MOST_CLASSES + 1:
        return states
    return frozenset(list(states)[: MOST_CLASSES + 1])


def _sorted_states(states: frozenset[Any]) -> Array:
    try:
        return np.asarray(sorted(states))
    except TypeError:
        return _object_array(sorted(states, key=lambda v: (type(v).__name__, str(v))))


def _codes(values: Array, classes: Array) -> Array:
    if _are_consecutive(values, classes):
        return values.astype(np.intp) - int(classes[0])
    if values.dtype.kind in "biuf" and classes.dtype.kind in "biuf":
        codes = np.minimum(np.searchsorted(classes, values), len(classes) - 1)
        unknown = values[classes[codes] != values]
    else:
        code_of = {state: code for code, state in enumerate(classes.tolist())}
        codes = np.array([code_of.get(v, -1) for v in values.tolist()], dtype=np.intp)
        unknown = values[codes < 0]
    if len(unknown):
        raise InputError(
            f"the target holds the class {unknown.tolist()[0]!r} that is not among the "
            f"{len(classes)} known ones; name all of them in classes at the first call."
        )
    return codes


def _are_consecutive(values: Array, classes: Array) -> bool:
    """Whether all labels are among consecutive integers, which need not be searched for."""
    if {values.dtype.kind, classes.dtype.kind} - set("iu") or not len(values):
        return False
    low, high = int(classes[0]), int(classes[-1])
    if high > LARGEST_EXACT or low < -LARGEST_EXACT:
        return False
    is_gapless = high - low + 1 == len(classes)
    return is_gapless and low <= int(values.min()) and int(values.max()) <= high


def refuse_numbers_in_text(states: Collection[Any], n_rows: int) -> None:
    """A target of numbers written as text would be one class per row."""
    if len(states) > max(FEW_STATES, np.sqrt(n_rows)) and are_numbers_in_text(states):
        raise InputError(
            f"the target holds numbers written as text (such as {min(states)!r}), "
            f"{len(states)} different ones in {n_rows} rows; convert it with astype(float), or "
            "give task='classification' if they are classes."
        )
