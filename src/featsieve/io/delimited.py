"""CSV and TSV."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from featsieve.errors import InputError
from featsieve.io.budget import Budget, unpacked_size
from featsieve.io.foreign import damage_explained, reason
from featsieve.io.model import ArrowTable, ReadOptions, check_names

MISSING = ["", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "?", "-nan", "#N/A"]
_SAMPLE = 1 << 16
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_DELIMITERS = (",", ";", "\t", "|")
BYTES_PER_CELL = 8


def read_delimited(path: Path, source: str, options: ReadOptions, budget: Budget) -> ArrowTable:
    """A text table; types are found by looking at all rows, text becomes categories."""
    import pyarrow as pa
    from pyarrow import csv

    encoding = options.encoding
    sample = _sample(path, source, encoding)
    delimiter = options.delimiter or sniff_delimiter(_first_line(sample, source, encoding))
    budget.take(BYTES_PER_CELL * _expected_cells(sample, delimiter, unpacked_size(path, budget)))
    parse = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    read = csv.ReadOptions(encoding=encoding, autogenerate_column_names=not options.header)
    convert = csv.ConvertOptions(null_values=MISSING, strings_can_be_null=True)
    with damage_explained(source, "cannot be read", "fix the file"):
        try:
            data = csv.read_csv(
                path, read_options=read, parse_options=parse, convert_options=convert
            )
            names = data.column_names  # decoded here
        except pa.ArrowInvalid as error:
            raise _explain(error, path, source, read, parse) from None
        except UnicodeError:
            raise not_text(source, encoding) from None
    if not options.header:
        data = data.rename_columns([f"X{j + 1}" for j in range(data.num_columns)])
    elif looks_headless(names) and len(set(names)) < len(names):
        raise headless(source)
    check_names(data.column_names, source)
    return ArrowTable(_only_text(data, source, encoding), source, delimiter)


def sniff_delimiter(line: str) -> str:
    """The separator that cuts the first line into most cells.

    >>> sniff_delimiter("a;b;c, d")
    ';'
    """
    return max(_DELIMITERS, key=line.count)


def looks_headless(names: Sequence[str]) -> bool:
    """Whether what should be names are only numbers.

    >>> looks_headless(["1", "-2.5", "1e3"]), looks_headless(["1", "age"])
    (True, False)
    """
    return all(_NUMBER.fullmatch(name.strip()) for name in names)


def headless(source: str) -> InputError:
    return InputError(
        f"the first row of {source} holds only numbers, no names; if it has no header, add "
        "--no-header and name the target X1, X2, …"
    )


def not_text(source: str, encoding: str, where: str = "") -> InputError:
    return InputError(
        f"{source} is not {encoding.upper()} text{where}; give its encoding, for example "
        "--encoding latin-1, or save it as UTF-8."
    )


def _sample(path: Path, source: str, encoding: str) -> bytes:
    import pyarrow as pa

    with pa.input_stream(str(path), compression="detect") as stream:
        sample = bytes(stream.read(_SAMPLE))
    if not sample.strip():
        raise InputError(f"{source} is empty; give a file with a header and rows.")
    if encoding.lower().replace("-", "") == "utf8" and b"\0" in sample:
        raise not_text(source, encoding)
    return sample


def _expected_cells(sample: bytes, delimiter: str, size: int) -> int:
    """How many cells the file has if it goes on as it begins."""
    ends = sample.count(delimiter.encode()) + sample.count(b"\n") + 1
    return ends * max(1, size // len(sample))


def _first_line(sample: bytes, source: str, encoding: str) -> str:
    """The first line, decoded strictly: pyarrow would let broken names pass."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(sample.split(b"\n", 1)[0])
    except UnicodeError:
        raise not_text(source, encoding, " (in its first line)") from None
    except LookupError:
        raise InputError(
            f"the encoding {encoding!r} is not known; give one that Python knows, for example "
            "utf-8 or latin-1."
        ) from None
    return text


def _only_text(data: Any, source: str, encoding: str) -> Any:
    """Refuse bytes that are not text; a column without any value is one of missing numbers."""
    import pyarrow as pa

    for field in data.schema:
        if pa.types.is_binary(field.type):
            raise not_text(source, encoding, f" (in column {field.name!r})")
    for position, field in enumerate(data.schema):
        if pa.types.is_null(field.type):
            data = data.set_column(position, field.name, data.column(position).cast(pa.float64()))
    return data


def _explain(error: Exception, path: Path, source: str, read: Any, parse: Any) -> InputError:
    message = str(error)
    if "Expected" in message and "columns, got" in message:
        return _ragged(path, source, read, parse)
    if "UTF8" in message or "UTF-8" in message:
        return not_text(source, read.encoding)
    return InputError(f"{source} cannot be read ({reason(error)}); fix the file.")


def _ragged(path: Path, source: str, read: Any, parse: Any) -> InputError:
    """Read once more, in order, to learn which row is wrong."""
    import pyarrow as pa
    from pyarrow import csv

    ragged: list[Any] = []

    def remember(row: Any) -> str:
        ragged.append(row)
        return "skip"

    read.use_threads, parse.invalid_row_handler = False, remember
    with suppress(pa.ArrowInvalid):  # a row that is not text cannot be handed to us
        csv.read_csv(path, read_options=read, parse_options=parse)
    if not ragged:
        return not_text(source, read.encoding)
    row = ragged[0]
    return InputError(
        f"{source} is ragged: row {row.number} has {row.actual_columns} cells where the first row "
        f"has {row.expected_columns}; fix that row, or give the right --delimiter."
    )
