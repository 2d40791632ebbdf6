"""Sparse matrices as users hold them: cells stored in parts, and matrices that are damaged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from featsieve.arrays import Array
from featsieve.errors import InputError


def one_cell_each(matrix: Any) -> Any:
    """A CSR matrix in which each cell is stored once: duplicates are added up, in a copy.

    Squares and products of stored values are not those of cells that are stored in parts.
    """
    import scipy.sparse as sp

    refuse_damaged(matrix)
    rows = sp.csr_array(matrix)
    if not rows.data.dtype.isnative:  # SciPy makes such matrices, and then knows no such dtype
        rows = sp.csr_array(
            (rows.data.astype(rows.data.dtype.newbyteorder("=")), rows.indices, rows.indptr),
            shape=rows.shape,
        )
    if rows.has_canonical_format:
        return rows
    summed = rows.copy()
    summed.sum_duplicates()
    return summed


def refuse_damaged(matrix: Any) -> None:
    """SciPy looks only when a matrix is made; compiled code would read foreign memory."""
    if not is_sound(matrix):
        raise InputError(
            "the sparse matrix X is damaged: its indices do not fit its shape "
            f"{matrix.shape}; make it again from its cells."
        )


def is_sound(matrix: Any) -> bool:
    """SciPy's own check leaves out most of a matrix that says that it stores nothing."""
    check = _SOUND.get(matrix.format)
    return check is None or check(matrix)


def _is_sound_by_lines(matrix: Any) -> bool:
    """Rows, columns, or rows of blocks, one after the other."""
    height, width = getattr(matrix, "blocksize", (1, 1))
    n_lines, n_places = matrix.shape[0] // height, matrix.shape[1] // width
    if matrix.format == "csc":
        n_lines, n_places = n_places, n_lines
    starts, n_cells = matrix.indptr, min(len(matrix.indices), len(matrix.data))
    if len(starts) != n_lines + 1 or starts[0] != 0 or starts[-1] > n_cells:
        return False
    return bool((starts[1:] >= starts[:-1]).all()) and _are_below(matrix.indices, n_places)


def _is_sound_by_cells(matrix: Any) -> bool:
    return all(map(_are_below, (matrix.row, matrix.col), matrix.shape))


def _is_sound_by_lists(matrix: Any) -> bool:
    """The lists of a row say where its cells are, and what they hold."""
    lengths = [list(map(len, lists)) for lists in (matrix.rows, matrix.data)]
    is_inside = (_are_below(np.asarray(row), matrix.shape[1]) for row in matrix.rows)
    return lengths[0] == lengths[1] and all(is_inside)


def _are_below(indices: Array, limit: int) -> bool:
    return not len(indices) or bool(indices.min() >= 0 and indices.max() < limit)


_SOUND: dict[str, Callable[[Any], bool]] = {
    "csr": _is_sound_by_lines,
    "csc": _is_sound_by_lines,
    "bsr": _is_sound_by_lines,
    "coo": _is_sound_by_cells,
    "lil": _is_sound_by_lists,
}
