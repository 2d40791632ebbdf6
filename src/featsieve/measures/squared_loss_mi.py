"""Squared-loss mutual information by least squares: LSMI (P-LSMI, eqs 6–9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from featsieve.errors import InputError
from featsieve.measures.base import BaseMeasure
from featsieve.measures.lsmi_fit import Fit, cv_table, fit
from featsieve.measures.median_distance import median_distance
from featsieve.measures.product_basis import (
    BasisSums,
    Centers,
    GradientSums,
    Rows,
    basis_sums,
    gradient_sums,
    make_centers,
    weighted_distances,
)
from featsieve.measures.sampling import (
    CenterRule,
    random_rows,
    spread_rows,
    stratified_folds,
    stratified_rows,
)
from featsieve.measures.sigma_grid import best_on_grid
from featsieve.measures.table_rows import TableRows
from featsieve.progress import Monitor
from featsieve.protocols import Engine
from featsieve.schema import FloatArray, IntArray

# The grids of P-LSMI's authors for the toy data.
SIGMA_FACTORS = np.array([0.2, 0.5, 1.0, 2.0, 5.0])
LAMBDAS = np.logspace(-4, 1, 5)
_MEDIAN_ROWS = 2000
_SPREAD_ROWS = 2000
_NEARBY = 0.5
_UNCHANGED = 1e-3


class LSMI(BaseMeasure):
    """LSMI of weighted columns with the target; classes by a delta kernel, numbers by a Gaussian.

    Parameters
    ----------
    n_basis
        Number of centres b; all rows if there are fewer.
    sigmas
        Gaussian widths to choose from. None: {1/5, 1/2, 1, 2, 5} × the median distance of the
        currently weighted rows, and the same five factors / √2 as absolute widths.
    lambdas
        Ridge penalties to choose from. None: five from 1e-4 to 10.
    cv
        Folds of the choice; never more than rows.
    centers
        How the rows that carry basis functions are drawn, or their row numbers.
    scale_target
        Bring a numeric target to deviation 1 first, as the authors do.
    random_state
        Seed of centres and folds.
    """

    scale_ddof: ClassVar[int | None] = 1

    def __init__(
        self,
        *,
        n_basis: int = 100,
        sigmas: Any = None,
        lambdas: Any = None,
        cv: int = 5,
        centers: CenterRule | Any = "random",
        scale_target: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_basis = n_basis
        self.sigmas = sigmas
        self.lambdas = lambdas
        self.cv = cv
        self.centers = centers
        self.scale_target = scale_target
        self.random_state = random_state

    def bind(self, engine: Engine) -> BoundLSMI:
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        rows = TableRows(engine, scale_target=self.scale_target)
        return BoundLSMI(rows, self._grid(), engine.schema.n_units, engine.monitor, int(seed))

    def _grid(self) -> Grid:
        sigmas = None if self.sigmas is None else _positive(self.sigmas, "sigmas")
        lambdas = LAMBDAS if self.lambdas is None else _positive(self.lambdas, "lambdas")
        for name in ("n_basis", "cv"):
            _check_count(getattr(self, name), name, 1 if name == "n_basis" else 2)
        return Grid(sigmas, lambdas, self.cv, self.n_basis, self.centers)


@dataclass(frozen=True)
class Grid:
    """The checked parameters of :class:`LSMI`."""

    sigmas: FloatArray | None
    lambdas: FloatArray
    cv: int
    n_basis: int
    centers: CenterRule | Any


@dataclass(frozen=True)
class Choice:
    """What cross-validation chose, and the weights it was chosen for."""

    sigma: float
    lam: float
    weights: FloatArray
    fit: Fit

    def change(self, weights: FloatArray) -> float:
        """How far other weights are from these, relative to their size."""
        size = float(np.abs(weights).sum())
        return float(np.abs(weights - self.weights).sum()) / size if size > 0 else np.inf


class BoundLSMI:
    """LSMI with its rows, centres and folds; ``tune`` keeps (σ, λ) until the next call."""

    def __init__(
        self, rows: TableRows, grid: Grid, n_units: int, monitor: Monitor, seed: int
    ) -> None:
        self.n_units = n_units
        self.monitor = monitor
        self._rows = rows
        self._grid = grid
        self._seed = seed
        self._choice: Choice | None = None

    def restart(self, seed: int) -> BoundLSMI:
        """The same rows with other centres and folds."""
        return BoundLSMI(self._rows, self._grid, self.n_units, self.monitor, seed)

    # --- random choices -------------------------------------------------------------------------

    def _rng(self, purpose: int) -> np.random.Generator:
        return np.random.default_rng([self._seed, purpose])

    @cached_property
    def centers(self) -> Centers:
        X, y = self._rows.take(self._center_rows())
        return make_centers(X, y, self._rows.is_delta)

    def _center_rows(self) -> IntArray:
        rule, n, rng = self._grid.centers, self._rows.n_samples, self._rng(0)
        size = min(self._grid.n_basis, n)
        if not isinstance(rule, str):
            return np.asarray(rule, dtype=np.intp)
        labels = self._rows.labels
        if rule == "stratified" and labels is not None:
            return stratified_rows(labels, size, rng)
        if rule == "kmeans++":
            candidates = random_rows(n, max(_SPREAD_ROWS, size), rng)
            return candidates[spread_rows(self._rows.take(candidates)[0], size, rng)]
        return random_rows(n, size, rng)

    @cached_property
    def n_folds(self) -> int:
        return min(self._grid.cv, self._rows.n_samples)

    @cached_property
    def _pass(self) -> Any:
        folds = stratified_folds(
            self._rows.labels, self._rows.n_samples, self.n_folds, self._rng(1)
        )
        return self._rows.passes(folds, self.n_folds)

    @cached_property
    def _median_sample(self) -> FloatArray:
        """All rows up to 2,000, a seeded subsample beyond."""
        rows = random_rows(self._rows.n_samples, _MEDIAN_ROWS, self._rng(2))
        return self._rows.take(rows)[0]

    # --- model selection ------------------------------------------------------------------------

    def _column_weights(self, weights: FloatArray) -> FloatArray:
        return np.asarray(weights, dtype=np.float64)[self._rows.unit_of_column]

    def candidate_sigmas(self, weights: FloatArray) -> FloatArray:
        """In ascending order; a median of zero adds none."""
        if self._grid.sigmas is not None:
            return self._grid.sigmas
        w = self._column_weights(weights)
        used = np.flatnonzero(w)
        median = median_distance(self._median_sample[:, used] * w[used]) if len(used) else 0.0
        scaled = SIGMA_FACTORS * median
        return np.unique(np.concatenate([scaled[scaled > 0], SIGMA_FACTORS / np.sqrt(2.0)]))

    def sums(self, weights: FloatArray, sigmas: Sequence[float] | FloatArray) -> BasisSums:
        """One pass: the basis sums of every fold for these widths."""
        w, centers = self._column_weights(weights), self.centers

        def of_rows(rows: Rows) -> BasisSums:
            return basis_sums(rows, centers, weighted_distances(rows, centers, w), sigmas)

        total: BasisSums = self._pass(of_rows)
        return total

    def tune(self, weights: FloatArray) -> None:
        """Choose (σ, λ) at these weights.

        Weights as good as unchanged keep the choice; for weights not far from the last ones, σ is
        walked from the last choice to the nearest minimum instead of trying the whole grid.
        """
        last = self._choice
        change = np.inf if last is None else last.change(weights)
        if last is None or change > _NEARBY:
            self._choice = self._choose(weights)
        elif change > _UNCHANGED:
            self._choice = self._choose(weights, near=last.sigma)

    def _choose(self, weights: FloatArray, near: float | None = None) -> Choice:
        sigmas = self.candidate_sigmas(weights)
        if len(sigmas) == len(self._grid.lambdas) == 1:  # nothing to choose
            only = float(sigmas[0]), float(self._grid.lambdas[0])
            return Choice(*only, np.array(weights), fit(self.sums(weights, sigmas), only[1]))

        def evaluate(some: range) -> tuple[BasisSums, FloatArray]:
            sums = self.sums(weights, sigmas[some.start : some.stop])
            return sums, cv_table(sums, self._grid.lambdas)

        start = None if near is None else int(np.argmin(np.abs(np.log(sigmas / near))))
        best = best_on_grid(evaluate, len(sigmas), start)
        lam = float(self._grid.lambdas[best.lam])
        return Choice(float(sigmas[best.sigma]), lam, np.array(weights), fit(best.sums, lam))

    @property
    def chosen(self) -> tuple[float, float] | None:
        """The tuned (σ, λ), None before the first tuning."""
        return None if self._choice is None else (self._choice.sigma, self._choice.lam)

    # --- capabilities ---------------------------------------------------------------------------

    def scores(self) -> FloatArray:
        return np.array([self.value([unit]) for unit in range(self.n_units)])

    def value(self, subset: Sequence[int]) -> float:
        return self.choose(subset).fit.value

    def choose(self, subset: Sequence[int]) -> Choice:
        """Cross-validation for a set of units, whatever was tuned before."""
        weights = np.zeros(self.n_units)
        weights[list(subset)] = 1.0
        return self._choose(weights)

    def value_and_gradient(self, weights: FloatArray) -> tuple[float, FloatArray]:
        """LSMI and its gradient for the tuned (σ, λ); the first call tunes."""
        if self._choice is None:
            self._choice = self._choose(weights)
        return self.value_and_gradient_at(weights, self._choice.sigma, self._choice.lam)

    def value_and_gradient_at(
        self, weights: FloatArray, sigma: float, lam: float
    ) -> tuple[float, FloatArray]:
        w, centers, n = self._column_weights(weights), self.centers, self._rows.n_samples
        fitted = fit(self.sums(weights, [sigma]), lam)
        sums: GradientSums = self._pass(
            lambda rows: gradient_sums(rows, centers, w, sigma, fitted.groups, n)
        )
        # ∂I/∂w_k = −(w_k/σ²) Σ C (x_k − c_k)², summed over the columns of a unit.
        gradient = np.zeros(self.n_units)
        np.add.at(gradient, self._rows.unit_of_column, -w / sigma**2 * sums.totals)
        return fitted.value, gradient


@dataclass(frozen=True)
class LSMIResult:
    """The value, the (σ, λ) it belongs to, and one α a centre, in the order of the centres."""

    value: float
    sigma: float
    lam: float
    alpha: FloatArray


def lsmi(
    X: Any,
    y: Any,
    *,
    centers: Any = None,
    sigma: float | None = None,
    lam: float | None = None,
    cv: int = 5,
    n_basis: int = 100,
    sigmas: Any = None,
    lambdas: Any = None,
    task: str = "auto",
    random_state: Any = None,
) -> LSMIResult:
    """Squared-loss mutual information of all columns of X together with y; nothing is scaled.

    Parameters
    ----------
    centers
        Row numbers of the basis centres; None: ``n_basis`` random rows.
    sigma, lam
        Fixed width and penalty; None: chosen by ``cv`` folds from ``sigmas`` and ``lambdas``
        (None: the grids of :class:`LSMI`).

    >>> x = np.linspace(-1, 1, 60)
    >>> same = lsmi(x, np.sign(x), sigma=0.5, lam=0.01, centers=range(60))
    >>> mixed = lsmi(x, np.tile([-1.0, 1.0], 30), sigma=0.5, lam=0.01, centers=range(60))
    >>> same.value > 0.3 > 0.1 > mixed.value
    True
    """
    from featsieve.validation import Settings, open_engine

    X = np.asarray(X)
    measure = LSMI(
        n_basis=n_basis,
        sigmas=sigmas if sigma is None else [sigma],
        lambdas=lambdas if lam is None else [lam],
        cv=cv,
        centers="random" if centers is None else np.asarray(centers),
        scale_target=False,
        random_state=random_state,
    )
    bound = measure.bind(open_engine(X[:, None] if X.ndim == 1 else X, y, Settings(task=task)))
    choice = bound.choose(range(bound.n_units))
    alpha = np.empty(len(bound.centers))
    alpha[bound.centers.order] = choice.fit.alpha
    return LSMIResult(choice.fit.value, choice.sigma, choice.lam, alpha)


def _positive(values: Any, name: str) -> FloatArray:
    array = np.unique(np.atleast_1d(np.asarray(values, dtype=np.float64)))
    if array.ndim != 1 or array.size == 0 or not (np.isfinite(array) & (array > 0)).all():
        raise InputError(f"{name}={values!r} is not possible; give positive numbers.")
    return array


def _check_count(value: Any, name: str, least: int) -> None:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
        raise InputError(f"{name}={value!r} is not possible; give a whole number from {least}.")
