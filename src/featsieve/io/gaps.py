"""Missing cells of a pyarrow table: filled in, or their rows left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featsieve.errors import InputError
from featsieve.input.tables import LARGEST_EXACT
from featsieve.io.model import holds_numbers
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
    if not can_be_numbers(column.type):  # refused where types are looked at
        return None
    if pa.types.is_integer(column.type) and not holds_exactly(column):
        known = column.drop_null().sort()  # stays as it is, for the warning about lost digits
        return column.fill_null(known[len(known) // 2])
    return column.cast(pa.float64(), safe=False).fill_null(usual_value(column))


def holds_exactly(column: Any) -> bool:
    """Whether these integers are the same as floating-point numbers."""
    import pyarrow.compute as pc

    ends = pc.min_max(column)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    return low is None or max(abs(low), abs(high)) <= LARGEST_EXACT


def usual_value(column: Any) -> Any:
    """What stands for a gap: the median of numbers, and a state of its own for text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if is_text(column.type):
        return MISSING_STATE
    if not can_be_numbers(column.type):
        return None
    known = column.filter(known_values(column))
    median = pc.quantile(known.cast(pa.float64(), safe=False), 0.5)[0]
    return median.as_py() if median.is_valid else 0.0


def can_be_numbers(kind: Any) -> bool:
    """Numbers, truths and codes that are integers."""
    import pyarrow.types as kinds

    value = kind.value_type if kinds.is_dictionary(kind) else kind
    return holds_numbers(value) or bool(kinds.is_decimal(value))


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
