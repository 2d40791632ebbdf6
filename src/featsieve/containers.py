"""Columns out of, and back into, whatever container the user gave."""

from __future__ import annotations

from typing import Any

import numpy as np

from featsieve.errors import InputError
from featsieve.schema import Array, IntArray


def is_frame(container: Any) -> bool:
    """pandas, polars or pyarrow table."""
    import narwhals.stable.v2 as nw

    return isinstance(nw.from_native(container, pass_through=True, eager_only=True), nw.DataFrame)


def refuse_unread(container: Any) -> None:
    """A lazy frame of polars is a plan for rows that are not there yet."""
    kind = type(container)
    if kind.__module__.startswith("polars") and kind.__name__ == "LazyFrame":
        raise InputError(
            "the table is a LazyFrame, whose rows have not been read; call .collect() first, or "
            "use open_parquet for a file larger than memory."
        )


def is_dask(container: Any) -> bool:
    """A Dask array or dataframe, found without importing Dask."""
    return type(container).__module__.partition(".")[0] in {"dask", "dask_expr"} and hasattr(
        container, "__dask_graph__"
    )


def is_sparse(container: Any) -> bool:
    """Whether this is a SciPy sparse container, without importing SciPy to find out."""
    return type(container).__module__.startswith("scipy.sparse")


def numeric_values(column: Any) -> Array:
    """A numeric column without a copy where possible; nulls become NaN."""
    if isinstance(column, np.ndarray):
        return column
    import narwhals.stable.v2 as nw

    if column.dtype == nw.Object or column.dtype.is_decimal():
        return np.array([np.nan if v is None else float(v) for v in column.to_list()])
    if column.null_count():
        column = column.cast(nw.Float64)
    return np.asarray(column.to_numpy())


def column_names(container: Any) -> list[str] | None:
    """The names a container carries, or None for one without names."""
    names = getattr(container, "column_names", None)  # pyarrow
    if names is None:
        names = getattr(container, "columns", None)
    return None if names is None else list(names)


def select_rows(values: Any, rows: IntArray) -> Any:
    """These rows of a target, in the same container (a list becomes an array)."""
    import narwhals.stable.v2 as nw

    wrapped = nw.from_native(values, pass_through=True, eager_only=True, allow_series=True)
    if isinstance(wrapped, (nw.Series, nw.DataFrame)):
        return wrapped[rows].to_native()
    return values[rows] if is_sparse(values) else np.asarray(values)[rows]


def select_columns(container: Any, columns: IntArray) -> Any:
    """These columns, in the same container with the same dtypes."""
    if is_dask(container) and hasattr(container, "columns"):
        return container[[container.columns[j] for j in columns]]
    if isinstance(container, np.ndarray) or not is_frame(container):
        return container[:, columns]
    import narwhals.stable.v2 as nw

    frame = nw.from_native(container, eager_only=True)
    names = frame.columns
    return frame.select([names[j] for j in columns]).to_native()


def restore_columns(container: Any, columns: IntArray, names: list[str]) -> Any:
    """The inverse of :func:`select_columns`: dropped columns come back as zeros."""
    if is_dask(container):
        return _restore_dask(container, columns, names)
    if isinstance(container, np.ndarray):
        out = np.zeros((container.shape[0], len(names)), dtype=container.dtype)
        out[:, columns] = container
        return out
    return _restore_frame(container, columns, names)


def restore_sparse(container: Any, columns: IntArray, n_columns: int) -> Any:
    """Sparse in, sparse out: the selected columns go back to their places."""
    found = container.tocoo()
    shape = (container.shape[0], n_columns)
    if hasattr(found, "coords"):
        row, column = found.coords
    else:
        row, column = found.row, found.col
    placed = type(found)((found.data, (row, np.asarray(columns)[column])), shape=shape)
    return placed.asformat(container.format)


def _restore_frame(container: Any, columns: IntArray, names: list[str]) -> Any:
    import narwhals.stable.v2 as nw

    frame = nw.from_native(container, eager_only=True)
    if list(frame.columns) != [names[j] for j in columns]:
        raise InputError(
            "inverse_transform was given columns "
            f"{list(frame.columns)[:5]}, but it takes the selected ones in their order; "
            "pass what transform returned."
        )
    kept = {names[j] for j in columns}
    zeros = [nw.lit(0.0).alias(name) for name in names if name not in kept]
    return frame.with_columns(*zeros).select(names).to_native()


def _restore_dask(container: Any, columns: IntArray, names: list[str]) -> Any:
    if hasattr(container, "columns"):
        kept = set(container.columns)
        return container.assign(**{n: 0.0 for n in names if n not in kept})[names]
    import dask.array as da

    zero = da.zeros((container.shape[0], 1), chunks=(container.chunks[0], 1), dtype=container.dtype)
    place = {int(column): position for position, column in enumerate(columns)}
    parts = [container[:, [place[j]]] if j in place else zero for j in range(len(names))]
    return da.concatenate(parts, axis=1)


def as_columns(X: Any) -> Any:
    """What the plain functions of measures take: a 1-D array or list is one column."""
    values = X if hasattr(X, "shape") else np.asarray(X)
    return values[:, None] if isinstance(values, np.ndarray) and values.ndim == 1 else values
