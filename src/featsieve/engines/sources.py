"""Cells of sparse matrices and of dataframes, row by row; of arrays see ``memory``."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.engines.base import float_dtype
from featsieve.engines.states import encode_states
from featsieve.input.columns import numeric_values
from featsieve.input.sparse import one_cell_each
from featsieve.input.tables import is_plain_arrow, is_sparse
from featsieve.schema import Schema


class Source(Protocol):
    """Rows and columns on demand, as floats; the container itself is never changed."""

    n_rows: int
    n_columns: int

    @property
    def row_bytes_in_place(self) -> int | None:
        """Bytes per row where rows are handed out without a dense copy; None where they are not."""
        ...

    def rows(self, start: int, stop: int) -> Any:
        """Dense float array, or CSR array, of consecutive rows."""
        ...

    def take(self, rows: IntArray | None, columns: IntArray | None) -> FloatArray:
        """Dense float array of chosen rows and columns (None: all)."""
        ...

    def pick(self, rows: IntArray) -> Any:
        """Dense float array, or CSR array, of chosen rows."""
        ...


class SparseSource:
    """A SciPy sparse matrix or array; blocks stay sparse."""

    def __init__(self, values: Any) -> None:
        self._values = one_cell_each(values)
        self._dtype = float_dtype(values.dtype)
        self.n_rows, self.n_columns = values.shape

    @property
    def row_bytes_in_place(self) -> int | None:
        stored = self._values.data.nbytes + self._values.indices.nbytes
        return -(-stored // max(self.n_rows, 1))

    def rows(self, start: int, stop: int) -> Any:
        """The stored cells are looked at where they are; a slice would copy them."""
        values = self._values
        first, last = values.indptr[start], values.indptr[stop]
        cells = values.data[first:last].astype(self._dtype, copy=False), values.indices[first:last]
        indptr = values.indptr[start : stop + 1] - first
        return type(values)((*cells, indptr), shape=(stop - start, self.n_columns))

    def take(self, rows: IntArray | None, columns: IntArray | None) -> FloatArray:
        values = self._values if rows is None else self._values[rows]
        values = values if columns is None else values[:, columns]
        return np.asarray(values.toarray(), dtype=self._dtype)

    def pick(self, rows: IntArray) -> Any:
        return self._values[rows].astype(self._dtype, copy=False)


class FrameSource:
    """A dataframe of mixed types, kept as one array per column so that only blocks are copied."""

    row_bytes_in_place = None

    def __init__(self, columns: list[Array], is_code: list[bool], n_rows: int) -> None:
        self._columns = columns
        self._is_code = is_code
        self._dtype = (
            np.float32
            if columns and all(c.dtype == np.float32 for c in columns)
            else np.dtype(np.float64)
        )
        self.n_rows, self.n_columns = n_rows, len(columns)

    def rows(self, start: int, stop: int) -> FloatArray:
        return self._assemble(slice(start, stop), stop - start, range(self.n_columns))

    def take(self, rows: IntArray | None, columns: IntArray | None) -> FloatArray:
        chosen: Any = slice(None) if rows is None else rows
        n_rows = self.n_rows if rows is None else len(rows)
        return self._assemble(chosen, n_rows, range(self.n_columns) if columns is None else columns)

    def pick(self, rows: IntArray) -> FloatArray:
        return self.take(rows, None)

    def _assemble(self, rows: Any, n_rows: int, columns: Any) -> FloatArray:
        """Column by column in memory, as the columns are given."""
        out = np.empty((len(columns), n_rows), dtype=self._dtype).T
        for position, column in enumerate(columns):
            values = self._columns[column][rows]
            out[:, position] = values
            if self._is_code[column]:
                out[values < 0, position] = np.nan
        return out


def open_columns(container: Any, schema: Schema) -> Source:
    """A sparse matrix, a dataframe of mixed types, or anything with categories."""
    if isinstance(container, np.ndarray):
        return _frame_source(list(container.T), schema)
    return (_open_sparse if is_sparse(container) else _open_frame)(container, schema)


def _open_sparse(values: Any, schema: Schema) -> Source:
    if not schema.categories:
        return SparseSource(values)
    by_column = values.tocsc()
    return _frame_source(
        [by_column[:, [j]].toarray().ravel() for j in range(values.shape[1])], schema
    )


def _open_frame(frame: Any, schema: Schema) -> Source:
    import narwhals.stable.v2 as nw

    if not type(frame).__module__.startswith("pyarrow"):
        return _frame_source(list(nw.from_native(frame, eager_only=True).iter_columns()), schema)
    # A file comes in many batches: numbers without gaps need no series around them.
    columns = [
        _plain_numbers(values)
        if j not in schema.categories and is_plain_arrow(values)
        else nw.from_native(values, series_only=True)
        for j, values in enumerate(frame.columns)
    ]
    return _frame_source(columns, schema)


def _plain_numbers(values: Any) -> Array:
    """One piece is looked at as it is, several become one."""
    numbers: Array = (values.chunk(0) if values.num_chunks == 1 else values).to_numpy()
    return numbers


def _frame_source(columns: list[Any], schema: Schema) -> FrameSource:
    arrays = [
        encode_states(values, schema.categories[j], schema.names[j])
        if j in schema.categories
        else numeric_values(values)
        for j, values in enumerate(columns)
    ]
    is_code = [j in schema.categories for j in range(len(columns))]
    return FrameSource(arrays, is_code, len(columns[0]) if columns else 0)
