"""Centres, folds and rows of LSMI as functions of the seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Literal

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.engines.base import median_sample_size
from featsieve.errors import InputError
from featsieve.input.parameters import (
    Check,
    brief,
    check_array,
    check_flag,
    check_integer,
    check_numbers,
    check_parameters,
    check_random_state,
    unless,
)
from featsieve.measures.base import BaseMeasure
from featsieve.measures.lsmi.basis import (
    Centers,
    Rows,
    make_centers,
    median_distance,
    sorted_by_fold,
)
from featsieve.protocols import Engine, S
from featsieve.runtime.seeds import random_source
from featsieve.schema import Block, Target
from featsieve.statistics.moments import Dummies, column_moments

CenterRule = Literal["random", "stratified", "kmeans++"]


def stratified_folds(
    labels: FloatArray | None, n_samples: int, n_folds: int, rng: np.random.Generator
) -> IntArray:
    """A fold for each row; within a class (all rows if there are none) as even as can be."""
    shuffled = rng.permutation(n_samples)
    if labels is not None:
        shuffled = shuffled[np.argsort(labels[shuffled], kind="stable")]
    folds = np.empty(n_samples, dtype=np.intp)
    folds[shuffled] = np.arange(n_samples) % n_folds
    return folds


def random_rows(n_samples: int, size: int, rng: np.random.Generator) -> IntArray:
    """Distinct rows in ascending order; all of them if there are not more."""
    if size >= n_samples:
        return np.arange(n_samples, dtype=np.intp)
    return np.sort(rng.choice(n_samples, size, replace=False)).astype(np.intp)


def stratified_rows(labels: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    """Rows with class shares as in the table: every (n/size)-th of a shuffle sorted by class."""
    n_samples = len(labels)
    shuffled = rng.permutation(n_samples)
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    picks = (np.arange(size) + 0.5) * (n_samples / size)
    return np.sort(by_class[picks.astype(np.intp)])


def spread_rows(X: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    """Rows far from each other: k-means++ seeding, P(row) ∝ squared distance to the nearest."""
    chosen = [int(rng.integers(len(X)))]
    nearest = ((X - X[chosen[0]]) ** 2).sum(axis=1)
    while len(chosen) < size:
        total = nearest.sum()
        free = np.setdiff1d(np.arange(len(X)), chosen)
        row = rng.choice(len(X), p=nearest / total) if total > 0 else rng.choice(free)
        chosen.append(int(row))
        nearest = np.minimum(nearest, ((X - X[row]) ** 2).sum(axis=1))
    return np.sort(np.asarray(chosen, dtype=np.intp))


_RESIDENT_BYTES = 2**25  # a table this small is read once, not at every pass
_CHUNK_ROWS = 2048
_CHUNK_NUMBERS = 1 << 21  # fewer rows, where a row has very many indicators
_CHUNKS_PER_LOOK = 16
_ORIGIN_ROWS = 100


@dataclass(frozen=True)
class RowReader:
    """How a block becomes numbers; ``factor`` scales a numeric target, 1 leaves it alone.

    ``dummies`` is None where every column is numeric. Origins are taken off first: only distances
    count, and those of numbers far from zero would lose their digits in ‖a‖² + ‖b‖² − 2a'b.
    """

    target: Target
    dummies: Dummies | None
    factor: FloatArray
    origin: FloatArray | float = 0.0
    target_origin: FloatArray | float = 0.0

    def columns(self, X: FloatArray) -> FloatArray:
        """Numeric columns as they are; two states of a category are at distance 1."""
        values = np.asarray(X, dtype=np.float64)
        if self.dummies is None:
            return values - self.origin
        values = self.dummies.expand(Block(0, values, np.empty((len(X), 0))))
        values *= np.where(self.dummies.is_indicator, np.sqrt(0.5), 1.0)
        values -= self.origin
        return values

    def targets(self, y: Array) -> FloatArray:
        """Numbers, scaled; or one column with the joint class of all outputs."""
        if not self.target.is_classification:
            return (np.asarray(y, dtype=np.float64) - self.target_origin) * self.factor
        shape = self.target.class_counts
        codes = np.asarray(y, dtype=np.intp)
        return np.ravel_multi_index(tuple(codes.T), shape).astype(np.float64)[:, None]


class TableRows:
    """Passes over the rows: kept in memory when the table is small, else through the engine."""

    def __init__(self, engine: Engine, *, scale_target: bool) -> None:
        self._engine = engine
        self.n_samples = engine.n_samples
        self.n_units = engine.schema.n_units
        self.n_jobs = engine.n_jobs
        self.is_delta = engine.target.is_classification
        self.n_groups = engine.target.n_joint_classes if self.is_delta else 1
        self._scale_target = scale_target
        self._dummies = Dummies(engine.schema) if engine.schema.categories else None
        owner = slice(None) if self._dummies is None else self._dummies.owner
        self.unit_of_column = engine.schema.unit_of_column[owner]  # of each expanded column
        # How many rows a median distance is taken from.
        self.sample_size = median_sample_size(engine.n_samples, len(self.unit_of_column))
        self._first_rows, _ = engine.take(np.arange(min(_ORIGIN_ROWS, engine.n_samples)))
        self._raw_targets = engine.targets()

    @cached_property
    def _reader(self) -> RowReader:
        plain = RowReader(self._engine.target, self._dummies, self._factor())
        return replace(
            plain,
            origin=np.median(plain.columns(self._first_rows), axis=0),
            target_origin=0.0 if self.is_delta else np.median(self._raw_targets, axis=0),
        )

    def _factor(self) -> FloatArray:
        """1 over the deviation (ddof 1) of each output."""
        n_outputs = self._engine.target.n_outputs
        if self.is_delta or not self._scale_target:
            return np.ones(n_outputs)
        with np.errstate(over="ignore", invalid="ignore"):
            scale = column_moments(np.asarray(self._raw_targets, dtype=np.float64)).scale(1)
        if not np.isfinite(scale).all():
            raise InputError(
                "y holds numbers so large that their squares overflow; divide it by a constant "
                "first."
            )
        return np.divide(1.0, scale, out=np.ones(n_outputs), where=scale > 0)

    @cached_property
    def labels(self) -> FloatArray | None:
        """The class of each row of the table; None for numbers."""
        return self._reader.targets(self._raw_targets)[:, 0] if self.is_delta else None

    @cached_property
    def is_resident(self) -> bool:
        return self.fits(len(self.unit_of_column))

    def fits(self, width: int) -> bool:
        """Whether a matrix of all rows and so many columns may stay in memory."""
        n_bytes = 8 * self.n_samples * width
        return n_bytes <= min(_RESIDENT_BYTES, self._engine.memory_limit // 8)

    @cached_property
    def _resident(self) -> tuple[FloatArray, FloatArray]:
        X, y = self._engine.take()
        return np.ascontiguousarray(self._reader.columns(X)), self._reader.targets(y)

    def take(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        if self.is_resident:
            X, y = self._resident
            return X[rows], y[rows]
        X, y = self._engine.take(rows)
        return self._reader.columns(X), self._reader.targets(y)

    def passes(self, folds: IntArray, n_folds: int) -> Callable[[Callable[[Rows], S]], S]:
        """A function that summarises all rows, chunk by chunk, with these folds."""
        width = max(1, len(self.unit_of_column))
        n_rows = max(1, min(_CHUNK_ROWS, _CHUNK_NUMBERS // width))
        if self.is_resident:
            chunks = list(_chunks(*self._resident, folds, n_folds, np.asarray, n_rows))
            return lambda fn: _merged(map(fn, self._watched(chunks)))
        reader, engine = self._reader, self._engine
        watched = self._watched if engine.is_local else iter

        def reduce(fn: Callable[[Rows], S]) -> S:
            def of_block(block: Block) -> S:
                block_folds = folds[block.start : block.start + block.n_rows]
                y = reader.targets(block.y)
                chunks = _chunks(block.dense(), y, block_folds, n_folds, reader.columns, n_rows)
                return _merged(map(fn, watched(chunks)))

            return engine.reduce_rows(of_block)

        return reduce

    def _watched(self, chunks: Iterable[Rows]) -> Iterator[Rows]:
        """With looks at the clock on the way: one column of many rows takes seconds.

        Of few rows a pass is short, and a search that is out of time ends with its best instead.
        """
        for number, chunk in enumerate(chunks, start=1):
            if number % _CHUNKS_PER_LOOK == 0:
                self._engine.monitor.check()
            yield chunk


def _chunks(
    X: FloatArray,
    y: FloatArray,
    folds: IntArray,
    n_folds: int,
    columns: Callable[[FloatArray], FloatArray],
    n_rows: int,
) -> Iterator[Rows]:
    """``columns``: of a chunk of rows at a time, for a block of Dask can be large."""
    for start in range(0, len(X), n_rows):
        part = slice(start, start + n_rows)
        yield sorted_by_fold(columns(X[part]), y[part], folds[part], n_folds)


def _merged(summaries: Iterator[S]) -> S:
    total = next(summaries)
    for summary in summaries:
        total = total.merge(summary)
    return total


# The grids of P-LSMI's authors for the toy data.
SIGMA_FACTORS = np.array([0.2, 0.5, 1.0, 2.0, 5.0])
LAMBDAS = np.logspace(-4, 1, 5)
_EXTREME = 1e150  # squares of larger widths overflow


@dataclass(frozen=True)
class Grid:
    """Checked parameters: what is chosen from, and how many centres and folds there are."""

    sigmas: FloatArray | None
    lambdas: FloatArray
    cv: int
    n_basis: int
    centers: CenterRule | Any


class SampledBasis:
    """Centres, folds and widths for the rows of a table."""

    def __init__(self, rows: TableRows, grid: Grid, seed: int) -> None:
        self.rows = rows
        self.grid = grid
        self._seed = seed

    def reseeded(self, seed: int) -> SampledBasis:
        return SampledBasis(self.rows, self.grid, seed)

    def rng(self, purpose: int) -> np.random.Generator:
        """The same numbers at every call; one stream per purpose."""
        return np.random.default_rng([self._seed, purpose])

    @cached_property
    def centers(self) -> Centers:
        X, y = self.rows.take(self._center_rows())
        return make_centers(X, y, self.rows.is_delta)

    def _center_rows(self) -> IntArray:
        rule, n, rng = self.grid.centers, self.rows.n_samples, self.rng(0)
        size = min(self.grid.n_basis, n)
        if not isinstance(rule, str):
            return _row_numbers(rule, n)
        labels = self.rows.labels
        if rule == "stratified" and labels is not None:
            return stratified_rows(labels, size, rng)
        if rule == "kmeans++":
            candidates = random_rows(n, max(self.rows.sample_size, size), rng)
            return candidates[spread_rows(self.rows.take(candidates)[0], size, rng)]
        return random_rows(n, size, rng)

    @cached_property
    def n_folds(self) -> int:
        return min(self.grid.cv, self.rows.n_samples)

    @cached_property
    def folds(self) -> IntArray:
        return stratified_folds(self.rows.labels, self.rows.n_samples, self.n_folds, self.rng(1))

    @cached_property
    def _median_sample(self) -> FloatArray:
        """All rows up to 2,000, a seeded subsample beyond."""
        rows = random_rows(self.rows.n_samples, self.rows.sample_size, self.rng(2))
        return self.rows.take(rows)[0]

    def column_weights(self, weights: FloatArray) -> FloatArray:
        return np.asarray(weights, dtype=np.float64)[self.rows.unit_of_column]

    def median(self, weights: FloatArray) -> float:
        """The median distance of the weighted rows, 0 without weights."""
        w = self.column_weights(weights)
        used = np.flatnonzero(w)
        return median_distance(self._median_sample[:, used] * w[used]) if len(used) else 0.0

    def candidate_sigmas(self, weights: FloatArray) -> FloatArray:
        """In ascending order; a median of zero adds none."""
        if self.grid.sigmas is not None:
            return self.grid.sigmas
        scaled = SIGMA_FACTORS * self.median(weights)
        return np.unique(np.concatenate([scaled[scaled > 0], SIGMA_FACTORS / np.sqrt(2.0)]))


def _known_centers(centers: Any) -> Any:
    rules = ("random", "stratified", "kmeans++")
    if isinstance(centers, str) and centers not in rules:
        raise InputError(f"centers={brief(centers)} is not known; allowed are {', '.join(rules)}.")
    return centers


def _row_numbers(centers: Any, n_samples: int) -> IntArray:
    rows = check_array("centers", centers, "a list of row numbers").ravel()
    is_integer = rows.dtype.kind in "iu"
    if not is_integer or rows.size == 0 or rows.min() < 0 or rows.max() >= n_samples:
        raise InputError(
            f"centers must be row numbers from 0 to {n_samples - 1}, at least one of them."
        )
    return rows.astype(np.intp)


check_widths = partial(check_numbers, low=1 / _EXTREME, high=_EXTREME)


@dataclass(kw_only=True, eq=False, repr=False)
class SampledMeasure(BaseMeasure):
    """The parameters of measures on sampled basis functions, chosen by cross-validation."""

    scale_ddof: ClassVar[int | None] = 1
    checks: ClassVar[Mapping[str, Check]] = {
        "n_basis": partial(check_integer, minimum=1),
        "sigmas": unless(None, check_widths),
        "cv": partial(check_integer, minimum=2),
        "scale_target": check_flag,
        "random_state": check_random_state,
    }

    n_basis: int = 100
    sigmas: Any = None
    cv: int = 5
    centers: CenterRule | Any = "random"
    scale_target: bool = True
    random_state: Any = None

    def _grid(self, lambdas: Any) -> Grid:
        return Grid(
            centers=_known_centers(self.centers),
            sigmas=None if self.sigmas is None else np.unique(check_widths("sigmas", self.sigmas)),
            lambdas=LAMBDAS if lambdas is None else np.unique(check_widths("lambdas", lambdas)),
            n_basis=int(self.n_basis),
            cv=int(self.cv),
        )

    def _basis(self, engine: Engine, lambdas: Any = None) -> SampledBasis:
        check_parameters(self, self.checks)
        grid, rows = self._grid(lambdas), TableRows(engine, scale_target=self.scale_target)
        seed = random_source(self.random_state).randint(np.iinfo(np.int32).max)
        return SampledBasis(rows, grid, int(seed))
