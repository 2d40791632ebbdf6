"""Missing cells of a pyarrow table: filled in, or their rows left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featsieve.errors import InputError
from featsieve.io.tidied import is_text, known_values

MISSING_STATE = "(missing)"


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
        column = pc.if_else(known_values(column), column, None)
    if not column.null_count:
        return None
    if is_text(column.type):
        text = column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
        return text.fill_null(usual_value(column))
    return column.cast(pa.float64()).fill_null(usual_value(column))


def usual_value(column: Any) -> Any:
    """What stands for a gap: the median of numbers, and a state of its own for text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if is_text(column.type):
        return MISSING_STATE
    median = pc.quantile(column.filter(known_values(column)).cast(pa.float64()), 0.5)[0]
    return median.as_py() if median.is_valid else 0.0


def _drop_missing(data: Any) -> Any:
    """The rows without gaps."""
    for name in data.column_names:
        data = data.filter(known_values(data.column(name)))
    return data


def rows_without_gaps(X: Any) -> tuple[Any, Any]:
    """The rows of a pyarrow table without missing cells, and their numbers."""
    import pyarrow as pa

    row = "featsieve row"
    kept = _drop_missing(X.append_column(row, pa.array(np.arange(X.num_rows))))
    if kept.num_rows < 2:
        raise InputError("fewer than 2 rows have no missing cell; use --missing impute.")
    return kept.drop_columns([row]), kept.column(row).to_numpy()
