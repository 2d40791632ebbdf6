"""Tables as a user holds them: which container, what shape, and cells that are not numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from featsieve.arrays import Array
from featsieve.errors import InputError, MemoryBudgetError
from featsieve.input.parameters import brief, format_bytes
from featsieve.input.refusals import TIMES, no_columns
from featsieve.input.sparse import refuse_damaged
from featsieve.runtime.user_warnings import warn_user

BYTES_PER_COLUMN = 150  # of a table without rows: its name, its unit, its place
SPARE_MEMORY = 200_000_000  # that a process may take beyond its limit
LARGEST_EXACT = 1 << 53  # integers beyond are not told apart by floating-point numbers
UNREAD = {
    ("polars", "LazyFrame"): "collect",
    ("pyarrow", "RecordBatchReader"): "read_all",
    ("pyarrow", "InMemoryDataset"): "to_table",
    ("pyarrow", "FileSystemDataset"): "to_table",
    ("pyarrow", "UnionDataset"): "to_table",
    ("dask", "Bag"): "to_dataframe",
    ("dask", "Delayed"): "compute",
    ("dask", "DelayedLeaf"): "compute",
    ("dask", "Series"): "to_frame",
}


def is_sparse(container: Any) -> bool:
    """Whether this is a SciPy sparse container, without importing SciPy to find out."""
    return type(container).__module__.startswith("scipy.sparse")


def is_frame(container: Any) -> bool:
    """pandas, polars or pyarrow table."""
    if isinstance(container, np.ndarray):  # narwhals would look through all its plugins
        return False
    import narwhals.stable.v2 as nw

    return isinstance(nw.from_native(container, pass_through=True, eager_only=True), nw.DataFrame)


def is_dask(container: Any) -> bool:
    """A Dask array or dataframe, found without importing Dask."""
    return type(container).__module__.partition(".")[0] in {"dask", "dask_expr"} and hasattr(
        container, "__dask_graph__"
    )


def is_batch(container: Any) -> bool:
    """A record batch of Arrow, which has columns, but is not a table for narwhals."""
    kind = type(container)
    return kind.__name__ == "RecordBatch" and kind.__module__.startswith("pyarrow")


def column_names(container: Any) -> list[str] | None:
    """The names a container carries, or None for one without names."""
    if isinstance(container, type):  # pandas.DataFrame, where an object of it was meant
        return None
    names = getattr(container, "column_names", None)  # pyarrow
    if names is None:
        names = getattr(container, "columns", None)
    return None if names is None else list(names)


def numbered_names(n_columns: int, memory_limit: int) -> tuple[str, ...]:
    """x0, x1, … of an array's columns, if there are any and the names alone fit the memory."""
    if not n_columns:
        raise no_columns()
    if n_columns * BYTES_PER_COLUMN > memory_limit + SPARE_MEMORY:
        raise MemoryBudgetError(
            f"the table has {n_columns} columns, whose names alone need "
            f"{format_bytes(n_columns * BYTES_PER_COLUMN)}, but memory_limit is "
            f"{format_bytes(memory_limit)}; raise memory_limit, or give fewer columns."
        )
    return x_names(n_columns)


@lru_cache(maxsize=8)
def x_names(n_columns: int) -> tuple[str, ...]:
    """x0, x1, …: fit after fit on a wide table they are made once."""
    return tuple(f"x{j}" for j in range(n_columns))


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
    except (TypeError, ArithmeticError):  # pandas.NA is no truth value, Decimal('sNaN') a signal
        return True
    except ValueError:  # an array in a cell
        return False


def floats_of(cells: Sequence[Any], what: str) -> Array:
    """Numbers of any Python type as floats; missing ones are NaN."""
    try:
        floats = np.array([np.nan if is_missing(cell) else float(cell) for cell in cells])
    except OverflowError:
        raise too_large(what) from None
    if any(cells[at] != 0 for at in np.flatnonzero(floats == 0.0).tolist()):
        raise _too_small(what)
    return floats


def narrowed(values: Array) -> Array:
    """Long doubles as doubles; what is too large for those is infinite, and refused as such."""
    if values.dtype.kind != "f" or values.dtype.itemsize <= 8:
        return values
    with np.errstate(over="ignore", under="ignore"):
        doubles = values.astype(np.float64)
    if values[doubles == 0.0].any():
        raise _too_small("a long double column")
    return doubles


