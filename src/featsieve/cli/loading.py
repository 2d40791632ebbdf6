"""From the words of the command line to a table that was looked at, and its target."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from featsieve.cli.running import UsageError, tell
from featsieve.cli.selecting import Job
from featsieve.errors import InputError
from featsieve.io.layout import headless, looks_headless
from featsieve.io.load import Cleaning, clean
from featsieve.io.model import FileTable, MatrixTable, Note, ReadOptions, Table, find_column
from featsieve.io.reader import read_table
from featsieve.io.row_sample import sample_rows


def load(arguments: argparse.Namespace, *, most_rows: int | None = None) -> tuple[Table, Job]:
    """Read FILE, leave out what is dropped, look at the rest, and split off the target.

    Of more than ``most_rows`` rows, a sample is taken into memory.
    """
    table = _read(arguments)
    if table.n_rows == 0:
        raise InputError(f"{table.source} has names but no rows; give it at least two.")
    target = target_name(table, arguments)
    if target in arguments.drop:
        raise UsageError(f"--drop {target} would leave out the target; drop other columns.")
    if table.n_rows == 1:
        raise InputError(f"{table.source} has only one row; give it at least two.")
    kept = table.without([find_column(name, table.names, table.source) for name in arguments.drop])
    cleaning = _cleaning(table, arguments)
    if most_rows is None:
        kept, notes = clean(kept, target, cleaning)
    else:
        kept, notes = _cleaned_sample(kept, target, cleaning, most_rows, arguments.seed)
    for note in notes:
        tell(arguments, f"note: {note}.")
    split = kept.split(target)
    if not split.names:
        raise InputError(f"{table.source} has no column besides the target; give it some.")
    on_disk = isinstance(kept, FileTable)
    return kept, Job(split, kept.n_rows, target, on_disk, tuple(map(str, notes)))


def _cleaned_sample(
    table: Table, target: str, cleaning: Cleaning, most_rows: int, seed: int
) -> tuple[Table, list[Note]]:
    """What is in memory is looked at as a whole; of what stays on the disk, only the sample."""
    n_rows, notes = table.n_rows, list[Note]()
    if isinstance(table, FileTable):
        table = sample_rows(table, most_rows, seed)
    table, notes = clean(table, target, cleaning)
    sample = sample_rows(table, most_rows, seed)
    if sample.n_rows < table.n_rows or n_rows > most_rows:
        notes.append(
            Note(f"{sample.n_rows:,} of {n_rows:,} rows were drawn for this; --rows N takes others")
        )
    return sample, notes


def _read(arguments: argparse.Namespace) -> Table:
    options = ReadOptions(
        delimiter=arguments.delimiter,
        encoding=arguments.encoding,
        header=not arguments.no_header,
        memory_limit=arguments.memory_limit,
        no_fix=frozenset(arguments.no_fix),
        decimal=arguments.decimal,
        target=arguments.target,
    )
    if arguments.file != "-":
        return read_table(arguments.file, options)
    if sys.stdin is None:
        raise InputError("standard input is closed; lead a table to it, or name a file.")
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
        decimal=arguments.decimal,
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
