"""The look at a Parquet table that stays on the disk: one pass, and a sample of its rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from featsieve.errors import InputError
from featsieve.input.targets import MOST_CLASSES
from featsieve.io.gaps import usual_value
from featsieve.io.model import FileTable, Note, quoted, refuse_nested
from featsieve.io.notice import notices
from featsieve.io.repaired import RepairedParquet
from featsieve.io.row_sample import draw_rows, rows_of_parts
from featsieve.io.states import (
    KEPT_STATES,
    MOST_STATES,
    OTHER_STATES,
    most_frequent_states,
)
from featsieve.io.tidied import Tidied, encoded_states, is_text, known_values
from featsieve.io.tidy import refuse_repairs, tidy
from featsieve.io.values import days_per_unit

SAMPLE_ROWS = 10_000
SEED = 0
# What depends on more than one cell cannot be put right batch by batch.
_ONLY_SEEN = ("numbers", "dates", "spelling")


@dataclass(frozen=True)
class TargetFacts:
    """What one pass over the target counts."""

    n_known: int
    n_missing: int
    n_distinct: int
    is_text: bool


def look_on_disk(
    table: FileTable, target: str, off: frozenset[str], task: str, *, strict: bool = False
) -> tuple[FileTable, TargetFacts, list[Note]]:
    """The table as it will be read, what its target is like, and notes."""
    refuse_nested(table.lazy.schema, table.source)
    facts = _look_at_target(table, target)
    rows = draw_rows(table.n_rows, _sample_size(table), SEED)
    sample = rows_of_parts(table.parts(table.names), rows)
    view = RepairedParquet(**{f.name: getattr(table.lazy, f.name) for f in fields(table.lazy)})
    notes: list[Note] = []
    for fix, step in _STEPS.items():
        if fix not in off:
            view = step(view, view.repair(sample.select(view.all_names)), target, facts, notes)
    refuse_repairs(notes, strict=strict)
    # Before states are taken together: an identifier has a different one in every row.
    repaired = replace(view, states={}).repair(sample.select(view.all_names))
    rows = rows[np.asarray(known_values(sample.column(target)))] if view.complete else rows
    seen = [*_oddities(repaired, target, off), *notices(repaired, target, task, rows=rows)]
    if seen:
        notes.append(
            Note(f"the file stays on the disk; what follows was seen in {len(rows):,} of its rows")
        )
    return replace(table, lazy=view), facts, [*notes, *seen]


def impute_on_disk(X: RepairedParquet, memory_limit: int) -> tuple[RepairedParquet, list[str]]:
    """X with its gaps filled in as it is read, by medians of the sample; and where they are."""
    names = _columns_with_gaps(X, memory_limit)
    if not names:
        return X, names
    rows = draw_rows(X.shape[0], SAMPLE_ROWS, SEED)
    sample = rows_of_parts(X.batches(names, SAMPLE_ROWS, memory_limit), rows)
    usual = {name: usual_value(sample.column(name)) for name in names}
    fills = {name: value for name, value in usual.items() if value is not None}
    return replace(X, fills=fills), list(fills)


def _columns_with_gaps(X: RepairedParquet, memory_limit: int) -> list[str]:
    import pyarrow.compute as pc

    gaps: set[str] = set()
    for batch in X.batches(X.column_names, SAMPLE_ROWS, memory_limit):
        for name in X.column_names:
            if name not in gaps and not pc.all(known_values(batch.column(name))).as_py():
                gaps.add(name)
    return [name for name in X.column_names if name in gaps]


def _sample_size(table: FileTable) -> int:
    """As many rows as a quarter of the memory holds, as numbers."""
    return max(100, min(SAMPLE_ROWS, table.memory_limit // (32 * max(1, len(table.names)))))


def _look_at_target(table: FileTable, target: str) -> TargetFacts:
    n_known, n_missing, distinct = 0, 0, set[Any]()
    for part in table.parts([target]):
        column = part.column(0)
        values = column.filter(known_values(column))
        n_known += len(values)
        n_missing += len(column) - len(values)
        if len(distinct) <= MOST_CLASSES:
            distinct |= set(values.unique().to_pylist())
    kind = table.lazy.schema.field(target).type
    return TargetFacts(n_known, n_missing, len(distinct), is_text(kind))


# --- repairs --------------------------------------------------------------------------------------

Step = Callable[[RepairedParquet, Any, str, TargetFacts, list[Note]], RepairedParquet]


def _dates(
    view: RepairedParquet, sample: Any, _target: str, _facts: TargetFacts, notes: list[Note]
) -> RepairedParquet:
    dated = [f.name for f in sample.schema if days_per_unit(f.type) is not None]
    if dated:
        notes.append(Note(f"{quoted(dated)}: dates were read as numbers of days", "dates"))
    return replace(view, days=bool(dated))


def _empty(
    view: RepairedParquet, sample: Any, target: str, _facts: TargetFacts, notes: list[Note]
) -> RepairedParquet:
    """Empty in the sample, and in the whole file as far as the file counts its gaps."""
    import pyarrow.types as kinds

    counted = view.null_counts()
    n_rows = view.shape[0]
    names = [
        f.name
        for f in sample.schema
        if f.name != target and (kinds.is_null(f.type) or counted.get(f.name) == n_rows)
    ]
    if not names or len(names) == len(sample.column_names) - 1:
        return view
    notes.append(Note(f"{quoted(names)}: no value at all; left out", "empty"))
    return replace(view, dropped=view.dropped | frozenset(names))


def _target(
    view: RepairedParquet, _sample: Any, target: str, facts: TargetFacts, notes: list[Note]
) -> RepairedParquet:
    if not facts.n_missing:
        return view
    n_rows = facts.n_known + facts.n_missing
    if facts.n_known < 2:
        raise InputError(f"the target {target!r} has fewer than two values; choose another.")
    notes.append(
        Note(f"{facts.n_missing} of {n_rows} rows have no target and were left out", "target")
    )
    return replace(view, complete=target, n_incomplete=facts.n_missing)


def _states(
    view: RepairedParquet, sample: Any, target: str, _facts: TargetFacts, notes: list[Note]
) -> RepairedParquet:
    kept: dict[str, frozenset[str]] = {}
    for field in sample.schema:
        if field.name == target or not is_text(field.type):
            continue
        encoded = encoded_states(sample.column(field.name))
        if len(encoded.dictionary) > MOST_STATES:
            kept[field.name] = frozenset(most_frequent_states(encoded))
    if kept:
        notes.append(
            Note(
                f"{quoted(list(kept))}: more than {MOST_STATES} states; the {KEPT_STATES} most "
                f"frequent of a sample were kept, the others are {OTHER_STATES!r}",
                "states",
            )
        )
    return replace(view, states=kept)


_STEPS: dict[str, Step] = {"dates": _dates, "empty": _empty, "target": _target, "states": _states}


def _oddities(sample: Any, target: str, off: frozenset[str]) -> list[Note]:
    """What would be put right in memory, and is only told here."""
    dated = [f.name for f in sample.schema if days_per_unit(f.type) is not None]  # put right above
    looked = tidy(Tidied(sample.drop_columns(dated), target, off), only=_ONLY_SEEN)
    return [
        Note(f"{note.text.replace(' were ', ' would be ')}, if the file fitted in memory")
        for note in looked.notes
    ]
