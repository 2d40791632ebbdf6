"""Fisher's score: scatter between class means over scatter within classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.input.targets import require_classes
from featsieve.measures.base import BaseMeasure
from featsieve.measures.spectral.class_scatter import (
    ClassMoments,
    Scatter,
    ScatterSummary,
    best_of_unit,
)
from featsieve.protocols import Engine
from featsieve.schema import Block, Schema, Target

EPSILON = float(np.finfo(np.float64).eps)


class Fisher(BaseMeasure):
    """Σ_c n_c (μ_c − μ)² / Σ_c n_c σ_c² of each column, for classes.

    A column that is constant in every class, but not over all, scores 1/ε ≈ 4.5e15, the largest
    score there is (ε is the rounding unit of a float64: less scatter within than ε of all scatter
    is rounding); a constant column scores 0. A categorical column sums numerator and denominator
    over its indicator columns; a group scores what its best column scores. Several outputs: their
    mean.

    Examples
    --------
    >>> from featsieve import FeatureSelector
    >>> from featsieve.measures import Fisher
    >>> from featsieve.searches import Ranking
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = FeatureSelector(Fisher(), Ranking(), n_features_to_select=2)
    >>> selector.fit(X, y).indices_.tolist()
    [2, 3]
    """

    takes_weights: ClassVar[bool] = True

    def bind(self, engine: Engine) -> BoundFisher:
        require_classes(engine.target, "Fisher's score", "ranking")
        return BoundFisher(engine)

    def summary(self, schema: Schema, target: Target) -> FisherSummary:
        """What the scores are made of; it adds, so rows may come in parts."""
        require_classes(target, "Fisher's score", "ranking")
        return FisherSummary(schema, target)


@dataclass(frozen=True)
class FisherSummary:
    """How to summarise a block, and how to finish the merged summary."""

    schema: Schema
    target: Target

    def of_block(self, block: Block) -> ClassMoments:
        return ScatterSummary(self.schema, self.target).of_block(block)

    def output_scores(self, moments: ClassMoments) -> FloatArray:
        """One row per output, one number per unit."""
        scatters = ScatterSummary(self.schema, self.target).scatters(moments)
        return np.array([best_of_unit(fisher_ratio(s), self.schema) for s in scatters])


def fisher_ratio(scatter: Scatter) -> FloatArray:
    """Between over within, at most 1/ε; 0 without any scatter."""
    within, between = (
        np.divide(part, scatter.total, out=np.zeros_like(part), where=scatter.total > 0)
        for part in (scatter.within, scatter.between)
    )
    return np.asarray(between / np.maximum(within, EPSILON))


class BoundFisher:
    """Fisher's score with its data: one pass over the rows."""

    def __init__(self, engine: Engine) -> None:
        self.n_units = engine.schema.n_units
        self.monitor = engine.monitor
        self._engine = engine
        self._output_scores: FloatArray | None = None

    def scores(self) -> FloatArray:
        summary = FisherSummary(self._engine.schema, self._engine.target)
        self._output_scores = summary.output_scores(self._engine.reduce_rows(summary.of_block))
        return self._output_scores.mean(axis=0)

    def report(self) -> dict[str, Any]:
        return {"output_scores": self._output_scores}
