"""What a linear model needs of the rows, fold by fold, from one pass.

Tall tables are summed into one Gram matrix a fold; of a wide one (more columns than rows) the rows
themselves are less than their Gram matrix, and are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, Self

import numpy as np

from featsieve.dummies import Dummies
from featsieve.embedded.folding import Folding
from featsieve.embedded.tables import GramTable, RowTable, Table
from featsieve.engines.blocks import require_memory
from featsieve.moments import GramMoments, gram_moments
from featsieve.pool import single_threaded_blas
from featsieve.protocols import Engine
from featsieve.schema import Block, BoolArray, FloatArray, Target, target_columns

# Below, the threads of a block's product would mostly wait for each other.
MANY_COLUMNS = 256
ROW_COPIES = 4  # the rows, their centred form, and both again in new coordinates


@dataclass(frozen=True)
class FoldedTable:
    """All rows, and for each fold the rows outside and inside of it."""

    every: Table
    splits: tuple[tuple[Table, Table], ...]

    def map(self, fn: Callable[[Table], Table]) -> FoldedTable:
        return FoldedTable(fn(self.every), tuple((fn(a), fn(b)) for a, b in self.splits))


def signed_targets(y: Any, target: Target) -> FloatArray:
    """Numbers as they are; classes as ±1, one column a class, or one for two of them."""
    parts = [columns for _, columns in target_columns(y, target)]
    if target.is_classification:
        parts = [2.0 * (p[:, 1:] if p.shape[1] == 2 else p) - 1.0 for p in parts]
    return np.concatenate(parts, axis=1)


def is_wide(engine: Engine, n_columns: int) -> bool:
    """Whether the rows are less than their Gram matrix."""
    return engine.n_samples < n_columns


def fold_table(engine: Engine, folding: Folding) -> FoldedTable:
    """One pass over the rows."""
    dummies = Dummies(engine.schema)
    n_columns = len(dummies.owner)
    if is_wide(engine, n_columns):
        return _kept_rows(engine, dummies, folding)
    n_parts = folding.n_folds + 1
    what = f"second moments of {n_columns} columns in {n_parts} parts"
    require_memory(n_parts * (2 * engine.n_jobs + 2) * n_columns**2, engine.memory_limit, what)
    with single_threaded_blas() if n_columns < MANY_COLUMNS else nullcontext():
        *folds, untested = engine.reduce_rows(
            partial(_block_folds, dummies, engine.target, folding)
        ).parts
    table = partial(GramTable.of_moments, n_columns=n_columns)
    splits = [
        (reduce(GramMoments.merge, [*folds[:f], *folds[f + 1 :], untested]), folds[f])
        for f in range(len(folds))
    ]
    every = reduce(GramMoments.merge, [*folds, untested])
    return FoldedTable(table(every), tuple((table(a), table(b)) for a, b in splits))


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

    parts: tuple[tuple[FloatArray, FloatArray, FloatArray], ...]

    def merge(self, other: Self) -> Self:
        return type(self)(self.parts + other.parts)


def _row_part(dummies: Dummies, target: Target, block: Block) -> RowParts:
    X = dummies.expand(block)
    X = np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64)
    weight = np.ones(block.n_rows) if block.weight is None else block.weight
    return RowParts(((X, signed_targets(block.y, target), weight),))


def _kept_rows(engine: Engine, dummies: Dummies, folding: Folding) -> FoldedTable:
    n_rows, n_columns = engine.n_samples, len(dummies.owner)
    what = f"a table of {n_rows} × {n_columns} and its folds"
    n_copies = ROW_COPIES + folding.n_folds
    require_memory(n_copies * n_rows * n_columns, engine.memory_limit, what)
    parts = engine.reduce_rows(partial(_row_part, dummies, engine.target)).parts
    X, Y, weight = (np.concatenate(list(column)) for column in zip(*parts, strict=True))
    fold = folding.of(np.arange(n_rows))

    def table(rows: Any) -> RowTable:
        return RowTable.of_rows(X[rows], Y[rows], weight[rows])

    splits = tuple((table(fold != f), table(fold == f)) for f in range(folding.n_folds))
    return FoldedTable(table(slice(None)), splits)
