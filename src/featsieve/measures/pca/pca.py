"""The PCA form of the conversion: how much of X is rebuilt from XW (P-L1INF section 2).

½‖X − XWB'‖² with B'B = I is least at B = UV' from the singular vectors of X'XW, so that B is
solved for and W alone remains: ½‖X‖² − ‖X'XW‖_* + ½ tr W'X'XW.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.measures.base import BaseMeasure
from featsieve.measures.covariance import Covariance, fit_covariance
from featsieve.protocols import Engine
from featsieve.runtime.products import watched_call
from featsieve.runtime.progress import SILENT, Monitor

_SMALLEST = 1e-10  # of the largest eigenvalue


class PCA(BaseMeasure):
    """The share of the variance of all columns that a transformation of some rebuilds.

    1 − ‖X − XWB'‖²/‖X‖², X centred, for the best B with B'B = I. It does not look at the target.

    Examples
    --------
    >>> from featsieve import FeatureSelector
    >>> from featsieve.measures import PCA
    >>> from featsieve.searches import L1LInf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = FeatureSelector(PCA(), L1LInf(), n_features_to_select=2)
    >>> selector.fit(X, y).indices_.tolist()
    [2, 1]
    """

    scale_ddof: ClassVar[int | None] = 0

    def bind(self, engine: Engine) -> BoundPCA:
        return BoundPCA(engine)


class BoundPCA:
    """PCA with its data: the covariance is all it keeps of the rows."""

    def __init__(self, engine: Engine) -> None:
        self.n_units = engine.schema.n_units
        self.monitor = engine.monitor
        joint = fit_covariance(engine)
        self.unit_of_row: IntArray = joint.unit_of_row
        self._covariance: Covariance = joint.columns
        self._total = joint.columns.trace() or 1.0
        self.useful_components = 2

    def value_and_gradient_matrix(self, W: FloatArray) -> tuple[float, FloatArray]:
        """(2‖CW‖_* − tr W'CW)/tr C; with UV' from the singular vectors of CW the gradient is
        2C(UV' − W)/tr C."""
        W = np.asarray(W, dtype=np.float64)
        image = self._covariance.times(W)
        U, sizes, Vt = np.linalg.svd(image, full_matrices=False)
        value = 2.0 * float(sizes.sum()) - float(np.vdot(W, image))
        gradient = 2.0 * (self._covariance.times(U @ Vt) - image)
        return value / self._total, gradient / self._total

    def start(self, n_components: int) -> FloatArray:
        """The leading principal directions."""
        directions = self._covariance.leading(n_components, self.monitor)
        missing = max(n_components - directions.shape[1], 0)
        noise = np.random.default_rng(0).standard_normal((len(directions), missing))
        return np.concatenate([directions, 1e-3 * noise], axis=1)

    def transform_value(
        self, pool: Sequence[int], n_components: int
    ) -> Callable[[Sequence[int]], float]:
        rows = [np.flatnonzero(self.unit_of_row == unit) for unit in pool]
        all_rows = np.concatenate(rows)
        places = np.split(np.arange(len(all_rows)), np.cumsum([len(r) for r in rows])[:-1])
        strip = self._covariance.strip(all_rows)
        inside, squares = strip[:, all_rows], strip @ strip.T

        def value(subset: Sequence[int]) -> float:
            chosen = np.ix_(*[np.concatenate([places[i] for i in subset])] * 2)
            parts = inside[chosen], squares[chosen]
            return rebuilt(*parts, n_components, self.monitor) / self._total

        return value

    def value(self, subset: Sequence[int]) -> float:
        """The share of the variance that the best transformation of these units rebuilds."""
        if not len(subset):
            return 0.0
        n_rows = int(np.isin(self.unit_of_row, subset).sum())
        return self.transform_value(subset, n_rows)(range(len(subset)))

    def scores(self) -> FloatArray:
        return np.array([self.value([unit]) for unit in range(self.n_units)])


def rebuilt(
    inside: FloatArray, squares: FloatArray, n_components: int, monitor: Monitor = SILENT
) -> float:
    """The variance of all columns inside the span of n_components combinations of some.

    The leading eigenvalues of R S R' with R inside R' = I: ``inside`` is C of the chosen columns,
    ``squares`` the product of C's rows of them.
    """
    values, vectors = watched_call(np.linalg.eigh, inside, monitor)
    kept = values > _SMALLEST * max(float(values[-1]), np.finfo(np.float64).tiny)
    root = vectors[:, kept] / np.sqrt(values[kept])
    explained = watched_call(np.linalg.eigvalsh, root.T @ squares @ root, monitor)
    return float(np.maximum(explained[::-1][:n_components], 0.0).sum())
