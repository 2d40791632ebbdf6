"""Some rows of a table, drawn by a seed: a look at what need not, or cannot, be held in memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from featsieve.arrays import IntArray
from featsieve.io.model import ArrowTable, FileTable, MatrixTable, Table, usual_types


def sample_rows(table: Table, n_rows: int, seed: int) -> Table:
    """At most ``n_rows`` rows in the table's order; those of a file are read in one pass."""
    if table.n_rows <= n_rows and not isinstance(table, FileTable):
        return table
    rows = draw_rows(table.n_rows, n_rows, seed)
    if isinstance(table, MatrixTable):
        targets = {name: values[rows] for name, values in table.targets.items()}
        return replace(table, matrix=table.matrix[rows], targets=targets)
    if isinstance(table, ArrowTable):
        return replace(table, data=table.data.take(rows))
    return ArrowTable(rows_of_parts(table.parts(table.names), rows), table.source)


def draw_rows(n_rows: int, most: int, seed: int) -> IntArray:
    """At most that many of the numbers of rows, in rising order."""
    rng = np.random.default_rng(seed)
    return np.sort(rng.choice(n_rows, min(most, n_rows), replace=False))


def rows_of_parts(parts: Iterable[Any], rows: IntArray) -> Any:
    """The rows of these numbers, in rising order, of pyarrow tables of consecutive rows."""
    import pyarrow as pa

    kept, start = [], 0
    for part in parts:
        inside = rows[(rows >= start) & (rows < start + part.num_rows)] - start
        kept.append(usual_types(part).take(inside))
        start += part.num_rows
    return pa.concat_tables(kept).combine_chunks()
