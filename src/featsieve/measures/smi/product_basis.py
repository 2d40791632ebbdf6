"""Basis functions φ(x)·ψ(y) at centres, and their sums over rows (P-LSMI, section 5.4.2).

φ is a Gaussian of the weighted columns; ψ is a delta on classes or a Gaussian on numbers. With a
delta, two centres of different classes never meet, so centres are kept sorted by class and every
matrix falls into one block a class: a **group**. Numbers form a single group. For a delta, ψ does
not depend on the centre within its group and is kept as one column, which broadcasts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from featsieve.kernels.exp import exp_array
from featsieve.schema import FloatArray, IntArray


@dataclass(frozen=True)
class Rows:
    """Some rows, sorted by fold: fold f is ``bounds[f] … bounds[f + 1]``.

    ``y`` has numbers, or a single column with the (joint) class.
    """

    X: FloatArray
    y: FloatArray
    bounds: IntArray

    @cached_property
    def squares(self) -> FloatArray:
        return self.X**2

    @cached_property
    def as_one_fold(self) -> Rows:
        return Rows(self.X, self.y, self.bounds[[0, -1]])


def sorted_by_fold(X: FloatArray, y: FloatArray, folds: IntArray, n_folds: int) -> Rows:
    order = np.argsort(folds, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(np.bincount(folds, minlength=n_folds))])
    return Rows(np.ascontiguousarray(X[order]), np.ascontiguousarray(y[order]), bounds)


@dataclass(frozen=True)
class Centers:
    """Where the basis functions sit, sorted by class; ``labels`` is None for numbers.

    ``order`` says which of the centres as given comes first, second, …
    """

    X: FloatArray
    y: FloatArray
    order: IntArray
    slices: tuple[slice, ...]
    labels: FloatArray | None

    def __len__(self) -> int:
        return len(self.X)

    @cached_property
    def squares(self) -> FloatArray:
        return self.X**2

    def psi(self, y: FloatArray, group: int, sigma: float) -> FloatArray:
        """ψ of these rows for the centres of one group: (n, 1) for a delta, else (n, b)."""
        if self.labels is not None:
            return (y == self.labels[group]).astype(np.float64)
        return gaussian(squared_distances(y, self.y), sigma)


def make_centers(X: FloatArray, y: FloatArray, is_delta: bool) -> Centers:
    if not is_delta:
        return Centers(X, y, np.arange(len(X)), (slice(0, len(X)),), None)
    order = np.argsort(y[:, 0], kind="stable")
    labels, starts = np.unique(y[order, 0], return_index=True)
    stops = [*starts[1:].tolist(), len(X)]
    slices = tuple(slice(int(a), int(b)) for a, b in zip(starts, stops, strict=True))
    return Centers(X[order], y[order], order, slices, labels)


def squared_distances(A: FloatArray, B: FloatArray) -> FloatArray:
    """Between all rows of A and of B: ‖a‖² + ‖b‖² − 2a'b, all three by one product."""
    left = np.column_stack([A, np.einsum("ij,ij->i", A, A), np.ones(len(A))])
    right = np.column_stack([-2.0 * B, np.ones(len(B)), np.einsum("ij,ij->i", B, B)])
    squares = left @ right.T
    return np.maximum(squares, 0.0, out=squares)


def weighted_distances(rows: Rows, centers: Centers, weights: FloatArray) -> FloatArray:
    """‖diag(w)(x − c)‖² for all rows and centres; columns without weight cost nothing."""
    used = np.flatnonzero(weights)
    scale = weights[used]
    return squared_distances(rows.X[:, used] * scale, centers.X[:, used] * scale)


@dataclass(frozen=True)
class GroupSums:
    """Σ φφ', Σ ψψ' and Σ φψ of one group, for each σ and fold (the two leading axes)."""

    gram_x: FloatArray
    gram_y: FloatArray
    cross: FloatArray

    def merge(self, other: GroupSums) -> GroupSums:
        return GroupSums(
            self.gram_x + other.gram_x, self.gram_y + other.gram_y, self.cross + other.cross
        )


