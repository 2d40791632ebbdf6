"""Σ_ab K_ab M_ab over pairs of rows: the target's fixed matrix M, and passes that sum.

Every criterion is such a sum, and M depends on the target only. So all changes of a set, and
gradients, are passes over tiles of row pairs with one accumulator for each candidate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import itemgetter
from typing import Any, Protocol, Self

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.compiled.hsic_tiles import (
    ABSOLUTE,
    PRODUCT,
    candidate_sums,
    contribution_sums,
    sum_contributions,
)
from featsieve.engines.memory import gathered
from featsieve.engines.remote import CanShare
from featsieve.errors import InputError
from featsieve.input.parameters import not_allowed
from featsieve.measures.hsic.kernels import KernelFunction, Slopes, UnitColumns
from featsieve.measures.hsic.target_kernel import NO_COLUMNS, TargetKernel, gram_of_function
from featsieve.measures.hsic.tiles import (
    WORTH_A_CLUSTER,
    GatheredRowPairs,
    RowPairs,
    RowStrip,
    SharedRowPairs,
    StreamedRowPairs,
    Sums,
    gather_rows,
    tile_width,
)
from featsieve.protocols import Engine
from featsieve.schema import Block

CACHED_SHARE = 8  # of memory_limit


@dataclass(frozen=True)
class FixedMatrix:
    """M with criterion = Σ_ab K_ab M_ab: scale · (L_ab − cross·(l_a + l_b) + level·s).

    l = L1, s = ΣL; ``with_diagonal`` False: the diagonals of K and L count as zero.
    """

    scale: float
    cross: float
    level: float
    with_diagonal: bool

    def tile(self, L: FloatArray, left: FloatArray, right: FloatArray, total: float) -> FloatArray:
        """Rows × columns of M, given the same of L, the row sums of both sides and s.

        In one array: workers of a cluster get the memory of each new one from the system.
        """
        M: FloatArray = np.add(left[:, None], right, dtype=np.float64)
        M *= self.cross
        np.subtract(L, M, out=M)
        M += self.level * total
        M *= self.scale
        return M


def centring(n: int) -> FixedMatrix:
    """M = HLH."""
    return FixedMatrix(1.0, 1.0 / n, 1.0 / n**2, with_diagonal=True)


def fixed_matrix(n: int, estimator: str = "unbiased", criterion: str = "hsic") -> FixedMatrix:
    """The fixed matrix of a criterion for n samples."""
    if criterion in ("mmd", "kta"):  # tr KL, P-HSIC section 4
        return FixedMatrix(1.0, 0.0, 0.0, with_diagonal=True)
    if criterion != "hsic":
        raise not_allowed("criterion", criterion, "'hsic', 'mmd' or 'kta'")
    if estimator == "unbiased":  # P-HSIC eq. (4)
        check_enough_samples(n)
        return FixedMatrix(
            1.0 / (n * (n - 3)), 1.0 / (n - 2), 1.0 / ((n - 1) * (n - 2)), with_diagonal=False
        )
    if estimator == "biased":  # P-LSMI eq. (4)
        return replace(centring(n), scale=1.0 / max(n - 1, 1) ** 2)
    if estimator == "v_statistic":  # P-L1INF eq. (8)
        return replace(centring(n), scale=1.0 / n**2)
    raise not_allowed("estimator", estimator, "'unbiased', 'biased' or 'v_statistic'")


def check_enough_samples(n: int) -> None:
    if n < 4:
        raise InputError(
            f"the unbiased HSIC needs at least 4 samples, got n_samples = {n}; "
            "give more rows or use estimator='biased'."
        )


class TargetTiles(Protocol):
    """M of a tile: twice its value above the diagonal and zero below it.

    Where both begin with the same row, the second may go on after the end of the first.
    """

    def tile(self, a: RowStrip, b: RowStrip) -> FloatArray: ...


@dataclass(frozen=True)
class RowSums:
    """Row sums of Gram matrices by block of rows: a tile touches two blocks only."""

    pieces: Mapping[int, FloatArray]

    def merge(self, other: Self) -> Self:
        merged = dict(self.pieces)
        for start, piece in other.pieces.items():
            merged[start] = merged[start] + piece if start in merged else piece
        return type(self)(merged)

    def joined(self) -> FloatArray:
        """All rows in order, along the last axis."""
        return np.concatenate([self.pieces[start] for start in sorted(self.pieces)], axis=-1)


@dataclass(frozen=True)
class ComputedTarget:
    """M from y at every pass."""

    kernel: TargetKernel
    fixed: FixedMatrix
    row_sums: FloatArray
    rows_together: int
    dtype: Any = np.float64

    def tile(self, a: RowStrip, b: RowStrip) -> FloatArray:
        left = self.row_sums[a.start : a.start + a.n_rows]
        right = self.row_sums[b.start : b.start + b.n_rows]
        L = kernel_tile(self.kernel, a, b)
        M = self.fixed.tile(L, left, right, self._total(a.start))
        M = doubled(M, a.start == b.start, self.fixed.with_diagonal)
        return M.astype(self.dtype, copy=False)

    def _total(self, start: int) -> float:
        """ΣL of the rows that are paired with the one at ``start``."""
        first = start - start % self.rows_together
        return float(self.row_sums[first : first + self.rows_together].sum())


@dataclass(frozen=True)
class StoredTarget:
    """M computed once: for many passes over rows that are few enough."""

    tiles: Mapping[tuple[int, int], FloatArray]
    _wide: dict[int, FloatArray] = field(default_factory=dict, repr=False, compare=False)

    def tile(self, a: RowStrip, b: RowStrip) -> FloatArray:
        tile = self.tiles[a.start, b.start]
        return tile if tile.shape[1] == b.n_rows else self._strip(a.start, b.n_rows)

    def _strip(self, start: int, n_rows: int) -> FloatArray:
        """Several tiles side by side: of some rows with all after them."""
        if start not in self._wide:
            tiles = [
                (j, M) for (i, j), M in self.tiles.items() if i == start and j < start + n_rows
            ]
            self._wide[start] = np.concatenate([M for _, M in sorted(tiles, key=itemgetter(0))], 1)
        return self._wide[start]

    def merge(self, other: Self) -> Self:
        return type(self)({**self.tiles, **other.tiles})


def doubled(M: FloatArray, on_diagonal: bool, with_diagonal: bool) -> FloatArray:
    """Twice M above the diagonal of the whole matrix, so that its lower half need not be summed.

    M is used up.
    """
    if not on_diagonal:
        M *= 2.0
        return M
    upper = np.triu(2.0 * M)
    np.fill_diagonal(upper, np.diag(M) if with_diagonal else 0.0)
    return upper


def kernel_tile(kernel: TargetKernel, a: RowStrip, b: RowStrip) -> FloatArray:
    """L of a tile."""
    return kernel.tile(Block(a.start, a.y, a.y), Block(b.start, b.y, b.y))


@dataclass(frozen=True)
class TargetSums:
    """Row sums of L as the estimator takes it, and the sum of its diagonal as it is."""

    rows: RowSums
    trace: float

    def merge(self, other: Self) -> Self:
        return type(self)(self.rows.merge(other.rows), self.trace + other.trace)


def _target_sums(kernel: TargetKernel, fixed: FixedMatrix, a: RowStrip, b: RowStrip) -> TargetSums:
    L = kernel_tile(kernel, a, b)
    if a.start != b.start:
        return TargetSums(RowSums({a.start: L.sum(axis=1), b.start: L.sum(axis=0)}), 0.0)
    rows = L.sum(axis=1) if fixed.with_diagonal else L.sum(axis=1) - np.diag(L)
    return TargetSums(RowSums({a.start: rows}), float(np.trace(L)))


def _stored_tile(target: TargetTiles, a: RowStrip, b: RowStrip) -> StoredTarget:
    return StoredTarget({(a.start, b.start): target.tile(a, b)})


@dataclass(frozen=True)
class TargetSide:
    """M, and the mean of L's diagonal: 1 for a normalised kernel, else the unit of the values."""

    tiles: TargetTiles
    unit: float


