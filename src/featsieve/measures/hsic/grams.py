"""Estimates from whole Gram matrices, and their exact moments under permutations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import factorial, perm, prod

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.measures.hsic.passes import fixed_matrix


def gram_hsic(K: FloatArray, L: FloatArray, estimator: str = "unbiased") -> float:
    """HSIC of two Gram matrices.

    >>> x = np.array([0.0, 1.0, 2.0, 4.0])
    >>> float(gram_hsic(np.outer(x, x), np.outer(x, x), "biased").__round__(4))
    8.5069
    """
    fixed = fixed_matrix(len(K), estimator)
    if not fixed.with_diagonal:
        K, L = without_diagonal(K), without_diagonal(L)
    rows = L.sum(axis=1)
    return float(np.vdot(K, fixed.tile(L, rows, rows, float(rows.sum()))))


def without_diagonal(K: FloatArray) -> FloatArray:
    return K - np.diag(np.diag(K))


@dataclass(frozen=True)
class HSICMoments:
    """An unbiased HSIC with R and its asymptotic variance (P-HSIC eq. 8)."""

    value: float
    R: float
    variance: float


def asymptotic_moments(K: FloatArray, L: FloatArray) -> HSICMoments:
    """Value, R and variance of P-HSIC eq. (8), in O(n²): valid under dependence only."""
    m = len(K)
    value = gram_hsic(K, L)
    K, L = without_diagonal(K), without_diagonal(L)
    k, l = K.sum(axis=1), L.sum(axis=1)  # noqa: E741 - the paper's symbols
    both = (K * L).sum(axis=1)
    h = (m - 2) ** 2 * both + (m - 2) * (both.sum() - K @ l - L @ k) - m * k * l
    h += l.sum() * k + k.sum() * l - k @ l
    R = float(h @ h) / (4 * m * ((m - 1.0) * (m - 2) * (m - 3)) ** 2)
    return HSICMoments(value, R, max(16.0 / m * (R - value**2), 0.0))


def gram_kta(K: FloatArray, L: FloatArray, normalize: bool = False) -> float:
    """Kernel target alignment: tr KL, divided by ‖K‖‖L‖ if ``normalize`` (P-HSIC section 4)."""
    aligned = float(np.vdot(K, L))
    return aligned / float(np.linalg.norm(K) * np.linalg.norm(L)) if normalize else aligned


def centred(K: FloatArray) -> FloatArray:
    """HKH."""
    rows = K.mean(axis=0)
    return K - rows - rows[:, None] + rows.mean()


# The third moment is a sum over patterns π, the ways in which the six indices of three entries
# coincide. A random permutation takes each choice of distinct rows to every other equally often,
# so the moment is Σ_π D_π(K) D_π(L) / (n (n − 1) …), where D_π sums over distinct rows. It follows
# from sums over all rows by inclusion and exclusion; as the rows of a centred matrix add up to 0,
# only eight of those are not 0.
Pattern = tuple[int, ...]  # for each index of a₁₂ a₃₄ a₅₆ the number of its vertex


@dataclass(frozen=True)
class PermutationMoments:
    """Of tr(HKH L) over all n! permutations of L's rows; ``third`` (central) None if not asked."""

    mean: float
    variance: float
    third: float | None = None


def permutation_moments(K: FloatArray, L: FloatArray, *, third: bool = False) -> PermutationMoments:
    """Mean and variance in O(n²), the third moment in O(n³)."""
    n = len(K)
    A, B = centred(K), centred(L)
    first, second = _invariants(A), _invariants(B)
    mean = first[0] * second[0] / (n - 1)
    spread = 2.0 * _spread(n, *first) * _spread(n, *second)
    spread /= (n - 1.0) ** 2 * (n + 1) * (n - 2)
    corner = _corner(n, *first) * _corner(n, *second)
    corner /= (n + 1.0) * n * (n - 1) * (n - 2) * (n - 3)
    variance = float(max(spread + corner, 0.0))
    skew = _third_moment(A, B) - 3.0 * mean * variance - mean**3 if third else None
    return PermutationMoments(float(mean), variance, skew)


def _invariants(A: FloatArray) -> tuple[float, float, float]:
    diagonal = np.diag(A)
    return float(diagonal.sum()), float(np.vdot(A, A)), float(diagonal @ diagonal)


def _spread(n: int, trace: float, squares: float, diagonal: float) -> float:
    return (n - 1) * squares - trace**2


def _corner(n: int, trace: float, squares: float, diagonal: float) -> float:
    return n * (n + 1) * diagonal - (n - 1) * (trace**2 + 2 * squares)


def _third_moment(A: FloatArray, B: FloatArray) -> float:
    """E[(Σ a_ij b_π(i)π(j))³] of two centred matrices."""
    n, table = len(A), _distinct_sums()
    weights = np.array([1.0 / perm(n, size) if size <= n else 0.0 for size in table.sizes])
    return float(weights @ ((table.signs @ _cubic_sums(A)) * (table.signs @ _cubic_sums(B))))


def _cubic_sums(A: FloatArray) -> FloatArray:
    """Sums of products of three entries that need not vanish, in the order of ``_KINDS``."""
    d, squares = np.diag(A), A * A
    trace = d.sum()
    return np.array(
        [
            np.sum(d**3),
            np.vdot(squares, A),
            d @ squares.sum(axis=1),
            d @ A @ d,
            trace * (d @ d),
            np.vdot(A @ A, A),
            trace * squares.sum(),
            trace**3,
        ]
    )


# Vertices, loops and distinct edges of the patterns without a vertex of degree 1.
_KINDS = [(1, 3, 1), (2, 0, 1), (2, 1, 2), (2, 2, 3), (2, 3, 2), (3, 0, 3), (3, 1, 2), (3, 3, 3)]


@dataclass(frozen=True)
class DistinctSums:
    """Each pattern's sum over distinct rows, from the sums over all rows (``_cubic_sums``)."""

    signs: FloatArray
    sizes: tuple[int, ...]


@lru_cache(maxsize=1)
def _distinct_sums() -> DistinctSums:
    patterns = list(_patterns(6))
    kinds = {pattern: kind for pattern in patterns if (kind := _kind(pattern)) is not None}
    signs = np.zeros((len(patterns), len(_KINDS)))
    for row, pattern in enumerate(patterns):
        for coarser, kind in kinds.items():
            signs[row, _KINDS.index(kind)] += _moebius(pattern, coarser)
    return DistinctSums(signs, tuple(max(pattern) + 1 for pattern in patterns))


def _patterns(n_indices: int, head: Pattern = ()) -> Iterator[Pattern]:
    """All set partitions of the indices, vertices numbered as they appear."""
    if len(head) == n_indices:
        yield head
        return
    for vertex in range(max(head, default=-1) + 2):
        yield from _patterns(n_indices, (*head, vertex))


def _kind(pattern: Pattern) -> tuple[int, int, int] | None:
    """Which sum a pattern has over all rows; None where the rows that add up to 0 make it 0."""
    if min(Counter(pattern).values()) < 2:
        return None
    edges = [frozenset(pattern[i : i + 2]) for i in (0, 2, 4)]
    return max(pattern) + 1, sum(len(edge) == 1 for edge in edges), len(set(edges))


def _moebius(finer: Pattern, coarser: Pattern) -> int:
    """The Möbius function of the lattice of partitions; 0 where ``coarser`` is not coarser."""
    merged = set(zip(finer, coarser, strict=True))
    if len(merged) != max(finer) + 1:
        return 0
    sizes = Counter(block for _, block in merged).values()
    return prod((-1) ** (size - 1) * factorial(size - 1) for size in sizes)
