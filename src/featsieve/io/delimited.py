"""CSV and TSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from featsieve.errors import InputError, reason
from featsieve.io.budget import Budget, open_unpacked, unpacked_size
from featsieve.io.foreign import damage_explained
from featsieve.io.layout import BLANKS_BEFORE_QUOTE, Layout, Sample, look_at, not_text, western
from featsieve.io.lost_text import (
    Pointed,
    any_cell_matches,
    columns_of_codes,
    columns_with_lost_digits,
    has_decimal_commas,
    may_have_codes,
    pointed_columns,
)
from featsieve.io.model import ArrowTable, Note, ReadOptions, check_names, quoted
from featsieve.io.open_quote import refuse_swallowed_rows
from featsieve.io.tidied import is_text
from featsieve.io.values import is_number

MISSING = ["", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "?", "-nan", "#N/A", "<NA>"]
BYTES_PER_CELL = 8
BLOCK = 1 << 20
MOST_COMMENTS = 0.05  # with cells: more of them are rows


def read_delimited(path: Path, source: str, options: ReadOptions, budget: Budget) -> ArrowTable:
    """A text table; types are found by looking at all rows, text becomes categories."""
    with damage_explained(source, "cannot be read", "fix the file"):
        sample = Sample.of(path, source, options)
        layout = look_at(sample)
        size = unpacked_size(path, budget)
        n_cells = _expected_cells(sample.head, layout.delimiter, size)
        budget.take(BYTES_PER_CELL * n_cells)
        if options.header:
            check_names(layout.names, source)
        file, data = _read(_TextFile.of(path, sample, layout, lambda: budget.take(2 * size)))
        if file.allows("layout"):
            refuse_swallowed_rows(data, file.layout.delimiter, source)
        file, data = _with_comments_noted(file, data)
        file, data = _with_codes(file, data)
        file, data = _with_thousands(file, data)
        data, gap_words = _with_words_of_target(file, data)
    layout = file.layout
    return ArrowTable(data, source, layout.delimiter, layout.notes, layout.repeated, gap_words)


@dataclass(frozen=True)
class _TextFile:
    """A file and how to read it; ``content`` takes its place where it was written again."""

    path: Path
    source: str
    options: ReadOptions
    layout: Layout
    block_size: int
    comments: _CommentRows
    take_memory: Callable[[], None]  # to write the file again
    content: bytes | None = None

    @classmethod
    def of(
        cls, path: Path, sample: Sample, layout: Layout, take_memory: Callable[[], None]
    ) -> _TextFile:
        block_size = max(BLOCK, 8 * sample.longest_line)
        allowed = sample.allows("layout")
        comments = _CommentRows(layout.delimiter, allowed=allowed)
        options = sample.options
        file = cls(path, sample.source, options, layout, block_size, comments, take_memory)
        return file.without_blanks() if layout.skips_blanks else file

    def allows(self, fix: str) -> bool:
        return fix not in self.options.no_fix

    def noted(self, message: str, fix: str | None = None) -> _TextFile:
        notes = (*self.layout.notes, Note(message, fix))
        return replace(self, layout=replace(self.layout, notes=notes))

    def without_blanks(self) -> _TextFile:
        self.take_memory()
        layout = self.layout if self.layout.skips_blanks else self.layout.without_blanks()
        return replace(self, layout=layout, content=_without_blanks(self.path, layout))

    def read(self) -> Any:
        from pyarrow import csv

        self.comments.clear()
        data = csv.read_csv(self._stream(), *self._how())
        extra = self.layout.extra
        return _only_text(data if extra is None else data.drop_columns([extra]), self.source)

    def texts(self, columns: Sequence[str], gaps: Sequence[str] = MISSING) -> Any:
        """Some columns as they are written."""
        from pyarrow import csv

        return csv.read_csv(self._stream(), *self._how(columns, gaps))

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        from pyarrow import csv

        with csv.open_csv(self._stream(), *self._how(columns)) as batches:
            yield from batches

    def with_texts(self, data: Any, columns: Sequence[str]) -> Any:
        texts = self.texts(columns)
        for name in columns:
            position = data.column_names.index(name)
            data = data.set_column(position, name, texts.column(name))
        return data

    def _stream(self) -> Any:
        import pyarrow as pa

        if self.content is not None:
            return pa.BufferReader(self.content)
        return open_unpacked(self.path)

    def _how(self, columns: Sequence[str] = (), gaps: Sequence[str] = MISSING) -> tuple[Any, ...]:
        import pyarrow as pa
        from pyarrow import csv

        layout, is_new = self.layout, self.content is not None
        read = csv.ReadOptions(
            encoding="utf-8" if is_new else layout.encoding,
            column_names=layout.names,
            skip_rows=0 if is_new else layout.n_lines_before,
            skip_rows_after_names=1 if self.options.header else 0,
            block_size=self.block_size,
        )
        parse = csv.ParseOptions(
            delimiter=layout.delimiter,
            newlines_in_values=True,
            invalid_row_handler=self.comments,
        )
        convert = csv.ConvertOptions(
            null_values=gaps,
            strings_can_be_null=True,
            include_columns=columns,
            column_types=dict.fromkeys(columns, pa.string()),
        )
        return read, parse, convert


def _without_blanks(path: Path, layout: Layout) -> bytes:
    """The table written again, for a reader that knows no blanks before a quote."""
    output = io.StringIO(newline="")
    with open_unpacked(path) as stream:
        lines = io.TextIOWrapper(stream, encoding=layout.encoding, newline="")
        rows = csv.reader(lines, delimiter=layout.delimiter, skipinitialspace=True)
        for _ in range(layout.n_lines_before):
            next(lines, None)
        try:
            csv.writer(output, delimiter=layout.delimiter).writerows(rows)
        except csv.Error:
            raise InputError(
                f"{path.name} has a quote that is not closed, or a cell that is too large; close "
                "every quote."
            ) from None
    return output.getvalue().removeprefix("\ufeff").encode()


class _CommentRows:
    """Lines in the middle of a table that begin with # are comments, unless they hold numbers."""

    def __init__(self, delimiter: str, *, allowed: bool = True, with_cells: bool = True) -> None:
        self._delimiter = delimiter
        self._allowed = allowed
        self._with_cells = with_cells  # whether a comment may have a delimiter in it
        self.clear()

    def clear(self) -> None:
        self.n_rows = self.n_with_cells = 0
        self.example = ""

    def __call__(self, row: Any) -> str:
        text = (row.text or "").strip(" \t\x1a")  # DOS ended its files with the last of these
        if not text and row.actual_columns == 1:
            return "skip"
        cells = text.split(self._delimiter)
        is_comment = text.startswith("#") and not any(map(is_number, cells[1:]))
        if not (self._allowed and is_comment and (self._with_cells or len(cells) == 1)):
            return "error"
        self.n_rows += 1
        self.n_with_cells += len(cells) > 1
        self.example = self.example or text
        return "skip"


