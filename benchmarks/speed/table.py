"""All rows, family by family."""

from __future__ import annotations

from benchmarks.speed import (
    correlation_rows,
    dask_rows,
    file_rows,
    information_rows,
    kernel_rows,
    path_rows,
    start_rows,
    thread_rows,
)
from benchmarks.speed.row import Table

TABLE = Table()
for module in (
    file_rows,
    correlation_rows,
    information_rows,
    thread_rows,
    path_rows,
    kernel_rows,
    dask_rows,
    start_rows,
):
    for row in module.TABLE.rows.values():
        TABLE.add(row)
