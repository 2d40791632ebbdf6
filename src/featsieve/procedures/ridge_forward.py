"""Forward selection by the leave-one-out error of ridge regression with a Gaussian kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.procedures.judging.leave_one_out import LeaveOneOut
from featsieve.procedures.judging.rows import RowSample, draw_rows, encoded_units, judged_targets
from featsieve.procedures.tree_importance import forest_importance
from featsieve.protocols import Engine, Nesting
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import best_first, best_index
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
            losses = errors.each([[position] for position in outside], selected)
            for position, of_rows in zip(outside, losses, strict=True):
                last[position] = -errors.mean(of_rows)
                monitor.check()
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