def _read(file: _TextFile) -> tuple[_TextFile, Any]:
    """Blanks before a quote, which the sample need not show, make rows ragged or stay in cells."""
    try:
        file, data = _read_as_text(file)
    except InputError:
        if not _may_have_blanks(file):
            raise
        with suppress(InputError, UnicodeError):
            without, data = _read_as_text(file.without_blanks())
            if not any_cell_matches(_texts(data), "\n"):  # quotes that were not meant as such
                return without, data
        raise
    if any_cell_matches(_texts(data), f"^{BLANKS_BEFORE_QUOTE}") and _may_have_blanks(file):
        with suppress(InputError, UnicodeError):
            without, trimmed = _read_as_text(file.without_blanks())
            if trimmed.num_rows == data.num_rows:
                return without, trimmed
    return file, data


def _texts(data: Any) -> list[Any]:
    return [data.column(field.name) for field in data.schema if is_text(field.type)]


def _may_have_blanks(file: _TextFile) -> bool:
    if file.content is not None or not file.allows("layout") or file.layout.delimiter == " ":
        return False
    rest = b""
    with file._stream() as stream:
        while chunk := bytes(stream.read(BLOCK)):
            if b' "' in rest + chunk:
                return True
            rest = chunk[-1:]
    return False


def _read_as_text(file: _TextFile) -> tuple[_TextFile, Any]:
    source, encoding = file.source, file.layout.encoding
    try:
        return file, _read_or_explain(file)
    except UnicodeError:
        if not file.allows("encoding") or encoding.lower().replace("-", "") != "utf8":
            raise not_text(source, encoding) from None
    # The first bytes were text, later ones are not.
    file = replace(file, layout=western(file.layout, source))
    try:
        return file, _read_or_explain(file)
    except UnicodeError:
        raise not_text(source, file.layout.encoding) from None


def _read_or_explain(file: _TextFile) -> Any:
    import pyarrow as pa

    try:
        return file.read()
    except pa.ArrowInvalid as error:
        raise _explain(error, file) from None


# --- what the types of the columns would hide -----------------------------------------------------