def fit_target_side(
    memory_limit: int, pairs: RowPairs, kernel: TargetKernel, fixed: FixedMatrix, dtype: Any
) -> TargetSide:
    """One pass for the row sums of L, and one to store M where that takes little memory."""
    sums: TargetSums = pairs.reduce(partial(_target_sums, kernel, fixed), NO_COLUMNS)
    tiles: TargetTiles = ComputedTarget(
        kernel, fixed, sums.rows.joined(), pairs.rows_together, dtype
    )
    n_numbers = pairs.n_groups * pairs.rows_together**2
    if pairs.local and 8 * n_numbers * CACHED_SHARE <= memory_limit:
        tiles = pairs.reduce(partial(_stored_tile, tiles), NO_COLUMNS)
    return TargetSide(tiles, sums.trace / (pairs.n_groups * pairs.rows_together))


@dataclass(frozen=True)
class SetPass:
    """Σ K_ab M_ab of a base set with (sign 1) or without (sign −1) each candidate."""

    base: UnitColumns
    candidates: UnitColumns
    sign: int
    kernel: KernelFunction
    rates: FloatArray
    target: TargetTiles
    dtype: Any = np.float64

    @property
    def columns(self) -> IntArray:
        return np.concatenate([self.base.columns, self.candidates.columns])

    def over(self, pairs: RowPairs) -> FloatArray:
        sums: Sums = pairs.reduce(self, self.columns)
        return sums.parts[0]

    def __call__(self, a: RowStrip, b: RowStrip) -> Sums:
        A, B = self._cast(a.X), self._cast(b.X)
        cut, triangle = self.base.n_columns, a.start == b.start
        number, kernel, units = self.dtype, self.kernel, self.candidates
        ones = np.ones(cut, dtype=self.dtype)
        base = sum_contributions(A[:cut], B[:cut], ones, self.base.is_code, kernel.form, triangle)
        sums = candidate_sums(
            A[cut:], B[cut:], units.starts, units.is_code, kernel.form, base, number(self.sign),
            self.rates.astype(number), self.target.tile(a, b), number(kernel.offset),
            kernel.degree, triangle,
        )  # fmt: skip
        return Sums((sums,))

    def _cast(self, X: FloatArray) -> FloatArray:
        return X if X.dtype == self.dtype else X.astype(self.dtype)


