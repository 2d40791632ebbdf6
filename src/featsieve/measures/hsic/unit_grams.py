"""Inner products of the centred Gram matrices of units, without ever storing one.

HSIC Lasso needs ⟨K̄_u, L̄⟩ for all units u, and ⟨K̄_u, K̄_v⟩ only for the units v that enter its path.
Over pairs of rows these are passes of tile sums with M = K̄_v: one for several v, since to make K_u
costs more than to multiply it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Protocol, Self

import numpy as np

from featsieve.arrays import Array, FloatArray
from featsieve.compiled.hsic_tiles import (
    sum_contributions,
    unit_kernels,
    unit_products,
    unit_row_sums,
)
from featsieve.engines.base import spans
from featsieve.measures.hsic.kernels import KernelFunction, UnitColumns, no_columns
from featsieve.measures.hsic.passes import (
    RowSums,
    SetPass,
    TargetTiles,
    centring,
    doubled,
)
from featsieve.measures.hsic.tiles import RowPairs, RowStrip, Sums, tile_width

_CONSTANT = 1e-12  # relative squared norm below which a centred Gram matrix is zero
ROW_SUMS_SHARE = 16  # of memory_limit, for the row sums of many units
STORED_SHARE = 4  # of memory_limit, for the Gram matrices of small blocks and a copy of them


class UnitGrams(Protocol):
    """Centred Gram matrices of norm 1, one per unit, known by their inner products."""

    @property
    def together(self) -> int:
        """So many columns cost far less at once than one by one."""
        ...

    def with_target(self) -> FloatArray:
        """⟨K̄_u, L̄⟩ for all units u; L̄ is centred and not scaled."""
        ...

    def columns(self, chosen: Sequence[int]) -> list[FloatArray]:
        """⟨K̄_u, K̄_v⟩ for all units u, for each chosen v; the same whatever else is chosen."""
        ...


def norms_of(squared: FloatArray, scale: FloatArray) -> FloatArray:
    """Infinity where a Gram matrix is constant, so that every product with it is 0."""
    return np.sqrt(np.where(squared > _CONSTANT * scale, squared, np.inf))


# --- pairs of rows -------------------------------------------------------------------------------


@dataclass(frozen=True)
class UnitGramSums:
    """Row sums of every unit's Gram matrix, and its sum of squares."""

    rows: RowSums
    squares: FloatArray

    def merge(self, other: Self) -> Self:
        return type(self)(self.rows.merge(other.rows), self.squares + other.squares)


def _gram_sums(
    units: UnitColumns, kernel: KernelFunction, rates: FloatArray, a: RowStrip, b: RowStrip
) -> UnitGramSums:
    same = a.start == b.start
    by_row, by_column, squares = unit_row_sums(
        a.X, b.X, units.starts, units.is_code, kernel.form, rates, same
    )
    rows = {a.start: by_row} if same else {a.start: by_row, b.start: by_column}
    return UnitGramSums(RowSums(rows), squares)


@dataclass(frozen=True)
class UnitAsTarget:
    """The centred Gram matrix of one unit in the place of M."""

    columns: slice
    is_code: Array
    kernel: KernelFunction
    rate: float
    row_sums: FloatArray  # groups × rows together

    def tile(self, a: RowStrip, b: RowStrip) -> FloatArray:
        A, B = a.X[self.columns], b.X[self.columns]
        total = sum_contributions(A, B, np.ones(len(A)), self.is_code, self.kernel.form, False)
        K = self.kernel.values(total, self.rate)
        group, first = divmod(a.start, self.row_sums.shape[1])
        sums, second = self.row_sums[group], first + b.start - a.start
        left, right = sums[first : first + a.n_rows], sums[second : second + b.n_rows]
        M = centring(len(sums)).tile(K, left, right, float(sums.sum()))
        return doubled(M, a.start == b.start, with_diagonal=True)


@dataclass(frozen=True)
class PairedGrams:
    """Gram matrices over pairs of rows: all of them, or those inside blocks, centred by block."""

    pairs: RowPairs
    units: UnitColumns
    kernel: KernelFunction
    rates: FloatArray
    norms: FloatArray
    target: TargetTiles

    together: ClassVar[int] = 8

    def with_target(self) -> FloatArray:
        fixed = SetPass(no_columns(0), self.units, 1, self.kernel, self.rates, self.target)
        return fixed.over(self.pairs) / self.norms

    def columns(self, chosen: Sequence[int]) -> list[FloatArray]:
        taken, rates = self.units.take(chosen), self.rates[list(chosen)]
        fn = partial(_gram_sums, taken, self.kernel, rates)
        sums: UnitGramSums = self.pairs.reduce(fn, taken.columns)
        by_group = sums.rows.joined().reshape(len(chosen), self.pairs.n_groups, -1)
        targets = tuple(
            UnitAsTarget(at, self.units.is_code[at], self.kernel, float(rate), rows)
            for at, rate, rows in zip(map(self.units.place, chosen), rates, by_group, strict=True)
        )
        products = ProductPass(self.units, self.kernel, self.rates, targets).over(self.pairs)
        return list(products / self.norms / self.norms[list(chosen)][:, None])


