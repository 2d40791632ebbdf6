"""Correlation with a numeric target, and Hall's correlation with classes (P-LSMI 4.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.engines.base import require_memory
from featsieve.measures.base import BaseMeasure
from featsieve.measures.pearson.permuted import PermutedPearson
from featsieve.protocols import Engine, PairTerms
from featsieve.runtime.pool import single_threaded_blas
from featsieve.runtime.progress import Monitor
from featsieve.schema import Block, Schema, Target
from featsieve.statistics.moments import (
    ColumnMoments,
    CrossMoments,
    Dummies,
    centred_columns,
    cross_moments,
    target_columns,
)


class Pearson(BaseMeasure):
    """|ρ| of a numeric column with a numeric target; Hall's weighted mean of |ρ| for states.

    With classes c the score is Σ_c p(c) |corr(x, 1[y = c])|; a categorical column enters by its
    indicator columns in the same way, and a pair of states counts with its joint frequency. A group
    scores what its best column scores. A constant column scores 0. Several outputs: their mean.
    Between two columns the same number is their redundancy.

    Examples
    --------
    >>> from featsieve import FeatureSelector
    >>> from featsieve.measures import Pearson
    >>> from featsieve.searches import Ranking
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = FeatureSelector(Pearson(), Ranking(), n_features_to_select=2)
    >>> selector.fit(X, y).indices_.tolist()
    [2, 3]
    """

    takes_weights: ClassVar[bool] = True
    scores_are_correlations: ClassVar[bool] = True

    def bind(self, engine: Engine) -> BoundPearson:
        return BoundPearson(engine)

    def summary(self, schema: Schema, target: Target) -> PearsonSummary:
        """What :meth:`BoundPearson.scores` sums over blocks; it adds, so rows may come in parts."""
        return PearsonSummary(schema, target)


@dataclass(frozen=True)
class PearsonSummary:
    """How to summarise a block, and how to finish the merged summary."""

    schema: Schema
    target: Target

    def of_block(self, block: Block) -> CrossMoments:
        moments: CrossMoments = Dummies(self.schema).in_slices(self._of_rows)(block)
        return moments

    def _of_rows(self, block: Block) -> CrossMoments:
        Y = np.concatenate([part for _, part in target_columns(block.y, self.target)], axis=1)
        return cross_moments(Dummies(self.schema).expand(block), Y, block.weight)

    @property
    def moments_of_cells(self) -> Callable[[CrossMoments], ColumnMoments] | None:
        """Where the moments of the columns themselves are: indicators are others."""
        return None if self.schema.categories else attrgetter("x")

    def output_scores(self, moments: CrossMoments) -> FloatArray:
        """One row per output, one number per unit."""
        shares = self._share(moments) * np.abs(moments.correlation())
        rows, first, dummies = [], 0, Dummies(self.schema)
        for width in self.target.class_counts or (1,) * self.target.n_outputs:
            rows.append(dummies.per_unit(shares[:, first : first + width].sum(axis=1)))
            first += width
        return np.array(rows)

    def signed(self, moments: CrossMoments, scores: FloatArray) -> FloatArray:
        """ρ of each unit with its sign, the mean over outputs, where there is one.

        A class, a category and a group have none: there it is the score.
        """
        if self.target.is_classification or self.schema.groups is not None:
            return scores
        dummies = Dummies(self.schema)
        numeric = ~dummies.is_indicator
        scores = scores.copy()
        scores[dummies.owner[numeric]] = moments.correlation()[numeric].mean(axis=1)
        return scores

    def _share(self, moments: CrossMoments) -> FloatArray:
        """Hall's weight of each (expanded column, target column): p(state, class)."""
        p_class = moments.y.mean if self.target.is_classification else np.ones(len(moments.y.mean))
        share = np.broadcast_to(p_class, moments.cross.shape).copy()
        indicator = Dummies(self.schema).is_indicator
        p_state = moments.x.mean[indicator][:, None]
        if self.target.is_classification:
            joint = moments.cross[indicator] / moments.x.weight
            share[indicator] = joint + p_state * p_class
        else:
            share[indicator] = p_state
        return share


