"""The same cells in every container that a user may hold them in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

WORDS = np.array(["low", "middle", "top"])  # sorted, so that codes keep their order
ROWS_PER_PART = 7


def _names(X: Any) -> list[str]:
    return [f"c{j}" for j in range(X.shape[1])]


def _columns(X: Any, coded: Sequence[int]) -> dict[str, Any]:
    """One contiguous array per column; those that hold codes become words."""
    return {
        name: WORDS[X[:, j].astype(int)] if j in coded else np.ascontiguousarray(X[:, j])
        for j, name in enumerate(_names(X))
    }


# --- arrays --------------------------------------------------------------------------------------


def _strided(X: Any) -> Any:
    wide = np.zeros((2 * len(X), 2 * X.shape[1]), dtype=X.dtype)
    wide[::2, ::2] = X
    return wide[::2, ::2]


def _backwards(X: Any) -> Any:
    return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]


def _read_only(X: Any) -> Any:
    X = X.copy()
    X.setflags(write=False)
    return X


def _swapped_bytes(X: Any) -> Any:
    return X.astype(X.dtype.newbyteorder())


def _subclass(X: Any) -> Any:
    return X.copy().view(type("Subclass", (np.ndarray,), {}))


ARRAYS: dict[str, Callable[[Any], Any]] = {
    "array": np.ascontiguousarray,
    "fortran": np.asfortranarray,
    "strided": _strided,
    "backwards": _backwards,
    "read-only": _read_only,
    "swapped bytes": _swapped_bytes,
    "subclass": _subclass,
    "objects": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
}


# --- sparse --------------------------------------------------------------------------------------


def _long_indices(X: Any) -> Any:
    matrix = sp.csr_array(X)
    matrix.indices, matrix.indptr = (
        matrix.indices.astype(np.int64),
        matrix.indptr.astype(np.int64),
    )
    return matrix


def _unsorted(X: Any) -> Any:
    """Each row's cells from right to left."""
    matrix = sp.csr_array(X)
    for a, b in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        matrix.indices[a:b], matrix.data[a:b] = matrix.indices[a:b][::-1], matrix.data[a:b][::-1]
    matrix.has_sorted_indices = False
    return matrix


def _stored_zeros(X: Any) -> Any:
    rows, columns = np.indices(X.shape).reshape(2, -1)
    starts = X.shape[1] * np.arange(len(X) + 1)
    return sp.csr_array((X[rows, columns], columns, starts), shape=X.shape)


SPARSE: dict[str, Callable[[Any], Any]] = {
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "coo": sp.coo_array,
    "lil": sp.lil_array,
    "dok": sp.dok_array,
    "bsr": sp.bsr_array,
    "dia": sp.dia_array,
    "csr matrix": sp.csr_matrix,
    "csc matrix": sp.csc_matrix,
    "long indices": _long_indices,
    "unsorted": _unsorted,
    "stored zeros": _stored_zeros,
}


# --- dataframes ----------------------------------------------------------------------------------


def _pandas(X: Any, coded: Sequence[int]) -> Any:
    import pandas as pd

    frame = pd.DataFrame(_columns(X, coded))
    return frame.astype({f"c{j}": "category" for j in coded})


def _other_index(X: Any, coded: Sequence[int]) -> Any:
    return _pandas(X, coded).set_index(np.arange(len(X))[::-1] % 3)


def _pandas_words(X: Any, coded: Sequence[int]) -> Any:
    import pandas as pd

    return pd.DataFrame(_columns(X, coded)).astype({f"c{j}": "string" for j in coded})


def _nullable(X: Any, coded: Sequence[int]) -> Any:
    return _pandas(X, coded).convert_dtypes()


def _arrow_backed(X: Any, coded: Sequence[int]) -> Any:
    return _pandas_words(X, coded).convert_dtypes(dtype_backend="pyarrow")


def _sparse_columns(X: Any, coded: Sequence[int]) -> Any:
    import pandas as pd

    frame = _pandas(X, coded)
    numbers = [name for j, name in enumerate(frame) if j not in coded]
    return frame.astype({name: pd.SparseDtype(frame[name].dtype) for name in numbers})


