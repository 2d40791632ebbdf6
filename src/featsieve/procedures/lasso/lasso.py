"""Lasso and least angle regression for k units (P-LECTURE, algorithms 1 and 2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.errors import InputError
from featsieve.procedures.count_rule import count_notes
from featsieve.procedures.lasso.folds import FoldedTable, fold_table, is_wide, resolve_folding
from featsieve.procedures.lasso.lars import LarsLimits
from featsieve.procedures.lasso.paths import (
    EXACT,
    ROUGH,
    Chooser,
    CountRule,
    GroupPath,
    LarsPath,
    Path,
    alpha_grid,
    largest_alpha,
)
from featsieve.procedures.lasso.tables import (
    Basis,
    LarsMethod,
    Table,
    find_basis,
    mean_squared_error,
)
from featsieve.protocols import Engine
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import best_first
from featsieve.runtime.user_warnings import warn_user

COUNT_RULE = "the count at the penalty with the smallest squared error in cross-validation"
STEPS_PER_UNIT = 4  # room for columns that enter and leave again


@dataclass(frozen=True)
class Lasso:
    """A procedure; see :class:`featsieve.LassoSelector` for the parameters."""

    method: LarsMethod = "lasso"
    alpha: float | None = None
    radius: float | None = None
    count_rule: CountRule = "exact"
    standardize: bool = True
    cv: Any = 5
    seed: int = 0
    max_iter: int = 500

    def steps(self, engine: Engine, k: int | None) -> Iterator[SelectionResult]:
        """The selection as soon as the path is there, then again with the error along the path."""
        factor = engine.target.factor
        for result in self._in_unit(factor)._steps(engine, k):
            answer = result if factor == 1.0 else _out_of_unit(result, factor)
            yield answer
        if not len(answer.indices):
            warn_user(
                f"LassoSelector: at alpha={answer.extras['alpha']:g} every coefficient is 0, so no "
                f"feature is selected; give an alpha below {answer.extras['alphas'][0]:g}, or a "
                "larger radius."
            )

    def _in_unit(self, factor: float) -> Lasso:
        """The same for a target that was multiplied by a factor."""
        alpha = None if self.alpha is None else self.alpha * factor
        radius = None if self.radius is None else self.radius * factor
        return replace(self, alpha=alpha, radius=radius)

    def _steps(self, engine: Engine, k: int | None) -> Iterator[SelectionResult]:
        folding = resolve_folding(self.cv, self.seed, engine.n_samples, engine.kept)
        raw = fold_table(engine, folding, self._stop_count(k))
        basis = find_basis(raw.every, engine.schema, self.standardize, engine.monitor)
        fit = LassoFit(self, engine, raw.through(basis.matrix), basis, self._stop_count(k))
        if folding.n_folds and not self.counts_by_error(k):
            yield fit.result(k)
        fit = fit.with_errors()
        yield fit.result(k)

    def counts_by_error(self, k: int | None) -> bool:
        return k is None and self.alpha is None and self.radius is None

    def _stop_count(self, k: int | None) -> int | None:
        """A path that only has to give k columns ends when it has them."""
        decided = self.alpha is not None or self.radius is not None
        return None if decided or self.count_rule == "nearest" else k


@dataclass(frozen=True)
class LassoFit:
    """One run: the moments, the basis, the path and what is read from it."""

    settings: Lasso
    engine: Engine
    folded: FoldedTable
    basis: Basis
    stop_count: int | None = None
    errors: FloatArray | None = None

    def with_errors(self) -> LassoFit:
        """The same with the cross-validated error along the path."""
        fit = replace(self, errors=self._fold_errors())
        fit.__dict__["path"] = self.path  # computed once
        return fit

    @cached_property
    def path(self) -> Path:
        return self._path_of(self.folded.every, None)

    @property
    def is_single(self) -> bool:
        return self.basis.is_plain and len(self.folded.every.output_mean) == 1

    @property
    def is_wide(self) -> bool:
        return is_wide(self.engine, self.basis.matrix.shape[0])

    def _path_of(self, table: Table, alphas: FloatArray | None) -> Path:
        if self.is_single:
            alpha_min = 0.0 if self.settings.alpha is None else self.settings.alpha
            if alphas is not None:  # a fold: no further than the path of all rows
                alpha_min = max(alpha_min, float(alphas[-1]))
            max_iter = max(self.settings.max_iter, STEPS_PER_UNIT * self.engine.schema.n_units)
            limits = LarsLimits(alpha_min, max_iter, self.stop_count if alphas is None else None)
            return LarsPath.of(table, self.settings.method, limits, self.engine.monitor)
        if self.settings.method == "lar":
            raise InputError(
                "method='lar' takes one numeric target or two classes, and single numeric columns; "
                "use method='lasso' for several outputs or classes, categories and groups."
            )
        tolerance = EXACT if alphas is None else ROUGH
        grid = alphas
        if grid is None:
            grid = alpha_grid(largest_alpha(table, self.basis), wide=self.is_wide)
        path = GroupPath(table, self.basis, grid, self.engine.monitor, tolerance)
        return path.until(self.stop_count) if self.stop_count and alphas is None else path

    def _fold_errors(self) -> FloatArray:
        """One row per penalty of the path and one column per fold."""
        alphas = self.path.alphas
        columns = []
        for fold in range(self.folded.n_folds):
            trained, tested = self.folded.split(fold)
            path = self._path_of(trained, alphas)
            columns.append([_error(path.at(float(a)), trained, tested) for a in alphas])
            self.engine.monitor.tick("folds", len(columns), self.folded.n_folds)
        return np.array(columns).T if columns else np.empty((len(alphas), 0))

    # --- what is read from the path -------------------------------------------------------------

    @cached_property
    def _chooser(self) -> Chooser:
        return Chooser(self.path, self.basis, self.is_wide)

    def _alpha(self, k: int | None) -> float:
        settings = self.settings
        if settings.alpha is not None:
            return settings.alpha
        if settings.radius is not None:
            return self._chooser.alpha_for_radius(settings.radius)
        if k is None:
            return self._best_alpha()
        return self._chooser.alpha_for_count(k, settings.count_rule)

    def _best_alpha(self) -> float:
        """The smallest error over the folds, among the penalties that leave a coefficient."""
        assert self.errors is not None
        errors = np.nanmean(self.errors, axis=1)
        empty = ~self._chooser.path_sizes.any(axis=1)
        return float(self.path.alphas[np.argmin(np.where(empty, np.inf, errors))])

    def result(self, k: int | None) -> SelectionResult:
        alpha = self._alpha(k)
        coef = self.path.at(alpha)
        sizes = self._chooser.sizes(coef)
        scores = self._by_unit(sizes)
        ranked = best_first(scores)
        chosen = ranked[scores[ranked] > 0][:k]
        active = np.flatnonzero(coef.any(axis=1))
        residual = self.folded.every.residual_variance(coef[active], active).sum()
        return SelectionResult(
            chosen,
            scores,
            objective=float(residual / 2 + alpha * self._chooser.penalty(coef)),
            order=self._order(chosen),
            trace=tuple(self.path.alphas.tolist()),
            extras=self._extras(alpha, coef) | self._count_notes(k),
        )

    def _by_unit(self, values: FloatArray) -> FloatArray:
        """Units without spread get 0."""
        out = np.zeros(self.engine.schema.n_units)
        out[self.basis.units] = values
        return out

    def _order(self, chosen: IntArray) -> IntArray:
        """The chosen, then the others as they enter the path."""
        by_entry = best_first(self._by_unit(self._chooser.first_alpha()))
        is_left = np.ones(len(by_entry), dtype=bool)
        is_left[chosen] = False
        return np.concatenate([chosen, by_entry[is_left[by_entry]]])

    def _extras(self, alpha: float, coef: FloatArray) -> dict[str, object]:
        coefs = np.moveaxis(self.path.coefs, 0, -1)  # coordinates × outputs × penalties
        path = self.basis.original(coefs.reshape(len(coefs), -1)).reshape(-1, *coefs.shape[1:])
        path = np.moveaxis(path, 1, 0)  # outputs × columns × penalties, as scikit-learn
        extras = {
            "alpha": alpha,
            "alphas": self.path.alphas,
            "n_iter": len(self.path.alphas),
            "coef": self.basis.original(coef).T,
            "coef_path": path[0] if len(path) == 1 else path,
        }
        return extras if self.errors is None else {**extras, "mse_path": self.errors}

    def _count_notes(self, k: int | None) -> dict[str, object]:
        """One point per penalty, where the error decides the count."""
        if not self.settings.counts_by_error(k) or self.errors is None:
            return {}
        counts = np.count_nonzero(self._chooser.path_sizes, axis=1)
        known = np.maximum(np.isfinite(self.errors).sum(axis=1), 1)
        mean = np.nanmean(self.errors, axis=1)
        spread = np.nanstd(self.errors, axis=1, ddof=1) / np.sqrt(known)
        points = zip(counts.tolist(), mean.tolist(), spread.tolist(), strict=True)
        return count_notes(COUNT_RULE, tuple(points))


def _out_of_unit(result: SelectionResult, factor: float) -> SelectionResult:
    """Penalties and coefficients in the unit of the target as it was given."""
    extras = dict(result.extras)
    with np.errstate(over="ignore", under="ignore"):
        for name in ("alpha", "alphas", "coef", "coef_path"):
            extras[name] = extras[name] / factor
        if "mse_path" in extras:
            extras["mse_path"] = extras["mse_path"] / factor / factor
        if "count_curve" in extras:
            extras["count_curve"] = tuple(
                (count, mean / factor / factor, error / factor / factor)
                for count, mean, error in extras["count_curve"]
            )
    return replace(
        result,
        scores=result.scores / factor,
        objective=None if result.objective is None else result.objective / factor / factor,
        trace=tuple(alpha / factor for alpha in result.trace),
        extras=extras,
    )


def _error(coef: FloatArray, trained: Table, tested: Table) -> float:
    active = np.flatnonzero(coef.any(axis=1))
    return mean_squared_error(coef[active], active, trained=trained, tested=tested)
