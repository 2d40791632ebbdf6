"""|Correlation| between columns beside that with the target, for QPFS (P-LSMI 4.2)."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from featsieve.dummies import Dummies
from featsieve.measures.linear.correlation import BoundPearson, Pearson
from featsieve.moments import CrossMoments, cross_moments
from featsieve.protocols import Engine, PairTerms
from featsieve.schema import Block, FloatArray


class CorrelationPairs(Pearson):
    """Pearson's and Hall's correlation; between two columns, |ρ| is redundancy.

    A categorical column enters by its indicator columns, a pair of states with its joint frequency;
    a group's redundancy is that of its most correlated columns.
    """

    def bind(self, engine: Engine) -> BoundCorrelationPairs:
        return BoundCorrelationPairs(engine)


class BoundCorrelationPairs(BoundPearson):
    """One more pass over the rows for all pairs."""

    def relevance_and_pairs(self) -> PairTerms:
        return PairTerms(
            relevance=self.scores(),
            pair_row=lambda unit: self._matrix[unit],
            role="redundancy",
            symmetric=True,
        )

    def pair_matrix(self) -> FloatArray:
        return self._matrix

    @cached_property
    def _matrix(self) -> FloatArray:
        dummies = Dummies(self._engine.schema)

        def of_block(block: Block) -> CrossMoments:
            expanded = dummies.expand(block)
            dense = expanded if isinstance(expanded, np.ndarray) else expanded.toarray()
            return cross_moments(dense, dense, block.weight)

        moments = self._engine.reduce_rows(of_block)
        return self._per_unit(_hall(moments, dummies))

    def _per_unit(self, by_column: FloatArray) -> FloatArray:
        np.fill_diagonal(by_column, 1.0)
        groups = self._engine.schema.groups
        if groups is None:
            return by_column
        rows = np.array([by_column[list(columns)].max(axis=0) for columns in groups])
        return np.array([rows[:, list(columns)].max(axis=1) for columns in groups])


def _hall(moments: CrossMoments, dummies: Dummies) -> FloatArray:
    """Σ p(a, b) |corr| over the indicator columns of each pair; plain |corr| of numeric columns."""
    strength = np.abs(moments.correlation())
    indicator = dummies.is_indicator
    p = np.where(indicator, moments.x.mean, 1.0)
    share = np.outer(p, p)
    both = np.ix_(indicator, indicator)
    joint = moments.cross / moments.x.weight + np.outer(moments.x.mean, moments.x.mean)
    share[both] = joint[both]
    owner = dummies.owner
    n_columns = dummies.schema.n_columns
    summed = np.zeros((n_columns, n_columns))
    np.add.at(summed, (owner[:, None], owner[None, :]), share * strength)
    return summed