@dataclass(frozen=True)
class WeightGradientPass:
    """Σ K_ab M_ab for weighted columns, and its derivatives by the scale of each unit."""

    units: UnitColumns
    scale: FloatArray
    kernel: KernelFunction
    rate: float
    target: TargetTiles

    def over(self, pairs: RowPairs) -> tuple[float, FloatArray]:
        sums: Sums = pairs.reduce_strips(self, self.units.columns)
        return float(sums.parts[0]), sums.parts[1]

    def __call__(self, a: RowStrip, b: RowStrip) -> Sums:
        units, form, triangle = self.units, self.kernel.form, a.start == b.start
        total = sum_contributions(a.X, b.X, self.scale, units.is_code, form, triangle)
        slopes = self.kernel.slopes(total, self.rate, self.target.tile(a, b))
        if form == ABSOLUTE or units.is_code.any():
            by_unit = contribution_sums(
                a.X, b.X, units.starts, units.is_code, form, slopes.P, triangle
            )
        else:
            by_unit = np.add.reduceat(_product_sums(a.X, b.X, slopes, form), units.starts[:-1])
        return Sums((np.asarray(slopes.value), slopes.factor * by_unit))


def _product_sums(A: FloatArray, B: FloatArray, slopes: Slopes, form: int) -> FloatArray:
    """Σ_ij P_ij x_i x_j of each column, or Σ_ij P_ij (x_i − x_j)², by matrix products."""
    products: FloatArray = np.einsum("ij,ij->i", A @ slopes.P, B)
    if form == PRODUCT:
        return products
    return (A * A) @ slopes.by_row + (B * B) @ slopes.by_column - 2.0 * products


def function_pass(
    function: Callable[[Array, Array], Array], target: TargetTiles, a: RowStrip, b: RowStrip
) -> Sums:
    """Σ K_ab M_ab with a user's kernel function."""
    K = gram_of_function("kernel", function, a.X.T, b.X.T)
    return Sums((np.asarray(np.vdot(K, target.tile(a, b))),))


class SetChanges(ABC):
    """Scores, additions and removals as changes of a set; the value of an empty set is 0."""

    n_units: int

    @abstractmethod
    def _changed(self, subset: Sequence[int], candidates: Sequence[int], sign: int) -> FloatArray:
        """The criterion of ``subset`` with (sign 1) or without (sign −1) each candidate."""

    def scores(self) -> FloatArray:
        return self.values_with([], range(self.n_units))

    def values_with(self, subset: Sequence[int], candidates: Sequence[int]) -> FloatArray:
        return self._changed(subset, candidates, 1)

    def values_without(self, subset: Sequence[int], candidates: Sequence[int]) -> FloatArray:
        if len(subset) == 1:
            return np.zeros(len(candidates))
        return self._changed(subset, candidates, -1)


# --- which rows are paired, and where they are ---------------------------------------------------

GATHERED_SHARE = 4  # of memory_limit: the rest is for tiles and for the search


def _fits_here(engine: Engine) -> bool:
    return 8 * engine.n_samples * engine.n_features * GATHERED_SHARE <= engine.memory_limit


def brought_here(engine: Engine) -> Engine:
    """The rows of other machines, if they are few: asked for once, and not by each pass."""
    return engine if engine.is_local or not _fits_here(engine) else gathered(engine)


def row_pairs(engine: Engine) -> RowPairs:
    """All pairs; gathered if the table takes no more than its share of the memory limit."""
    if not _fits_here(engine):
        return StreamedRowPairs(engine)
    return _gathered_pairs(engine, None, engine.n_samples)


def _gathered_pairs(engine: Engine, order: IntArray | None, rows_together: int) -> GatheredRowPairs:
    rows = _taken(engine, order) if order is not None else gather_rows(engine)
    common = rows_together, tile_width(engine.n_features), engine.n_jobs, engine.monitor, order
    evaluations = rows.n_rows * rows_together * engine.n_features
    if isinstance(engine, CanShare) and evaluations >= WORTH_A_CLUSTER:
        shared = engine.share(rows)
        if shared is not None:
            return SharedRowPairs(rows, *common, shared=shared)
    return GatheredRowPairs(rows, *common)


def _taken(engine: Engine, order: IntArray) -> RowStrip:
    X, y = engine.take(order)
    return RowStrip(0, np.ascontiguousarray(X.T, dtype=np.float64), y)


def block_pairs(engine: Engine, n_blocks: int, rows_together: int, seed: int) -> GatheredRowPairs:
    """Pairs inside disjoint random blocks of rows; rows that fill no block are left out."""
    shuffled = np.random.default_rng(seed).permutation(engine.n_samples)
    order = shuffled[: n_blocks * rows_together].astype(np.intp)
    return _gathered_pairs(engine, order, rows_together)
