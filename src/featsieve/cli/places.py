"""The files that a command writes, looked at before the work: wrong places are said at once."""

from __future__ import annotations

import argparse
import os
from fnmatch import fnmatch
from pathlib import Path

from featsieve.cli.running import UsageError
from featsieve.engines.files import PARQUET
from featsieve.errors import InputError
from featsieve.io.atomic import check_writable
from featsieve.io.writer import written_format

ENDINGS = {"report": (".html", ".htm"), "pipeline": (".py",)}
WRITTEN = ("output", "report", "pipeline", "resume")


def check_places(arguments: argparse.Namespace) -> None:
    """Each can be written, none is the table that is read, and no two are the same."""
    taken: dict[str, str] = {}
    for name in WRITTEN:
        path = getattr(arguments, name, None)
        if path is None:
            continue
        _check_ending(name, path)
        check_writable(path)
        if _is_read(Path(path), arguments.file):
            raise UsageError(
                f"--{name} {path} would overwrite the table that is read; give another name."
            )
        other = taken.setdefault(os.path.realpath(path), name)
        if other != name:
            raise UsageError(f"--{other} and --{name} name the same file {path}; give two names.")


def _check_ending(name: str, path: str) -> None:
    endings = ENDINGS.get(name, ())
    if endings and not path.lower().endswith(endings):
        raise UsageError(f"--{name} {path!r} should end in {endings[0]}; rename it.")
    if name == "output" and not path.lower().endswith(".json"):
        if os.path.isdir(path) or path.endswith(os.sep):
            raise InputError(f"--{name} {path} is a folder; give the name of a file in it.")
        try:
            written_format(Path(path))
        except InputError as error:
            raise UsageError(f"--{name}: {error}") from None


def _is_read(path: Path, table: str) -> bool:
    """The file itself, under whatever name, or one of a folder's or pattern's."""
    if table == "-":
        return False
    read = Path(table)
    if read.is_dir():
        return path.suffix.lower() in PARQUET and path.resolve().parent == read.resolve()
    if read.exists() and path.exists():
        return path.samefile(read)
    return path.resolve().parent == read.resolve().parent and fnmatch(path.name, read.name)
