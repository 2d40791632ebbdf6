"""From the words of the command line to a table that was looked at, and its target."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from featsieve.cli.notice import notices
from featsieve.cli.running import say
from featsieve.cli.selecting import Job
from featsieve.cli.tidy import Note, Tidied, tidy
from featsieve.errors import InputError
from featsieve.io.delimited import headless, looks_headless
from featsieve.io.model import (
    ArrowTable,
    FileTable,
    MatrixTable,
    ReadOptions,
    Table,
    arrow_values,
    find_column,
)
from featsieve.io.reader import read_table

FEW_CLASSES = 20
ROWS_PER_CLASS = 5


def load(arguments: argparse.Namespace) -> tuple[Table, Job]:
    """Read FILE, leave out what is dropped, look at the rest, and split off the target."""
    table = read_table(
        arguments.file,
        ReadOptions(
            delimiter=arguments.delimiter,
            encoding=arguments.encoding,
            header=not arguments.no_header,
            memory_limit=arguments.memory_limit,
        ),
    )
    if table.n_rows == 0:
        raise InputError(f"{table.source} has names but no rows; give it at least two.")
    target = target_name(table, arguments)
    kept = table.without([find_column(name, table.names, table.source) for name in arguments.drop])
    kept, notes = _looked_at(kept, target, arguments)
    if not arguments.quiet:
        for note in notes:
            say(f"note: {note}.")
    split = kept.split(target)
    if not split.names:
        raise InputError(f"{table.source} has no column besides the target; give it some.")
    on_disk = isinstance(kept, FileTable)
    return kept, Job(split, kept.n_rows, target, on_disk, tuple(map(str, notes)))


def _looked_at(
    table: Table, target: str, arguments: argparse.Namespace
) -> tuple[Table, list[Note]]:
    """The table put right, with notes; what does not fit into memory is taken as it is."""
    data = _arrow(table)
    if data is None:
        return table, []
    tidied = tidy(
        Tidied(
            data,
            target,
            frozenset(arguments.no_fix),
            delimiter=arguments.delimiter or getattr(table, "delimiter", ","),
            has_header=not arguments.no_header,
        ),
        strict=arguments.strict,
    )
    _refuse_too_many_classes(tidied.data.column(target), arguments)
    seen = notices(tidied.data, target, arguments.task)
    return ArrowTable(tidied.data, table.source), [*tidied.notes, *seen]


def _arrow(table: Table) -> Any:
    """The table as pyarrow has it; None for a sparse matrix and for a file on the disk."""
    if isinstance(table, ArrowTable):
        return table.data
    if isinstance(table, MatrixTable) and isinstance(table.matrix, np.ndarray):
        return next(iter(table.parts(table.names)))
    return None


def _refuse_too_many_classes(column: Any, arguments: argparse.Namespace) -> None:
    values = arrow_values(column)
    if arguments.task == "regression" or (arguments.task == "auto" and values.dtype != object):
        return
    n_classes = len(set(values.tolist()))
    if n_classes > max(FEW_CLASSES, len(values) // ROWS_PER_CLASS):
        raise InputError(
            f"the target {arguments.target!r} has {n_classes} distinct values in {len(values)} "
            "rows, too many for classes; give --task regression if they are numbers, or another "
            "--target."
        )


def target_name(table: Table, arguments: argparse.Namespace) -> str:
    """The target that was named, or the only one that the file itself keeps apart."""
    if arguments.target is None:
        apart = list(table.targets) if isinstance(table, MatrixTable) else []
        if len(apart) == 1:
            return apart[0]
        shown = ", ".join(repr(name) for name in table.names[:6])
        raise InputError(
            f"{table.source} needs --target COL; its columns are {shown}"
            f"{', …' if len(table.names) > 6 else ''}."
        )
    if arguments.target not in table.names and looks_headless(table.names):
        raise headless(table.source)
    return find_column(arguments.target, table.names, table.source)
