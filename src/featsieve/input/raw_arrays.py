"""Arrays and sparse matrices as a user holds them: their shape, and cells that are no numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featsieve.arrays import Array
from featsieve.errors import InputError
from featsieve.input.parameters import brief
from featsieve.input.refusals import TIMES


def is_sparse(container: Any) -> bool:
    """Whether this is a SciPy sparse container, without importing SciPy to find out."""
    return type(container).__module__.startswith("scipy.sparse")


def unmasked(values: Any) -> Any:
    """A masked array as one in which the masked cells are missing (NaN, or None among objects)."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if not np.ma.is_masked(values):
        return values.data
    is_number = values.dtype.kind in "biuf"
    holed = values.data.astype(np.result_type(values.dtype, np.float16) if is_number else object)
    holed[np.ma.getmaskarray(values)] = np.nan if is_number else None
    return holed


def as_columns(X: Any) -> Any:
    """What the plain functions of measures take: one dimension is one column."""
    values = X if hasattr(X, "shape") else array_of(X)
    if len(getattr(values, "shape", ())) != 1 or hasattr(values, "columns"):
        return X
    column = values if isinstance(values, np.ndarray) else np.asarray(values)
    return column[:, None]


def is_missing(value: Any) -> bool:
    """None, NaN, NaT, pandas.NA: nothing at all, or not equal to itself."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # pandas.NA refuses to be a truth value
        return True


def floats_of(cells: Sequence[Any], what: str) -> Array:
    """Numbers of any Python type as floats; missing ones are NaN."""
    try:
        return np.array([np.nan if is_missing(cell) else float(cell) for cell in cells])
    except OverflowError:
        raise too_large(what) from None


def narrowed(values: Array) -> Array:
    """Long doubles as doubles; what those cannot hold is infinite, and refused as such."""
    if values.dtype.kind != "f" or values.dtype.itemsize <= 8:
        return values
    with np.errstate(over="ignore"):
        return values.astype(np.float64)


def as_floats(values: Any) -> Any:
    """An array of objects as floats, missing ones as NaN; numbers and sparse matrices as they are.

    Objects that are neither, such as mappings, are left to scikit-learn, which refuses them.
    """
    kind = values.dtype.kind if isinstance(values, np.ndarray) else ""
    if kind in tuple("USV"):
        raise InputError(
            f"X is an array of text (its dtype is {values.dtype}); give X.astype(float) if it "
            "holds numbers, or a dataframe, in which columns of text are categories."
        )
    if kind != "O":
        return values
    try:
        return values.astype(np.float64)
    except OverflowError:
        raise too_large("the table") from None
    except ValueError as error:
        raise InputError(
            f"X is an array of objects of which some are not numbers ({error}); give a dataframe, "
            "in which columns of text are categories, or numbers."
        ) from None
    except TypeError:
        holed = values.copy()
        holed[[[is_missing(cell) for cell in row] for row in values]] = np.nan
        return holed


def too_large(what: str) -> InputError:
    return InputError(
        f"{what} holds a whole number that is too large for a floating-point number (above "
        "1.8e308); divide by a constant, or take logarithms."
    )


# --- sparse ---------------------------------------------------------------------------------------


def one_cell_each(matrix: Any) -> Any:
    """A CSR matrix in which each cell is stored once: duplicates are added up, in a copy.

    Squares and products of stored values are not those of cells that are stored in parts.
    """
    import scipy.sparse as sp

    refuse_damaged(matrix)
    rows = sp.csr_array(matrix)
    if rows.has_canonical_format:
        return rows
    summed = rows.copy()
    summed.sum_duplicates()
    return summed


def refuse_damaged(matrix: Any) -> None:
    """SciPy looks only when a matrix is made; compiled code would read foreign memory."""
    if matrix.format in ("csr", "csc"):
        starts, width = matrix.indptr, matrix.shape[matrix.format == "csr"]
        n_cells = min(len(matrix.indices), len(matrix.data))
        is_sound = starts[0] == 0 and starts[-1] <= n_cells and bool((np.diff(starts) >= 0).all())
        is_sound = is_sound and _are_below(matrix.indices, width)
    elif matrix.format == "coo":
        is_sound = all(map(_are_below, (matrix.row, matrix.col), matrix.shape))
    else:
        return
    if not is_sound:
        raise InputError(
            "the sparse matrix X is damaged: its indices lie outside its shape "
            f"{matrix.shape}; make it again from its cells."
        )


def _are_below(indices: Array, limit: int) -> bool:
    return not len(indices) or bool(indices.min() >= 0 and indices.max() < limit)


# --- what is refused ------------------------------------------------------------------------------


def require_matrix(X: Any) -> Any:
    """X as rows and columns of cells that may be numbers; else one sentence."""
    if isinstance(X, np.matrix):
        return X  # scikit-learn has the words for it
    values = X if hasattr(X, "dtype") and hasattr(X, "shape") else array_of(X)
    if values is None:
        raise InputError(
            f"X is of the type {type(X).__name__} and not a table, or its rows differ in length; "
            "give every row one cell for each column."
        )
    if getattr(values.dtype, "names", None):
        raise InputError(
            "X is an array of records, whose fields are not columns; give pandas.DataFrame(X)."
        )
    _require_two_dimensions(X, tuple(values.shape))
    if getattr(values.dtype, "kind", "") == "c":
        raise InputError(
            "Complex data not supported: X holds complex numbers, which have no order; give "
            "X.real, X.imag or abs(X)."
        )
    if is_sparse(values):
        refuse_damaged(values)
    if holds_times(values):
        raise InputError(
            "the table holds dates or times, which are not numbers; convert them, for example to "
            "days since a date, or drop them."
        )
    return values


def _require_two_dimensions(X: Any, shape: tuple[int, ...]) -> None:
    if not shape:
        raise InputError(
            f"X is {brief(X)}, which is not a table; give an array, a sparse matrix or a dataframe "
            "of rows and columns."
        )
    if len(shape) == 1:
        raise InputError(
            f"Expected 2D array, but X has the shape {shape}. Reshape your data: X.reshape(-1, 1) "
            "or X.to_frame() for one column, X.reshape(1, -1) for one row."
        )
    if len(shape) > 2:
        raise InputError(
            f"X is an array of {len(shape)} dimensions and shape {shape}; give a table of rows and "
            "columns, such as X.reshape(len(X), -1)."
        )


def array_of(values: Any) -> Array | None:
    """None where NumPy finds no array."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError):
        return None


def holds_times(values: Any) -> bool:
    """Of Dask arrays and sparse matrices, the dtype alone tells."""
    kind = getattr(values.dtype, "kind", "")
    if kind != "O" or not isinstance(values, np.ndarray):
        return kind in tuple("mM")
    return any(isinstance(v, TIMES) or _is_period(v) for v in values.ravel().tolist())


def _is_period(value: Any) -> bool:
    return type(value).__name__ == "Period"
