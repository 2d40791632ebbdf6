"""From columns to a file: one writer per format, each fed with parts of consecutive rows."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np

from featsieve.errors import InputError, MissingExtraError
from featsieve.io.atomic import atomic_write
from featsieve.io.budget import COMPRESSED
from featsieve.io.model import arrow_values, as_numbers, holds_numbers
from featsieve.io.reader import format_of

SHEET_ROWS = 1_048_576
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def neutral(text: str) -> str:
    """The text with an apostrophe before it, if a spreadsheet would take it for a formula.

    >>> neutral("=1+1"), neutral("age"), neutral("-3.5")
    ("'=1+1", 'age', '-3.5')
    """
    if not text.startswith(_FORMULA):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def write_table(
    parts: Iterable[Any], path: str | Path, *, target: str, neutralize: bool = True
) -> None:
    """Write pyarrow tables, one after another, in the format of the path's ending, whole or not.

    ``target`` is the column that LIBSVM and NPZ keep apart from the others. ``neutralize``: names
    and texts of CSV and TSV that a spreadsheet would run as formulas get an apostrophe.
    """
    file = Path(path)
    kind = written_format(file)
    if importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError("pyarrow", "cli", f"Writing {file.name}")
    parts = _with_target(parts, target)
    if neutralize and kind in ("csv", "tsv"):
        parts = map(_without_formulas, parts)
    with atomic_write(file) as stream:
        _WRITERS[kind](iter(parts), stream, target)


def written_format(file: Path) -> str:
    """The format by the ending, if tables can be written in it."""
    kind = format_of(file)
    if file.suffix.lower() in COMPRESSED:
        raise InputError(f"{file.name!r} would be compressed; write it without {file.suffix}.")
    return kind


def check_size(file: Path, n_rows: int) -> None:
    """Whether so many rows and a header fit the format of the file."""
    if n_rows >= SHEET_ROWS and file.suffix.lower() == ".xlsx":
        raise InputError(
            f"a sheet of .xlsx has {SHEET_ROWS:,} rows at most with its header, and {file.name!r} "
            f"would need {n_rows + 1:,}; write CSV or Parquet instead."
        )


def _with_target(parts: Iterable[Any], target: str) -> Iterator[Any]:
    """The parts, once the first of them has shown that it can be written."""
    rest = iter(parts)
    first: Any = next(rest, None)
    if not hasattr(first, "schema"):
        raise InputError("there is nothing to write; give pyarrow tables, in a list.")
    if target not in first.schema.names:
        raise InputError(f"the tables have no column {target!r} to be the target; name another.")
    return chain([first], rest)


def _without_formulas(part: Any) -> Any:
    import pyarrow as pa

    part = _plain(part).rename_columns([neutral(name) for name in part.column_names])
    for position, field in enumerate(part.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            texts = part.column(position).to_pylist()
            if any(text is not None and neutral(text) != text for text in texts):
                values = [text if text is None else neutral(text) for text in texts]
                part = part.set_column(position, field.name, pa.array(values, field.type))
    return part


def _csv(parts: Iterator[Any], stream: IO[bytes], _target: str) -> None:
    _delimited(parts, stream, ",")


def _tsv(parts: Iterator[Any], stream: IO[bytes], _target: str) -> None:
    _delimited(parts, stream, "\t")


def _delimited(parts: Iterator[Any], stream: IO[bytes], delimiter: str) -> None:
    from pyarrow import csv

    first = _plain(next(parts))
    options = csv.WriteOptions(delimiter=delimiter)
    with csv.CSVWriter(stream, first.schema, write_options=options) as out:
        out.write_table(first)
        for part in parts:
            out.write_table(_plain(part).cast(first.schema))


def _plain(part: Any) -> Any:
    """Text instead of categories, which CSV writers do not know."""
    import pyarrow as pa

    fields = [
        pa.field(f.name, f.type.value_type if pa.types.is_dictionary(f.type) else f.type)
        for f in part.schema
    ]
    return part.cast(pa.schema(fields))


def _parquet(parts: Iterator[Any], stream: IO[bytes], _target: str) -> None:
    import pyarrow.parquet as pq

    first = next(parts)
    with pq.ParquetWriter(stream, first.schema) as out:
        out.write_table(first)
        for part in parts:
            out.write_table(part.cast(first.schema))


def _arrow(parts: Iterator[Any], stream: IO[bytes], _target: str) -> None:
    import pyarrow as pa

    table = pa.concat_tables(parts).unify_dictionaries()
    with pa.ipc.new_file(stream, table.schema) as out:
        out.write_table(table)


def _arff(parts: Iterator[Any], stream: IO[bytes], _target: str) -> None:
    import pyarrow as pa

    table = pa.concat_tables(parts).unify_dictionaries()
    lines = ["@relation selected"]
    lines += [f"@attribute {_quoted(f.name)} {_arff_type(table, f)}" for f in table.schema]
    stream.write("\n".join([*lines, "@data", ""]).encode())
    columns = [_arff_cells(table.column(name)) for name in table.column_names]
    for row in zip(*columns, strict=True):
        stream.write((",".join(row) + "\n").encode())


def _arff_type(table: Any, field: Any) -> str:
    if holds_numbers(field.type):
        return "numeric"
    states = {
        str(state) for state in table.column(field.name).unique().to_pylist() if state is not None
    }
    return "{" + ",".join(_quoted(state) for state in sorted(states)) + "}"


def _arff_cells(column: Any) -> list[str]:
    write = _number if holds_numbers(column.type) else _quoted
    return ["?" if cell is None or cell != cell else write(cell) for cell in column.to_pylist()]


def _number(value: Any) -> str:
    return repr(float(value))


def _quoted(text: Any) -> str:
    escaped = str(text).replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"'{escaped}'"


def _libsvm(parts: Iterator[Any], stream: IO[bytes], target: str) -> None:
    from sklearn.datasets import dump_svmlight_file

    matrix, values, _ = _matrix(parts, target)
    if values.dtype == object:
        raise _no_text(target)
    dump_svmlight_file(matrix, values, stream, zero_based=False)


def _npz(parts: Iterator[Any], stream: IO[bytes], target: str) -> None:
    matrix, values, names = _matrix(parts, target)
    values = values.astype(str) if values.dtype == object else values
    archive = io.BytesIO()  # numpy 2.0 leaves the archive open if the disk is full
    np.savez(archive, data=matrix, target=values, feature_names=np.array(names))
    stream.write(archive.getbuffer())


def _matrix(parts: Iterator[Any], target: str) -> tuple[Any, Any, list[str]]:
    import pyarrow as pa

    table = pa.concat_tables(parts)
    names = [name for name in table.column_names if name != target]
    for name in names:
        if not holds_numbers(as_numbers(table.column(name)).type):
            raise _no_text(name)
    matrix = np.column_stack([arrow_values(table.column(name)) for name in names])
    return matrix, arrow_values(table.column(target)), names


def _no_text(name: str) -> InputError:
    return InputError(
        f"the column {name!r} holds text, which this format cannot keep; write CSV, Parquet, Arrow "
        "or ARFF instead."
    )


def _excel(parts: Iterator[Any], stream: IO[bytes], _target: str) -> None:
    try:
        import openpyxl
    except ImportError:
        raise MissingExtraError("openpyxl", "excel", "Writing .xlsx") from None
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    try:
        _fill_sheet(sheet, parts)
    except BaseException:
        sheet.close()
        raise
    book.save(stream)


def _fill_sheet(sheet: Any, parts: Iterator[Any]) -> None:
    n_rows = 0
    for number, part in enumerate(parts):
        if not number:
            sheet.append([_excel_cell(sheet, name, name) for name in part.column_names])
        n_rows += part.num_rows
        check_size(Path("table.xlsx"), n_rows)
        columns = [
            [_excel_cell(sheet, cell, name) for cell in part.column(name).to_pylist()]
            for name in part.column_names
        ]
        for row in zip(*columns, strict=True):
            sheet.append(row)


def _excel_cell(sheet: Any, value: Any, column: str) -> Any:
    """Text stays text: openpyxl would write what begins with = as a formula."""
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.utils.exceptions import IllegalCharacterError

    if not isinstance(value, str):
        return None if value != value else value
    try:
        cell = WriteOnlyCell(sheet, value)
    except IllegalCharacterError:
        raise InputError(
            f"the column {column!r} holds a control character, which .xlsx cannot keep; write CSV "
            "or Parquet instead."
        ) from None
    cell.data_type = "s"
    return cell


_WRITERS: dict[str, Callable[[Iterator[Any], IO[bytes], str], None]] = {
    "csv": _csv,
    "tsv": _tsv,
    "parquet": _parquet,
    "arrow": _arrow,
    "arff": _arff,
    "libsvm": _libsvm,
    "npz": _npz,
    "excel": _excel,
}
