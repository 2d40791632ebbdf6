"""A Parquet table that is put right while it is read, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from featsieve.engines.files import ParquetTable
from featsieve.io.states import OTHER_STATES
from featsieve.io.tidied import is_text, known_values
from featsieve.io.values import as_days, days_per_unit


@dataclass(frozen=True)
class RepairedParquet(ParquetTable):
    """The rows of ``complete`` columns only, dates as days, rare states as one, gaps filled in.

    Every repair depends on one cell alone, so the answer does not depend on the batches.
    """

    days: bool = False
    complete: str | None = None  # rows without a value in this column are left out …
    n_incomplete: int = 0  # … and that many there are
    states: Mapping[str, frozenset[str]] = field(default_factory=dict)
    fills: Mapping[str, Any] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int]:
        n_rows, n_columns = super().shape
        return n_rows - self.n_incomplete, n_columns

    @property
    def schema(self) -> Any:
        return self.repair(super().schema.empty_table()).schema

    def batches(
        self, columns: list[str], batch_rows: int, memory_limit: int, *, even: bool = True
    ) -> Iterator[Any]:
        extra = self.complete is not None and self.complete not in columns
        wanted = [*columns, *([str(self.complete)] if extra else [])]
        for batch in super().batches(wanted, batch_rows, memory_limit, even=even):
            repaired = self.repair(batch)
            if repaired.num_rows:
                yield repaired.select(columns)

    def repair(self, batch: Any) -> Any:
        """Any rows of any of the columns (pyarrow), put right."""
        if self.complete is not None and self.complete in batch.column_names:
            batch = batch.filter(known_values(batch.column(self.complete)))
        for position, name in enumerate(batch.column_names):
            column = batch.column(position)
            if self.days and days_per_unit(column.type) is not None:
                column = as_days(column)
            if name in self.states:
                column = _with_rare_states_as_one(column, self.states[name])
            if name in self.fills:
                column = _filled(column, self.fills[name])
            batch = batch.set_column(position, name, column)
        return batch


def _with_rare_states_as_one(column: Any, kept: frozenset[str]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    text = column.cast(pa.string())
    frequent = pc.is_in(text, value_set=pa.array(sorted(kept)))
    return pc.if_else(pc.or_(frequent, pc.is_null(text)), text, OTHER_STATES)


def _filled(column: Any, value: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if is_text(column.type):
        return column.cast(pa.string()).fill_null(value)
    numbers = column.cast(pa.float64(), safe=False)
    return pc.if_else(known_values(numbers), numbers, float(value))
