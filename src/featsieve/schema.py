"""What a table looks like from inside: its units, its target, and one block of its rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from featsieve.arrays import Array, BoolArray, FloatArray, IntArray

Task = Literal["classification", "regression"]


@dataclass(frozen=True)
class Schema:
    """Columns and the units they form: a unit is what is kept or dropped as one.

    A categorical column arrives in blocks as codes 0, 1, … (NaN when missing);
    ``categories`` maps such a column to its states, so no measure can mistake a code for a number.
    """

    names: tuple[str, ...]
    categories: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    groups: tuple[tuple[int, ...], ...] | None = None
    group_names: tuple[str, ...] = ()

    @property
    def n_columns(self) -> int:
        return len(self.names)

    @property
    def n_units(self) -> int:
        return self.n_columns if self.groups is None else len(self.groups)

    @property
    def is_plain(self) -> bool:
        """Every column is numeric and a unit of its own."""
        return self.groups is None and not self.categories

    def coded(self) -> Schema:
        """The same for rows in which the codes of categories are the cells themselves."""
        states = {column: tuple(range(len(s))) for column, s in self.categories.items()}
        return Schema(self.names, states, self.groups, self.group_names)

    def columns_of(self, unit: int) -> tuple[int, ...]:
        return (unit,) if self.groups is None else self.groups[unit]

    def columns_of_units(self, units: Sequence[int] | IntArray) -> IntArray:
        columns = [column for unit in units for column in self.columns_of(int(unit))]
        return np.asarray(columns, dtype=np.intp)

    @cached_property
    def unit_of_column(self) -> IntArray:
        owner = np.arange(self.n_columns, dtype=np.intp)
        for unit, columns in enumerate(self.groups or ()):
            owner[list(columns)] = unit
        return owner

    def unit_name(self, unit: int) -> str:
        return self.unit_names[unit]

    @property
    def unit_names(self) -> tuple[str, ...]:
        return tuple(self.names if self.groups is None else self.group_names)

    def n_states(self, column: int) -> int:
        return len(self.categories[column])

    def best_of_groups(self, per_column: FloatArray) -> FloatArray:
        """A unit scores what its best column scores (first axis)."""
        if self.groups is None:
            return per_column
        return np.array([per_column[list(columns)].max(axis=0) for columns in self.groups])

    def numeric_columns(self) -> IntArray:
        return np.asarray(
            [c for c in range(self.n_columns) if c not in self.categories], dtype=np.intp
        )


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
    multiplied by; empty where y is as given.
    """

    task: Task
    n_outputs: int
    classes: tuple[Array, ...] = ()
    factors: tuple[float, ...] = ()

    @property
    def factor(self) -> float:
        """What a length in the unit of a numeric target is multiplied by."""
        return max(self.factors, default=1.0)

    @property
    def is_classification(self) -> bool:
        return self.task == "classification"

    def n_classes(self, output: int = 0) -> int:
        return len(self.classes[output])

    @property
    def class_counts(self) -> tuple[int, ...]:
        """Number of classes of each output."""
        return tuple(map(len, self.classes))

    @property
    def n_joint_classes(self) -> int:
        """Combinations of the outputs' classes, whether they occur or not."""
        return math.prod(self.class_counts)


@dataclass(frozen=True)
class Block:
    """Consecutive rows ``start … start + n_rows`` of the table, as the engine hands them out.

    ``X`` is a dense float array or a CSR array; ``y`` is 2-D; ``weight`` is None when unweighted.
    """

    start: int
    X: Any
    y: Array
    weight: FloatArray | None = None

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def is_sparse(self) -> bool:
        return not isinstance(self.X, np.ndarray)

    def dense(self) -> FloatArray:
        """The rows as a dense float64 array (a view where they already are one)."""
        values = self.X.toarray() if self.is_sparse else self.X
        return np.asarray(values, dtype=np.float64)


def one_hot(codes: Array, n_states: int) -> FloatArray:
    """Indicator columns of integer codes; a missing code (NaN or negative) has an all-zero row.

    >>> one_hot(np.array([0, 2, 1]), 3)
    array([[1., 0., 0.],
           [0., 0., 1.],
           [0., 1., 0.]])
    """
    known = np.isfinite(codes) & (codes >= 0)
    out = np.zeros((len(codes), n_states))
    out[np.flatnonzero(known), codes[known].astype(np.intp)] = 1.0
    return out


def target_columns(y: Array, target: Target) -> Iterator[tuple[int, FloatArray]]:
    """Each output with its numeric columns: itself for regression, class indicators otherwise."""
    for output in range(target.n_outputs):
        column = y[:, output]
        if target.is_classification:
            yield output, one_hot(column, target.n_classes(output))
        else:
            yield output, np.asarray(column, dtype=np.float64)[:, None]