class BoundPearson:
    """Pearson with its data: one pass over the rows, and one more for pairs of columns."""

    score_scale = 1.0

    def __init__(self, engine: Engine) -> None:
        self.n_units = engine.schema.n_units
        self.monitor: Monitor = engine.monitor
        self._engine = engine
        self._summary = summary = PearsonSummary(engine.schema, engine.target)
        cells = summary.moments_of_cells
        with single_threaded_blas():  # a few columns of y: reading X is the work
            of_block = Dummies(engine.schema).in_slices(summary.of_block, engine)
            self._moments = engine.reduce_rows(of_block, moments=cells, in_place=True)

    @cached_property
    def _output_scores(self) -> FloatArray:
        return self._summary.output_scores(self._moments)

    def scores(self) -> FloatArray:
        scores: FloatArray = self._output_scores.mean(axis=0)
        return scores

    def correlations(self) -> FloatArray:
        """ρ of each unit with its sign, where it has one."""
        return self._summary.signed(self._moments, self.scores())

    def relevance_and_pairs(self) -> PairTerms:
        return PairTerms(
            relevance=self.scores(),
            pair_row=lambda unit: self.pair_matrix()[unit],
            role="redundancy",
            symmetric=True,
            pair_rows=lambda units: pair_correlations(self._engine, units),
        )

    def pair_matrix(self) -> FloatArray:
        return self._pairs

    @cached_property
    def _pairs(self) -> FloatArray:
        return pair_correlations(self._engine)

    @property
    def numbers_per_order(self) -> int:
        return self._permuted.numbers_per_order

    def permuted_scores(self, orders: IntArray) -> FloatArray:
        """All columns under all these permutations of the target, by matrix products."""
        return self._permuted.scores(orders)

    @cached_property
    def _permuted(self) -> PermutedPearson:
        return PermutedPearson(self._engine)

    def report(self) -> Mapping[str, Any]:
        return {"output_scores": self._output_scores, "correlations": self.correlations()}


def pearson(X: Any, y: Any, *, task: str = "auto") -> FloatArray:
    """ρ of each column of X with y, with its sign; Hall's weighted mean of |ρ| for classes.

    ``task="regression"`` correlates with the numbers of the labels themselves (as Song et al. 2007
    do in their Figure 1).

    >>> x = np.array([0.0, 1.3, 2.1, 3.5])
    >>> pearson(np.c_[x, -x, [1, 1, 1, 1]], 2 * x).round(12).tolist()
    [1.0, -1.0, 0.0]
    """
    from featsieve.input.boundary import Settings, open_columns

    engine: Engine = open_columns(X, y, Settings(task=task, rescale=True))
    return Pearson().bind(engine).correlations()


COPIES_OF_STRENGTHS = 8  # moments of pairs and their sum so far, shares, and work space


def pair_correlations(engine: Engine, units: Sequence[int] | None = None) -> FloatArray:
    """One row for each of ``units`` (None: all), one number per unit, 1 for a unit with itself; one
    pass over the rows.

    A categorical column enters by its indicator columns, a pair of states with its joint frequency;
    two groups are as correlated as their most correlated columns.
    """
    schema, dummies = engine.schema, Dummies(engine.schema)
    chosen = list(range(schema.n_units) if units is None else units)
    inside = np.flatnonzero(np.isin(dummies.owner, schema.columns_of_units(chosen)))

    def of_block(block: Block) -> CrossMoments:
        expanded = dummies.expand(block)
        dense = expanded if isinstance(expanded, np.ndarray) else expanded.toarray()
        if units is None and block.weight is None:
            return _all_pairs(dense)
        return cross_moments(dense, dense if units is None else dense[:, inside], block.weight)

    columns = np.unique(dummies.owner[inside])
    if schema.categories:
        what = f"pairs of {len(dummies.owner)} indicators"
        n_pairs = len(dummies.owner) * len(inside)
        require_memory(COPIES_OF_STRENGTHS * n_pairs, engine.memory_limit, what)
    of_blocks = dummies.in_slices(of_block, engine)
    by_column = _hall(engine.reduce_rows(of_blocks), dummies, inside, columns)
    by_column[columns, np.arange(len(columns))] = 1.0
    by_unit = schema.best_of_groups(by_column)
    places = [np.searchsorted(columns, schema.columns_of(unit)) for unit in chosen]
    if schema.groups is None:
        return by_unit[:, np.concatenate(places)].T
    return np.array([by_unit[:, columns_of_unit].max(axis=1) for columns_of_unit in places])


def _all_pairs(X: FloatArray) -> CrossMoments:
    """BLAS computes half of a product that is symmetric."""
    moments, centred = centred_columns(X)
    return CrossMoments(moments, moments, centred.T @ centred)


def _hall(
    moments: CrossMoments, dummies: Dummies, inside: IntArray, columns: IntArray
) -> FloatArray:
    """Σ p(a, b) |corr| over the indicator columns of each pair; plain |corr| of numeric columns.

    All columns × ``columns``, whose expanded ones are ``inside``.
    """
    strength = np.abs(moments.correlation())
    indicator, owner, mean = dummies.is_indicator, dummies.owner, moments.x.mean
    p = np.where(indicator, mean, 1.0)
    share = np.outer(p, p[inside])
    both = np.ix_(indicator, indicator[inside])
    joint = moments.cross / moments.x.weight + np.outer(mean, mean[inside])
    share[both] = joint[both]
    share *= strength
    by_row = np.add.reduceat(share, np.searchsorted(owner, np.arange(owner[-1] + 1)), axis=0)
    summed: FloatArray = np.add.reduceat(by_row, np.searchsorted(owner[inside], columns), axis=1)
    return summed