def _polars(X: Any, coded: Sequence[int]) -> Any:
    import polars as pl

    frame = pl.DataFrame(_columns(X, coded))
    return frame.with_columns(pl.col([f"c{j}" for j in coded]).cast(pl.Categorical))


def _polars_enum(X: Any, coded: Sequence[int]) -> Any:
    import polars as pl

    frame = pl.DataFrame(_columns(X, coded))
    return frame.with_columns(pl.col([f"c{j}" for j in coded]).cast(pl.Enum(WORDS.tolist())))


def _polars_parts(X: Any, coded: Sequence[int]) -> Any:
    import polars as pl

    frame = pl.DataFrame(_columns(X, coded))
    return pl.concat([frame[a : a + ROWS_PER_PART] for a in range(0, len(X), ROWS_PER_PART)])


def _pyarrow(X: Any, coded: Sequence[int]) -> Any:
    import pyarrow as pa

    table = pa.table(_columns(X, coded))
    for j in coded:
        table = table.set_column(j, f"c{j}", table.column(j).dictionary_encode())
    return table


def _pyarrow_parts(X: Any, coded: Sequence[int]) -> Any:
    import pyarrow as pa

    columns = _columns(X, coded)
    parts = [
        pa.table({name: column[a : a + ROWS_PER_PART] for name, column in columns.items()})
        for a in range(0, len(X), ROWS_PER_PART)
    ]
    return pa.concat_tables(parts)


def _dask_frame(X: Any, coded: Sequence[int]) -> Any:
    import dask.dataframe as dd

    return dd.from_pandas(_pandas(X, coded), npartitions=2, sort=False)


FRAMES: dict[str, Callable[[Any, Sequence[int]], Any]] = {
    "pandas": _pandas,
    "other index": _other_index,
    "pandas words": _pandas_words,
    "nullable": _nullable,
    "arrow-backed": _arrow_backed,
    "sparse columns": _sparse_columns,
    "polars": _polars,
    "polars enum": _polars_enum,
    "polars parts": _polars_parts,
    "pyarrow": _pyarrow,
    "pyarrow parts": _pyarrow_parts,
    "dask frame": _dask_frame,
}


def _dask_array(X: Any) -> Any:
    import dask.array as da

    return da.from_array(np.ascontiguousarray(X), chunks=(ROWS_PER_PART, 2))


CONTAINERS = (*ARRAYS, *FRAMES, *SPARSE, "dask array")


def contain(name: str, X: Any, coded: Sequence[int] = ()) -> Any:
    """The cells of X in this container; a dataframe has words where X has codes."""
    if name in FRAMES:
        return FRAMES[name](X.astype(_common_type(X.dtype)), coded)
    if name in SPARSE:
        return SPARSE[name](X.astype(_common_type(X.dtype)))
    return _dask_array(X) if name == "dask array" else ARRAYS[name](X)


def _common_type(dtype: Any) -> Any:
    """Halves and long doubles are for arrays only."""
    if dtype.kind != "f":
        return dtype
    return np.float32 if dtype == np.float32 else np.float64


def holds_words(name: str) -> bool:
    """Whether codes have become words, so that the types tell which columns are categories."""
    return name in FRAMES


def unchanged(before: Any, after: Any) -> bool:
    return all(_equal(a, b) for a, b in zip(before, after, strict=True))


def _equal(a: Any, b: Any) -> bool:
    if sp.issparse(a):
        return a.format == b.format and a.dtype == b.dtype and _same_sparse_cells(a, b)
    if hasattr(a, "compute"):
        return _equal(a.compute(), b.compute())
    if hasattr(a, "equals"):  # dataframes and series of all libraries
        return bool(a.equals(b)) or (
            hasattr(a, "to_pandas") and _equal(a.to_pandas(), b.to_pandas())
        )
    if hasattr(a, "dtype"):
        return a.dtype == b.dtype and _same_cells(a, b)
    return repr(a) == repr(b)


def _same_sparse_cells(a: Any, b: Any) -> bool:
    a, b = a.tocoo(), b.tocoo()
    pairs = ((a.row, b.row), (a.col, b.col), (a.data, b.data))
    return a.shape == b.shape and all(_same_cells(*pair) for pair in pairs)


def _same_cells(a: Any, b: Any) -> bool:
    if a.dtype == object:
        return repr(a.tolist()) == repr(b.tolist())
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
