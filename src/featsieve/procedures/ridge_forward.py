"""Forward selection by the leave-one-out error of ridge regression with a Gaussian kernel.

The kernel of a set of d columns is exp(−Σ (x_j − x'_j)² / 2d), so the distances of a set are those
of its members added up, and the error of every left-out row follows from one inverse: for
G = (K + λI)⁻¹ the residual of row i is (G y)_i / G_ii.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import cho_solve, cholesky, lapack

from featsieve.arrays import FloatArray, IntArray
from featsieve.procedures.judging.judges import squared_distances
from featsieve.procedures.judging.rows import RowSample, draw_rows, encoded_units, judged_targets
from featsieve.procedures.tree_importance import forest_importance
from featsieve.protocols import Engine, Nesting
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import best_first, best_index
from featsieve.runtime.pool import single_threaded_blas
from featsieve.runtime.progress import Monitor

SCREENING_TREES = 50
FULL_ROUNDS = 2


@dataclass(frozen=True)
class RidgeForward:
    """A procedure; see :class:`featsieve.RidgeForward` for the parameters."""

    penalty: float = 0.03
    max_samples: int = 250
    max_pool: int = 40
    beam: int = 12
    seed: int = 0

    nesting: ClassVar[Nesting] = "growing"

    def steps(self, engine: Engine, k: int | None) -> Iterator[SelectionResult]:
        """One more unit each time; the units outside the pool follow by their screening score."""
        assert k is not None  # only a procedure that counts by itself gets None
        sample = draw_rows(engine, self.seed, self.max_samples)
        pool, screen = self._pool(engine, k)
        errors = LeaveOneOut(sample, pool, self.penalty)
        scores = np.full(engine.schema.n_units, np.nan)
        rest = [unit for unit in best_first(screen).tolist() if unit not in set(pool.tolist())]
        for positions in self._forward(errors, min(k, len(pool)), scores, engine.monitor):
            chosen = [*pool[positions].tolist(), *(rest if len(positions) == len(pool) else [])]
            yield SelectionResult(
                np.array(chosen[:k], dtype=np.intp),
                scores.copy(),
                objective=float(scores[chosen[len(positions) - 1]]),
                path=tuple(chosen[:k]),
                approximation=self._words(sample, pool, engine),
            )

    def _pool(self, engine: Engine, k: int) -> tuple[IntArray, FloatArray]:
        """The units worth a trial: all of them, or half by trees and half by correlations."""
        n_units, most = engine.schema.n_units, max(self.max_pool, k + 10)
        if n_units <= most:
            return np.arange(n_units), np.zeros(n_units)
        sample = draw_rows(engine, self.seed)
        screen = forest_importance(sample, SCREENING_TREES, 2, self.seed)
        alone = marginal_gain(sample)
        chosen = list(best_first(screen)[: most // 2].tolist())
        for unit in best_first(alone).tolist():
            if len(chosen) == most:
                break
            if unit not in chosen:
                chosen.append(unit)
        return np.sort(np.array(chosen, dtype=np.intp)), screen

    def _forward(
        self, errors: LeaveOneOut, k: int, scores: FloatArray, monitor: Monitor
    ) -> Iterator[list[int]]:
        """All units in the first rounds, then those that were best in the round before."""
        selected: list[int] = []
        last = np.full(len(errors.pool), np.inf)
        while len(selected) < k:
            outside = [p for p in range(len(errors.pool)) if p not in selected]
            if len(selected) >= FULL_ROUNDS:
                outside = [outside[p] for p in best_first(last[outside])[: self.beam]]
            last[outside] = -errors.of_additions(selected, outside, monitor)
            scores[errors.pool[outside]] = last[outside]
            selected.append(outside[best_index(last[outside])])
            yield selected
            monitor.tick("adding", len(selected), k)

    def _words(self, sample: RowSample, pool: IntArray, engine: Engine) -> str | None:
        words = []
        if not sample.is_everything:
            words.append(f"errors of {sample.n_rows} rows")
        if len(pool) < engine.schema.n_units:
            words.append(f"among {len(pool)} units that trees and correlations put first")
        return ", ".join(words) or None


class LeaveOneOut:
    """Mean squared leave-one-out errors of sets of units of a pool."""

    def __init__(self, sample: RowSample, pool: IntArray, penalty: float) -> None:
        table, owner = encoded_units(sample)
        self.pool = pool
        self._distances = [squared_distances(*[table[:, owner == unit]] * 2) for unit in pool]
        targets = np.concatenate([part for _, part in judged_targets(sample)], axis=1)
        self._targets = targets - targets.mean(axis=0)
        self._weight = sample.weight
        self._widths = np.array([max(np.count_nonzero(owner == unit), 1) for unit in pool])
        n = len(table)
        self._penalty = max(penalty, n**2 * np.finfo(np.float64).eps)  # less is lost in rounding

    def of_additions(
        self, selected: Sequence[int], candidates: Sequence[int], monitor: Monitor
    ) -> FloatArray:
        """The error of ``selected`` with each candidate added."""
        base = sum((self._distances[p] for p in selected), np.zeros_like(self._distances[0]))
        width = int(self._widths[list(selected)].sum())
        errors = []
        with single_threaded_blas():  # small matrices: threads would wait for each other
            for candidate in candidates:
                total = width + self._widths[candidate]
                errors.append(self._error((base + self._distances[candidate]) / total))
                monitor.check()
        return np.array(errors)

    def _error(self, distances: FloatArray) -> float:
        K = np.exp(-0.5 * distances)
        K[np.diag_indices_from(K)] += self._penalty
        factor = cholesky(K, lower=True, overwrite_a=True, check_finite=False)
        solved = cho_solve((factor, True), self._targets, check_finite=False)
        inverse = lapack.dpotri(factor, lower=1, overwrite_c=1)[0]
        residuals = solved / np.diag(inverse)[:, None]
        return float(np.average((residuals**2).sum(axis=1), weights=self._weight))


def marginal_gain(sample: RowSample) -> FloatArray:
    """The largest squared correlation of each unit's columns with the target, linear or squared."""
    table, owner = encoded_units(sample)
    targets = np.concatenate([part for _, part in judged_targets(sample)], axis=1)
    best = np.zeros(table.shape[1])
    for form in (table, table**2):
        best = np.maximum(best, _squared_correlations(form, targets))
    gains = np.zeros(sample.schema.n_units)
    np.maximum.at(gains, owner, best)
    return gains


def _squared_correlations(table: FloatArray, targets: FloatArray) -> FloatArray:
    table, targets = table - table.mean(axis=0), targets - targets.mean(axis=0)
    scale = np.sqrt(np.outer((table**2).sum(axis=0), (targets**2).sum(axis=0)))
    cross = np.divide(table.T @ targets, scale, out=np.zeros_like(scale), where=scale > 0)
    return np.asarray((cross**2).sum(axis=1))
