"""Tile sums Σ K_ab M_ab with one accumulator per candidate.

A tile is a pair of row blocks, each given column by column: ``A[c, i]``, ``B[c, j]``. What a column
adds to the argument of the kernel function is its **contribution**: a squared difference, an
absolute difference or a product; for a category code a mismatch (0/1), or a match for products.
The contributions of a set of columns add up; a **link** turns the sum t into a kernel value:
exp(−rate·t) when ``degree`` is 0, else (rate·t + offset)**degree. ``M`` is the fixed matrix of the
design, with twice its value above the diagonal, so that a diagonal tile needs only j ≥ i
(``triangle``)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from featsieve.compiled.exp import LOG2E, exp2
from featsieve.compiled.inlining import called_by_kernels, kernel

SQUARED, ABSOLUTE, PRODUCT = 0, 1, 2

_EXACT = {"contract"}  # exp2 rounds by adding and taking away a constant: no reassociation there
_FAST = {"contract", "reassoc", "nsz"}
_ROWS = 16  # rows of a tile worked on together: their sums and M stay in cache over all candidates

# Most tables have numbers alone, one per unit, and most methods take squared differences: that case
# has kernels of its own, which compile in about half the time of those for all cases.

# The row functions below run over slices from 0 on: an index that numba cannot prove to be
# non-negative would keep their loops from being vectorised.


@called_by_kernels(fastmath=_EXACT)
def add_contribution(
    total: Any, value: Any, others: Any, scale: Any, is_code: bool, form: int
) -> None:
    """total[j] += scale · contribution of one column between ``value`` and ``others[j]``."""
    if is_code:
        matched = scale if form == PRODUCT else scale - scale
        unmatched = scale - matched
        for j in range(others.size):
            total[j] += matched if others[j] == value else unmatched
    elif form == SQUARED:
        for j in range(others.size):
            difference = others[j] - value
            total[j] += scale * (difference * difference)
    elif form == ABSOLUTE:
        for j in range(others.size):
            total[j] += scale * abs(others[j] - value)
    else:
        for j in range(others.size):
            total[j] += scale * (others[j] * value)


@called_by_kernels(fastmath=_EXACT)
def _add_squares_of_one(total: Any, value: Any, others: Any, scale: Any) -> None:
    for j in range(total.size):
        difference = others[j] - value
        total[j] += scale * (difference * difference)


@called_by_kernels(fastmath=_EXACT)
def _add_two_squares(
    total: Any, a: Any, others_a: Any, scale_a: Any, b: Any, others_b: Any, scale_b: Any
) -> None:
    """Two squared differences in one pass: half the loads and stores of two single steps."""
    for j in range(total.size):
        first, second = others_a[j] - a, others_b[j] - b
        total[j] += scale_a * (first * first) + scale_b * (second * second)


@njit(inline="always")
def _unit_row(
    row: Any, i: int, A: Any, B: Any, k: int, begin: int, end: int, is_code: Any, form: int
) -> None:
    """row[j] becomes the contribution of columns begin:end between A's row i and B's row k + j."""
    row[:] = 0
    for c in range(begin, end):
        add_contribution(row, A[c, i], B[c, k:], A.dtype.type(1.0), is_code[c], form)


@called_by_kernels(fastmath=_EXACT)
def _exponential_row(base: Any, sign: Any, row: Any, rate: Any) -> None:
    """row[j] becomes exp(−rate·(base_j + sign·row_j))."""
    slope = -rate * row.dtype.type(LOG2E)
    for j in range(row.size):
        row[j] = exp2(slope * (base[j] + sign * row[j]))


@called_by_kernels(fastmath=_EXACT)
def _gaussian_row(base: Any, sign: Any, value: Any, others: Any, rate: Any, row: Any) -> None:
    """row[j] becomes exp(−rate·(base_j + sign·(others_j − value)²)), all in one pass."""
    slope = -rate * row.dtype.type(LOG2E)
    for j in range(row.size):
        difference = others[j] - value
        row[j] = exp2(slope * (base[j] + sign * (difference * difference)))


@called_by_kernels(fastmath=_EXACT)
def _power_row(base: Any, sign: Any, row: Any, rate: Any, offset: Any, degree: int) -> None:
    """row[j] becomes (rate·(base_j + sign·row_j) + offset)**degree."""
    for j in range(row.size):
        argument = rate * (base[j] + sign * row[j]) + offset
        value = argument
        for _ in range(degree - 1):
            value *= argument
        row[j] = value


@called_by_kernels(fastmath=_FAST)
def _dot(a: Any, b: Any) -> Any:
    acc = a.dtype.type(0.0)
    for j in range(a.size):
        acc += a[j] * b[j]
    return acc


def sum_contributions(A: Any, B: Any, scale: Any, is_code: Any, form: int, triangle: bool) -> Any:
    """t_ij = Σ_c scale_c · contribution_c(i, j); only j ≥ i is filled when ``triangle``."""
    total = np.zeros((A.shape[1], B.shape[1]), A.dtype)
    if form == SQUARED and not is_code.any():
        _add_squares(A, B, scale, triangle, total)
    else:
        _add_contributions(A, B, scale, is_code, form, triangle, total)
    return total


@kernel()
def _add_squares(A: Any, B: Any, scale: Any, triangle: bool, total: Any) -> None:
    n_columns, n_rows = A.shape
    for start in range(0, n_rows, _ROWS):
        stop = min(start + _ROWS, n_rows)
        for c in range(0, n_columns - 1, 2):
            for i in range(start, stop):
                k = i if triangle else 0
                _add_two_squares(
                    total[i, k:], A[c, i], B[c, k:], scale[c],
                    A[c + 1, i], B[c + 1, k:], scale[c + 1],
                )  # fmt: skip
        for c in range(n_columns - n_columns % 2, n_columns):
            for i in range(start, stop):
                k = i if triangle else 0
                _add_squares_of_one(total[i, k:], A[c, i], B[c, k:], scale[c])


@kernel()
def _add_contributions(
    A: Any, B: Any, scale: Any, is_code: Any, form: int, triangle: bool, total: Any
) -> None:
    n_columns, n_rows = A.shape
    for start in range(0, n_rows, _ROWS):
        stop = min(start + _ROWS, n_rows)
        for c in range(n_columns):
            for i in range(start, stop):
                k = i if triangle else 0
                add_contribution(total[i, k:], A[c, i], B[c, k:], scale[c], is_code[c], form)


def candidate_sums(
    A: Any, B: Any, starts: Any, is_code: Any, form: int, base: Any, sign: Any, rates: Any,
    M: Any, offset: Any, degree: int, triangle: bool,
) -> Any:  # fmt: skip
    """Σ_ij link(base_ij + sign·t_ij) M_ij for each unit; t of its columns starts[u]:starts[u + 1].

    ``base`` = 0 and sign 1: each unit alone; sign 1: additions to a set; sign −1: removals.
    """
    row, sums = np.empty(B.shape[1], A.dtype), np.zeros(starts.size - 1)
    if not len(A) and form == SQUARED:  # the base alone: units without columns, or of zeros
        A, B = np.zeros((sums.size, A.shape[1]), A.dtype), np.zeros((sums.size, row.size), A.dtype)
        starts, is_code = np.arange(sums.size + 1), np.zeros(sums.size, np.bool_)
    if not degree and _are_numbers(A, starts, is_code, form):
        _add_gaussian_sums(A, B, base, sign, rates, M, triangle, row, sums)
        return sums
    powers = degree or None  # of None the compiler leaves them out
    _add_candidate_sums(
        A, B, starts, is_code, form, base, sign, rates, M, offset, powers, triangle, row, sums
    )
    return sums


def _are_numbers(A: Any, starts: Any, is_code: Any, form: int) -> bool:
    """Whether each unit is one numeric column, of which squared differences are taken."""
    one_each = starts.size == len(A) + 1 and bool((starts[1:] > starts[:-1]).all())
    return form == SQUARED and one_each and not is_code.any()


@kernel()
def _add_gaussian_sums(
    A: Any, B: Any, base: Any, sign: Any, rates: Any, M: Any, triangle: bool, row: Any, sums: Any
) -> None:
    n_columns, n_rows = A.shape
    for start in range(0, n_rows, _ROWS):
        stop = min(start + _ROWS, n_rows)
        for c in range(n_columns):
            for i in range(start, stop):
                k = i if triangle else 0
                values = row[k:]
                _gaussian_row(base[i, k:], sign, A[c, i], B[c, k:], rates[c], values)
                sums[c] += _dot(values, M[i, k:])


@kernel(no_rewrites=False)  # they tell what a degree of None leaves out
def _add_candidate_sums(
    A: Any, B: Any, starts: Any, is_code: Any, form: int, base: Any, sign: Any, rates: Any,
    M: Any, offset: Any, degree: int | None, triangle: bool, row: Any, sums: Any,
) -> None:  # fmt: skip
    n_rows = A.shape[1]
    for start in range(0, n_rows, _ROWS):
        for u in range(sums.size):
            c = starts[u]
            is_single = degree is None and form == SQUARED and starts[u + 1] == c + 1
            is_single = is_single and not is_code[c]
            for i in range(start, min(start + _ROWS, n_rows)):
                k = i if triangle else 0
                values = row[k:]
                if is_single:
                    _gaussian_row(base[i, k:], sign, A[c, i], B[c, k:], rates[u], values)
                else:
                    _unit_row(values, i, A, B, k, c, starts[u + 1], is_code, form)
                    if degree is None:
                        _exponential_row(base[i, k:], sign, values, rates[u])
                    else:
                        _power_row(base[i, k:], sign, values, rates[u], offset, degree)
                sums[u] += _dot(values, M[i, k:])


@kernel()
def unit_products(
    A: Any, B: Any, starts: Any, is_code: Any, form: int, rates: Any, M: Any, triangle: bool
) -> Any:
    """Σ_ij K_ij M_tij of each unit's exponential kernel with several matrices: t × units."""
    n_rows, nothing = A.shape[1], np.zeros(B.shape[1])
    row, sums = np.empty(B.shape[1]), np.zeros((M.shape[0], starts.size - 1))
    for start in range(0, n_rows, _ROWS):
        for u in range(starts.size - 1):
            c = starts[u]
            is_single = form == SQUARED and starts[u + 1] == c + 1 and not is_code[c]
            for i in range(start, min(start + _ROWS, n_rows)):
                k = i if triangle else 0
                values = row[k:]
                if is_single:
                    _gaussian_row(nothing[k:], 1.0, A[c, i], B[c, k:], rates[u], values)
                else:
                    _unit_row(values, i, A, B, k, c, starts[u + 1], is_code, form)
                    _exponential_row(nothing[k:], 1.0, values, rates[u])
                for t in range(M.shape[0]):
                    sums[t, u] += _dot(values, M[t, i, k:])
    return sums