@dataclass(frozen=True)
class BasisSums:
    """Everything LSMI needs of the rows, adding over blocks of them."""

    counts: FloatArray
    groups: tuple[GroupSums, ...]

    def merge(self, other: BasisSums) -> BasisSums:
        groups = tuple(a.merge(b) for a, b in zip(self.groups, other.groups, strict=True))
        return BasisSums(self.counts + other.counts, groups)

    def at_sigma(self, index: int) -> BasisSums:
        """The part of one σ."""
        one = slice(index, index + 1)
        groups = (GroupSums(g.gram_x[one], g.gram_y[one], g.cross[one]) for g in self.groups)
        return BasisSums(self.counts, tuple(groups))


def basis_sums(
    rows: Rows,
    centers: Centers,
    sigmas: Sequence[float] | FloatArray,
    phis: Iterable[FloatArray],
) -> BasisSums:
    """The sums of these rows for each σ (with its φ of rows × centres) and fold."""
    empty = _EmptySums(len(sigmas), len(rows.bounds) - 1, centers)
    for s, (sigma, phi) in enumerate(zip(sigmas, phis, strict=True)):
        for g, part in enumerate(centers.slices):
            empty.add(s, g, rows, phi[:, part], centers.psi(rows.y, g, float(sigma)))
    return BasisSums(np.diff(rows.bounds).astype(np.float64), tuple(empty.groups))


def gaussian(distances: FloatArray, sigma: float) -> FloatArray:
    """exp(−d/2σ²) of squared distances."""
    values: FloatArray = exp_array(distances.ravel() * (-0.5 / sigma**2))
    return values.reshape(distances.shape)


class _EmptySums:
    """Arrays that one pass fills."""

    def __init__(self, n_sigmas: int, n_folds: int, centers: Centers) -> None:
        self.groups = []
        for part in centers.slices:
            b = part.stop - part.start
            by = 1 if centers.labels is not None else b
            lead = (n_sigmas, n_folds)
            self.groups.append(
                GroupSums(np.empty((*lead, b, b)), np.empty((*lead, by, by)), np.empty((*lead, b)))
            )

    def add(self, s: int, g: int, rows: Rows, phi: FloatArray, psi: FloatArray) -> None:
        sums = self.groups[g]
        for f in range(len(rows.bounds) - 1):
            part = slice(rows.bounds[f], rows.bounds[f + 1])
            p, q = phi[part], psi[part]
            np.matmul(p.T, p, out=sums.gram_x[s, f])
            np.matmul(q.T, q, out=sums.gram_y[s, f])
            sums.cross[s, f] = (q.T @ p)[0] if q.shape[1] == 1 else (p * q).sum(axis=0)


@dataclass(frozen=True)
class GradientSums:
    """Σ over rows and centres of C_li (x_ik − c_lk)², one number a column."""

    totals: FloatArray

    def merge(self, other: GradientSums) -> GradientSums:
        return GradientSums(self.totals + other.totals)


@dataclass(frozen=True)
class GroupFit:
    """α of one group, and the matrix M = (αα') ∘ (Σ ψψ')/n² of its gradient."""

    alpha: FloatArray
    M: FloatArray


def gradient_sums(
    rows: Rows,
    centers: Centers,
    phi: FloatArray,
    weights: FloatArray,
    sigma: float,
    fits: Sequence[GroupFit],
    n_samples: int,
) -> GradientSums:
    """C = P − Φ ∘ (MΦ) with P = diag(α)(Φ ∘ Ψ)/n; the squares expand into three products."""
    C = np.empty_like(phi)
    for g, (part, fit) in enumerate(zip(centers.slices, fits, strict=True)):
        p = phi[:, part]
        direct = centers.psi(rows.y, g, sigma) * (fit.alpha / n_samples)
        np.multiply(p, direct - p @ fit.M, out=C[:, part])
    used = np.flatnonzero(weights)
    totals = np.zeros(len(weights))
    totals[used] = (
        C.sum(axis=1) @ rows.squares[:, used]
        + C.sum(axis=0) @ centers.squares[:, used]
        - 2.0 * np.einsum("lk,lk->k", C.T @ rows.X[:, used], centers.X[:, used])
    )
    return GradientSums(totals)
