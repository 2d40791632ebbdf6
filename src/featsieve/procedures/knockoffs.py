"""Any method with a bounded false discovery rate: its columns compete with copies of themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from featsieve.arrays import BoolArray, FloatArray, IntArray
from featsieve.engines.base import NO_COLUMNS, slices
from featsieve.engines.memory import gathered
from featsieve.engines.with_copies import Augment, EngineWithCopies, rows_at_once
from featsieve.errors import percent
from featsieve.inference.knockoffs.copies import CopyModel, Sample, fit_copy_model
from featsieve.inference.knockoffs.covariance import Spread
from featsieve.inference.knockoffs.diagnostic import (
    MISFIT,
    NUMBERS_PER_CELL,
    exchangeability_pvalue,
    unlike_copies,
)
from featsieve.inference.knockoffs.filter import (
    e_bh,
    e_values,
    knockoff_threshold,
    level_per_copy,
    smallest_level,
)
from featsieve.protocols import Engine
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import best_first, tie_width
from featsieve.runtime.progress import Monitor
from featsieve.runtime.seeds import derived_seed
from featsieve.schema import Schema

SHARE_OF_BUDGET = 4  # what columns and copies may take of memory_limit to be held at once
LATER_LEVELS = (0.25, 0.5)  # where e-values look when nothing passes


@dataclass(frozen=True)
class Knockoffs:
    """``run`` scores columns and copies together; ``by_step``: its scores are not on one scale.

    ``of_correlations``: they are correlations, whose squares are compared.
    """

    run: Callable[[Engine], Iterable[SelectionResult]]
    by_step: bool
    of_correlations: bool
    fdr: float
    n_copies: int
    spread: Spread
    seed: int

    def steps(self, engine: Engine, k: int | None) -> Iterator[SelectionResult]:
        """The selection after each set of copies."""
        model = fit_copy_model(engine, self.spread, self.seed)
        fit = _check_of_copies(model, self.seed, engine)
        statistics: list[FloatArray] = []
        for number in range(self.n_copies):
            statistics.append(self.statistics(engine, model, derived_seed(self.seed, number)))
            yield self._answer(np.array(statistics), model, fit, k)
            engine.monitor.tick("drawing copies", number + 1, self.n_copies)

    def statistics(self, engine: Engine, model: CopyModel, seed: int) -> FloatArray:
        """W of each unit against one set of copies."""
        copier = partial(_copies, model, seed)
        of_sample = _sample_copies(model, model.sample, seed, engine.monitor)
        difference = first_differences(engine.schema, model.sample.X, of_sample)
        swapped = hidden_places(difference, seed)
        augmented = with_copies(engine, Augment(copier, swapped[engine.schema.unit_of_column]))
        *_, last = self.run(augmented)
        Z = comparable_scores(last, 2 * engine.schema.n_units, self.by_step)
        left, right = Z[: len(swapped)], Z[len(swapped) :]
        own, copied = np.where(swapped, right, left), np.where(swapped, left, right)
        W = lead(own, copied, squared=self.of_correlations)
        W[difference == 0] = 0.0  # a column cannot be ahead of itself, whatever breaks the tie
        return W

    def _answer(
        self, statistics: FloatArray, model: CopyModel, fit: dict[str, Any], k: int | None
    ) -> SelectionResult:
        W = statistics.mean(axis=0)
        if len(statistics) == 1:
            threshold = knockoff_threshold(W, self.fdr)
            evidence = e_values(W, self.fdr)
            chosen = np.flatnonzero(threshold <= W)
        else:
            threshold = float("nan")
            level = level_per_copy(self.fdr, len(statistics))
            evidence = np.mean([e_values(w, level) for w in statistics], axis=0)
            chosen = e_bh(evidence, self.fdr)
        chosen = chosen[best_first(W[chosen])]
        extras = {
            "statistics": W,
            "threshold": threshold,
            "e_values": evidence,
            "n_copies": len(statistics),
            "structure": model.structure,
            **fit,
            "later": later_level(statistics, self.fdr),
            "count_rule": f"the count that passes at a false discovery rate of {percent(self.fdr)}",
            "count_curve": (*level_curve(W), (len(chosen), self.fdr, 0.0)),
        }
        return SelectionResult(chosen[:k], W, order=best_first(W), extras=extras)


def level_curve(W: FloatArray) -> tuple[tuple[int, float, float], ...]:
    """How many units are at each W > 0 or above, and the share of them that may be false."""
    rising = np.sort(W)
    points = []
    for t in np.unique(W[W > 0]):
        above = len(W) - int(np.searchsorted(rising, t, side="left"))
        below = int(np.searchsorted(rising, -t, side="right"))
        points.append((above, (1 + below) / above, 0.0))
    return tuple(points)


def later_level(statistics: FloatArray, fdr: float) -> tuple[float, IntArray]:
    """The level above ``fdr`` at which something passes, and what passes there.

    Of several copies nothing may pass at ``fdr`` with thresholds that are set for half of it, and
    something even below it with those that are set for a later level; then that level is named.
    """
    level = level_after(fdr)
    if level is None:
        return 1.0, np.empty(0, dtype=np.intp)
    evidence = np.mean([e_values(w, level) for w in statistics], axis=0)
    least, units = smallest_level(evidence)
    return (least, units) if least > fdr else (level, e_bh(evidence, level))


def level_after(fdr: float) -> float | None:
    """Where e-values look; only one level, which must not depend on what they say."""
    return next((level for level in LATER_LEVELS if level > fdr), None)


def comparable_scores(result: SelectionResult, n_units: int, by_step: bool) -> FloatArray:
    """A number per unit on one scale: its score, else how many units come behind it."""
    if not by_step and np.isfinite(result.scores).all():
        return np.asarray(result.scores, dtype=np.float64)
    order = result.indices if result.order is None else result.order
    behind = np.zeros(n_units)
    behind[order] = n_units - 1 - np.arange(len(order))
    return behind


def lead(own: FloatArray, copied: FloatArray, *, squared: bool) -> FloatArray:
    """By how much columns are ahead of their copies; 0 where that is rounding.

    Squared correlations are shares of a variance, as the scores of most other measures are: the
    same distance counts for more far above zero, where chance alone seldom gets. On AR(0.5),
    500 × 500, this finds 0.62 of the true columns, and the correlations themselves 0.29.
    """
    largest = float(np.abs([own, copied]).max(initial=0.0))
    is_rounding = np.abs(own - copied) <= tie_width(largest)
    W = np.square(own) - np.square(copied) if squared else own - copied
    return np.where(is_rounding, 0.0, W)


def first_differences(schema: Schema, X: FloatArray, copies: FloatArray) -> FloatArray:
    """Of each unit from its copy, in the first row that has one; 0 where the two are equal."""
    first = np.zeros(schema.n_units)
    for unit in range(schema.n_units):
        columns = list(schema.columns_of(unit))
        difference = (X[:, columns] - copies[:, columns]).ravel()
        apart = np.flatnonzero(difference)
        if len(apart):
            first[unit] = difference[apart[0]]
    return first


def hidden_places(first_difference: FloatArray, seed: int) -> BoolArray:
    """Which units change places with their copies, so that a method cannot know which is which.

    It depends on the two of a pair alone, not on which of them is the copy (the smaller in the
    first row where they differ, then a coin): exchanging a column and its copy leaves the table
    that the method sees as it is, to the last bit, and W changes its sign exactly.
    """
    coins = np.random.default_rng(seed).random(len(first_difference)) < 0.5
    return coins ^ (first_difference > 0)


def with_copies(engine: Engine, augment: Augment) -> Engine:
    """In memory where the budget has room to spare, else block by block."""
    augmented = EngineWithCopies(engine, augment)
    if not engine.is_local or not _fits(augmented):
        return augmented
    return gathered(augmented, native_target=engine.native(NO_COLUMNS)[1])


def _fits(engine: EngineWithCopies) -> bool:
    numbers = engine.n_samples * engine.n_features
    return 8 * numbers * SHARE_OF_BUDGET <= engine.memory_limit


def _copies(model: CopyModel, seed: int, X: FloatArray, rows: IntArray) -> FloatArray:
    return model.copies(X, rows, seed)


def _sample_copies(model: CopyModel, sample: Sample, seed: int, monitor: Monitor) -> FloatArray:
    """The clock is looked at between some of the rows."""
    parts = []
    for some in slices(len(sample.X), rows_at_once(sample.X.shape[1])):
        monitor.check()
        parts.append(model.copies(sample.X[some], sample.rows[some], seed))
    return np.concatenate(parts)


def _check_of_copies(model: CopyModel, seed: int, engine: Engine) -> dict[str, Any]:
    """Of the numeric columns: categories are drawn from a model that was fitted to them."""
    active, monitor = model.gaussian.active, engine.monitor
    sample = _affordable(model.sample, len(active), engine.memory_limit, seed)
    drawn = _sample_copies(model, sample, derived_seed(seed, 0), monitor)
    originals: Any = model.scaling.apply(sample.X)[:, active]
    copies: Any = model.scaling.apply(drawn)[:, active]
    pvalue = exchangeability_pvalue(originals, copies, np.random.default_rng(seed), monitor)
    apart = active[unlike_copies(originals, copies)] if pvalue < MISFIT else active[:0]
    return {
        "exchangeability_pvalue": pvalue,
        "exchangeability_rows": len(sample.rows),
        "unlike_copies": apart,
    }


def _affordable(sample: Sample, n_columns: int, memory_limit: int, seed: int) -> Sample:
    """The check of a wide table looks at fewer rows; what is selected does not depend on it."""
    n_rows = len(sample.rows)
    most = max(1, memory_limit // (8 * NUMBERS_PER_CELL * max(1, n_columns)))
    if n_rows <= most:
        return sample
    some = np.sort(np.random.default_rng((seed, n_rows)).choice(n_rows, most, replace=False))
    return Sample(sample.rows[some], sample.X[some])
