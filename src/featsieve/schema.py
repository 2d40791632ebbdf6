"""What a table looks like from inside: its units, its target, and one block of its rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from featsieve.arrays import Array, BoolArray, FloatArray, IntArray

Task = Literal["classification", "regression"]


@dataclass(frozen=True)
class Schema:
    """Columns and the units they form: a unit is what is kept or dropped as one.

    A categorical column arrives in blocks as codes 0, 1, … (NaN when missing);
    ``categories`` maps such a column to its states, so no measure can mistake a code for a number.
    ``is_named``: the names are those that the user gave. ``is_plain``: every column is numeric and
    a unit by itself. ``unit_of_column`` says to which unit each column belongs.
    """

    names: tuple[str, ...]
    categories: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    groups: tuple[tuple[int, ...], ...] | None = None
    group_names: tuple[str, ...] = ()
    is_named: bool = False
    n_columns: int = field(init=False)
    n_units: int = field(init=False)
    unit_names: tuple[str, ...] = field(init=False, repr=False)
    is_plain: bool = field(init=False)
    unit_of_column: IntArray = field(init=False, repr=False, compare=False)
    numeric_columns: IntArray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        columns = np.arange(len(self.names), dtype=np.intp)
        numeric = np.delete(columns, list(self.categories)) if self.categories else columns
        owner = columns if self.groups is None else columns.copy()
        for unit, members in enumerate(self.groups or ()):
            owner[list(members)] = unit
        units = self.names if self.groups is None else self.group_names
        vars(self).update(
            n_columns=len(self.names),
            n_units=len(self.names if self.groups is None else self.groups),
            unit_names=units,
            is_plain=self.groups is None and not self.categories,
            unit_of_column=owner,
            numeric_columns=numeric,
        )

    def coded(self) -> Schema:
        """The same for rows in which the codes of categories are the cells themselves."""
        states = {column: tuple(range(len(s))) for column, s in self.categories.items()}
        return replace(self, categories=states)

    def columns_of(self, unit: int) -> tuple[int, ...]:
        return (unit,) if self.groups is None else self.groups[unit]

    def columns_of_units(self, units: Sequence[int] | IntArray) -> IntArray:
        columns = [column for unit in units for column in self.columns_of(int(unit))]
        return np.asarray(columns, dtype=np.intp)

    def n_states(self, column: int) -> int:
        return len(self.categories[column])

    def best_of_groups(self, per_column: FloatArray) -> FloatArray:
        """A unit scores what its best column scores (first axis)."""
        if self.groups is None:
            return per_column
        return np.array([per_column[list(columns)].max(axis=0) for columns in self.groups])


# Fourth powers of numbers within 2 ** ±200 (and of float32 within 2 ** ±30) stay in range, and so
# do their sums over any number of rows.
SAFE_EXPONENT = 200
SAFE_EXPONENT_SINGLE = 30
MOST_EXPONENT = 1000  # 2 ** ±1000 is a number itself, whatever it is multiplied by next


def is_extreme(largest: FloatArray, safe: int = SAFE_EXPONENT) -> BoolArray:
    """Whether numbers up to this size are too large or too small to take powers of."""
    return (largest > 0) & ((largest > 2.0**safe) | (largest < 2.0**-safe))


def power_of_two(largest: FloatArray) -> FloatArray:
    """What to multiply by, without rounding, so that the largest number is about 1.

    >>> power_of_two(np.array([2.0**300, 0.75]))
    array([4.90909347e-91, 2.00000000e+00])
    """
    exponent = np.frexp(largest)[1] - 1
    return np.ldexp(1.0, -np.clip(exponent, -MOST_EXPONENT, MOST_EXPONENT))


@dataclass(frozen=True)
class Target:
    """What is known of y before any pass over the rows.

    Blocks hand out y as a 2-D array: class codes 0 … n_classes − 1 per output for classification,
    numbers for regression. ``factors`` are the powers of two that extreme numeric outputs were
    multiplied by; empty where y is as given. ``factor`` is what a length in the unit of a numeric
    target is multiplied by. ``class_counts`` holds the number of classes of each output,
    ``n_joint_classes`` that of their combinations, whether they occur or not.
    """

    task: Task
    n_outputs: int
    classes: tuple[Array, ...] = ()
    factors: tuple[float, ...] = ()
    factor: float = field(init=False)
    is_classification: bool = field(init=False)
    class_counts: tuple[int, ...] = field(init=False)
    n_joint_classes: int = field(init=False)

    def __post_init__(self) -> None:
        counts = tuple(map(len, self.classes))
        vars(self).update(
            factor=max(self.factors, default=1.0),
            is_classification=self.task == "classification",
            class_counts=counts,
            n_joint_classes=math.prod(counts),
        )


@dataclass(frozen=True)
class KeptRows:
    """Which rows of the table that the user gave there are; those of weight 0 are left out."""

    rows: IntArray
    n_given: int


@dataclass(frozen=True)
class Block:
    """Consecutive rows ``start … start + n_rows`` of the table, as the engine hands them out.

    ``X`` is a dense float array or a CSR array; ``y`` is 2-D; ``weight`` is None when unweighted.
    """

    start: int
    X: Any
    y: Array
    weight: FloatArray | None = None
    n_rows: int = field(init=False)
    is_sparse: bool = field(init=False)

    def __post_init__(self) -> None:
        is_sparse = not isinstance(self.X, np.ndarray)
        vars(self).update(n_rows=int(self.X.shape[0]), is_sparse=is_sparse)

    def part(self, first: int, last: int) -> Block:
        """Some of the rows, counted from the first of this block."""
        weight = None if self.weight is None else self.weight[first:last]
        return Block(self.start + first, self.X[first:last], self.y[first:last], weight)

    def dense(self) -> FloatArray:
        """The rows as a dense float64 array (a view where they already are one)."""
        values = self.X.toarray() if self.is_sparse else self.X
        return np.asarray(values, dtype=np.float64)


@dataclass(frozen=True)
class Dependence:
    """What folds must not tear apart: rows of a group, or (``in_order``) the past and the future.

    ``groups`` has a number for each row of the table.
    """

    groups: IntArray | None = None
    in_order: bool = False

    def of_rows(self, rows: IntArray) -> Dependence:
        return self if self.groups is None else replace(self, groups=self.groups[rows])
