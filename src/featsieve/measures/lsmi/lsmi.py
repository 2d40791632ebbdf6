"""Squared-loss mutual information by least squares (Jitkrittum et al. 2013)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.compiled.ridge import ridge_solutions
from featsieve.input.parameters import Check, unless
from featsieve.measures.lsmi.basis import (
    BasisSums,
    Centers,
    GradientSums,
    GridSums,
    GroupFit,
    GroupSums,
    Rows,
    TargetBases,
    basis_sums,
    best_on_grid,
    gaussian,
    gradient_sums,
    weighted_distances,
)
from featsieve.measures.lsmi.sampled import SampledBasis, SampledMeasure, check_widths
from featsieve.protocols import Engine
from featsieve.runtime.pool import ordered_map, single_threaded_blas
from featsieve.runtime.progress import Monitor

# Measured at 50 and 100 centres: an eigendecomposition costs as much as about 20 Cholesky factors.
_MAX_CHOLESKY = 20
_ALL_FOLDS: IntArray = np.array([-1])


@dataclass(frozen=True)
class Fit:
    """α = (H + λI)⁻¹h group by group, and LSMI = h'α/2 − 1/2 (P-LSMI eq. 9)."""

    value: float
    groups: tuple[GroupFit, ...]

    @property
    def alpha(self) -> FloatArray:
        return np.concatenate([group.alpha for group in self.groups])


def fit(sums: BasisSums, lam: float) -> Fit:
    """From all folds together."""
    n, lambdas = float(sums.counts.sum()), np.array([lam])
    value, groups = -0.5, []
    for part in sums.groups:
        alpha = _ridge(part, sums.counts, lambdas, _ALL_FOLDS)[0][0, 0]
        value += float(part.cross.sum(axis=0) @ alpha) / (2 * n)
        groups.append(GroupFit(alpha, part.gram_y.sum(axis=0) / n**2))
    return Fit(value, tuple(groups))


def cv_table(by_sigma: Sequence[BasisSums], lambdas: FloatArray) -> FloatArray:
    """Mean held-out error over the folds, one row per σ and one column per λ."""
    return np.stack([cv_errors(sums, lambdas).mean(axis=0) for sums in by_sigma])


def cv_errors(sums: BasisSums, lambdas: FloatArray) -> FloatArray:
    """α'Hα/2 − h'α on the held-out rows (P-LSMI, after eq. 9), axes fold × λ.

    By Cholesky factors, or by an eigendecomposition where there are many λ for each.
    """
    errors = _by_cholesky if len(lambdas) <= _MAX_CHOLESKY else _by_eigenvectors
    total = np.zeros((len(sums.counts), len(lambdas)))
    for part in sums.groups:
        total += errors(part, sums.counts, lambdas)
    return total


def _by_cholesky(part: GroupSums, counts: FloatArray, lambdas: FloatArray) -> FloatArray:
    return _ridge(part, counts, lambdas, np.arange(len(counts)))[1]


def _ridge(
    part: GroupSums, counts: FloatArray, lambdas: FloatArray, left_out: IntArray
) -> tuple[FloatArray, FloatArray]:
    """α of each left-out fold and λ, and its error there."""
    alpha, errors = ridge_solutions(part.gram_x, part.gram_y, part.cross, counts, lambdas, left_out)
    return alpha, errors


def _by_eigenvectors(part: GroupSums, counts: FloatArray, lambdas: FloatArray) -> FloatArray:
    n_in = counts.sum() - counts
    H = _rest(part.gram_x) * _rest(part.gram_y) / n_in[:, None, None] ** 2
    eigenvalues, vectors = np.linalg.eigh(H)
    rotated = np.einsum("fij,fi->fj", vectors, _rest(part.cross) / n_in[:, None])
    shrunk = rotated[:, None] / (np.maximum(eigenvalues, 0)[:, None] + lambdas[:, None])
    alpha = shrunk @ np.swapaxes(vectors, -1, -2)
    H_out = part.gram_x * (part.gram_y / counts[:, None, None] ** 2)
    h_out = (part.cross / counts[:, None])[..., None]
    errors: FloatArray = ((alpha @ H_out) * alpha).sum(axis=-1) / 2 - (alpha @ h_out)[..., 0]
    return errors


def _rest(folds: FloatArray) -> FloatArray:
    rest: FloatArray = folds.sum(axis=0, keepdims=True) - folds
    return rest