@kernel()
def contribution_sums(
    A: Any, B: Any, starts: Any, is_code: Any, form: int, P: Any, triangle: bool
) -> Any:
    """Σ_ij P_ij · contribution of each unit: what a gradient for weights is made of."""
    n_rows = A.shape[1]
    row = np.empty(B.shape[1], A.dtype)
    sums = np.zeros(starts.size - 1)
    for start in range(0, n_rows, _ROWS):
        for u in range(sums.size):
            for i in range(start, min(start + _ROWS, n_rows)):
                k = i if triangle else 0
                values = row[k:]
                _unit_row(values, i, A, B, k, starts[u], starts[u + 1], is_code, form)
                sums[u] += _dot(values, P[i, k:])
    return sums


@kernel(no_rewrites=False)
def apply_link(total: Any, rate: Any, offset: Any, degree: int | None) -> None:
    """Turn a tile of summed contributions into kernel values, in place; None: exponentials."""
    nothing = np.zeros(total.shape[1], total.dtype)
    one = total.dtype.type(1.0)
    for i in range(total.shape[0]):
        if degree is None:
            _exponential_row(nothing, one, total[i], rate)
        else:
            _power_row(nothing, one, total[i], rate, offset, degree)


@called_by_kernels(fastmath=_FAST)
def _sum_into(total: Any, row: Any) -> Any:
    """total[j] += row[j]; the sum of the row comes back."""
    acc = row[0] - row[0]
    for j in range(row.size):
        total[j] += row[j]
    for j in range(row.size):
        acc += row[j]
    return acc


