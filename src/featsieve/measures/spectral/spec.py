"""SPEC (Zhao and Liu 2007): columns compared with the spectrum of a graph of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.input.parameters import (
    Check,
    check_choice,
    check_integer,
    check_parameters,
    unless,
)
from featsieve.measures.base import BaseMeasure
from featsieve.measures.spectral.class_scatter import Scatter, best_of_unit
from featsieve.measures.spectral.graph import Graph, neighbour_graph, state_columns
from featsieve.measures.spectral.laplacian import (
    GRAPHS,
    GraphName,
    class_scatters,
    joins_classes,
    ratio,
)
from featsieve.protocols import Engine
from featsieve.runtime.user_warnings import warn_user

RankingFunction = Literal["phi1", "phi2", "phi3"]
FUNCTIONS: tuple[RankingFunction, ...] = ("phi1", "phi2", "phi3")
COMPONENTS = 10
DENSE_ROWS = 200  # below this, all eigenvectors at once are quicker than some of them


@dataclass(kw_only=True, eq=False, repr=False)
class Spectral(BaseMeasure):
    """The ranking functions of SPEC, turned so that larger is better.

    With the normalised Laplacian ℒ = I − D^(−1/2) S D^(−1/2), its eigenpairs (λ_j, ξ_j), λ₁ = 0,
    f̂ = D^(1/2) f/‖D^(1/2) f‖, α_j = f̂'ξ_j and γ(λ) = λ^power:

    - φ₁ = f̂'γ(ℒ)f̂, smaller is better;
    - φ₂ = Σ_(j ≥ 2) γ(λ_j) α_j² / Σ_(j ≥ 2) α_j², smaller is better (power 1: the Laplacian score);
    - φ₃ = Σ_(j = 2…q) (γ(2) − γ(λ_j)) α_j², larger is better.

    The score is −φ₁, −φ₂ or φ₃. A constant column gets the worst value: −2^power (−1 on the graph
    of classes), or 0 for φ₃. Categories, groups and outputs as in :class:`Laplacian`.

    Parameters
    ----------
    ranking_function : {"phi1", "phi2", "phi3"}, default="phi2"
    n_neighbors : int, default=5
        k of the nearest-neighbour graph.
    graph : {"auto", "class", "knn"}, default="auto"
        As in :class:`Laplacian`.
    power : int, default=1
        Larger powers let rough parts of a column count more.
    n_components : int or None, default=None
        q − 1, the eigenvectors of φ₃ after the trivial one, on the nearest-neighbour graph; None:
        the number of classes minus one, or 10 without classes. On the graph of classes all those
        with an eigenvalue below 1 are used: the number of classes minus one.

    Examples
    --------
    >>> from featsieve import FeatureSelector
    >>> from featsieve.measures import Spectral
    >>> from featsieve.searches import Ranking
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = FeatureSelector(Spectral(), Ranking(), n_features_to_select=2)
    >>> selector.fit(X, y).indices_.tolist()
    [2, 3]
    """

    scale_ddof: ClassVar[int | None] = 0
    checks: ClassVar[Mapping[str, Check]] = {
        "ranking_function": partial(check_choice, allowed=FUNCTIONS),
        "n_neighbors": partial(check_integer, minimum=1),
        "graph": partial(check_choice, allowed=GRAPHS),
        "power": partial(check_integer, minimum=1, maximum=100),
        "n_components": unless(None, partial(check_integer, minimum=1, also="None")),
    }

    ranking_function: RankingFunction = "phi2"
    n_neighbors: int = 5
    graph: GraphName = "auto"
    power: int = 1
    n_components: int | None = None

    def bind(self, engine: Engine) -> BoundSpectral:
        check_parameters(self, self.checks)
        by_class = joins_classes(self.graph, engine, "SPEC with graph='class'")
        return BoundSpectral(engine, self, by_class)


class BoundSpectral:
    """SPEC with its data."""

    def __init__(self, engine: Engine, measure: Spectral, by_class: bool) -> None:
        self.n_units = engine.schema.n_units
        self.monitor = engine.monitor
        self._engine = engine
        self._measure = measure
        self._by_class = by_class
        self._report: dict[str, Any] = {}

    def scores(self) -> FloatArray:
        if self._by_class:
            values = [self._on_classes(scatter) for scatter in class_scatters(self._engine)]
        else:
            values = [self._on_neighbours()]
        schema = self._engine.schema
        by_output = np.array([best_of_unit(scores, schema) for scores in values])
        name = "class" if self._by_class else "knn"
        self._report = {"output_scores": by_output, "graph": name}
        return by_output.mean(axis=0)

    def report(self) -> dict[str, Any]:
        return self._report

    def _on_classes(self, scatter: Scatter) -> FloatArray:
        """λ is 0 for the class means and 1 for all that is within classes."""
        function = self._measure.ranking_function
        # A constant column has no share of its own, whatever its length.
        length = np.where(scatter.total > 0, scatter.about_zero, 0.0)
        if function == "phi3":
            return 2.0**self._measure.power * ratio(scatter.between, length, 0.0)
        return -ratio(scatter.within, length if function == "phi1" else scatter.total, 1.0)

    def _on_neighbours(self) -> FloatArray:
        engine, measure = self._engine, self._measure
        spectrum = Spectrum(neighbour_graph(engine, measure.n_neighbors), measure.power)
        if measure.ranking_function == "phi3":
            spectrum = spectrum.with_components(self._n_components())
        categories = engine.schema.categories

        def of_columns(X: FloatArray, columns: IntArray) -> FloatArray:
            terms = [
                spectrum.terms(state_columns(x, len(categories[c]) if c in categories else None))
                for x, c in zip(np.asarray(X, dtype=np.float64).T, columns.tolist(), strict=True)
            ]
            return np.array(terms)

        return spectrum.finish(engine.map_columns(of_columns).T, measure.ranking_function)

    def _n_components(self) -> int:
        target, given = self._engine.target, self._measure.n_components
        if given is not None:
            return given
        return max(target.class_counts) - 1 if target.is_classification else COMPONENTS


@dataclass(frozen=True)
class Spectrum:
    """The normalised Laplacian of a graph, and its first eigenpairs where they are needed."""

    graph: Graph
    power: int
    eigenvalues: FloatArray | None = None
    eigenvectors: FloatArray | None = None

    def with_components(self, count: int) -> Spectrum:
        """The first eigenpairs of the Laplacian after the trivial one."""
        values, vectors = _largest_pairs(self._similarity, self._trivial, count)
        return Spectrum(self.graph, self.power, 1.0 - values, vectors)

    @property
    def _root(self) -> FloatArray:
        return np.sqrt(self.graph.degree)[:, None]

    @property
    def _trivial(self) -> FloatArray:
        """ξ₁, the eigenvector of λ₁ = 0."""
        return np.asarray(self._root[:, 0] / np.sqrt(self.graph.degree.sum()))

    def _similarity(self, values: FloatArray) -> FloatArray:
        """D^(−1/2) S D^(−1/2) times columns."""
        return self.graph.smoothed(values / self._root) / self._root

    def terms(self, values: FloatArray) -> tuple[float, float, float, float]:
        """f'γ(ℒ)f, ‖f‖², ‖f‖² without ξ₁, and the sum of φ₃, of D^(1/2) times the columns."""
        if not np.ptp(values, axis=0).any():
            return 0.0, 0.0, 0.0, 0.0
        weighted = self._root * values
        rest = weighted - np.outer(self._trivial, self._trivial @ weighted)
        rough = rest
        for _ in range(self.power):
            rough = rough - self._similarity(rough)
        numbers = float((rest * rough).sum()), float((weighted**2).sum()), float((rest**2).sum())
        return *numbers, self._near_components(rest)

    def _near_components(self, rest: FloatArray) -> float:
        if self.eigenvalues is None or self.eigenvectors is None:
            return 0.0
        gain = 2.0**self.power - np.maximum(self.eigenvalues, 0.0) ** self.power
        return float(gain @ ((self.eigenvectors.T @ rest) ** 2).sum(axis=1))

    def finish(self, terms: FloatArray, function: RankingFunction) -> FloatArray:
        rough, length, rest, near = terms
        if function == "phi3":
            return ratio(near, length, 0.0)
        return -ratio(rough, length if function == "phi1" else rest, 2.0**self.power)


