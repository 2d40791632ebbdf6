"""HSIC of columns side by side, without W: sets that are compared by the hundred."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.measures.hsic.kernels import KernelFunction
from featsieve.measures.hsic.medians import CONSTANT_BANDWIDTH
from featsieve.measures.hsic.passes import SetChanges, SetPass

_DUST = 1e-12  # what is left of a variance when it is taken away again


class SetWidths(Protocol):
    """Bandwidths for sets of units."""

    def of_changes(
        self, subset: Sequence[int], candidates: Sequence[int], sign: int
    ) -> FloatArray: ...


@dataclass(frozen=True)
class SpreadWidth:
    """σ² is the variance of the columns, summed: d for d standardised ones (P-HSIC section 3).

    It follows the median distance, which takes far longer to find.
    """

    spreads: FloatArray  # one per unit

    def of_changes(self, subset: Sequence[int], candidates: Sequence[int], sign: int) -> FloatArray:
        """Of ``subset`` with (sign 1) or without (sign −1) each candidate."""
        base = self.spreads[list(subset)].sum()
        variance = base + sign * self.spreads[list(candidates)]
        is_spread = variance > _DUST * base
        return np.sqrt(np.where(is_spread, variance, CONSTANT_BANDWIDTH))


class ColumnSetHSIC(SetChanges):
    """The criterion of sets of units; ``rows`` are the rows in pairs with the target's matrix."""

    def __init__(self, rows: Any, kernel: KernelFunction, widths: SetWidths) -> None:
        self.n_units = rows.schema.n_units
        self.monitor = rows.monitor
        self._rows, self._kernel, self._widths = rows, kernel, widths

    def value(self, subset: Sequence[int]) -> float:
        *others, last = subset
        return float(self.values_with(others, [last])[0])

    def _changed(self, subset: Sequence[int], candidates: Sequence[int], sign: int) -> FloatArray:
        rows, kernel = self._rows, self._kernel
        base, units = (kernel.columns_of(rows.schema, part) for part in (subset, candidates))
        rates = kernel.rate(self._widths.of_changes(subset, candidates, sign))
        summed = SetPass(base, units, sign, kernel, rates, rows.target, rows.dtype)
        return summed.over(rows.pairs)
