"""Missing cells of a pyarrow table: filled in, or their rows left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featsieve.errors import InputError
from featsieve.io.tidy import is_text


def fill_missing(data: Any, names: Sequence[str]) -> tuple[Any, list[str]]:
    """Medians for numbers and a state of its own for text; and which columns had gaps."""
    filled = []
    for name in names:
        column = data.column(name)
        values = _filled(column)
        if values is not None:
            filled.append(name)
            data = data.set_column(data.column_names.index(name), name, values)
    return data, filled


def _filled(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.fill_null(pc.is_finite(column), False), column, None)
    if not column.null_count:
        return None
    if is_text(column.type):
        text = column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
        return text.fill_null("(missing)")
    median = pc.quantile(column.cast(pa.float64()), 0.5)[0]
    return column.cast(pa.float64()).fill_null(median.as_py() if median.is_valid else 0.0)


def _drop_missing(data: Any) -> Any:
    """The rows without gaps."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in data.column_names:
        column = data.column(name)
        known = pc.is_valid(column)
        if pa.types.is_floating(column.type):
            known = pc.fill_null(pc.is_finite(column), False)
        data = data.filter(known)
    return data


def rows_without_gaps(X: Any) -> tuple[Any, Any]:
    """The rows of a pyarrow table without missing cells, and their numbers."""
    import pyarrow as pa

    row = "featsieve row"
    kept = _drop_missing(X.append_column(row, pa.array(np.arange(X.num_rows))))
    if kept.num_rows < 2:
        raise InputError("fewer than 2 rows have no missing cell; use --missing impute.")
    return kept.drop_columns([row]), kept.column(row).to_numpy()
