"""What each column adds to a set of columns: I(X_j; Y | X_S), from the joint states of the set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from featsieve.arrays import FloatArray, IntArray
from featsieve.compiled.counting import segment_sums
from featsieve.measures.information.counts import CodedRows
from featsieve.measures.information.pair_sums import nlogn_table


@dataclass(frozen=True)
class ConditionalGains:
    """Gains from the codes and classes of all rows."""

    rows: CodedRows

    def given(self, subset: Sequence[int]) -> FloatArray:
        """The gains of all columns, the mean over the outputs; never below 0."""
        state = self._joint_state(subset)
        gains = [self._gains(state, y) for y in self.rows.classes.T]
        return np.mean(gains, axis=0)

    def _joint_state(self, subset: Sequence[int]) -> npt.NDArray[np.int64]:
        """One code a combination of the set's states that occurs."""
        state = np.zeros(len(self.rows.codes), dtype=np.int64)
        for column in subset:
            state = _compact(state * 256 + self.rows.codes[:, column])
        return state

    def _gains(self, state: IntArray, y: IntArray) -> FloatArray:
        """I(X; Y | Z) = (Σ_xzy − Σ_xz − Σ_zy + Σ_z) / n, each Σ over n log n of the counts."""
        n = len(y)
        table = nlogn_table(n)
        order = np.lexsort((y, state))
        both = _compact(state * (int(y.max()) + 1) + y)[order]
        columns = np.ascontiguousarray(self.rows.codes[order].T)
        inner, outer = _bounds(both), _bounds(state[order])
        with_class = segment_sums(columns, inner, table) - table[np.diff(inner)].sum()
        without = segment_sums(columns, outer, table) - table[np.diff(outer)].sum()
        return np.maximum((with_class - without) / n, 0.0)


def _compact(keys: IntArray) -> IntArray:
    return np.unique(keys, return_inverse=True)[1].reshape(-1)


def _bounds(ordered: IntArray) -> npt.NDArray[np.int64]:
    """Where each run of equal values starts, and the end."""
    steps = np.flatnonzero(np.diff(ordered)) + 1
    return np.concatenate(([0], steps, [len(ordered)])).astype(np.int64)