def as_floats(values: Any) -> Any:
    """An array of objects as floats, missing ones as NaN; numbers and sparse matrices as they are.

    Objects that are neither, such as mappings, are left to scikit-learn, which refuses them.
    """
    kind = values.dtype.kind if isinstance(values, np.ndarray) else ""
    if kind in tuple("USTV"):
        raise InputError(
            f"X is an array of text (its dtype is {values.dtype}); give X.astype(float) if it "
            "holds numbers, or a dataframe, in which columns of text are categories."
        )
    if kind != "O":
        return values
    try:
        floats = values.astype(np.float64)
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
    if (values[floats == 0.0] != 0).any():
        raise _too_small("the table")
    return floats


def _too_small(what: str) -> InputError:
    """Rounded to zero, different numbers would be equal."""
    return InputError(
        f"{what} holds a number that is too small for a floating-point number (below 4.9e-324); "
        "multiply by a constant, or take logarithms."
    )


def too_large(what: str) -> InputError:
    return InputError(
        f"{what} holds an integer that is too large for a floating-point number (above "
        "1.8e308); divide by a constant, or take logarithms."
    )


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


def refuse_other_than_tables(X: Any, y: Any) -> None:
    """What is not a table in memory, or has no target in memory."""
    if isinstance(X, Mapping) and not is_sparse(X):  # a DOK matrix is both
        raise InputError(
            "X is a mapping of columns; make it a table first, such as pandas.DataFrame(X)."
        )
    if isinstance(y, str):  # a name is a target only where the table stays on the disk
        raise InputError(
            f"the target y is {y!r}, but X is in memory: give its values, X.drop(columns={y!r}) as "
            f"X and X[{y!r}] as y; a name is enough with open_parquet."
        )


def refuse_unread(container: Any) -> None:
    """A lazy frame of polars is a plan for rows that are not there yet, and others are like it."""
    kind = type(container)
    package = kind.__module__.partition(".")[0].removesuffix("_expr")  # dask_expr was dask once
    call = UNREAD.get((package, kind.__name__))
    if call is not None:
        raise InputError(
            f"the table is of the type {kind.__name__}, whose rows have not been read; call "
            f".{call}() first, or use open_parquet for a file larger than memory."
        )


def is_plain_arrow(values: Any) -> bool:
    """Whether a column of Arrow is numbers without gaps, as NumPy has them."""
    import pyarrow.types as types

    is_number = types.is_floating(values.type) or types.is_integer(values.type)
    return is_number and values.num_chunks > 0 and not values.null_count


def has_flat_memory(frame: Any) -> bool:
    """Whether pandas keeps the frame as one float array, so that ``to_numpy`` copies nothing."""
    blocks = getattr(getattr(frame, "_mgr", None), "blocks", ())
    return len(blocks) == 1 and frame.dtypes.iloc[0] in (np.float64, np.float32)


# --- integers that floating-point numbers round ---------------------------------------------------


def is_rounded(values: Array) -> bool:
    """Whether some of these numbers are integers that a float cannot hold.

    >>> is_rounded(np.array([2**53])), is_rounded(np.array([-(2**53) - 1]))
    (False, True)
    """
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not values.size:
        return False
    return int(values.max()) > LARGEST_EXACT or int(values.min()) < -LARGEST_EXACT


def rounded_columns(container: Any) -> frozenset[int]:
    """The columns of a table in memory, or of a part of one, that hold such integers."""
    if is_sparse(container):
        if not is_rounded(container.data):
            return frozenset()
        cells = container.tocoo()
        beyond = (cells.data > LARGEST_EXACT) | (cells.data < -LARGEST_EXACT)
        return frozenset(np.unique(cells.coords[1][beyond]).tolist())
    if isinstance(container, np.ndarray):
        if not is_rounded(container):
            return frozenset()
        return frozenset(j for j, column in enumerate(container.T) if is_rounded(column))
    return _rounded_in_frame(container)


def _rounded_in_frame(frame: Any) -> frozenset[int]:
    import narwhals.stable.v2 as nw

    wrapped = nw.from_native(frame, eager_only=True)
    wide = (nw.Int64, nw.UInt64, nw.Int128, nw.UInt128)
    columns = [(j, name) for j, (name, kind) in enumerate(wrapped.schema.items()) if kind in wide]
    return frozenset(j for j, name in columns if _is_beyond(wrapped.get_column(name)))


def _is_beyond(column: Any) -> bool:
    if column.len() == column.null_count():
        return False
    return int(column.max()) > LARGEST_EXACT or int(column.min()) < -LARGEST_EXACT


def warn_rounded(names: Iterable[str]) -> None:
    """One warning for all columns whose last digits are lost."""
    if listed := [repr(name) for name in names]:
        more = f" (and {len(listed) - 3} more)" if len(listed) > 3 else ""
        warn_user(
            f"{', '.join(listed[:3])}{more}: integers beyond 2^53 lose their last digits as "
            "floating-point numbers; drop identifiers or name them in categorical_features, or "
            "subtract a constant."
        )
