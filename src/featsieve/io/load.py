"""From a file to what ``fit`` takes, looked at and put right: what the command line does first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from featsieve.errors import InputError
from featsieve.input.parameters import check_choice, check_flag, not_allowed
from featsieve.input.targets import TASKS, are_too_many_classes
from featsieve.io.gaps import fill_missing, rows_without_gaps
from featsieve.io.look_on_disk import impute_on_disk, look_on_disk
from featsieve.io.model import (
    DECIMALS,
    ArrowTable,
    FileTable,
    MatrixTable,
    Note,
    ReadOptions,
    Table,
    arrow_values,
    find_column,
    refuse_nested,
)
from featsieve.io.notice import notices
from featsieve.io.reader import read_table
from featsieve.io.tidied import Tidied
from featsieve.io.tidy import STEPS, tidy

Missing = Literal["impute", "drop", "keep"]


@dataclass(frozen=True)
class Cleaning:
    """What a user may say about the look at a table; ``off`` names repairs that are not made."""

    task: str = "auto"
    off: frozenset[str] = frozenset()
    strict: bool = False
    delimiter: str = ","
    has_header: bool = True
    decimal: str | None = None


def load_table(
    path: Any,
    target: str,
    *,
    drop: Sequence[str] = (),
    only: Sequence[str] | None = None,
    no_fix: Sequence[str] = (),
    missing: Missing = "keep",
    task: str = "auto",
    delimiter: str | None = None,
    encoding: str = "utf-8",
    header: bool = True,
    decimal: str | None = None,
    memory_limit: int | str = "1GiB",
) -> tuple[Any, Any]:
    """X (a pyarrow table, text as categories) and y of a file, as ``featsieve select`` sees them.

    LIBSVM gives a sparse X. Of Parquet that is too large for ``memory_limit``, X stays on the disk
    and y is None: ``fit`` takes them so.

    Parameters
    ----------
    path : a file of any format that the command line reads
    target : name of the target's column
    drop : names of columns to leave out
    only : names of the columns to keep, next to the target
    no_fix : what not to put right (see the guide of the command line)
    missing : ``"keep"`` them, ``"impute"`` them, or ``"drop"`` their rows
    task : ``"auto"``, ``"classification"`` or ``"regression"``
    delimiter, encoding, header : of text files
    decimal : ``","`` or ``"."``, where text files leave open what points mean
    memory_limit : Parquet that would take more than a third of it stays on the disk
    """
    for name, names in (("drop", drop), ("only", only), ("no_fix", no_fix)):
        if isinstance(names, str):
            raise not_allowed(name, names, "a list of names")
    check_choice("missing", missing, get_args(Missing))
    check_choice("task", task, TASKS)
    check_flag("header", header)
    if decimal is not None:
        check_choice("decimal", decimal, DECIMALS)
    options = ReadOptions(
        delimiter, encoding, header, memory_limit, frozenset(no_fix), decimal, target
    )
    table = read_table(path, options)
    find_column(target, table.names, table.source)
    left_out = [find_column(name, table.names, table.source) for name in drop]
    if only is not None:
        kept_names = {target, *(find_column(name, table.names, table.source) for name in only)}
        left_out += [name for name in table.names if name not in kept_names]
    if target in left_out:
        raise InputError(f"drop={list(drop)} would leave out the target; drop other columns.")
    cleaning = Cleaning(
        task,
        frozenset(no_fix),
        delimiter=delimiter or str(getattr(table, "delimiter", ",")),
        has_header=header,
        decimal=decimal,
    )
    cleaned, _ = clean(_in_memory_if_small(table.without(left_out)), target, cleaning)
    split = cleaned.split(target)
    X, y = split.X, split.y
    if isinstance(cleaned, FileTable):
        return (impute_on_disk(X, cleaned.memory_limit)[0] if missing == "impute" else X), y
    if missing == "impute":
        X, _ = fill_missing(X, split.names)
    elif missing == "drop":
        X, rows = rows_without_gaps(X)
        y = np.asarray(y)[rows]
    return _with_categories(X), y


def _in_memory_if_small(table: Table) -> Table:
    """A file that is large may have few columns left that are not."""
    return table.in_memory_if_small() if isinstance(table, FileTable) else table


def clean(table: Table, target: str, cleaning: Cleaning) -> tuple[Table, list[Note]]:
    """The table put right, with notes; a sparse matrix is taken as it is."""
    if isinstance(table, FileTable):
        return _clean_file(table, target, cleaning)
    data = _arrow(table, target)
    if data is None:
        return table, list(getattr(table, "notes", ()))
    refuse_nested(data.schema, table.source)
    tidied = tidy(
        Tidied(
            data,
            target,
            cleaning.off,
            delimiter=cleaning.delimiter,
            has_header=cleaning.has_header,
            decimal=cleaning.decimal,
            gap_words=getattr(table, "gap_words", {}),
            notes=list(getattr(table, "notes", ())),
        ),
        only=set(STEPS) - {"states"},
        strict=cleaning.strict,
    )
    y = arrow_values(tidied.data.column(target))
    if cleaning.task == "classification" or y.dtype == object:
        _refuse_too_many_classes(len(set(y.tolist())), len(y), target, cleaning.task)
    # Before states are taken together: an identifier has a different one in every row.
    tidied.notes += notices(tidied.data, target, cleaning.task)
    tidied = tidy(tidied, only={"states"}, strict=cleaning.strict)
    return ArrowTable(tidied.data, table.source), tidied.notes


def _clean_file(table: FileTable, target: str, cleaning: Cleaning) -> tuple[FileTable, list[Note]]:
    kept, facts, notes = look_on_disk(
        table, target, cleaning.off, cleaning.task, strict=cleaning.strict
    )
    if cleaning.task == "classification" or facts.is_text:
        _refuse_too_many_classes(facts.n_distinct, facts.n_known, target, cleaning.task)
    return kept, notes


def _arrow(table: Table, target: str) -> Any:
    """Of the targets that a file keeps apart, the others are no features."""
    if isinstance(table, ArrowTable):
        return table.data
    if isinstance(table, MatrixTable) and isinstance(table.matrix, np.ndarray):
        names = [name for name in table.names if name == target or name not in table.targets]
        return next(iter(table.parts(names)))
    return None


def _refuse_too_many_classes(n_classes: int, n_rows: int, target: str, task: str) -> None:
    if task != "regression" and are_too_many_classes(n_classes, n_rows):
        raise InputError(
            f"the target {target!r} has {n_classes} distinct values in {n_rows} rows, too many for "
            "classes; give --task regression if they are numbers, or another --target."
        )


def _with_categories(X: Any) -> Any:
    import pyarrow as pa

    if not isinstance(X, pa.Table):
        return X
    for position, field in enumerate(X.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            X = X.set_column(position, field.name, X.column(position).dictionary_encode())
    return X
