"""From the words of the command line to a table that was looked at, and its target."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from featsieve.cli.running import tell
from featsieve.cli.selecting import Job
from featsieve.errors import InputError
from featsieve.io.layout import headless, looks_headless
from featsieve.io.load import Cleaning, clean
from featsieve.io.model import FileTable, MatrixTable, ReadOptions, Table, find_column
from featsieve.io.reader import read_table


def load(arguments: argparse.Namespace) -> tuple[Table, Job]:
    """Read FILE, leave out what is dropped, look at the rest, and split off the target."""
    table = _read(arguments)
    if table.n_rows == 0:
        raise InputError(f"{table.source} has names but no rows; give it at least two.")
    target = target_name(table, arguments)
    if table.n_rows == 1:
        raise InputError(f"{table.source} has one row only; give it at least two.")
    kept = table.without([find_column(name, table.names, table.source) for name in arguments.drop])
    kept, notes = clean(kept, target, _cleaning(table, arguments))
    for note in notes:
        tell(arguments, f"note: {note}.")
    split = kept.split(target)
    if not split.names:
        raise InputError(f"{table.source} has no column besides the target; give it some.")
    on_disk = isinstance(kept, FileTable)
    return kept, Job(split, kept.n_rows, target, on_disk, tuple(map(str, notes)))


def _read(arguments: argparse.Namespace) -> Table:
    options = ReadOptions(
        delimiter=arguments.delimiter,
        encoding=arguments.encoding,
        header=not arguments.no_header,
        memory_limit=arguments.memory_limit,
        no_fix=frozenset(arguments.no_fix),
    )
    if arguments.file != "-":
        return read_table(arguments.file, options)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "standard-input.csv"
        with path.open("wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
        return read_table(path, options)


def _cleaning(table: Table, arguments: argparse.Namespace) -> Cleaning:
    return Cleaning(
        task=arguments.task,
        off=frozenset(arguments.no_fix),
        strict=arguments.strict,
        delimiter=arguments.delimiter or getattr(table, "delimiter", ","),
        has_header=not arguments.no_header,
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
    if arguments.target in getattr(table, "repeated", ()):
        raise InputError(
            f"{table.source} has two columns named {arguments.target!r}, so the target is not "
            "known; give every column a name of its own."
        )
    return find_column(arguments.target, table.names, table.source)
