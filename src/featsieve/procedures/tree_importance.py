"""Columns by their importance in randomised trees (Breiman 2001; Geurts et al. 2006)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.procedures.judging.forest import Grower, mean_importance, tree_seeds
from featsieve.procedures.judging.rows import RowSample, draw_rows, encoded_units, judged_targets
from featsieve.protocols import Engine, Nesting
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import best_first
from featsieve.runtime.progress import Monitor

MOST_ROWS = 5000
TREES_PER_STEP = 20
SECONDS_PER_PIECE = 0.3  # under a time limit


@dataclass(frozen=True)
class TreeRanking:
    """A procedure; see :class:`featsieve.TreeImportance` for the parameters."""

    n_trees: int = 100
    min_rows: int = 2
    seed: int = 0

    nesting: ClassVar[Nesting] = "growing"

    def steps(self, engine: Engine, k: int | None) -> Iterator[SelectionResult]:
        """The ranking by the trees grown so far."""
        assert k is not None  # only a procedure that counts by itself gets None
        sample = draw_rows(engine, self.seed, MOST_ROWS)
        approximation = None
        if not sample.is_everything:
            approximation = f"trees of a sample of {sample.n_rows} rows"
        for done, scores in grow(sample, self.n_trees, self.min_rows, self.seed):
            order = best_first(scores)
            yield SelectionResult(order[:k], scores, order=order, approximation=approximation)
            engine.monitor.tick("growing trees", done, self.n_trees)


def forest_importance(sample: RowSample, n_trees: int, min_rows: int, seed: int) -> FloatArray:
    """The share of each unit in the fall of the squared error (Gini, for classes) of the trees."""
    importance: FloatArray = np.zeros(sample.schema.n_units)
    for _, importance in grow(sample, n_trees, min_rows, seed, step=n_trees):  # noqa: B007
        sample.source.monitor.check()
    return importance


def importance_by_kind(
    sample: RowSample, units: IntArray, n_trees: int, seed: int
) -> Iterator[FloatArray]:
    """The shares of some units, in extremely randomised trees and in a forest of shallow trees.

    The forest learns from bootstrap samples and finds the best cuts, so noise in single rows has
    another effect on it; five levels keep what few rows say out of it (Kursa and Rudnicki 2010).
    """
    table, owner = encoded_units(sample)
    kept = np.isin(owner, units)
    table, owner = table[:, kept], np.searchsorted(units, owner[kept])
    share = _share_of_columns(table.shape[1])
    extra = Grower(table, _targets(sample), sample.weight, 2, share)
    for grower in (extra, replace(extra, min_rows=1, max_depth=5, draws=True)):
        trees = list(grower.trees(tree_seeds(seed % 2**32, n_trees), sample.source.n_jobs))
        yield np.asarray(np.bincount(owner, mean_importance(trees), len(units)), dtype=float)


def _targets(sample: RowSample) -> FloatArray:
    return np.concatenate([part for _, part in judged_targets(sample)], axis=1)


def _share_of_columns(n_columns: int) -> float:
    """That a cut chooses from."""
    return float(min(1.0, max(1.0 / 3.0, 2.0 / np.sqrt(n_columns))))


def grow(
    sample: RowSample, n_trees: int, min_rows: int, seed: int, step: int = TREES_PER_STEP
) -> Iterator[tuple[int, FloatArray]]:
    """How many trees there are, and what they say so far; the trees do not depend on the clock.

    After each ``step`` a new forest begins.
    """
    table, owner = encoded_units(sample)
    share = _share_of_columns(table.shape[1])
    grower = Grower(table, _targets(sample), sample.weight, min_rows, share)
    monitor, total = sample.source.monitor, np.zeros(sample.schema.n_units)
    if monitor.has_limit:
        _expect_a_tree(grower, monitor)
    for start in range(0, n_trees, step):
        seeds = tree_seeds((seed + start) % 2**32, min(step, n_trees - start))
        trees: list[Any] = []
        for size in _pieces(len(seeds), monitor):
            trees += grower.trees(seeds[len(trees) : size], sample.source.n_jobs)
            shares = np.bincount(owner, mean_importance(trees), sample.schema.n_units)
            yield start + size, (total + size * shares) / (start + size)
        total += size * shares


def _pieces(n_trees: int, monitor: Monitor) -> Iterator[int]:
    """Numbers of trees after each piece: under a limit the first is one tree, and timed."""
    if not monitor.has_limit:
        yield n_trees
        return
    size, started = 1, monitor.elapsed
    yield size
    at_once = max(1, int(SECONDS_PER_PIECE / max(monitor.elapsed - started, 1e-9)))
    while size < n_trees:
        size = min(n_trees, size + at_once)
        yield size


def _expect_a_tree(grower: Grower, monitor: Monitor) -> None:
    """A tree has some log n levels, each about as costly as the first, and cannot be stopped."""
    started = monitor.elapsed
    list(replace(grower, max_depth=1).trees([0]))
    monitor.expect(0.5 * np.log2(len(grower.table)) * (monitor.elapsed - started))
