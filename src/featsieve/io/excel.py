"""Excel's .xlsx, by openpyxl: the first sheet, its first row the names."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from featsieve.errors import InputError, MissingExtraError
from featsieve.io.budget import Budget
from featsieve.io.delimited import MISSING
from featsieve.io.foreign import damage_explained
from featsieve.io.layout import tidy_names
from featsieve.io.model import ArrowTable, Note, ReadOptions, check_names

BYTES_PER_CELL = 64  # a Python object and its place in a list


def read_excel(path: Path, source: str, options: ReadOptions, budget: Budget) -> ArrowTable:
    """Columns of numbers, of dates or of text, by what most of their cells are."""
    import pyarrow as pa

    rows = _rows(path, source, budget)
    if not rows:
        raise InputError(f"{source} has an empty first sheet; give it a header and rows.")
    width = max(map(len, rows))
    rows = [(*row, *[None] * (width - len(row))) for row in rows]
    header = _Header(tuple(f"X{j + 1}" for j in range(width)))
    if options.header:
        header = _header(rows, options.no_fix)
    body = rows[header.end :]
    names = check_names(header.names, source)
    cells = {name: [row[j] for row in body] for j, name in enumerate(names)}
    words = Counter(filter(_is_gap, cells.get(options.target or "", ())))
    kept = options.target if "target" in options.no_fix else None
    columns = {name: _column(cells[name], gaps=name != kept) for name in cells}
    gap_words = {} if kept else {word: n for word, n in words.items() if word}
    return ArrowTable(
        pa.table(columns),
        source,
        notes=header.notes,
        repeated=header.repeated,
        gap_words=gap_words,
    )


@dataclass(frozen=True)
class _Header:
    names: tuple[str, ...]
    end: int = 0  # rows up to and with the header
    repeated: frozenset[str] = frozenset()
    notes: tuple[Note, ...] = ()


def _header(rows: list[tuple[Any, ...]], no_fix: frozenset[str]) -> _Header:
    """The first row that fills half of the columns: titles stand above it."""
    filled = [sum(cell is not None for cell in row) for row in rows]
    first = next(number for number, count in enumerate(filled) if 2 * count >= max(filled))
    above = 0 if "layout" in no_fix else first
    cells = ["" if cell is None else str(cell) for cell in rows[above]]
    notes = []
    if above:
        what = "the first row is" if above == 1 else f"the first {above} rows are"
        notes.append(Note(f"{what} not part of the table and passed over", "layout"))
    if "names" in no_fix:
        return _Header(tuple(cells), above + 1, notes=tuple(notes))
    names, repeated, more = tidy_names(cells)
    return _Header(names, above + 1, frozenset(repeated), (*notes, *more))


def _rows(path: Path, source: str, budget: Budget) -> list[tuple[Any, ...]]:
    try:
        import openpyxl
    except ImportError:
        raise MissingExtraError("openpyxl", "excel", f"Reading {source}") from None
    rows = []
    with damage_explained(source, "is not a complete .xlsx file", "save it again"):
        with zipfile.ZipFile(path) as archive:  # its table of all texts is read in one piece
            budget.require(sum(part.file_size for part in archive.infolist()))
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        for row in book.worksheets[0].iter_rows(values_only=True):
            budget.take(BYTES_PER_CELL * len(row))
            rows.append(row)
        book.close()
    return [row for row in rows if any(cell is not None for cell in row)]


def _is_gap(cell: Any) -> bool:
    return isinstance(cell, str) and cell in MISSING


def _column(cells: Sequence[Any], *, gaps: bool) -> Any:
    """Without ``gaps`` the words for them are values like others."""
    import pyarrow as pa

    known = [None if cell == "" or (gaps and _is_gap(cell)) else cell for cell in cells]
    try:
        return pa.array(known)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if cell is None else str(cell) for cell in known])
