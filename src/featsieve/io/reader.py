"""From a path to a table: the checks of the path, and one reader per format."""

from __future__ import annotations

import codecs
import difflib
import importlib.util
import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from featsieve.engines.files import PARQUET, is_pattern
from featsieve.errors import InputError, MissingExtraError
from featsieve.input.parameters import brief, parse_memory
from featsieve.io.budget import COMPRESSED, Budget, unpacked_size
from featsieve.io.columnar import read_arrow, read_parquet
from featsieve.io.delimited import read_delimited
from featsieve.io.excel import read_excel
from featsieve.io.foreign import damage_explained
from featsieve.io.matrix import read_arff, read_libsvm, read_npz
from featsieve.io.model import ReadOptions, Table

FORMATS: dict[str, tuple[str, ...]] = {
    "csv": (".csv", ".txt"),
    "tsv": (".tsv", ".tab"),
    "parquet": PARQUET,
    "arrow": (".arrow", ".feather", ".ipc"),
    "arff": (".arff",),
    "libsvm": (".libsvm", ".svmlight", ".svm"),
    "npz": (".npz",),
    "excel": (".xlsx",),
}
_BY_SUFFIX = {suffix: kind for kind, suffixes in FORMATS.items() for suffix in suffixes}
_NEEDS_PYARROW = {"csv", "tsv", "parquet", "arrow", "excel"}


def read_table(path: str | Path, options: ReadOptions = ReadOptions()) -> Table:  # noqa: B008
    """Read CSV, TSV, Parquet, Arrow, ARFF, LIBSVM or NPZ, told apart by the file's name.

    A folder of Parquet files, or several by a pattern (``part-*.parquet``), is one table.

    LIBSVM calls its target ``target`` and its columns ``X1``, ``X2``, …; NPZ takes an array
    ``data`` or ``X``, one ``target`` or ``y``, and names in ``feature_names`` if there are any, or
    one array per column.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(f"the path is {brief(path)}; give the name of a file as text.")
    file = Path(path)
    if not os.fspath(path):
        raise InputError("the name of the file is empty; give the path of a table.")
    kind = "parquet" if file.is_dir() else format_of(file)
    if not file.is_dir() and not (kind == "parquet" and is_pattern(file)):
        check_readable(file)
    source = file.name
    if kind in _TEXT and file.suffix.lower() not in COMPRESSED:
        _refuse_other_than_text(file, source)
    if kind in _NEEDS_PYARROW and importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError("pyarrow", "cli", f"Reading {source}")
    budget = Budget(parse_memory(options.memory_limit), source)
    if kind != "parquet":
        budget.require(_unpacked(file, source, budget))
    return _READERS[kind](file, source, options, budget)


def format_of(path: Path) -> str:
    """The format by the suffix; a ``.gz`` or ``.zst`` after it is looked through.

    >>> format_of(Path("table.csv.gz"))
    'csv'
    """
    suffixes = [ending.lower() for ending in path.suffixes]
    last = next((ending for ending in reversed(suffixes) if ending not in COMPRESSED), "")
    if last in _BY_SUFFIX:
        return _BY_SUFFIX[last]
    if last in _OTHER_COMPRESSION:
        raise InputError(
            f"{path.name!r} is compressed by {_OTHER_COMPRESSION[last]}, which is not read here; "
            "unpack it, or compress it by gzip or zstd."
        )
    known = ", ".join(suffix for group in FORMATS.values() for suffix in group)
    raise InputError(
        f"{path.name!r} has no ending that tells its format; name it with one of {known}."
    )


def check_readable(path: Path) -> None:
    """One sentence for whatever is not a file that can be read."""
    try:
        if not path.is_dir() and not stat.S_ISREG(path.stat().st_mode):  # to open it may wait
            raise InputError(
                f"{path.name!r} is a pipe or a device, and a table is read more than once; lead it "
                "to standard input and give - as the file, or save it."
            )
        path.open("rb").close()
    except FileNotFoundError:
        hint = _hint_for_missing(path)
        raise InputError(f"there is no file {str(path)!r}; {hint}") from None
    except PermissionError:
        raise InputError(
            f"{path.name!r} may not be read (permission denied); ask its owner, or copy it."
        ) from None
    except OSError as error:
        raise InputError(f"{path.name!r} cannot be opened ({error.strerror}).") from None


def _refuse_other_than_text(path: Path, source: str) -> None:
    """By the first bytes of formats that are often given the ending of another."""
    with path.open("rb") as stream:
        start = stream.read(64).removeprefix(codecs.BOM_UTF8)
    for signature, what in _SIGNATURES.items():
        if start.startswith(signature):
            raise InputError(f"{source} is not text, but {what}; give it that ending.")
    for signature, what in _NO_TABLES.items():
        if start.lstrip().lower().startswith(signature):
            raise InputError(f"{source} is not a table, but {what}; save the table as CSV.")


def _hint_for_missing(path: Path) -> str:
    if is_pattern(path):
        return "patterns stand for Parquet files only: name one file."
    try:
        names = [file.name for file in path.parent.iterdir() if file.is_file()]
    except OSError:
        names = []
    near = [repr(name) for name in difflib.get_close_matches(path.name, names, n=3)]
    return f"did you mean {' or '.join(near)}?" if near else "check the path."


def _unpacked(path: Path, source: str, budget: Budget) -> int:
    with damage_explained(source, "is not a complete compressed file", "write it again"):
        return unpacked_size(path, budget)


def _csv(path: Path, source: str, options: ReadOptions, budget: Budget) -> Table:
    return read_delimited(path, source, options, budget)


def _tsv(path: Path, source: str, options: ReadOptions, budget: Budget) -> Table:
    tabs = replace(options, delimiter=options.delimiter or "\t")
    return read_delimited(path, source, tabs, budget)


def _parquet(path: Path, source: str, _options: ReadOptions, budget: Budget) -> Table:
    return read_parquet(path, source, memory_limit=budget.limit)


def _arrow(path: Path, source: str, _options: ReadOptions, budget: Budget) -> Table:
    return read_arrow(path, source, budget)


_TEXT = ("csv", "tsv", "arff", "libsvm")
_SIGNATURES = {
    b"\x1f\x8b": "compressed by gzip (.csv.gz)",
    b"\x28\xb5\x2f\xfd": "compressed by zstd (.csv.zst)",
    b"PK\x03\x04": "a zip archive, as Excel's tables (.xlsx) and NumPy's arrays (.npz) are",
    b"PAR1": "Parquet (.parquet)",
    b"ARROW1": "Arrow (.arrow)",
}
_NO_TABLES = {  # in small letters
    b"bzh91ay&sy": "a file compressed by bzip2",
    b"\xfd7zxz": "a file compressed by xz",
    b"7z\xbc\xaf": "an archive of 7-Zip",
    b"\xd0\xcf\x11\xe0": "a document of an old Office, such as .xls",
    b"sqlite format 3": "a database of SQLite",
    b"%pdf-": "a PDF document",
    b"<!doctype html": "a web page",
    b"<html": "a web page",
    b"<?xml": "XML",
    b'[{"': "JSON",
    b'{"': "JSON",
}
_OTHER_COMPRESSION = {".bz2": "bzip2", ".xz": "xz", ".zip": "zip", ".7z": "7-Zip", ".lz4": "LZ4"}
_READERS: dict[str, Callable[[Path, str, ReadOptions, Budget], Table]] = {
    "csv": _csv,
    "tsv": _tsv,
    "parquet": _parquet,
    "arrow": _arrow,
    "arff": read_arff,
    "libsvm": read_libsvm,
    "npz": read_npz,
    "excel": read_excel,
}
