"""The Laplacian score (He et al. 2006): how smooth is a column on a graph of the rows?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.input.parameters import Check, check_choice, check_integer, check_parameters
from featsieve.input.targets import require_classes
from featsieve.measures.base import BaseMeasure
from featsieve.measures.spectral.class_scatter import (
    Scatter,
    ScatterSummary,
    best_of_unit,
)
from featsieve.measures.spectral.graph import Graph, neighbour_graph, state_columns
from featsieve.protocols import Engine

GraphName = Literal["auto", "class", "knn"]
GRAPHS: tuple[GraphName, ...] = ("auto", "class", "knn")
WORST = 2.0  # the largest eigenvalue that a normalised Laplacian can have
WORST_OF_CLASSES = 1.0


@dataclass(kw_only=True, eq=False, repr=False)
class Laplacian(BaseMeasure):
    """Minus the Laplacian score, so that larger is better.

    For a column f, centred with the degrees D as weights, He et al. print L = f'(D − S)f / f'Df:
    the smaller, the less f differs along edges. The score is −L.

    A constant column gets the worst value (L = 1 on the graph of classes, 2 on the other one). A
    categorical column sums numerator and denominator over its indicator columns; a group scores
    what its best column scores. Several outputs on the graph of classes: their mean.

    Parameters
    ----------
    n_neighbors : int, default=5
        k of the nearest-neighbour graph.
    graph : {"auto", "class", "knn"}, default="auto"
        "class": all rows of a class with n_c rows are joined by edges of weight 1/n_c, as Masaeli
        et al. (2010) use it; the order is that of Fisher's score. "knn": rows i and j are joined
        if one is among the k nearest of the other, with weight exp(−d²/t), t the mean squared
        distance to the k nearest; the target is not used. "auto": classes where there are classes.

    Examples
    --------
    >>> from featsieve import FeatureSelector
    >>> from featsieve.measures import Laplacian
    >>> from featsieve.searches import Ranking
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = FeatureSelector(Laplacian(), Ranking(), n_features_to_select=2)
    >>> selector.fit(X, y).indices_.tolist()
    [2, 3]
    """

    scale_ddof: ClassVar[int | None] = 0
    checks: ClassVar[Mapping[str, Check]] = {
        "n_neighbors": partial(check_integer, minimum=1),
        "graph": partial(check_choice, allowed=GRAPHS),
    }

    n_neighbors: int = 5
    graph: GraphName = "auto"

    def bind(self, engine: Engine) -> BoundLaplacian:
        check_parameters(self, self.checks)
        by_class = joins_classes(self.graph, engine, "the Laplacian score with graph='class'")
        return BoundLaplacian(engine, int(self.n_neighbors), by_class)


def joins_classes(graph: GraphName, engine: Engine, what: str) -> bool:
    """Whether the graph of classes is meant; refuses it for a numeric target."""
    if graph == "class":
        require_classes(engine.target, what, "ranking")
    return graph != "knn" and engine.target.is_classification


class BoundLaplacian:
    """The Laplacian score with its data."""

    def __init__(self, engine: Engine, n_neighbors: int, by_class: bool) -> None:
        self.n_units = engine.schema.n_units
        self.monitor = engine.monitor
        self._engine = engine
        self._n_neighbors = n_neighbors
        self._by_class = by_class
        self._report: dict[str, Any] = {}

    def scores(self) -> FloatArray:
        if self._by_class:
            printed = [within_share(scatter) for scatter in class_scatters(self._engine)]
        else:
            graph = neighbour_graph(self._engine, self._n_neighbors)
            printed = [roughness(self._engine, graph)]
        schema = self._engine.schema
        by_output = np.array([best_of_unit(-values, schema) for values in printed])
        name = "class" if self._by_class else "knn"
        self._report = {"output_scores": by_output, "graph": name}
        return by_output.mean(axis=0)

    def report(self) -> dict[str, Any]:
        return self._report


def class_scatters(engine: Engine) -> list[Scatter]:
    """Scatter of each column for each output, in one pass over the rows."""
    summary = ScatterSummary(engine.schema, engine.target)
    return summary.scatters(engine.reduce_rows(summary.of_block))


def within_share(scatter: Scatter) -> FloatArray:
    """The score on the graph of classes: scatter within over all scatter."""
    return ratio(scatter.within, scatter.total, WORST_OF_CLASSES)


def ratio(numerator: FloatArray, denominator: FloatArray, otherwise: float) -> FloatArray:
    out = np.full(numerator.shape, otherwise)
    return np.divide(numerator, denominator, out=out, where=denominator > 0)


def roughness(engine: Engine, graph: Graph) -> FloatArray:
    """L of each column on a sparse graph, some columns at a time."""
    categories = engine.schema.categories

    def of_columns(X: FloatArray, columns: IntArray) -> FloatArray:
        terms = [
            _terms(state_columns(x, len(categories[c]) if c in categories else None), graph)
            for x, c in zip(np.asarray(X, dtype=np.float64).T, columns.tolist(), strict=True)
        ]
        return np.array(terms)

    numerator, denominator = engine.map_columns(of_columns).T
    return ratio(numerator, denominator, WORST)


def _terms(values: FloatArray, graph: Graph) -> tuple[float, float]:
    """f'(D − S)f and f'Df of centred columns, summed over them."""
    weight = graph.degree[:, None]
    if not np.ptp(values, axis=0).any():
        return 0.0, 0.0
    centred = values - (weight * values).sum(axis=0) / weight.sum()
    squares = float((weight * centred**2).sum())
    return squares - float((centred * graph.smoothed(centred)).sum()), squares
