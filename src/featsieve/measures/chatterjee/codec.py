"""The conditional dependence coefficient by nearest neighbours (Azadkia and Chatterjee 2021).

T(Y, X) is near 0 when the columns say nothing about the target and near 1 when they determine it.
It needs no bandwidth and sees interactions. The mean over the neighbours of a row compares the
targets of rows that are alike in the columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.engines.base import require_table
from featsieve.input.parameters import Check, check_integer, check_parameters
from featsieve.measures.base import BaseMeasure
from featsieve.measures.chatterjee.agreement import (
    Agreement,
    kernel_agreement,
    target_agreement,
)
from featsieve.measures.chatterjee.neighbours import (
    Points,
    dense_codes,
    joined_codes,
    k_nearest_pairs,
    nearest_points,
)
from featsieve.protocols import Engine
from featsieve.runtime.pool import ordered_map
from featsieve.schema import Block
from featsieve.statistics.moments import Dummies

HALF = np.sqrt(0.5)  # two states are at distance 1


@dataclass(kw_only=True, eq=False, repr=False)
class ConditionalDependence(BaseMeasure):
    """How much the target of a row agrees with that of its nearest row.

    Parameters
    ----------
    target_kernel : None, or a kernel as for :class:`featsieve.measures.HSIC`
        None: ranks of numbers, equality of classes (Azadkia and Chatterjee 2021). A kernel:
        the kernel partial correlation of Huang et al. (2022), for any kind of target.
    n_neighbors : int, default=1
        Of how many nearest rows. With one, the mean is over all rows that are equally near; with
        several, of rows that are equally near some may be left out.

    Examples
    --------
    >>> from featsieve import FeatureSelector
    >>> from featsieve.measures import ConditionalDependence
    >>> from featsieve.searches import Forward
    >>> from featsieve.datasets import make_xor
    >>> data = make_xor(400, random_state=0)
    >>> selector = FeatureSelector(ConditionalDependence(), Forward(), n_features_to_select=3)
    >>> len(selector.fit(data.data, data.target).indices_)
    3
    """

    scale_ddof: ClassVar[int | None] = 1
    checks: ClassVar[Mapping[str, Check]] = {"n_neighbors": partial(check_integer, minimum=1)}

    target_kernel: Any = None
    n_neighbors: int = 1

    def bind(self, engine: Engine) -> BoundConditionalDependence:
        check_parameters(self, self.checks)
        k = int(self.n_neighbors)
        require_table(engine.n_samples, engine.n_features, engine.memory_limit)
        if self.target_kernel is None:
            return BoundConditionalDependence(engine, target_agreement(engine), k)
        return BoundConditionalDependence(engine, kernel_agreement(engine, self.target_kernel), k)


class BoundConditionalDependence:
    """All columns in memory; categories as indicators at distance 1."""

    def __init__(self, engine: Engine, agreement: Agreement, n_neighbors: int) -> None:
        self.n_units = engine.schema.n_units
        self.monitor = engine.monitor
        self._n_jobs = engine.n_jobs
        self._agreement = agreement
        self._n_neighbors = n_neighbors
        dummies = Dummies(engine.schema)
        n, d = engine.n_samples, len(dummies.owner)
        require_table(n, d, engine.memory_limit)
        X, y = engine.take()
        expanded = np.asarray(dummies.expand(Block(0, X, y)), dtype=np.float64)
        self._points = expanded * np.where(dummies.is_indicator, HALF, 1.0)
        self._owner = engine.schema.unit_of_column[dummies.owner]
        self._codes: dict[int, IntArray] = {}

    def value(self, subset: Sequence[int]) -> float:
        """T, 0 for no unit; it may be slightly negative."""
        if not len(subset) or self._agreement.room <= 0:
            return 0.0
        codes = self._codes_of(subset[0])
        for unit in subset[1:]:
            codes = joined_codes(codes, self._codes_of(unit))
        return self._value(subset, codes)

    def values_with(self, subset: Sequence[int], candidates: Sequence[int]) -> FloatArray:
        """Candidates one by one, in threads; the rows that are equal in ``subset`` are known."""
        if self._agreement.room <= 0:
            return np.zeros(len(candidates))
        common = np.zeros(len(self._points), dtype=np.intp)
        for unit in subset:
            common = joined_codes(common, self._codes_of(unit))

        def value(candidate: int) -> float:
            codes = joined_codes(common, self._codes_of(candidate))
            return self._value([*subset, candidate], codes)

        values = []
        for done, number in enumerate(ordered_map(value, candidates, self._n_jobs), start=1):
            values.append(number)
            self.monitor.tick("seeking neighbours", done, len(candidates))
        return np.array(values)

    def scores(self) -> FloatArray:
        return self.values_with([], range(self.n_units))

    def _codes_of(self, unit: int) -> IntArray:
        if unit not in self._codes:
            columns = self._points[:, self._owner == unit]
            self._codes[unit] = dense_codes(columns, self.monitor.check)
        return self._codes[unit]

    def _value(self, subset: Sequence[int], codes: IntArray) -> float:
        values = self._points[:, np.isin(self._owner, subset)]
        if self._n_neighbors == 1:
            per_row = self._of_nearest(values, Points(codes))
        else:
            rows, others = k_nearest_pairs(values, self._n_neighbors)
            per_row = _means(rows, self._agreement.of_pairs(rows, others), 1, len(values))
        return float((per_row.mean() - self._agreement.chance) / self._agreement.room)

    def _of_nearest(self, values: FloatArray, points: Points) -> FloatArray:
        """Per row the mean agreement with all rows that are nearest; equal rows are."""
        rows, near = nearest_points(values, points)
        if points.are_rows:
            return _means(rows, self._agreement.of_pairs(rows, points.order[near]), 1, len(values))
        twins = points.repeated()
        of_twins = self._agreement.sums(twins, points.codes[twins], points)
        of_twins -= self._agreement.of_pairs(twins, twins)  # but not with itself
        sums = np.concatenate([of_twins, self._agreement.sums(rows, near, points)])
        counts = np.concatenate([points.sizes[points.codes[twins]] - 1, points.sizes[near]])
        return _means(np.concatenate([twins, rows]), sums, counts, len(values))


def _means(rows: IntArray, sums: FloatArray, counts: IntArray | int, n: int) -> FloatArray:
    weights = np.broadcast_to(counts, rows.shape)
    return np.asarray(np.bincount(rows, sums, n) / np.bincount(rows, weights, n))