def _with_comments_noted(file: _TextFile, data: Any) -> tuple[_TextFile, Any]:
    comments = file.comments
    if not comments.n_rows:
        return file, data
    first = data.column(0)
    are_rows = is_text(first.type) and any_cell_matches([first], r"^\s*#")
    if comments.n_with_cells > (0 if are_rows else max(2, MOST_COMMENTS * data.num_rows)):
        raise _ragged(file, comments_with_cells=False)
    words = (
        "row begins with '#' and was" if comments.n_rows == 1 else "rows begin with '#' and were"
    )
    return file.noted(
        f"{comments.n_rows} {words} left out as comments (such as {comments.example[:40]!r})",
        "layout",
    ), data


def _with_codes(file: _TextFile, data: Any) -> tuple[_TextFile, Any]:
    layout = file.layout
    if not file.allows("codes"):
        return file, data
    may_have = may_have_codes(file.path, layout.encoding, layout.delimiter)
    for names, what in (
        (columns_of_codes(data, file.batches) if may_have else [], "codes with leading zeros"),
        (columns_with_lost_digits(data, file.texts), "numbers of more digits than can be kept"),
    ):
        if names:
            file = file.noted(f"{quoted(names)}: {what}, kept as text", "codes")
            data = file.with_texts(data, names)
    return file, data


def _with_thousands(file: _TextFile, data: Any) -> tuple[_TextFile, Any]:
    """Points between thousands where the file has decimal commas; a note where nobody can know."""
    decimal = file.options.decimal
    if decimal == "." or (decimal is None and file.layout.delimiter == ","):
        return file, data
    pointed = pointed_columns(data, file.batches)
    if not pointed:
        return file, data
    if decimal == "," or has_decimal_commas(data):
        return file, file.with_texts(data, list(pointed))
    unclear = [name for name, cells in pointed.items() if _is_unclear(cells, file.layout)]
    if unclear:
        file = file.noted(
            f"{quoted(unclear)}: the point in {pointed[unclear[0]].example!r} was read as that of "
            "decimals, though it may separate thousands; --decimal , reads thousands, --decimal . "
            "says that this is right"
        )
    return file, data


def _is_unclear(cells: Pointed, layout: Layout) -> bool:
    """Whole numbers below a thousand among the others speak for thousands, a semicolon too."""
    return cells.could_be_thousands and bool(cells.n_plain or layout.delimiter == ";")


def _with_words_of_target(file: _TextFile, data: Any) -> tuple[Any, dict[str, int]]:
    """The words that were read as missing in the target; they stay if nothing is left out."""
    import pyarrow.compute as pc
    import pyarrow.types as kinds

    target = file.options.target
    if target is None or target not in data.column_names:
        return data, {}
    if not data.column(target).null_count:
        return data, {}
    written = file.texts([target], [""]).column(target)
    kept = data.column(target)
    if not file.allows("target") and (is_text(kept.type) or kinds.is_boolean(kept.type)):
        return data.set_column(data.column_names.index(target), target, written), {}
    words = written.filter(pc.is_null(kept)).drop_null().value_counts().to_pylist()
    return data, {str(count["values"]): int(count["counts"]) for count in words}


# --- size and errors ------------------------------------------------------------------------------


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


def _explain(error: Exception, file: _TextFile) -> Exception:
    message = str(error)
    if "Expected" in message and "columns, got" in message:
        return _ragged(file)
    if "UTF8" in message or "UTF-8" in message:
        return UnicodeDecodeError("utf-8", b"", 0, 0, message)
    if "straddling" in message:  # one row without an end
        return InputError(
            f"{file.source} has no row that ends after its first line; give it a header and at "
            "least two rows, and close every quote."
        )
    return InputError(f"{file.source} cannot be read ({reason(error)}); fix the file.")


def _ragged(file: _TextFile, *, comments_with_cells: bool = True) -> Exception:
    """Read once more, in order, to learn which row is wrong."""
    import pyarrow as pa
    from pyarrow import csv

    ragged: list[Any] = []
    comments = _CommentRows(
        file.layout.delimiter, allowed=file.allows("layout"), with_cells=comments_with_cells
    )

    def remember(row: Any) -> str:
        if comments(row) == "error":
            ragged.append(row)
        return "skip"

    read, parse, _ = file._how()
    read.use_threads, parse.invalid_row_handler = False, remember
    with suppress(pa.ArrowInvalid):  # a row that is not text cannot be handed to us
        csv.read_csv(file._stream(), read_options=read, parse_options=parse)
    if not ragged:
        return UnicodeDecodeError("utf-8", b"", 0, 0, file.source)
    row = ragged[0]
    cells = "1 cell" if row.actual_columns == 1 else f"{row.actual_columns} cells"
    return InputError(
        f"{file.source} is ragged: row {row.number} has {cells} where the first row has "
        f"{row.expected_columns}; fix that row, or give the right --delimiter."
    )
