"""Any method on many halves of the rows: what is selected again and again is not an accident."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.arrays import BoolArray, FloatArray, IntArray
from featsieve.engines.row_subset import RowSubset
from featsieve.errors import InputError
from featsieve.inference.stability import (
    Assumption,
    false_selections,
    least_threshold,
    wilson_interval,
)
from featsieve.io.atomic import atomic_write
from featsieve.protocols import Engine
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import best_first
from featsieve.runtime.pool import ordered_map
from featsieve.runtime.progress import Monitor
from featsieve.runtime.seeds import derived_seed
from featsieve.schema import Block
from featsieve.statistics.moments import ColumnMoments, column_moments

SHARE_OF_BUDGET = 4  # what all halves under way may take of memory_limit to be held in memory
FINGERPRINT_ROWS = 64


@dataclass(frozen=True)
class Halves:
    """Random halves of the rows; the rows of a member (a group, a block of rows) stay together."""

    n_rows: int
    member_of_row: IntArray | None = None

    def pair(self, seed: int) -> tuple[IntArray, IntArray]:
        """Two halves without a common row; with an odd number one member is left out."""
        members = np.arange(self.n_rows) if self.member_of_row is None else self.member_of_row
        n_members = int(members.max()) + 1
        order = np.random.default_rng(seed).permutation(n_members)
        half = n_members // 2
        first, second = order[:half], order[half : 2 * half]
        return np.flatnonzero(np.isin(members, first)), np.flatnonzero(np.isin(members, second))


@dataclass(frozen=True)
class Counts:
    """How often each unit was selected in pairs of halves, and how many units in all."""

    n_pairs: int
    selected: IntArray
    sizes: int

    def add(self, halves: Iterable[IntArray]) -> Counts:
        selected, sizes = self.selected.copy(), self.sizes
        for units in halves:
            selected[units] += 1
            sizes += len(units)
        return Counts(self.n_pairs + 1, selected, sizes)


@dataclass(frozen=True)
class StabilitySelection:
    """Complementary pairs around ``run``, which selects units of an engine.

    ``threshold`` is the share of halves, or None for the least at which at most ``pfer`` false
    units are expected. Units that never vary do not count as candidates: ``n_candidates``.
    """

    run: Callable[[Engine], Iterable[SelectionResult]]
    n_pairs: int
    threshold: float | None
    pfer: float
    assumption: Assumption
    seed: int
    halves: Halves
    n_candidates: int
    checkpoint: Checkpoint

    def steps(self, engine: Engine, k: int | None) -> Iterator[SelectionResult]:
        """The selection after each pair of halves."""
        engine.take(np.arange(1))  # refuses missing cells once, before threads do
        mark = self.checkpoint.mark(engine)
        nothing = Counts(0, np.zeros(engine.schema.n_units, dtype=np.intp), 0)
        counts = self.checkpoint.read(mark, self.n_pairs) or nothing
        if counts.n_pairs:
            yield self._answer(counts, k)
        numbers = range(counts.n_pairs, self.n_pairs)
        for pair in ordered_map(lambda n: self._pair(engine, n), numbers, engine.n_jobs):
            counts = counts.add(pair)
            self.checkpoint.write(mark, counts)
            yield self._answer(counts, k)
            engine.monitor.tick("selecting from halves", counts.n_pairs, self.n_pairs)

    def _pair(self, engine: Engine, number: int) -> list[IntArray]:
        halves = self.halves.pair(derived_seed(self.seed, number))
        return [self._selected(engine, rows) for rows in halves]

    def _selected(self, engine: Engine, rows: IntArray) -> IntArray:
        """Nothing of what is the same in all rows of the half: ties go to the first columns.

        So nothing at all where the target is.
        """
        y = engine.targets(rows)
        if y.shape[1] and (y == y[:1]).all():
            return np.empty(0, dtype=np.intp)
        # Halves run in threads, so they look at the clock but do not report.
        half = half_of(engine, rows, engine.monitor.silent())
        *_, last = self.run(half)
        return last.indices[varying_units(half)[last.indices]]

    def _answer(self, counts: Counts, k: int | None) -> SelectionResult:
        n_halves, n_units = 2 * counts.n_pairs, self.n_candidates
        frequencies = counts.selected / n_halves
        q = counts.sizes / n_halves
        threshold = self._threshold(q, n_units, counts.n_pairs)
        chosen = np.flatnonzero(frequencies >= threshold - 1e-12)
        chosen = chosen[best_first(frequencies[chosen])]
        extras = {
            "frequencies": frequencies,
            "intervals": wilson_interval(counts.selected.astype(np.float64), n_halves),
            "threshold": threshold,
            "bound": false_selections(q, n_units, threshold, counts.n_pairs, self.assumption),
            "mean_selected": q,
            "n_pairs": counts.n_pairs,
            "count_rule": "the count of units that enough halves select",
            "count_curve": self._curve(frequencies, q, counts.n_pairs, len(chosen)),
        }
        return SelectionResult(
            chosen[:k], frequencies, order=best_first(frequencies), extras=extras
        )

    def _curve(
        self, frequencies: FloatArray, q: float, n_pairs: int, n_chosen: int
    ) -> tuple[tuple[int, float, float], ...]:
        """How many units each threshold keeps, and how many of them are expected to be false."""
        thresholds = np.unique(frequencies[frequencies > 0.5])[::-1]
        points = {n_chosen: 0.0} | {
            int((frequencies >= t).sum()): false_selections(
                q, self.n_candidates, float(t), n_pairs, self.assumption
            )
            for t in thresholds
        }
        return tuple((count, false, 0.0) for count, false in sorted(points.items()))

    def _threshold(self, q: float, n_units: int, n_pairs: int) -> float:
        """Infinity where no share of the halves is enough."""
        if self.threshold is not None:
            return self.threshold
        least = least_threshold(q, n_units, self.pfer, n_pairs, self.assumption)
        return float("inf") if least is None else least


def varying_units(engine: Engine) -> BoolArray:
    """Which units have a column that is not the same in all rows."""
    constant = engine.reduce_rows(_moments_of_block).is_constant()
    varying = np.zeros(engine.schema.n_units, dtype=np.bool_)
    varying[engine.schema.unit_of_column[~constant]] = True
    return varying


def _moments_of_block(block: Block) -> ColumnMoments:
    with np.errstate(over="ignore", invalid="ignore"):  # such columns vary
        return column_moments(block.X)


def half_of(engine: Engine, rows: IntArray, monitor: Monitor) -> Engine:
    """In memory where the budget has room for all halves under way, else block by block."""
    from featsieve.procedures.judging.rows import taken_rows

    subset = RowSubset(engine, rows, monitor=monitor)
    numbers = len(rows) * engine.n_features * engine.n_jobs
    if engine.is_local and 8 * numbers * SHARE_OF_BUDGET <= engine.memory_limit:
        return taken_rows(subset, np.arange(len(rows))).engine()
    return subset


@dataclass(frozen=True)
class Checkpoint:
    """A file that says what was counted so far, so that a run that was cut off goes on."""

    path: Path | None
    settings: str

    def read(self, mark: str, most_pairs: int) -> Counts | None:
        if self.path is None or not self.path.exists():
            return None
        saved = self._parsed()
        if saved.get("mark") != mark:
            raise InputError(
                f"{self.path.name} belongs to other data or settings; give another checkpoint "
                "file, or remove it."
            )
        if saved["n_pairs"] > most_pairs:
            raise InputError(
                f"{self.path.name} holds {saved['n_pairs']} pairs of halves, more than "
                f"n_pairs={most_pairs}; raise n_pairs, or give another checkpoint file."
            )
        return Counts(saved["n_pairs"], np.array(saved["selected"], dtype=np.intp), saved["sizes"])

    def write(self, mark: str, counts: Counts) -> None:
        if self.path is None:
            return
        content = {
            "mark": mark,
            "n_pairs": counts.n_pairs,
            "selected": counts.selected.tolist(),
            "sizes": counts.sizes,
        }
        with atomic_write(self.path) as stream:
            stream.write(json.dumps(content).encode())

    def _parsed(self) -> dict[str, Any]:
        assert self.path is not None
        try:
            saved = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            saved = None
        if not isinstance(saved, dict) or "n_pairs" not in saved:
            raise InputError(
                f"{self.path.name} is not a checkpoint; give another file, or remove it."
            )
        return saved

    def mark(self, engine: Engine) -> str:
        """Settings, names, and some rows with their targets: enough to tell another table."""
        if self.path is None:
            return ""
        digest = hashlib.sha256(self.settings.encode())
        digest.update(repr((engine.n_samples, engine.schema.names)).encode())
        rows = np.unique(np.linspace(0, engine.n_samples - 1, FINGERPRINT_ROWS).astype(np.intp))
        for part in engine.take(rows):
            digest.update(np.ascontiguousarray(part, dtype=np.float64).tobytes())
        return digest.hexdigest()


def members_of(groups: Any, block_size: int | None, n_rows: int) -> IntArray | None:
    """What stays together when rows are halved: groups, blocks of consecutive rows, or neither."""
    if groups is not None:
        return np.asarray(np.unique(groups, return_inverse=True)[1], dtype=np.intp)
    if block_size is not None:
        return np.arange(n_rows) // min(block_size, n_rows)
    return None