def _largest_pairs(product: Any, trivial: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """The largest eigenpairs of a symmetric product, those besides ``trivial`` (eigenvalue 1)."""
    n = len(trivial)
    count = min(count, n - 1)

    def deflated(values: FloatArray) -> FloatArray:
        columns = values.reshape(n, -1)
        # Twice: what is left has eigenvalue −1 there, the smallest that there is.
        return np.asarray(product(columns) - 2.0 * np.outer(trivial, trivial @ columns))

    if n <= DENSE_ROWS or count > n // 3:
        values, vectors = np.linalg.eigh(deflated(np.eye(n)))
    else:
        values, vectors = _lanczos(deflated, n, count)
    return values[::-1][:count], vectors[:, ::-1][:, :count]


def _lanczos(product: Any, n: int, count: int) -> tuple[FloatArray, FloatArray]:
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    operator = LinearOperator((n, n), matvec=product, matmat=product, dtype=np.float64)
    start = np.random.default_rng(0).normal(size=n)
    try:
        values, vectors = eigsh(operator, count, which="LA", v0=start)
    except ArpackNoConvergence as failure:
        values, vectors = failure.eigenvalues, failure.eigenvectors
        warn_user(
            f"SPEC: {len(values)} of {count} eigenvectors of the graph converged; φ3 is summed "
            "over those only."
        )
    order = np.argsort(values)
    return values[order], vectors[:, order]
