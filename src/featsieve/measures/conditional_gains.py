"""I(X_j; Y | X_S) for all columns j and a set S of any size, from codes held in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import numpy.typing as npt

from featsieve.engines.blocks import require_memory
from featsieve.kernels.counting import segment_sums
from featsieve.measures.coding import Coder
from featsieve.measures.contingency import Codes
from featsieve.measures.pair_sums import nlogn_table
from featsieve.protocols import Engine
from featsieve.schema import Block, FloatArray, IntArray


@dataclass(frozen=True)
class CodedRows:
    """Codes and classes of blocks of rows, kept apart until all are there."""

    codes: tuple[Codes, ...]
    classes: tuple[IntArray, ...]
    weights: tuple[FloatArray, ...]

    def merge(self, other: Self) -> Self:
        return type(self)(
            self.codes + other.codes, self.classes + other.classes, self.weights + other.weights
        )


@dataclass(frozen=True)
class ConditionalGains:
    """Codes (rows × columns), classes (rows × outputs) and weights, if any, of all rows."""

    codes: Codes = field(repr=False)
    classes: IntArray = field(repr=False)
    weights: FloatArray | None = field(repr=False, default=None)

    @classmethod
    def of_engine(cls, engine: Engine, coder: Coder) -> Self:
        n_bytes = 2 * engine.n_samples * engine.schema.n_units
        what = f"the codes of {engine.n_samples} × {engine.schema.n_units} cells"
        require_memory(n_bytes // 8, engine.memory_limit, what)

        def of_block(block: Block) -> CodedRows:
            weights = () if block.weight is None else (block.weight,)
            return CodedRows((coder.codes(block),), (coder.classes(block),), weights)

        rows = engine.reduce_rows(of_block)
        weights = np.concatenate(rows.weights) if rows.weights else None
        return cls(np.concatenate(rows.codes), np.concatenate(rows.classes), weights)

    def given(self, subset: Sequence[int]) -> FloatArray:
        """The gains of all columns, the mean over the outputs; never below 0."""
        state = self._joint_state(subset)
        gains = [self._gains(state, y) for y in self.classes.T]
        return np.mean(gains, axis=0)

    def _joint_state(self, subset: Sequence[int]) -> npt.NDArray[np.int64]:
        """One code a combination of the set's states that occurs."""
        state = np.zeros(len(self.codes), dtype=np.int64)
        for column in subset:
            state = _compact(state * 256 + self.codes[:, column])
        return state

    def _gains(self, state: IntArray, y: IntArray) -> FloatArray:
        """I(X; Y | Z) = (Σ_xzy − Σ_xz − Σ_zy + Σ_z) / n, each Σ over n log n of the counts."""
        n = len(y)
        table = nlogn_table(n)
        order = np.lexsort((y, state))
        both = _compact(state * (int(y.max()) + 1) + y)[order]
        columns = np.ascontiguousarray(self.codes[order].T)
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
