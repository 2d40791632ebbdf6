"""What each column adds to a set of columns: I(X_j; Y | X_S), from the joint states of the set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import numpy.typing as npt

from featsieve.arrays import FloatArray, IntArray
from featsieve.compiled.counting import segment_sums
from featsieve.measures.information.counts import CodedRows
from featsieve.measures.information.pair_sums import nlogn_table

MOST_KNOWN = 256


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
        columns = np.ascontiguousarray(self.rows.codes[rows].T)
        inner, outer = _bounds(states * (int(y.max()) + 1) + y[rows]), _bounds(states)
        with_class = segment_sums(columns, inner, table) - table[np.diff(inner)].sum()
        without = segment_sums(columns, outer, table) - table[np.diff(outer)].sum()
        return np.maximum((with_class - without) / len(y), 0.0)


def _compact(keys: IntArray) -> IntArray:
    return np.unique(keys, return_inverse=True)[1].reshape(-1)


def _bounds(ordered: IntArray) -> npt.NDArray[np.int64]:
    """Where each run of equal values starts, and the end."""
    steps = np.flatnonzero(np.diff(ordered)) + 1
    return np.concatenate(([0], steps, [len(ordered)])).astype(np.int64)
