"""Scores of single columns from a graph of the rows: FisherScore, LaplacianScore and SPEC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from featsieve.measures.spectral.fisher import Fisher
from featsieve.measures.spectral.laplacian import GraphName, Laplacian
from featsieve.measures.spectral.spec import RankingFunction, Spectral
from featsieve.methods.ranking import IncrementalRanking
from featsieve.procedures.pairing import Pairing
from featsieve.searches.ranking import Ranking
from featsieve.selector import PairingSelector


@dataclass(kw_only=True, eq=False, repr=False)
class FisherScore(IncrementalRanking):
    """Keep the columns whose class means are far apart, compared with the scatter within classes.

    The score is Σ_c n_c (μ_c − μ)² / Σ_c n_c σ_c². It sees differences of means only, one column at
    a time: neither redundancy nor interaction. The target must be classes.

    Examples
    --------
    >>> from featsieve import FisherScore
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris()
    >>> FisherScore(n_features_to_select=2).fit(iris.data, iris.target).indices_.tolist()
    [2, 3]
    """

    @property
    def _measure_type(self) -> type:
        return Fisher

    def fit(  # type: ignore[override]
        self, X: Any, y: Any = None, sample_weight: Any = None
    ) -> Self:
        """Select columns of X for the classes y; ``sample_weight`` is one number >= 0 per row."""
        return self._fit(X, y, sample_weight=sample_weight)

    def _pairing(self) -> Pairing:
        return Pairing(Fisher(), Ranking())


@dataclass(kw_only=True, eq=False, repr=False)
class LaplacianScore(PairingSelector):
    """Keep the columns that differ least along the edges of a graph of the rows.

    He et al. (2006) print L = f'(D − S)f / f'Df, smaller is better; ``scores_`` holds −L. One
    column at a time: neither redundancy nor interaction.

    Parameters
    ----------
    n_neighbors : int, default=5
        k of the nearest-neighbour graph.
    graph : {"auto", "class", "knn"}, default="auto"
        "class": all rows of a class with n_c rows are joined by edges of weight 1/n_c, as Masaeli
        et al. (2010) use it; the order is that of :class:`FisherScore`. "knn": rows are joined with
        their k nearest neighbours; the target is not used. "auto": "class" where there are classes,
        else "knn".
    standardize : bool, default=True
        Bring numeric columns to mean 0 and deviation 1 before neighbours are sought.

    Examples
    --------
    >>> from featsieve import LaplacianScore
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris()
    >>> LaplacianScore(n_features_to_select=2).fit(iris.data, iris.target).indices_.tolist()
    [2, 3]
    >>> by_neighbours = LaplacianScore(n_features_to_select=2, graph="knn")
    >>> by_neighbours.fit(iris.data, iris.target).indices_.tolist()
    [2, 3]
    """

    n_neighbors: int = 5
    graph: GraphName = "auto"
    standardize: bool = True

    @property
    def _measure_type(self) -> type:
        return Laplacian

    def _pairing(self) -> Pairing:
        return Pairing(Laplacian(n_neighbors=self.n_neighbors, graph=self.graph), Ranking())


@dataclass(kw_only=True, eq=False, repr=False)
class SPEC(PairingSelector):
    """Keep the columns that agree best with the spectrum of a graph of the rows.

    The three ranking functions of Zhao and Liu (2007), in the notation of
    :class:`featsieve.measures.Spectral`; ``scores_`` holds −φ₁, −φ₂ or φ₃, so that larger is
    better. One column at a time: neither redundancy nor interaction.

    Parameters
    ----------
    ranking_function : {"phi1", "phi2", "phi3"}, default="phi2"
        φ₁ is the roughness of a column on the graph, φ₂ the same without the trivial eigenvector,
        φ₃ the agreement with the first eigenvectors.
    n_neighbors : int, default=5
        k of the nearest-neighbour graph.
    graph : {"auto", "class", "knn"}, default="auto"
        As in :class:`LaplacianScore`.
    power : int, default=1
        γ(λ) = λ^power: larger powers let rough parts of a column count more.
    n_components : int or None, default=None
        Number of eigenvectors of φ₃ after the trivial one, on the nearest-neighbour graph; None:
        the number of classes minus one, or 10 without classes.
    standardize : bool, default=True
        Bring numeric columns to mean 0 and deviation 1 first.

    Examples
    --------
    >>> from featsieve import SPEC
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris()
    >>> selector = SPEC(n_features_to_select=2, ranking_function="phi3", graph="knn")
    >>> sorted(selector.fit(iris.data, iris.target).indices_.tolist())
    [2, 3]
    """

    ranking_function: RankingFunction = "phi2"
    n_neighbors: int = 5
    graph: GraphName = "auto"
    power: int = 1
    n_components: int | None = None
    standardize: bool = True

    @property
    def _measure_type(self) -> type:
        return Spectral

    def _pairing(self) -> Pairing:
        measure = Spectral(
            ranking_function=self.ranking_function,
            n_neighbors=self.n_neighbors,
            graph=self.graph,
            power=self.power,
            n_components=self.n_components,
        )
        return Pairing(measure, Ranking())
