"""Joint states of several columns: entropies with corrections, and what a column adds to a set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Self

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

from featsieve.arrays import FloatArray, IntArray
from featsieve.compiled.counting import segment_sums
from featsieve.engines.base import spans
from featsieve.errors import InputError
from featsieve.input.parameters import check_choice
from featsieve.measures.information.counts import CodedRows
from featsieve.measures.information.pair_sums import nlogn_table
from featsieve.runtime.pool import ordered_map

Correction = Literal["miller_madow", "shrink"] | None
CORRECTIONS: tuple[Correction, ...] = (None, "miller_madow", "shrink")
MOST_SHRUNK_CELLS = 1 << 22


@dataclass(frozen=True)
class JointCounts:
    """The combinations of states that occur (one per row of ``states``), and how often."""

    states: IntArray
    counts: FloatArray
    sizes: tuple[int, ...]
    correction: Correction = None

    @classmethod
    def of(cls, variables: list[IntArray], correction: Correction = None) -> Self:
        """From codes 0, 1, … of each variable, one number per row."""
        check_choice("correction", correction, CORRECTIONS)
        states, counts = np.unique(np.stack(variables, axis=1), axis=0, return_counts=True)
        sizes = tuple(int(v.max()) + 1 for v in variables)
        return cls(states, counts.astype(float), sizes, correction)._smoothed()

    @classmethod
    def of_table(cls, table: FloatArray, correction: Correction = None) -> Self:
        """From a table of counts, one axis per variable."""
        check_choice("correction", correction, CORRECTIONS)
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
        cell = np.unique(chosen @ radix, return_inverse=True)[1]
        margin: FloatArray = np.bincount(cell, weights=self.counts).astype(float)
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


def information(joint: JointCounts) -> float:
    """I of the variables on axes 0 and 1, never below 0."""
    return max(0.0, joint.entropy(0) + joint.entropy(1) - joint.entropy(0, 1))


def conditional_information(joint: JointCounts) -> float:
    """I of the variables on axes 0 and 1 given those on all further axes, never below 0."""
    conditions = tuple(range(2, len(joint.sizes)))
    gain = joint.entropy(0, *conditions) + joint.entropy(1, *conditions)
    return max(0.0, gain - joint.entropy(*conditions) - joint.entropy())


MOST_KNOWN = 256
COLUMNS_TOGETHER = 64
ROWS_WORTH_A_THREAD = 1 << 12  # of a tile of columns: some tenths of a millisecond


@dataclass(frozen=True)
class OpenRows:
    """The rows whose class the states of a set do not tell yet, and those states."""

    rows: IntArray
    states: IntArray

    @classmethod
    def among(cls, rows: IntArray, states: IntArray, y: IntArray) -> Self:
        """Where all rows of a state have one class, no column can add anything: they are left out.

        ``y`` are the classes of ``rows``.
        """
        some_class = np.zeros(int(states.max(initial=0)) + 1, dtype=y.dtype)
        some_class[states] = y
        n_others = np.bincount(states, weights=y != some_class[states])
        is_open = n_others[states] > 0
        return cls(rows[is_open], states[is_open])


@dataclass(frozen=True)
class ConditionalGains:
    """Gains from the codes and classes of all rows; a growing set is counted on, not again."""

    rows: CodedRows
    n_jobs: int = 1
    _known: dict[tuple[int, ...], list[OpenRows]] = field(default_factory=dict, repr=False)

    def given(self, subset: Sequence[int]) -> FloatArray:
        """The gains of all columns, the mean over the outputs; never below 0."""
        by_output = zip(self._open(tuple(subset)), self.rows.classes.T, strict=True)
        return np.mean([self._gains(rows, y) for rows, y in by_output], axis=0)

    def _open(self, subset: tuple[int, ...]) -> list[OpenRows]:
        """The open rows for each output."""
        if subset not in self._known:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[subset] = [
                self._narrow(output, subset) for output in range(self.rows.classes.shape[1])
            ]
        return self._known[subset]

    def _narrow(self, output: int, subset: tuple[int, ...]) -> OpenRows:
        y = self.rows.classes[:, output]
        if not subset:
            return OpenRows.among(np.arange(len(y)), np.zeros(len(y), dtype=np.int64), y)
        before = self._open(subset[:-1])[output]
        states = _compact(before.states * 256 + self.rows.codes[before.rows, subset[-1]])
        return OpenRows.among(before.rows, states, y[before.rows])

    def _gains(self, known: OpenRows, y: IntArray) -> FloatArray:
        """I(X; Y | Z) = (Σ_xzy − Σ_xz − Σ_zy + Σ_z) / n, each Σ over n log n of the counts."""
        if not len(known.rows):
            return np.zeros(self.rows.codes.shape[1])
        order = np.lexsort((y[known.rows], known.states))
        rows, states = known.rows[order], known.states[order]
        table = nlogn_table(len(rows))
        inner, outer = _bounds(states * (int(y.max()) + 1) + y[rows]), _bounds(states)
        less = table[np.diff(inner)].sum(), table[np.diff(outer)].sum()

        def of_columns(span: tuple[int, int]) -> FloatArray:
            columns = np.ascontiguousarray(self.rows.codes[:, slice(*span)][rows].T)
            with_class = segment_sums(columns, inner, table) - less[0]
            without = segment_sums(columns, outer, table) - less[1]
            return np.maximum((with_class - without) / len(y), 0.0)

        n_columns = self.rows.codes.shape[1]
        if self.n_jobs == 1 or len(rows) < ROWS_WORTH_A_THREAD:
            return of_columns((0, n_columns))
        tiles = spans(n_columns, COLUMNS_TOGETHER)
        return np.concatenate(list(ordered_map(of_columns, tiles, self.n_jobs)))


def _compact(keys: IntArray) -> IntArray:
    return np.unique(keys, return_inverse=True)[1].reshape(-1)


def _bounds(ordered: IntArray) -> npt.NDArray[np.int64]:
    """Where each run of equal values starts, and the end."""
    steps = np.flatnonzero(np.diff(ordered)) + 1
    return np.concatenate(([0], steps, [len(ordered)])).astype(np.int64)
