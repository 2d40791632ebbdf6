"""Chatterjee's (2021) coefficient of correlation: is the target a function of the column?"""

from __future__ import annotations

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.measures.base import BaseMeasure
from featsieve.measures.chatterjee.codec import ConditionalDependence
from featsieve.protocols import Engine, HasValue
from featsieve.statistics.moments import one_hot


class Xi(BaseMeasure):
    """Chatterjee's ξ of each column: 0 for independence, 1 where the target is a function of it.

    The rows are put in the order of the column, and the targets of neighbours are compared. Ties in
    the column are averaged over all their orders, so the answer depends neither on chance nor on
    the order of the rows. Classes are compared for equality. Categorical columns and groups, which
    have no order, get the coefficient of Azadkia and Chatterjee (2021), which estimates the same.

    Examples
    --------
    >>> from featsieve import FeatureSelector
    >>> from featsieve.measures import Xi
    >>> from featsieve.searches import Ranking
    >>> from featsieve.datasets import make_quad
    >>> data = make_quad(400, random_state=0)
    >>> selector = FeatureSelector(Xi(), Ranking(), n_features_to_select=2)
    >>> sorted(selector.fit(data.data, data.target).indices_.tolist())
    [0, 1]
    """

    def bind(self, engine: Engine) -> BoundXi:
        return BoundXi(engine)


class BoundXi:
    """Columns are read in tiles, each sorted by itself."""

    def __init__(self, engine: Engine) -> None:
        self.n_units = engine.schema.n_units
        self.monitor = engine.monitor
        self._engine = engine

    def scores(self) -> FloatArray:
        """Per unit; several outputs are averaged."""
        schema = self._engine.schema
        targets = self._targets()

        def of_columns(X: FloatArray, columns: IntArray) -> Array:
            return np.array([np.mean([t(dense_order(x)) for t in targets]) for x in X.T])

        per_column = np.asarray(self._engine.map_columns(of_columns), dtype=np.float64)
        if schema.is_plain:
            return per_column
        neighbours = ConditionalDependence().bind(self._engine)
        return np.array([self._unit_score(u, per_column, neighbours) for u in range(self.n_units)])

    def _unit_score(self, unit: int, per_column: FloatArray, neighbours: HasValue) -> float:
        columns = self._engine.schema.columns_of(unit)
        if len(columns) == 1 and columns[0] not in self._engine.schema.categories:
            return float(per_column[columns[0]])
        return neighbours.value([unit])

    def _targets(self) -> list[_RankTarget | _ClassTarget]:
        y, target = self._engine.targets(), self._engine.target
        if target.is_classification:
            return [
                _ClassTarget(one_hot(y[:, output], target.class_counts[output]))
                for output in range(target.n_outputs)
            ]
        return [_RankTarget(np.asarray(column, dtype=np.float64)) for column in y.T]


def dense_order(x: FloatArray) -> IntArray:
    """The number of each row's value among the distinct values, in rising order."""
    return np.asarray(np.unique(x, return_inverse=True)[1], dtype=np.intp)


class _RankTarget:
    """ξ = 1 − n Σ|r_{i+1} − r_i| / (2 Σ l_i (n − l_i)), expected over all orders of ties."""

    def __init__(self, y: FloatArray) -> None:
        rising = np.sort(y)
        self._upper = np.searchsorted(rising, y, side="right").astype(np.float64)
        above = len(y) - np.searchsorted(rising, y, side="left")
        self._room = 2.0 * float(np.sum(above * (len(y) - above), dtype=np.float64))

    def __call__(self, group: IntArray) -> float:
        if self._room == 0:
            return 0.0
        n_groups = int(group.max()) + 1
        if n_groups == len(group):
            jumps = float(np.abs(np.diff(self._upper[np.argsort(group)])).sum())
        else:
            jumps = self._expected_jumps(group, n_groups)
        return 1.0 - len(group) * jumps / self._room

    def _expected_jumps(self, group: IntArray, n_groups: int) -> float:
        """Inside a group g − 1 jumps of its mean difference; between two the mean over all pairs.

        Differences between two groups are those of their union less those inside each.
        """
        sizes = np.bincount(group, minlength=n_groups).astype(np.float64)
        inside = _sums_of_differences(group, self._upper, n_groups)
        pairs = sizes * (sizes - 1) / 2
        within = np.divide(inside, pairs, out=np.zeros_like(inside), where=pairs > 0)
        if n_groups == 1:
            return float((sizes - 1) @ within)
        left, right = group < n_groups - 1, group > 0
        union = np.concatenate([group[left], group[right] - 1])
        ranks = np.concatenate([self._upper[left], self._upper[right]])
        both = _sums_of_differences(union, ranks, n_groups - 1)
        between = (both - inside[:-1] - inside[1:]) / (sizes[:-1] * sizes[1:])
        return float((sizes - 1) @ within + between.sum())


def _sums_of_differences(group: IntArray, values: FloatArray, n_groups: int) -> FloatArray:
    """Σ |a − b| over all pairs of each group: Σ (2k − g + 1) v_(k), k counted from 0."""
    order = np.lexsort((values, group))
    sizes = np.bincount(group, minlength=n_groups)
    starts = np.cumsum(sizes) - sizes
    rank = np.arange(len(group)) - np.repeat(starts, sizes)
    factor = 2 * rank - np.repeat(sizes, sizes) + 1
    return np.asarray(np.bincount(group[order], factor * values[order], n_groups))


class _ClassTarget:
    """(share of neighbours of the same class − Σ p²) / (1 − Σ p²), expected over orders of ties."""

    def __init__(self, indicators: FloatArray) -> None:
        self._indicators = indicators
        share = indicators.mean(axis=0)
        self._chance = float(share @ share)

    def __call__(self, group: IntArray) -> float:
        if self._chance >= 1.0 or len(group) < 2:
            return 0.0
        n_groups = int(group.max()) + 1
        counts = np.zeros((n_groups, self._indicators.shape[1]))
        np.add.at(counts, group, self._indicators)
        sizes = counts.sum(axis=1)
        inside = (counts * (counts - 1)).sum(axis=1)
        within = np.divide(inside, sizes, out=np.zeros_like(sizes), where=sizes > 0)
        shares = counts / sizes[:, None]
        between = (shares[:-1] * shares[1:]).sum()
        same = (within.sum() + between) / (len(group) - 1)
        return float((same - self._chance) / (1.0 - self._chance))