@dataclass(frozen=True)
class ProductPass:
    """Σ K_ab M_ab of each unit's kernel with several matrices M."""

    units: UnitColumns
    kernel: KernelFunction
    rates: FloatArray
    targets: tuple[TargetTiles, ...]

    def over(self, pairs: RowPairs) -> FloatArray:
        """Targets × units."""
        sums: Sums = pairs.reduce(self, self.units.columns)
        return sums.parts[0]

    def __call__(self, a: RowStrip, b: RowStrip) -> Sums:
        tiles = np.array([target.tile(a, b) for target in self.targets])
        units, triangle = self.units, a.start == b.start
        sums = unit_products(
            a.X, b.X, units.starts, units.is_code, self.kernel.form, self.rates, tiles, triangle
        )
        return Sums((sums,))


def paired_grams(
    pairs: RowPairs,
    units: UnitColumns,
    kernel: KernelFunction,
    rates: FloatArray,
    target: TargetTiles,
    memory_limit: int,
) -> PairedGrams:
    """With the norms of all units, from passes over as many units as their row sums allow."""
    n_rows = pairs.n_groups * pairs.rows_together
    width = max(1, memory_limit // (ROW_SUMS_SHARE * 8 * n_rows))
    parts = [
        _centred_norms(pairs, units.part(start, stop), kernel, rates[start:stop])
        for start, stop in spans(units.n_units, width)
    ]
    return PairedGrams(pairs, units, kernel, rates, np.concatenate(parts), target)


def _centred_norms(
    pairs: RowPairs, units: UnitColumns, kernel: KernelFunction, rates: FloatArray
) -> FloatArray:
    """‖HKH‖ of each unit: ΣK² − 2/n Σ(K1)² + (ΣK/n)², summed over groups of n rows."""
    sums: UnitGramSums = pairs.reduce(partial(_gram_sums, units, kernel, rates), units.columns)
    n = pairs.rows_together
    rows = sums.rows.joined().reshape(units.n_units, pairs.n_groups, n)
    squared = sums.squares - 2.0 / n * (rows**2).sum(axis=(1, 2))
    squared += ((rows.sum(axis=2) / n) ** 2).sum(axis=1)
    return norms_of(squared, sums.squares)


# --- few rows together ---------------------------------------------------------------------------


@dataclass(frozen=True)
class StoredGrams:
    """Gram matrices of small blocks, kept: the upper triangles, one row per unit."""

    vectors: FloatArray  # of length 1, or 0 where a unit is constant
    target: FloatArray

    together: ClassVar[int] = 1

    def with_target(self) -> FloatArray:
        return self.vectors @ self.target

    def columns(self, chosen: Sequence[int]) -> list[FloatArray]:
        return [self.vectors @ self.vectors[unit] for unit in chosen]


def can_store(pairs: RowPairs, n_units: int, memory_limit: int) -> bool:
    """Every block is one tile, and all triangles together take little memory."""
    n_numbers = pairs.n_groups * pairs.rows_together**2 * n_units
    is_one_tile = pairs.local and pairs.rows_together <= tile_width(n_units)
    return is_one_tile and 8 * n_numbers * STORED_SHARE <= memory_limit


def stored_grams(
    pairs: RowPairs,
    units: UnitColumns,
    kernel: KernelFunction,
    rates: FloatArray,
    target: TargetTiles,
) -> StoredGrams:
    fn = partial(_triangles, units, kernel, rates, target)
    blocks: list[Triangles] = pairs.reduce_each(fn, units.columns)
    vectors = np.concatenate([block.units for block in blocks], axis=1)
    squared = np.einsum("ij,ij->i", vectors, vectors)
    n_pairs = pairs.n_groups * pairs.rows_together**2
    vectors /= norms_of(squared, np.full_like(squared, n_pairs))[:, None]
    return StoredGrams(vectors, np.concatenate([block.target for block in blocks]))


@dataclass(frozen=True)
class Triangles:
    """Upper triangles of centred Gram matrices, weighted so that inner products are the same."""

    units: FloatArray
    target: FloatArray


def _triangles(
    units: UnitColumns,
    kernel: KernelFunction,
    rates: FloatArray,
    target: TargetTiles,
    a: RowStrip,
    b: RowStrip,
) -> Triangles:
    K = unit_kernels(a.X, b.X, units.starts, units.is_code, kernel.form, rates)
    rows = K.mean(axis=2)
    K -= rows[:, None, :]
    K -= (rows - rows.mean(axis=1)[:, None])[:, :, None]
    first, second = np.triu_indices(a.n_rows)
    weight = np.where(first == second, 1.0, np.sqrt(2.0))
    return Triangles(K[:, first, second] * weight, target.tile(a, b)[first, second] / weight)
