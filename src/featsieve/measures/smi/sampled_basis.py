"""What LSMI and MLMI share: centres, folds and candidate widths, all functions of a seed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from featsieve.errors import InputError
from featsieve.measures.smi.median_distance import median_distance
from featsieve.measures.smi.product_basis import Centers, make_centers
from featsieve.measures.smi.sampling import (
    CenterRule,
    random_rows,
    spread_rows,
    stratified_folds,
    stratified_rows,
)
from featsieve.measures.smi.table_rows import TableRows
from featsieve.schema import FloatArray, IntArray

# The grids of P-LSMI's authors for the toy data.
SIGMA_FACTORS = np.array([0.2, 0.5, 1.0, 2.0, 5.0])
LAMBDAS = np.logspace(-4, 1, 5)
_EXTREME = 1e150  # squares of widths beyond are no numbers


@dataclass(frozen=True)
class Grid:
    """Checked parameters: what is chosen from, and how many centres and folds there are."""

    sigmas: FloatArray | None
    lambdas: FloatArray
    cv: int
    n_basis: int
    centers: CenterRule | Any


def make_grid(sigmas: Any, lambdas: Any, cv: Any, n_basis: Any, centers: Any) -> Grid:
    _check_count(n_basis, "n_basis", 1)
    _check_count(cv, "cv", 2)
    return Grid(
        None if sigmas is None else _positive(sigmas, "sigmas"),
        LAMBDAS if lambdas is None else _positive(lambdas, "lambdas"),
        cv,
        n_basis,
        _known_centers(centers),
    )


class SampledBasis:
    """Centres, folds and widths for the rows of a table."""

    def __init__(self, rows: TableRows, grid: Grid, seed: int) -> None:
        self.rows = rows
        self.grid = grid
        self._seed = seed

    def reseeded(self, seed: int) -> SampledBasis:
        return SampledBasis(self.rows, self.grid, seed)

    def rng(self, purpose: int) -> np.random.Generator:
        """The same numbers at every call; one stream a purpose."""
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
        raise InputError(f"centers={centers!r} is not known; allowed are {', '.join(rules)}.")
    return centers


def _row_numbers(centers: Any, n_samples: int) -> IntArray:
    rows = np.asarray(centers).ravel()
    whole = rows.dtype.kind in "iu"
    if not whole or rows.size == 0 or rows.min() < 0 or rows.max() >= n_samples:
        raise InputError(
            f"centers must be row numbers from 0 to {n_samples - 1}, at least one of them."
        )
    return rows.astype(np.intp)


def _positive(values: Any, name: str) -> FloatArray:
    array = np.unique(np.atleast_1d(np.asarray(values, dtype=np.float64)))
    if array.size == 0 or not ((array >= 1 / _EXTREME) & (array <= _EXTREME)).all():
        raise InputError(
            f"{name}={values!r} is not possible; give positive numbers from {1 / _EXTREME:g} to "
            f"{_EXTREME:g}."
        )
    return array


def _check_count(value: Any, name: str, least: int) -> None:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
        raise InputError(f"{name}={value!r} is not possible; give a whole number from {least}.")
