"""Rows and columns handed back in the container and with the dtypes that they came in."""

from __future__ import annotations

from typing import Any

import numpy as np

from featsieve.arrays import IntArray
from featsieve.errors import InputError
from featsieve.input.tables import column_names, is_dask, is_frame, is_sparse


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
    if not len(columns) and hasattr(container, "iloc"):
        return container.iloc[:, []]  # pandas keeps its rows without columns
    import narwhals.stable.v2 as nw

    frame = nw.from_native(container, eager_only=True)
    names = frame.columns
    if isinstance(names[0], str):  # by position, an empty name would become another
        return frame.select([names[j] for j in columns]).to_native()
    return frame[:, columns.tolist()].to_native()


def restore_columns(container: Any, columns: IntArray, names: list[str]) -> Any:
    """The inverse of :func:`select_columns`: dropped columns come back as zeros."""
    if is_dask(container):
        return _restore_dask(container, columns, names)
    if isinstance(container, np.ndarray):
        zeros = np.ma.zeros if isinstance(container, np.ma.MaskedArray) else np.zeros
        out = zeros((container.shape[0], len(names)), dtype=container.dtype)
        out[:, columns] = container
        return out
    return _restore_frame(container, columns, names)


def restore_sparse(container: Any, columns: IntArray, n_columns: int) -> Any:
    """Sparse in, sparse out: the selected columns go back to where they were."""
    cells = container.tocoo()
    shape = (container.shape[0], n_columns)
    if hasattr(cells, "coords"):
        row, column = cells.coords
    else:
        row, column = cells.row, cells.col
    placed = type(cells)((cells.data, (row, np.asarray(columns)[column])), shape=shape)
    return placed.asformat(container.format)


def _has_names_of_other_kinds(container: Any) -> bool:
    """Numbers, dates or tuples, as pandas allows; in their place come those of an array."""
    names = column_names(container) or [""]
    return not isinstance(names[0], str)


def _restore_frame(container: Any, columns: IntArray, names: list[str]) -> Any:
    import narwhals.stable.v2 as nw

    selected = [names[j] for j in columns]
    if _has_names_of_other_kinds(container):
        container = container.set_axis(selected, axis=1)
    frame = nw.from_native(container, eager_only=True)
    if list(frame.columns) != selected:
        raise InputError(
            "inverse_transform was given columns "
            f"{list(frame.columns)[:5]}, but it takes the selected ones in their order; "
            "pass what transform returned."
        )
    kept = set(selected)
    zeros = [nw.lit(0.0).alias(name) for name in names if name not in kept]
    return frame.with_columns(*zeros).select(names).to_native()


def _restore_dask(container: Any, columns: IntArray, names: list[str]) -> Any:
    if hasattr(container, "columns"):
        if _has_names_of_other_kinds(container):
            new = (names[j] for j in columns)
            container = container.rename(columns=dict(zip(container.columns, new, strict=True)))
        kept = set(container.columns)
        return container.assign(**{n: 0.0 for n in names if n not in kept})[names]
    import dask.array as da

    zero = da.zeros((container.shape[0], 1), chunks=(container.chunks[0], 1), dtype=container.dtype)
    position = {int(column): p for p, column in enumerate(columns)}
    parts = [container[:, [position[j]]] if j in position else zero for j in range(len(names))]
    return da.concatenate(parts, axis=1)
