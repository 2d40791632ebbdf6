"""The ratio trace of linear discriminant analysis for a transformation W (P-L1INF section 4).

P-L1INF prints J = W'S_B W / W'S_W W, a matrix, and eq. (7), which is not its gradient. Here it is
the ratio trace tr[(W'S_W W + I)⁻¹ W'S_B W]. Without the added I it does not change when W is
multiplied by any invertible matrix, so that a penalty on W would have no minimiser: I sets the
unit in which W is measured. S_W gets a ridge as well, because it is singular where columns
outnumber rows, and the criterion would grow without bound along its null space.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.input.parameters import Check, check_parameters, check_real, unless
from featsieve.input.targets import require_classes
from featsieve.measures.base import BaseMeasure
from featsieve.measures.covariance import Scatter, fit_covariance
from featsieve.protocols import Engine
from featsieve.runtime.products import watched_call
from featsieve.runtime.progress import SILENT, Monitor

_MOST_CG_STEPS = 200
_LEAST_RIDGE = 1e-3
_SMALLEST = 1e-10  # of the largest eigenvalue


@dataclass(kw_only=True, eq=False, repr=False)
class LDA(BaseMeasure):
    """How well linear discriminants of the columns separate the classes.

    Scatter matrices are divided by the number of rows, and class means weighted by class sizes:
    S_B = Σ_c (n_c/n)(μ_c − x̄)(μ_c − x̄)', S_W = the covariance less S_B. For several outputs, the
    mean over them.

    Parameters
    ----------
    ridge : float or "auto", default="auto"
        Added to the diagonal of S_W, in units of the columns' mean variance. ``"auto"``: d/n − ½
        for d columns and n rows, at least 0.001: where columns are about as many as rows or more,
        S_W is all but unknown, and the variances of the columns stand in for it.

    Examples
    --------
    >>> from featsieve import FeatureSelector
    >>> from featsieve.measures import LDA
    >>> from featsieve.searches import L1LInf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = FeatureSelector(LDA(), L1LInf(), n_features_to_select=2)
    >>> selector.fit(X, y).indices_.tolist()
    [2, 0]
    """

    scale_ddof: ClassVar[int | None] = 0
    checks: ClassVar[Mapping[str, Check]] = {
        "ridge": unless("auto", partial(check_real, low=0, also="'auto'"))
    }

    ridge: float | str = "auto"

    def bind(self, engine: Engine) -> BoundLDA:
        require_classes(engine.target, "LDA", "l1/l∞ rows", "l1 weights", "embedded: l1 path")
        check_parameters(self, self.checks)
        return BoundLDA(engine, None if self.ridge == "auto" else float(self.ridge))


@dataclass(frozen=True)
class RatioTrace:
    """tr[(W'S_W W + εI)⁻¹ W'S_B W] with S_W = ``within`` + ridge·I and S_B = DD'."""

    within: Scatter
    between: FloatArray  # D: one column per class
    ridge: float
    least_ridge: float  # that keeps the start finite
    unit: float = 1.0  # ε

    def value_and_gradient(self, W: FloatArray) -> tuple[float, FloatArray]:
        """The gradient is 2[S_B W A⁻¹ − S_W W A⁻¹ B A⁻¹], A and B the two q × q matrices."""
        projected = self.between.T @ W
        within = self.within.times(W) + self.ridge * W
        A = W.T @ within + self.unit * np.eye(W.shape[1])
        solved = _solve_small(_symmetric(A), projected.T)  # A⁻¹ W'D
        value = float(np.vdot(projected.T, solved))
        gradient = 2.0 * (self.between @ solved.T - within @ (solved @ solved.T))
        return value, gradient

    def of_rows(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """S_W and D of some rows."""
        within = self.within.block(rows)
        within[np.diag_indices_from(within)] += self.ridge
        return within, self.between[rows]

    def discriminants(self, n_components: int, monitor: Monitor = SILENT) -> FloatArray:
        """The leading directions of S_W⁻¹ S_B, each with W'S_W W = 1 or so."""
        ridge = max(self.ridge, self.least_ridge)
        solved = _solve(self.within, self.between, ridge, monitor)
        values, vectors = np.linalg.eigh(_symmetric(self.between.T @ solved))
        n_useful = int(np.count_nonzero(values > _SMALLEST * max(float(values[-1]), 0.0)))
        leading = slice(None, min(n_components, n_useful))
        scale = np.sqrt(values[::-1][leading])
        return np.asarray(solved @ vectors[:, ::-1][:, leading]) / scale


def best_ratio_trace(
    within: FloatArray, between: FloatArray, n_components: int, monitor: Monitor = SILENT
) -> float:
    """The largest tr[(W'S_W W)⁻¹ W'DD'W] over W: the sum of the leading eigenvalues."""

    def solve(A: FloatArray) -> FloatArray:
        return np.linalg.lstsq(A, between[: len(A)])[0]

    solved = watched_call(solve, within, monitor)
    values = np.linalg.eigvalsh(_symmetric(between.T @ solved))
    return float(np.maximum(values[::-1][:n_components], 0.0).sum())


def _symmetric(A: FloatArray) -> FloatArray:
    return (A + A.T) / 2


def _solve_small(A: FloatArray, B: FloatArray) -> FloatArray:
    """A⁻¹B; for W so large that rounding loses the added I, and with dependent columns, A⁺B."""
    try:
        return np.linalg.solve(A, B)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(A, B)[0]


def _solve(within: Scatter, between: FloatArray, ridge: float, monitor: Monitor) -> FloatArray:
    """S_W⁻¹ D by conjugate gradients: S_W itself may be too large to write down."""
    X = np.zeros_like(between)
    R = between.copy()
    P, square = R.copy(), np.einsum("ij,ij->j", R, R)
    target = 1e-20 * square
    for _ in range(_MOST_CG_STEPS):
        if (square <= target).all():
            break
        monitor.check()
        Q = within.times(P) + ridge * P
        curvature = np.einsum("ij,ij->j", P, Q)
        step = np.divide(square, curvature, out=np.zeros_like(square), where=curvature > 0)
        X, R = X + step * P, R - step * Q
        previous, square = square, np.einsum("ij,ij->j", R, R)
        ratio = np.divide(square, previous, out=np.zeros_like(square), where=previous > 0)
        P = R + ratio * P
    return X


class BoundLDA:
    """LDA with its data: the covariance and the class means are all it keeps of the rows."""

    def __init__(self, engine: Engine, ridge: float | None) -> None:
        self.n_units = engine.schema.n_units
        self.monitor = engine.monitor
        joint = fit_covariance(engine, len(engine.target.class_counts))
        self.unit_of_row: IntArray = joint.unit_of_row
        d = joint.columns.n_rows
        if ridge is None:
            ridge = max(_LEAST_RIDGE, d / engine.n_samples - 0.5)
        mean_variance = joint.columns.trace() / max(d, 1)
        self._outputs: list[RatioTrace] = []
        first = 0
        for n_classes in engine.target.class_counts:
            part = slice(first, first + n_classes)
            root = np.sqrt(np.maximum(joint.shares[part], np.finfo(np.float64).tiny))
            between = joint.with_target[:, part] / root
            within = joint.columns.less(between)
            least = max(1e-8 * mean_variance, 1e-300)
            self._outputs.append(RatioTrace(within, between, ridge * mean_variance, least))
            first += n_classes
        self.useful_components = int(sum(n - 1 for n in engine.target.class_counts))

    def value_and_gradient_matrix(self, W: FloatArray) -> tuple[float, FloatArray]:
        W = np.asarray(W, dtype=np.float64)
        parts = [output.value_and_gradient(W) for output in self._outputs]
        n = len(parts)
        return sum(v for v, _ in parts) / n, np.sum([g for _, g in parts], axis=0) / n

    def start(self, n_components: int) -> FloatArray:
        """Discriminants of all columns, output by output, filled up with small random numbers."""
        directions = [output.discriminants(n_components, self.monitor) for output in self._outputs]
        W = np.concatenate(directions, axis=1)[:, :n_components]
        missing = n_components - W.shape[1]
        small = 1e-3 * (float(np.abs(W).max(initial=0.0)) or 1.0)
        noise = np.random.default_rng(0).standard_normal((len(W), max(missing, 0)))
        return np.concatenate([W, small * noise], axis=1)

    def transform_value(
        self, pool: Sequence[int], n_components: int
    ) -> Callable[[Sequence[int]], float]:
        rows = [np.flatnonzero(self.unit_of_row == unit) for unit in pool]
        all_rows = np.concatenate(rows)
        places = np.split(np.arange(len(all_rows)), np.cumsum([len(r) for r in rows])[:-1])
        parts = [output.of_rows(all_rows) for output in self._outputs]

        def value(subset: Sequence[int]) -> float:
            chosen = np.concatenate([places[i] for i in subset])
            values = [
                best_ratio_trace(
                    within[np.ix_(chosen, chosen)], between[chosen], n_components, self.monitor
                )
                for within, between in parts
            ]
            return float(np.mean(values))

        return value

    def value(self, subset: Sequence[int]) -> float:
        """The ratio trace of the best transformation of these units."""
        if not len(subset):
            return 0.0
        return self.transform_value(subset, self.useful_components)(range(len(subset)))

    def scores(self) -> FloatArray:
        return np.array([self.value([unit]) for unit in range(self.n_units)])