_CONTEXT_FACTORS = (0.25, 0.45)
_UNCHANGED = 1e-3
_KEPT_TARGETS = (16, 2)  # a grid of σ and more, or the present one for both passes of a step


@dataclass(kw_only=True, eq=False, repr=False)
class LSMI(SampledMeasure):
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

    Examples
    --------
    >>> from featsieve import FeatureSelector
    >>> from featsieve.measures import LSMI
    >>> from featsieve.searches import Ranking
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = FeatureSelector(LSMI(random_state=0), Ranking(), n_features_to_select=2)
    >>> selector.fit(X, y).indices_.tolist()
    [3, 2]
    """

    checks: ClassVar[Mapping[str, Check]] = {
        **SampledMeasure.checks,
        "lambdas": unless(None, check_widths),
    }

    lambdas: Any = None

    def bind(self, engine: Engine) -> BoundLSMI:
        basis = self._basis(engine, self.lambdas)
        rows = basis.rows
        # The Gram matrices of all groups of centres, were they of equal size.
        workload = rows.n_samples * min(int(self.n_basis), rows.n_samples) ** 2 // rows.n_groups
        return BoundLSMI(basis, rows.n_units, int(workload), engine.monitor)


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


@dataclass(eq=False)
class BoundLSMI:
    """LSMI with its rows, centres and folds; ``tune`` keeps (σ, λ) until the next call."""

    basis: SampledBasis
    n_units: int
    workload: int
    monitor: Monitor
    _choice: Choice | None = field(default=None, init=False)

    def restart(self, seed: int) -> BoundLSMI:
        """The same rows with other centres and folds."""
        return replace(self, basis=self.basis.reseeded(seed))

    @cached_property
    def _pass(self) -> Any:
        return self.basis.rows.passes(self.basis.folds, self.basis.n_folds)

    @cached_property
    def _targets(self) -> TargetBases:
        table, centers = self.basis.rows, self.basis.centers
        affordable = (n for n in _KEPT_TARGETS if table.fits(n * len(centers)))
        return TargetBases(centers, next(affordable, 0) if table.is_resident else 0)

    # --- model selection ------------------------------------------------------------------------

    def sums(
        self, weights: FloatArray, sigmas: Sequence[float] | FloatArray
    ) -> tuple[BasisSums, ...]:
        """One pass: the basis sums of every fold, for each of these widths."""
        w, centers, targets = self.basis.column_weights(weights), self.basis.centers, self._targets

        def at(rows: Rows, distances: FloatArray, sigma: float) -> BasisSums:
            return basis_sums(rows, centers, gaussian(distances, sigma), targets(rows, sigma))

        def of_rows(rows: Rows) -> GridSums:
            distances = weighted_distances(rows, centers, w)
            return GridSums(tuple(at(rows, distances, float(sigma)) for sigma in sigmas))

        total: GridSums = self._pass(of_rows)
        return total.by_sigma

    def tune(self, weights: FloatArray) -> None:
        """Choose (σ, λ) at these weights.

        The first time the full grid is tried; later σ is walked from the last choice to the
        nearest minimum, and weights as good as unchanged keep the choice.
        """
        last = self._choice
        if last is None:
            self._choice = self._choose(weights)
        elif last.change(weights) > _UNCHANGED:
            self._choice = self._choose(weights, near=last.sigma)

    def _choose(self, weights: FloatArray, near: float | None = None) -> Choice:
        sigmas = self.basis.candidate_sigmas(weights)
        if len(sigmas) == len(self.basis.grid.lambdas) == 1:  # nothing to choose
            only = float(sigmas[0]), float(self.basis.grid.lambdas[0])
            return Choice(*only, np.array(weights), fit(self.sums(weights, sigmas)[0], only[1]))

        def evaluate(some: range) -> tuple[Sequence[BasisSums], FloatArray]:
            sums = self.sums(weights, sigmas[some.start : some.stop])
            return sums, cv_table(sums, self.basis.grid.lambdas)

        start = None if near is None else int(np.argmin(np.abs(np.log(sigmas / near))))
        best = best_on_grid(evaluate, len(sigmas), start)
        lam = float(self.basis.grid.lambdas[best.lam])
        return Choice(float(sigmas[best.sigma]), lam, np.array(weights), fit(best.sums, lam))

    @property
    def chosen(self) -> tuple[float, float] | None:
        """The tuned (σ, λ), None before the first tuning."""
        return None if self._choice is None else (self._choice.sigma, self._choice.lam)

    # --- capabilities ---------------------------------------------------------------------------

    def scores(self) -> FloatArray:
        return self.values_with([], range(self.n_units))

    def values_with(self, subset: Sequence[int], candidates: Sequence[int]) -> FloatArray:
        sets = ([*subset, candidate] for candidate in candidates)
        return self._values(sets, len(candidates))

    def values_without(self, subset: Sequence[int], candidates: Sequence[int]) -> FloatArray:
        sets = ([u for u in subset if u != candidate] for candidate in candidates)
        return self._values(sets, len(candidates))

    def _values(self, subsets: Iterable[Sequence[int]], n_sets: int) -> FloatArray:
        """Side by side; a table that streams has its threads in the engine already."""
        n_threads = self.basis.rows.n_jobs if self.basis.rows.is_resident else 1
        _ = self._pass, self._targets  # drawn once, before the threads ask for them
        values = []
        with single_threaded_blas():
            for value in ordered_map(self.value, subsets, n_threads):
                values.append(value)
                self.monitor.tick("measuring sets", len(values), n_sets)
        return np.array(values)

    def value(self, subset: Sequence[int]) -> float:
        return self.choose(subset).fit.value

    def choose(self, subset: Sequence[int]) -> Choice:
        """Cross-validation for a set of units, whatever was tuned before."""
        weights = np.zeros(self.n_units)
        weights[list(subset)] = 1.0
        return self._choose(weights)

    def cross_validated(self, subset: Sequence[int]) -> FloatArray:
        """SMI of a set on each held-out fold: −J − 1/2, at the chosen (σ, λ)."""
        choice = self.choose(subset)
        (sums,) = self.sums(choice.weights, [choice.sigma])
        return -cv_errors(sums, np.array([choice.lam]))[:, 0] - 0.5

    def value_and_gradient(self, weights: FloatArray) -> tuple[float, FloatArray]:
        """LSMI and its gradient for the tuned (σ, λ); the first call tunes."""
        if self._choice is None:
            self._choice = self._choose(weights)
        return self.value_and_gradient_at(weights, self._choice.sigma, self._choice.lam)

    def context_scores(self) -> FloatArray:
        """The gradient at equal weights, for a width at which interactions show.

        Cross-validation prefers wide kernels when noise prevails, and they see single columns
        only; a quarter to a half of the median distance sees pairs. Which is best depends on the
        table, so every restart draws its own.
        """
        equal = np.ones(self.n_units)
        sigma = self.basis.rng(3).uniform(*_CONTEXT_FACTORS) * self.basis.median(equal) or 1.0
        return self.value_and_gradient_at(equal, sigma, float(self.basis.grid.lambdas.min()))[1]

    def value_and_gradient_at(
        self, weights: FloatArray, sigma: float, lam: float
    ) -> tuple[float, FloatArray]:
        table, centers = self.basis.rows, self.basis.centers
        w, n = self.basis.column_weights(weights), table.n_samples
        keep = table.is_resident and table.fits(len(centers))  # else rows are new at every pass
        phi, targets = _Phi(centers, w, sigma, keep=keep), self._targets

        def sums_of(rows: Rows) -> BasisSums:
            undivided = rows.as_one_fold
            return basis_sums(undivided, centers, phi(rows), targets(undivided, sigma))

        fitted = fit(self._pass(sums_of), lam)

        def slopes_of(rows: Rows) -> GradientSums:
            target = targets(rows.as_one_fold, sigma)
            return gradient_sums(rows, centers, phi(rows), target, w, fitted.groups, n)

        sums: GradientSums = self._pass(slopes_of)
        # ∂I/∂w_k = −(w_k/σ²) Σ C (x_k − c_k)², summed over the columns of a unit.
        gradient = np.zeros(self.n_units)
        np.add.at(gradient, table.unit_of_column, -w / sigma**2 * sums.totals)
        return fitted.value, gradient


class _Phi:
    """φ of rows and centres; ``keep`` spares the second pass over the same rows the work."""

    def __init__(self, centers: Centers, weights: FloatArray, sigma: float, *, keep: bool) -> None:
        self._centers, self._weights, self._sigma = centers, weights, sigma
        self._kept: dict[int, FloatArray] | None = {} if keep else None

    def __call__(self, rows: Rows) -> FloatArray:
        if self._kept is not None and id(rows) in self._kept:
            return self._kept[id(rows)]
        phi = gaussian(weighted_distances(rows, self._centers, self._weights), self._sigma)
        if self._kept is not None:
            self._kept[id(rows)] = phi
        return phi