@called_by_kernels(fastmath=_EXACT)
def _weighted_exponential_row(total: Any, rate: Any, weights: Any) -> None:
    """total[j] becomes exp(−rate·total_j) · weights_j."""
    slope = -rate * LOG2E
    for j in range(total.size):
        total[j] = exp2(slope * total[j]) * weights[j]


@kernel()
def weighted_exponential(total: Any, rate: Any, M: Any) -> Any:
    """Turn summed contributions into exp(−rate·t) ∘ M, in place; its row and column sums."""
    by_row, by_column = np.empty(total.shape[0]), np.zeros(total.shape[1])
    for i in range(total.shape[0]):
        _weighted_exponential_row(total[i], rate, M[i])
        by_row[i] = _sum_into(by_column, total[i])
    return by_row, by_column


@called_by_kernels(fastmath=_EXACT)
def _add_scaled(total: Any, scale: Any, row: Any) -> None:
    for j in range(total.size):
        total[j] += scale * row[j]


@kernel()
def gaussian_slopes(A: Any, B: Any, rate: Any, M: Any, triangle: bool) -> Any:
    """Of P = exp(−rate·|a − b|²) ∘ M: ΣP, and Σ_b P_ab (a − b) and Σ_a P_ab (b − a).

    One row of P at a time, which stays in the first cache; j < i is left out when ``triangle``.
    """
    of_a, of_b = np.empty_like(A), np.zeros_like(B)
    by_column, row, value = np.zeros(B.shape[1]), np.empty(B.shape[1]), 0.0
    one = A.dtype.type(1.0)
    for i in range(A.shape[1]):
        k = i if triangle else 0
        part = row[k:]
        part[:] = 0.0
        for c in range(A.shape[0]):
            add_contribution(part, A[c, i], B[c, k:], one, False, SQUARED)
        _weighted_exponential_row(part, rate, M[i, k:])
        sum_of_row = _sum_into(by_column[k:], part)
        value += sum_of_row
        for c in range(A.shape[0]):
            of_a[c, i] = sum_of_row * A[c, i] - _dot(part, B[c, k:])
            _add_scaled(of_b[c, k:], -A[c, i], part)
    # A loop: an assignment of arrays would compile the words that say why two shapes do not fit.
    for c in range(A.shape[0]):
        slopes, others = of_b[c], B[c]
        for j in range(others.size):
            slopes[j] += by_column[j] * others[j]
    return value, of_a, of_b


