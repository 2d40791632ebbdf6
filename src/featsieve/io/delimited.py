"""CSV and TSV."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from featsieve.errors import InputError
from featsieve.io.budget import Budget, unpacked_size
from featsieve.io.foreign import damage_explained, reason
from featsieve.io.layout import Layout, Sample, look_at, not_text, western
from featsieve.io.model import ArrowTable, ReadOptions, check_names

MISSING = ["", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "?", "-nan", "#N/A", "<NA>"]
BYTES_PER_CELL = 8


def read_delimited(path: Path, source: str, options: ReadOptions, budget: Budget) -> ArrowTable:
    """A text table; types are found by looking at all rows, text becomes categories."""
    with damage_explained(source, "cannot be read", "fix the file"):
        sample = Sample.of(path, source, options)
        layout = look_at(sample)
        n_cells = _expected_cells(sample.head, layout.delimiter, unpacked_size(path, budget))
        budget.take(BYTES_PER_CELL * n_cells)
        if options.header:
            check_names(layout.names, source)
        layout, data = _read_as_text(path, sample, layout)
    return ArrowTable(data, source, layout.delimiter, layout.notes, layout.repeated)


def _read_as_text(path: Path, sample: Sample, layout: Layout) -> tuple[Layout, Any]:
    source, header = sample.source, sample.options.header
    try:
        return layout, _read(path, source, layout, header=header)
    except UnicodeError:
        if not sample.allows("encoding") or layout.encoding.lower().replace("-", "") != "utf8":
            raise not_text(source, layout.encoding) from None
    # The first bytes were text, later ones are not.
    layout = western(layout, source)
    try:
        return layout, _read(path, source, layout, header=header)
    except UnicodeError:
        raise not_text(source, layout.encoding) from None


def _read(path: Path, source: str, layout: Layout, *, header: bool) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    comments = _CommentRows()
    parse = csv.ParseOptions(
        delimiter=layout.delimiter, newlines_in_values=True, invalid_row_handler=comments
    )
    read = csv.ReadOptions(
        encoding=layout.encoding,
        column_names=layout.names,
        skip_rows=layout.n_lines_before,
        skip_rows_after_names=1 if header else 0,
    )
    convert = csv.ConvertOptions(
        null_values=MISSING,
        strings_can_be_null=True,
        column_types=dict.fromkeys(layout.text, pa.string()),
    )
    try:
        data = csv.read_csv(path, read_options=read, parse_options=parse, convert_options=convert)
    except pa.ArrowInvalid as error:
        raise _explain(error, path, source, read, parse) from None
    if layout.extra is not None:
        data = data.drop_columns([layout.extra])
    return _only_text(data, source)


class _CommentRows:
    """Lines in the middle of a table that begin with # are comments, not rows."""

    def __call__(self, row: Any) -> str:
        return "skip" if row.text is not None and row.text.lstrip().startswith("#") else "error"


def _expected_cells(sample: bytes, delimiter: str, size: int) -> int:
    """How many cells the file has if it goes on as it begins."""
    ends = sample.count(delimiter.encode()) + sample.count(b"\n") + 1
    return ends * max(1, size // len(sample))


def _only_text(data: Any, source: str) -> Any:
    """Refuse bytes that are not text; a column without any value is one of missing numbers."""
    import pyarrow as pa

    for field in data.schema:
        if pa.types.is_binary(field.type):
            raise UnicodeDecodeError("utf-8", b"", 0, 0, f"column {field.name!r} of {source}")
    for position, field in enumerate(data.schema):
        if pa.types.is_null(field.type):
            data = data.set_column(position, field.name, data.column(position).cast(pa.float64()))
    return data


def _explain(error: Exception, path: Path, source: str, read: Any, parse: Any) -> Exception:
    message = str(error)
    if "Expected" in message and "columns, got" in message:
        return _ragged(path, source, read, parse)
    if "UTF8" in message or "UTF-8" in message:
        return UnicodeDecodeError("utf-8", b"", 0, 0, message)
    if "straddling" in message:  # one row without an end
        return InputError(
            f"{source} has no row that ends after its first line; give it a header and at least "
            "two rows, and close every quote."
        )
    return InputError(f"{source} cannot be read ({reason(error)}); fix the file.")


def _ragged(path: Path, source: str, read: Any, parse: Any) -> Exception:
    """Read once more, in order, to learn which row is wrong."""
    import pyarrow as pa
    from pyarrow import csv

    ragged: list[Any] = []
    is_comment = _CommentRows()

    def remember(row: Any) -> str:
        if is_comment(row) == "error":
            ragged.append(row)
        return "skip"

    read.use_threads, parse.invalid_row_handler = False, remember
    with suppress(pa.ArrowInvalid):  # a row that is not text cannot be handed to us
        csv.read_csv(path, read_options=read, parse_options=parse)
    if not ragged:
        return UnicodeDecodeError("utf-8", b"", 0, 0, source)
    row = ragged[0]
    return InputError(
        f"{source} is ragged: row {row.number} has {row.actual_columns} cells where the first row "
        f"has {row.expected_columns}; fix that row, or give the right --delimiter."
    )
