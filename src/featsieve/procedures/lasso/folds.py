"""Which fold a row is in, and the errors of a path on the folds."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, Self

import numpy as np

from featsieve.arrays import BoolArray, FloatArray, IntArray
from featsieve.engines.base import require_memory
from featsieve.errors import InputError
from featsieve.input.parameters import brief, check_array, is_integer, not_allowed
from featsieve.procedures.lasso.tables import GramTable, RowTable, Table
from featsieve.protocols import Engine
from featsieve.runtime.pool import single_threaded_blas
from featsieve.schema import Block, KeptRows, Target
from featsieve.statistics.moments import Dummies, GramMoments, gram_moments, target_columns


@dataclass(frozen=True)
class Folding:
    """``n_folds`` folds by (seed, row index), or as ``assigned`` (−1: in no fold)."""

    n_folds: int
    seed: int = 0
    assigned: IntArray | None = None

    def of(self, rows: IntArray) -> IntArray:
        if self.assigned is not None:
            return self.assigned[rows]
        return (
            turned_folds(rows, self.n_folds, self.seed) if self.n_folds else np.full_like(rows, -1)
        )


def turned_folds(rows: IntArray, n_folds: int, seed: int) -> IntArray:
    """Every ``n_folds`` consecutive rows are in different folds, each time turned by chance."""
    turn = (rows // n_folds).astype(np.uint64) + np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15)
    # The finaliser of splitmix64: neighbours are turned by unrelated amounts.
    turn = (turn ^ (turn >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    turn = (turn ^ (turn >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    turn = (turn ^ (turn >> np.uint64(31))) % np.uint64(n_folds)
    return (rows + turn.astype(np.intp)) % n_folds


def resolve_folding(cv: Any, seed: int, n_rows: int, kept: KeptRows | None = None) -> Folding:
    """A number of folds, 0 for none, or a list of (training rows, test rows) of the given table."""
    if is_integer(cv) and (int(cv) >= 2 or cv == 0):
        return Folding(min(int(cv), n_rows), seed)
    if isinstance(cv, (list, tuple)) and cv and all(_is_split(split) for split in cv):
        if kept is None:
            return Folding(len(cv), assigned=_assigned(cv, n_rows))
        return Folding(len(cv), assigned=_assigned(cv, kept.n_given)[kept.rows])
    raise InputError(
        f"cv={brief(cv)} is not allowed; give an integer >= 2, 0 for none, or a list of (training "
        "rows, test rows)."
    )


def _is_split(split: Any) -> bool:
    return isinstance(split, (list, tuple)) and len(split) == 2


def _assigned(splits: Any, n_rows: int) -> IntArray:
    """Folds add up only if each row is tested once at most, and trained on in all other folds."""
    fold = np.full(n_rows, -1, dtype=np.intp)
    for number, split in enumerate(splits):
        trained, tested = (_row_numbers(rows, n_rows) for rows in split)
        overlap = (fold[tested] >= 0).any()
        fold[tested] = number
        if overlap or len(np.unique(trained)) + len(np.unique(tested)) != n_rows:
            raise InputError(
                "cv holds splits that overlap or leave out rows; give test sets without common "
                "rows, and all other rows for training."
            )
    return fold


def _row_numbers(rows: Any, n_rows: int) -> IntArray:
    allowed = "lists of row numbers"
    numbers = check_array("cv", rows, allowed)
    try:
        return np.atleast_1d(np.arange(n_rows)[numbers if numbers.size else []])
    except IndexError:
        raise not_allowed("cv", rows, allowed) from None


# Below, the threads of a block's product would mostly wait for each other.
MANY_COLUMNS = 256
SHORT_PATH = 8  # columns of the table for each one that is wanted
ROW_COPIES = 4  # the rows, their centred form, and both again in new coordinates


@dataclass(frozen=True)
class FoldedTable:
    """All rows, and for each fold the rows outside and inside of it, made when asked for."""

    every: Table
    n_folds: int
    split: Callable[[int], tuple[Table, Table]]

    def through(self, basis: Any) -> FoldedTable:
        def split(fold: int) -> tuple[Table, Table]:
            trained, tested = self.split(fold)
            return trained.through(basis), tested.through(basis)

        return FoldedTable(self.every.through(basis), self.n_folds, split)


def signed_targets(y: Any, target: Target) -> FloatArray:
    """Numbers as they are; classes as ±1, one column per class, or one for two of them."""
    parts = [columns for _, columns in target_columns(y, target)]
    if target.is_classification:
        parts = [2.0 * (p[:, 1:] if p.shape[1] == 2 else p) - 1.0 for p in parts]
    return np.concatenate(parts, axis=1)


def is_wide(engine: Engine, n_columns: int) -> bool:
    """Whether the rows are less than their Gram matrix."""
    return engine.n_samples < n_columns


def is_short(engine: Engine, n_columns: int, folding: Folding, count: int | None) -> bool:
    """Whether a path needs so little of the Gram matrix that the rows themselves cost less."""
    n_bytes = 8 * ROW_COPIES * engine.n_samples * n_columns
    is_little = count is not None and SHORT_PATH * count <= n_columns
    return is_little and not folding.n_folds and n_bytes <= engine.memory_limit


def fold_table(engine: Engine, folding: Folding, count: int | None = None) -> FoldedTable:
    """One pass over the rows; ``count`` is the number of columns that the path ends with."""
    dummies = Dummies(engine.schema)
    n_columns = len(dummies.owner)
    if is_wide(engine, n_columns) or is_short(engine, n_columns, folding, count):
        return _kept_rows(engine, dummies, folding)
    n_parts = folding.n_folds + 1
    what = f"second moments of {n_columns} columns in {n_parts} parts"
    require_memory(n_parts * (2 * engine.n_jobs + 2) * n_columns**2, engine.memory_limit, what)
    with single_threaded_blas() if n_columns < MANY_COLUMNS else nullcontext():
        of_block = partial(_block_folds, dummies, engine.target, folding)
        moments = engine.reduce_rows(dummies.in_slices(of_block, engine))
    *folds, untested = moments.parts
    table = partial(GramTable.of_moments, n_columns=n_columns)

    def split(f: int) -> tuple[Table, Table]:
        trained = reduce(GramMoments.merge, [*folds[:f], *folds[f + 1 :], untested])
        return table(trained), table(folds[f])

    total = reduce(GramMoments.merge, [*folds, untested])
    return FoldedTable(table(total), len(folds), split)


@dataclass(frozen=True)
class FoldMoments:
    """Moments of each fold, and last of the rows in none; adds over blocks."""

    parts: tuple[GramMoments, ...]

    def merge(self, other: Self) -> Self:
        pairs = zip(self.parts, other.parts, strict=True)
        return type(self)(tuple(a.merge(b) for a, b in pairs))


def _block_folds(dummies: Dummies, target: Target, folding: Folding, block: Block) -> FoldMoments:
    X, Y = dummies.expand(block), signed_targets(block.y, target)
    fold = folding.of(np.arange(block.start, block.start + block.n_rows))
    return FoldMoments(
        tuple(_part(X, Y, block.weight, fold == f) for f in [*range(folding.n_folds), -1])
    )


def _part(X: Any, Y: FloatArray, weight: FloatArray | None, inside: BoolArray) -> GramMoments:
    if inside.all():
        return gram_moments(X, Y, weight)
    rows = np.flatnonzero(inside)
    return gram_moments(X[rows], Y[rows], None if weight is None else weight[rows])


@dataclass(frozen=True)
class RowParts:
    """Blocks of rows, kept as they are."""

    parts: tuple[tuple[FloatArray, FloatArray, FloatArray | None], ...]

    def merge(self, other: Self) -> Self:
        return type(self)(self.parts + other.parts)


def _row_part(dummies: Dummies, target: Target, block: Block) -> RowParts:
    X = dummies.expand(block)
    X = np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64)
    return RowParts(((X, signed_targets(block.y, target), block.weight),))


def _joined(blocks: tuple[Any, ...]) -> Any:
    """A single block is not copied; rows without weights stay so."""
    return blocks[0] if len(blocks) == 1 or blocks[0] is None else np.concatenate(blocks)


def _kept_rows(engine: Engine, dummies: Dummies, folding: Folding) -> FoldedTable:
    n_rows, n_columns = engine.n_samples, len(dummies.owner)
    what = f"a table of {n_rows} × {n_columns} and its folds"
    n_copies = ROW_COPIES + folding.n_folds
    require_memory(n_copies * n_rows * n_columns, engine.memory_limit, what)
    parts = engine.reduce_rows(partial(_row_part, dummies, engine.target)).parts
    X, Y, weight = (_joined(blocks) for blocks in zip(*parts, strict=True))
    fold = folding.of(np.arange(n_rows))

    def table(rows: Any) -> RowTable:
        return RowTable.of_rows(X[rows], Y[rows], None if weight is None else weight[rows])

    def split(f: int) -> tuple[Table, Table]:
        return table(fold != f), table(fold == f)

    return FoldedTable(table(slice(None)), folding.n_folds, split)
