"""Rows for judging: a sample in memory, its folds, and what a model sees of some columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.engines.base import Context, weights_of
from featsieve.engines.memory import MemoryEngine
from featsieve.procedures.judging.judges import Judge
from featsieve.protocols import Engine
from featsieve.runtime.progress import Monitor
from featsieve.schema import Dependence, Schema, Target, power_of_two
from featsieve.statistics.moments import target_columns

MOST_ROWS = 1000
MOST_CELLS = 1 << 24
FEWEST_SAMPLED = 100
FEWEST_ROWS = 6  # below, a fold says nothing
MOST_STATES = 20
_FARTHEST = 1e9  # deviations: farther is not told apart, and trees compute in single precision


@dataclass(frozen=True)
class Fold:
    """Rows to learn from and rows to be judged on."""

    train: IntArray
    test: IntArray


@dataclass(frozen=True)
class RowSample:
    """Some rows of a table in memory; categorical columns are codes."""

    rows: IntArray
    X: FloatArray
    y: Array
    weight: FloatArray | None
    schema: Schema
    source: Engine

    @property
    def n_rows(self) -> int:
        return len(self.X)

    @property
    def is_everything(self) -> bool:
        return self.n_rows == self.source.n_samples

    def engine(self, rows: IntArray | None = None, monitor: Monitor | None = None) -> MemoryEngine:
        """Some of the rows as an engine of their own, with the classes that occur in them."""
        chosen = slice(None) if rows is None else rows
        target, y = _present_classes(self.source.target, self.y[chosen])
        context = Context(
            self.schema,
            target,
            monitor or self.source.monitor,
            self.source.memory_limit,
            self.source.n_jobs,
        )
        weight = None if self.weight is None else self.weight[chosen]
        labels = y[:, 0] if y.shape[1] == 1 else y  # as models of scikit-learn take them
        return MemoryEngine(self.X[chosen], y, context, weight=weight, native_target=labels)

    def weight_of(self, rows: IntArray) -> FloatArray | None:
        return None if self.weight is None else self.weight[rows]

    def is_usable(self, fold: Fold) -> bool:
        """Whether the target varies in the rows to learn from, and there are rows to judge on."""
        y = self.y[fold.train]
        return bool(len(fold.test) and len(y) > 1 and (y != y[0]).any(axis=0).all())


def draw_rows(engine: Engine, seed: int, most: int = MOST_ROWS) -> RowSample:
    """Rows by seed and index alone, so that every engine draws the same."""
    size = min(most, max(FEWEST_SAMPLED, MOST_CELLS // max(engine.n_features, 1)))
    if engine.n_samples <= size:
        rows = np.arange(engine.n_samples)
    else:
        rng = np.random.default_rng((seed, engine.n_samples))
        rows = np.sort(rng.choice(engine.n_samples, size, replace=False))
    return taken_rows(engine, rows)


def taken_rows(engine: Engine, rows: IntArray) -> RowSample:
    """These rows of any engine, in memory."""
    X, y = engine.take(rows)
    X = np.asarray(X, dtype=np.float64)
    weight = weights_of(engine)
    weight = None if weight is None else weight[rows]
    return RowSample(rows, X, y, weight, engine.schema.coded(), engine)


def _present_classes(target: Target, y: Array) -> tuple[Target, Array]:
    """A class that does not occur in these rows would be an empty one to the method."""
    if not target.is_classification:
        return target, y
    coded = [np.unique(column, return_inverse=True) for column in y.T]
    codes = np.stack([codes for _, codes in coded], axis=1).astype(np.intp)
    return Target(target.task, target.n_outputs, tuple(states for states, _ in coded)), codes


def split_rows(
    sample: RowSample, n_folds: int, seed: int, dependence: Dependence | None = None
) -> list[Fold]:
    """Folds with the same share of each class, or of each part of the range of a number.

    ``dependence`` is that of the rows of the table; folds in time order learn from earlier rows.
    """
    kept = (dependence or Dependence()).of_rows(sample.rows)
    splits = _in_order(sample, n_folds) if kept.in_order else _dealt(sample, n_folds, seed, kept)
    return [fold for fold in splits if sample.is_usable(fold)]


def _in_order(sample: RowSample, n_folds: int) -> Iterator[Fold]:
    """The part of the rows that comes next is judged by all before it."""
    bounds = np.linspace(0, sample.n_rows, n_folds + 2).astype(np.intp)
    for start, stop in pairwise(bounds[1:].tolist()):
        yield Fold(np.arange(start), np.arange(start, stop))


def _dealt(sample: RowSample, n_folds: int, seed: int, kept: Dependence) -> Iterator[Fold]:
    """Members (rows, or groups of rows) in the order of their targets, dealt out at random."""
    rows = np.arange(sample.n_rows)
    member = rows if kept.groups is None else np.unique(kept.groups, return_inverse=True)[1]
    sizes = np.bincount(member)
    strata = np.bincount(member, _strata(sample)) / sizes
    rng = np.random.default_rng((seed, n_folds, len(sizes)))
    shuffled = rng.permutation(len(sizes))
    by_target = shuffled[np.argsort(strata[shuffled], kind="stable")]
    number = np.empty(len(sizes), dtype=np.intp)
    for start in range(0, len(sizes), n_folds):
        part = by_target[start : start + n_folds]
        number[part] = rng.permutation(n_folds)[: len(part)]
    for fold in range(n_folds):
        is_test = number[member] == fold
        yield Fold(rows[~is_test], rows[is_test])


def _strata(sample: RowSample) -> FloatArray:
    """One number per row along which folds are balanced."""
    if sample.source.target.is_classification:
        return np.unique(sample.y, axis=0, return_inverse=True)[1].ravel().astype(np.float64)
    return np.asarray(sample.y[:, 0], dtype=np.float64)


@dataclass(frozen=True)
class Verdict:
    """What the judges say of one set on one fold, one number per judge.

    ``errors``: the share of wrong classes, or of the target's variance that stays unexplained.
    ``losses``: the squared error of the class indicators over that of their means, a smoother
    witness of the same; for numbers the same as ``errors``.
    """

    errors: FloatArray
    losses: FloatArray


NOTHING: IntArray = np.array([], dtype=np.intp)


@dataclass(frozen=True)
class Court:
    """Judges with the rows they judge on; a set is judged once, whoever found it.

    Without any unit a judge can but guess: the mean, or the most frequent class.
    """

    sample: RowSample
    judges: Sequence[Judge]
    seed: int
    known: dict[tuple[int, frozenset[int]], Verdict] = field(default_factory=dict)

    def verdict(self, fold: Fold, units: IntArray) -> Verdict:
        key = (id(fold), frozenset(units.tolist()))
        if key not in self.known:
            self.known[key] = self._judged(fold, units)
        return self.known[key]

    def _judged(self, fold: Fold, units: IntArray) -> Verdict:
        parts = list(judged_targets(self.sample))
        Y = np.concatenate([part for _, part in parts], axis=1)
        answers = self._answers(fold, units, Y)
        errors, losses = zip(*(self._errors(a, Y, fold, parts) for a in answers), strict=True)
        return Verdict(np.array(errors), np.array(losses))

    def _answers(self, fold: Fold, units: IntArray, Y: FloatArray) -> Iterator[FloatArray]:
        """What each judge predicts for the rows that it did not see."""
        weight = self.sample.weight_of(fold.train)
        if not len(units):
            guess = np.average(Y[fold.train], axis=0, weights=weight)
            yield from [np.tile(guess, (len(fold.test), 1))] * len(self.judges)
            return
        columns = np.sort(self.sample.schema.columns_of_units(units))
        train, test = encoded(self.sample, fold, columns)
        for judge in self.judges:
            yield judge.predict(train, Y[fold.train], test, self.seed, weight)

    def _errors(
        self, predicted: FloatArray, Y: FloatArray, fold: Fold, parts: Sequence[tuple[int, Any]]
    ) -> tuple[float, float]:
        weight = self.sample.weight_of(fold.test)
        squares = np.average((Y[fold.test] - predicted) ** 2, axis=0, weights=weight)
        if not self.sample.source.target.is_classification:
            error = float(squares.mean())
            return error, error
        means = np.average(Y[fold.train], axis=0, weights=self.sample.weight_of(fold.train))
        baseline = np.average((Y[fold.test] - means) ** 2, axis=0, weights=weight)
        wrong, start = [], 0
        for _, part in parts:
            stop = start + part.shape[1]
            guess = predicted[:, start:stop].argmax(axis=1)
            truth = Y[fold.test, start:stop].argmax(axis=1)
            wrong.append(float(np.average(guess != truth, weights=weight)))
            start = stop
        return float(np.mean(wrong)), float(squares.sum() / (baseline.sum() or 1.0))


def judged_targets(sample: RowSample) -> Iterator[tuple[int, FloatArray]]:
    """Of each output: class indicators, or numbers in units of their deviation."""
    for output, part in target_columns(sample.y, sample.source.target):
        if sample.source.target.is_classification:
            yield output, part
        else:
            centred = part - part.mean()
            size = np.abs(centred).max() or 1.0
            yield output, centred / size / (np.sqrt(np.mean((centred / size) ** 2)) or 1.0)


def encoded_units(sample: RowSample) -> tuple[FloatArray, IntArray]:
    """All columns of all rows as a model sees them, and the unit that each belongs to."""
    schema, rows = sample.schema, np.arange(sample.n_rows)
    if schema.is_plain:
        return _encoded_table(sample, rows, np.arange(schema.n_columns)), schema.unit_of_column
    pieces = [
        _encoded_table(sample, rows, np.asarray(schema.columns_of(unit)))
        for unit in range(schema.n_units)
    ]
    owner = np.repeat(np.arange(len(pieces)), [piece.shape[1] for piece in pieces])
    return np.concatenate(pieces, axis=1), owner


def encoded(sample: RowSample, fold: Fold, columns: IntArray) -> tuple[FloatArray, FloatArray]:
    """Standardised numbers, and indicators of the frequent states; a missing cell is a mean."""
    table = _encoded_table(sample, fold.train, columns)
    return table[fold.train], table[fold.test]


def _encoded_table(sample: RowSample, train: IntArray, columns: IntArray) -> FloatArray:
    """All rows, in units of those to learn from."""
    categories = [column for column in columns if column in sample.schema.categories]
    numbers = _encoded_numbers(sample, train, columns)
    if not categories:
        return numbers
    indicators = (_indicators(sample.X[:, column], train) for column in categories)
    return np.concatenate([numbers, *indicators], axis=1)


def _encoded_numbers(sample: RowSample, train: IntArray, columns: IntArray) -> FloatArray:
    """In place, as a wide table is large: next to the cells, those to learn from are one copy."""
    values: FloatArray = sample.X[:, [c for c in columns if c not in sample.schema.categories]]
    values[~np.isfinite(values)] = np.nan
    known = values[train]
    highest = np.fmax.reduce(known, axis=0, initial=0.0)
    largest = np.maximum(highest, -np.fmin.reduce(known, axis=0, initial=0.0))
    unit = power_of_two(np.where(largest > 0, largest, 1.0))
    with np.errstate(over="ignore"):  # a held-out cell may be far beyond those that were seen
        values *= unit
    known *= unit
    mean, spread = _mean_and_spread(known)
    del known
    np.clip(values, -_FARTHEST, _FARTHEST, out=values)
    values -= mean
    values *= np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    np.nan_to_num(values, copy=False)
    return np.clip(values, -_FARTHEST, _FARTHEST, out=values)


def _mean_and_spread(known: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Of the cells that are not missing; uses up ``known``."""
    missing = np.isnan(known)
    counts = np.maximum((~missing).sum(axis=0), 1)
    known[missing] = 0.0
    mean = known.sum(axis=0) / counts
    known -= mean
    known[missing] = 0.0
    np.square(known, out=known)
    return mean, np.sqrt(known.sum(axis=0) / counts)


def _indicators(codes: FloatArray, train: IntArray) -> FloatArray:
    """One column per state, the most frequent ones of the rows to learn from."""
    states, counts = np.unique(codes[train], return_counts=True)
    frequent = states[np.argsort(-counts, kind="stable")][:MOST_STATES]
    return np.asarray((codes[:, None] == frequent).astype(np.float64))