@kernel()
def unit_row_sums(
    A: Any, B: Any, starts: Any, is_code: Any, form: int, rates: Any, triangle: bool
) -> Any:
    """Row sums, column sums and the sum of squares of each unit's exponential kernel.

    All of the tile is summed; a tile off the diagonal stands for two in the sum of squares.
    """
    n_units, n_rows, n_others = starts.size - 1, A.shape[1], B.shape[1]
    by_row, by_column = np.zeros((n_units, n_rows)), np.zeros((n_units, n_others))
    squares, times = np.zeros(n_units), 1.0 if triangle else 2.0
    row, nothing = np.zeros(n_others), np.zeros(n_others)
    for u in range(n_units):
        for i in range(n_rows):
            _unit_row(row, i, A, B, 0, starts[u], starts[u + 1], is_code, form)
            _exponential_row(nothing, 1.0, row, rates[u])
            by_row[u, i] = _sum_into(by_column[u], row)
            squares[u] += times * _dot(row, row)
    return by_row, by_column, squares


def unit_kernels(A: Any, B: Any, starts: Any, is_code: Any, form: int, rates: Any) -> Any:
    """Each unit's exponential kernel between all rows of A and of B: units × rows × rows."""
    values, nothing = np.empty((starts.size - 1, A.shape[1], B.shape[1])), np.zeros(B.shape[1])
    if _are_numbers(A, starts, is_code, form):
        _fill_gaussians(A, B, rates, nothing, values)
    else:
        _fill_unit_kernels(A, B, starts, is_code, form, rates, nothing, values)
    return values


@kernel()
def _fill_gaussians(A: Any, B: Any, rates: Any, nothing: Any, values: Any) -> None:
    n_columns, n_rows = A.shape
    for c in range(n_columns):
        for i in range(n_rows):
            _gaussian_row(nothing, 1.0, A[c, i], B[c], rates[c], values[c, i])


@kernel()
def _fill_unit_kernels(
    A: Any, B: Any, starts: Any, is_code: Any, form: int, rates: Any, nothing: Any, values: Any
) -> None:
    for u in range(values.shape[0]):
        for i in range(values.shape[1]):
            _unit_row(values[u, i], i, A, B, 0, starts[u], starts[u + 1], is_code, form)
            _exponential_row(nothing, 1.0, values[u, i], rates[u])
