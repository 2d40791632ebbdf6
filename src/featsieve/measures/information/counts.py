"""Counts of states that add over blocks of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

from featsieve.arrays import FloatArray, IntArray
from featsieve.compiled.counting import add_counts, add_weights
from featsieve.errors import InputError

Codes = npt.NDArray[np.uint8]
MAX_STATES = 255


@dataclass(frozen=True)
class Layout:
    """How many states each column has, and where its cells are."""

    states: IntArray
    n_classes: int

    @cached_property
    def cells(self) -> IntArray:
        return np.concatenate(([0], np.cumsum(self.states))).astype(np.int64)

    @property
    def n_columns(self) -> int:
        return len(self.states)

    def sum_columns(self, cells: FloatArray) -> FloatArray:
        """Totals of the cells of each column (the last axis of ``cells``)."""
        return np.add.reduceat(cells, self.cells[:-1], axis=-1)

    def count(self, codes: Codes, y: IntArray, weight: FloatArray | None = None) -> ClassCounts:
        """Counts of all columns with the class, of one block of rows."""
        return ClassCounts(self, self._table(codes, y, self.n_classes, weight))

    def count_with(self, codes: Codes, y: IntArray, column: int) -> PairCounts:
        """Counts of all columns with one of them and the class, of one block of rows."""
        n_states = int(self.states[column])
        keys = y * n_states + codes[:, column]
        table = self._table(codes, keys, self.n_classes * n_states, None)
        return PairCounts(self, table.reshape(self.n_classes, n_states, -1))

    def _table(
        self, codes: Codes, keys: IntArray, n_keys: int, weight: FloatArray | None
    ) -> npt.NDArray[Any]:
        codes, keys = np.ascontiguousarray(codes), np.ascontiguousarray(keys, dtype=np.int64)
        if weight is None:
            counts = np.zeros((n_keys, self.cells[-1]), dtype=np.int64)
            add_counts(codes, keys, self.cells, counts)
            return counts
        weights = np.zeros((n_keys, self.cells[-1]))
        add_weights(codes, keys, np.ascontiguousarray(weight, float), self.cells, weights)
        return weights


@dataclass(frozen=True)
class ClassCounts:
    """Counts (or weights) of every state of every column within every class."""

    layout: Layout
    table: npt.NDArray[Any]

    def merge(self, other: Self) -> Self:
        return type(self)(self.layout, self.table + other.table)

    def trimmed(self) -> ClassCounts:
        """Without the states after the last one that occurs, in each column."""
        layout = self.layout
        place = np.arange(layout.cells[-1]) - np.repeat(layout.cells[:-1], layout.states)
        last = np.where(self.table.any(axis=0), place, 0)
        states = np.maximum.reduceat(last, layout.cells[:-1]) + 1
        kept = place < np.repeat(states, layout.states)
        return ClassCounts(Layout(states, layout.n_classes), self.table[:, kept])

    @cached_property
    def classes(self) -> npt.NDArray[Any]:
        """Count of each class (any column tells)."""
        return self.table[:, : self.layout.cells[1]].sum(axis=1)

    @cached_property
    def total(self) -> float:
        return float(self.classes.sum())

    @cached_property
    def log_total(self) -> float:
        return float(np.log(self.total))

    @cached_property
    def class_nlogn(self) -> float:
        """Σ n log n over the classes."""
        return float(xlogy(self.classes, self.classes).sum())

    @cached_property
    def class_entropy(self) -> float:
        return float(self._entropy(self.class_nlogn))

    @cached_property
    def entropies(self) -> FloatArray:
        """H(X_j)."""
        return self._entropy(self.column_sums)

    @cached_property
    def joint_entropies(self) -> FloatArray:
        """H(X_j, Y)."""
        return self._entropy(self.class_sums)

    @cached_property
    def column_sums(self) -> FloatArray:
        """Σ n log n over the states of each column."""
        margin = self.table.sum(axis=0)
        return self.layout.sum_columns(xlogy(margin, margin))

    @cached_property
    def class_sums(self) -> FloatArray:
        """Σ n log n over the states of each column and the classes."""
        return self.layout.sum_columns(xlogy(self.table, self.table).sum(axis=0))

    @cached_property
    def information(self) -> FloatArray:
        """I(X_j; Y), never below 0."""
        gain = self.entropies + self.class_entropy - self.joint_entropies
        return np.maximum(gain, 0.0)

    def _entropy(self, nlogn: Any) -> Any:
        return np.maximum(self.log_total - nlogn / self.total, 0.0)


@dataclass(frozen=True)
class PairCounts:
    """Counts of every state of every column within every state of one column and every class."""

    layout: Layout
    table: npt.NDArray[np.int64]

    def merge(self, other: Self) -> Self:
        return type(self)(self.layout, self.table + other.table)

    def sums(self) -> tuple[FloatArray, FloatArray]:
        """Σ n log n over the tables of (X_i, X_j) and of (X_i, X_j, Y), for all j."""
        joint = self.table.sum(axis=0)
        pair = self.layout.sum_columns(xlogy(joint, joint).sum(axis=0))
        triple = self.layout.sum_columns(xlogy(self.table, self.table).sum(axis=(0, 1)))
        return pair, triple


Correction = Literal["miller_madow", "shrink"] | None
MOST_SHRUNK_CELLS = 1 << 22


@dataclass(frozen=True)
class JointCounts:
    """The combinations of states that occur (one a row of ``states``), and how often."""

    states: IntArray
    counts: FloatArray
    sizes: tuple[int, ...]
    correction: Correction = None

    @classmethod
    def of(cls, variables: list[IntArray], correction: Correction = None) -> Self:
        """From codes 0, 1, … of each variable, one number a row."""
        check_correction(correction)
        states, counts = np.unique(np.stack(variables, axis=1), axis=0, return_counts=True)
        sizes = tuple(int(v.max()) + 1 for v in variables)
        return cls(states, counts.astype(float), sizes, correction)._smoothed()

    @classmethod
    def of_table(cls, table: FloatArray, correction: Correction = None) -> Self:
        """From a table of counts, one axis a variable."""
        check_correction(correction)
        states = np.argwhere(table > 0)
        counts = np.asarray(table[tuple(states.T)], dtype=float)
        return cls(states, counts, table.shape, correction)._smoothed()

    @property
    def total(self) -> float:
        return float(self.counts.sum())

    def entropy(self, *axes: int) -> float:
        """Of the variables on these axes together; of all of them when none is named."""
        counts = self._margin(axes) if axes else self.counts
        n = self.total
        plug_in = np.log(n) - xlogy(counts, counts).sum() / n
        # Miller (1955): the plug-in entropy is too small by (states − 1) / 2n.
        bias = (len(counts) - 1) / (2 * n) if self.correction == "miller_madow" else 0.0
        return max(0.0, float(plug_in)) + bias

    def _margin(self, axes: tuple[int, ...]) -> FloatArray:
        chosen = self.states[:, list(axes)]
        radix = np.cumprod([1, *[self.sizes[a] for a in axes[:-1]]])
        place = np.unique(chosen @ radix, return_inverse=True)[1]
        margin: FloatArray = np.bincount(place, weights=self.counts).astype(float)
        return margin

    def _smoothed(self) -> Self:
        return self._shrunk() if self.correction == "shrink" else self

    def _shrunk(self) -> Self:
        """Towards the uniform table by the James–Stein rule (Hausser and Strimmer 2009, eq. 4)."""
        n_cells = int(np.prod(self.sizes))
        if n_cells > MOST_SHRUNK_CELLS:
            raise InputError(
                f"shrinkage fills a table of {n_cells} cells, at most {MOST_SHRUNK_CELLS} are "
                "allowed; use fewer states or correction='miller_madow'."
            )
        n = self.total
        p = np.zeros(self.sizes)
        p[tuple(self.states.T)] = self.counts / n
        spread = (n - 1) * np.square(1 / n_cells - p).sum()
        intensity = 1.0 if spread == 0 else min(1.0, (1 - np.square(p).sum()) / spread)
        shrunk = intensity / n_cells + (1 - intensity) * p
        states = np.argwhere(shrunk > 0)
        return replace(self, states=states, counts=n * shrunk[tuple(states.T)])


def check_correction(correction: Any) -> None:
    if correction not in (None, "miller_madow", "shrink"):
        raise InputError(
            f"correction={correction!r} is not known; allowed are None, 'miller_madow' and "
            "'shrink'."
        )


def information(joint: JointCounts) -> float:
    """I of the variables on axes 0 and 1, never below 0."""
    return max(0.0, joint.entropy(0) + joint.entropy(1) - joint.entropy(0, 1))


def conditional_information(joint: JointCounts) -> float:
    """I of the variables on axes 0 and 1 given those on all further axes, never below 0."""
    given = tuple(range(2, len(joint.sizes)))
    gain = joint.entropy(0, *given) + joint.entropy(1, *given)
    return max(0.0, gain - joint.entropy(*given) - joint.entropy())
