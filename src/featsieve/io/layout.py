"""How the text of a table is laid out: encoding, delimiter, where its header is, its names."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from featsieve.errors import InputError
from featsieve.io.budget import open_unpacked
from featsieve.io.model import Note, ReadOptions, quoted
from featsieve.io.values import is_number

SAMPLE = 1 << 16
LARGEST_SAMPLE = 1 << 26  # where lines are long
FEWEST_LINES = 10  # of a sample
MOST_ROWS = 500
ROW_NAMES = "row names"
_DELIMITERS = (",", ";", "\t", "|")
_MARKS = (  # that of UTF-32 begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
WESTERN = "cp1252"
BLANKS_BEFORE_QUOTE = r" +\""
_PLAIN_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")

Rows = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Layout:
    """What a reader has to know; ``extra`` is a nameless last column.

    ``skips_blanks``: those between a delimiter and a quote are not part of the cell.
    """

    encoding: str
    delimiter: str
    names: tuple[str, ...] = ()
    n_lines_before: int = 0
    extra: str | None = None
    skips_blanks: bool = False
    repeated: frozenset[str] = frozenset()
    notes: tuple[Note, ...] = ()

    def noted(self, message: str, fix: str, **changes: Any) -> Layout:
        return replace(self, notes=(*self.notes, Note(message, fix)), **changes)

    def without_blanks(self) -> Layout:
        return self.noted(
            "blanks between a delimiter and a quote were passed over", "layout", skips_blanks=True
        )


@dataclass(frozen=True)
class Sample:
    """The beginning of a file, and what a user said about it."""

    source: str
    options: ReadOptions
    head: bytes
    is_complete: bool = True

    @classmethod
    def of(cls, path: Path, source: str, options: ReadOptions) -> Sample:
        with open_unpacked(path) as stream:
            head, size = bytes(stream.read(SAMPLE)), SAMPLE
            while len(head) == size < LARGEST_SAMPLE and _n_lines(head) < FEWEST_LINES:
                head, size = head + bytes(stream.read(size)), 2 * size
        return cls(source, options, head, len(head) < size)

    @property
    def longest_line(self) -> int:
        return max(map(len, self.head.splitlines()), default=0)

    def allows(self, fix: str) -> bool:
        return fix not in self.options.no_fix


def _n_lines(head: bytes) -> int:
    return max(head.count(b"\n"), head.count(b"\r"))


def look_at(sample: Sample) -> Layout:
    """The layout of a text file, as far as its samples tell."""
    if not sample.head.strip(b"\0 \r\n\t\xef\xbb\xbf\xfe\xff"):
        raise InputError(f"{sample.source} is empty; give a file with a header and rows.")
    layout = _with_encoding(sample)
    text = _decoded(sample.head, layout.encoding, sample.source)
    layout, text = _after_separator_line(sample, layout, text)
    lines = _lines(text, complete=sample.is_complete)
    layout = replace(layout, delimiter=sample.options.delimiter or _delimiter(lines))
    layout, rows = _with_cells(sample, layout, lines)
    layout, header = _with_header(sample, layout, rows, lines)
    return _with_names(sample, layout, header)


# --- encoding -------------------------------------------------------------------------------------


def _with_encoding(sample: Sample) -> Layout:
    given = sample.options.encoding
    layout = Layout(given, ",")
    if given.lower().replace("-", "") != "utf8" or not sample.allows("encoding"):
        return layout
    guess = _wide_encoding(sample.head)
    if guess is None:
        return layout if _is_utf8(sample.head) else western(layout, sample.source)
    kind = guess[:6].upper()
    return layout.noted(f"{sample.source} was read as {kind} text", "encoding", encoding=guess)


def western(layout: Layout, source: str) -> Layout:
    """The layout with the encoding of Western Windows."""
    return layout.noted(
        f"{source} is not UTF-8 text; it was read as Windows-1252, --encoding NAME gives another",
        "encoding",
        encoding=WESTERN,
    )


def _is_utf8(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def _wide_encoding(head: bytes) -> str | None:
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    zeros = head[1::2].count(0), head[::2].count(0)
    if max(zeros) > len(head) / 5 and min(zeros) < max(zeros) / 10:
        return "utf-16-le" if zeros[0] > zeros[1] else "utf-16-be"
    return None


def _decoded(head: bytes, encoding: str, source: str) -> str:
    try:
        "a".encode(encoding)  # refuses encodings that are not of text, such as base64
        text = codecs.getincrementaldecoder(encoding)().decode(head).removeprefix("\ufeff")
    except UnicodeError:
        raise not_text(source, encoding) from None
    except LookupError:
        raise InputError(
            f"the encoding {encoding!r} is not known; give one that Python knows, for example "
            "utf-8 or latin-1."
        ) from None
    if "\0" in text:
        raise not_text(source, encoding)
    return text


def not_text(source: str, encoding: str) -> InputError:
    return InputError(
        f"{source} is not {encoding.upper()} text; give its encoding, for example "
        "--encoding latin-1, or save it as UTF-8."
    )


# --- delimiter and header -------------------------------------------------------------------------


def _after_separator_line(sample: Sample, layout: Layout, text: str) -> tuple[Layout, str]:
    """Spreadsheets write ``sep=;`` as a line of its own."""
    first, _, rest = text.partition("\n")
    if not first.lower().startswith("sep=") or not sample.allows("layout"):
        return layout, text
    return replace(layout, n_lines_before=1), rest


def _lines(text: str, *, complete: bool) -> list[str]:
    lines = io.StringIO(text, newline=None).readlines()  # str.splitlines cuts at form feeds, too
    return lines if complete or len(lines) < 2 else lines[:-1]


def _with_cells(
    sample: Sample, layout: Layout, lines: Sequence[str]
) -> tuple[Layout, list[list[str]]]:
    rows = _cells(lines, layout.delimiter)
    is_blank = re.compile(BLANKS_BEFORE_QUOTE)
    if not sample.allows("layout") or not any(is_blank.match(cell) for row in rows for cell in row):
        return layout, rows
    trimmed = _cells(lines, layout.delimiter, skips_blanks=True)
    if _n_widths(trimmed) > _n_widths(rows) or _n_long(trimmed) > _n_long(rows):
        return layout, rows
    return layout.without_blanks(), trimmed


def _n_widths(rows: Rows) -> int:
    return len({len(row) for row in rows if row})


def _n_long(rows: Rows) -> int:
    """Cells of several lines: some of them come from quotes that are inches, or not closed."""
    return sum("\n" in cell for row in rows for cell in row)


def _cells(lines: Iterable[str], delimiter: str, *, skips_blanks: bool = False) -> list[list[str]]:
    """Rows of cells; lines without any cell are empty rows."""
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=skips_blanks)
    try:
        return [row for row, _ in zip(reader, range(MOST_ROWS))]  # noqa: B905
    except csv.Error:
        return [line.rstrip("\n").split(delimiter) for line in list(lines)[:MOST_ROWS]]


def _delimiter(lines: Sequence[str]) -> str:
    """The one that cuts most lines into the same number of cells, and the more cells the better.

    Commas that stand before decimals in the cells of another delimiter delimit nothing.
    """

    def quality(delimiter: str) -> tuple[bool, float, bool, int]:
        rows = [row for row in _cells(lines, delimiter) if row]
        ((width, n_same),) = Counter(map(len, rows)).most_common(1) or [(1, 0)]
        cells = (cell for row in rows for cell in row if "," in cell)
        has_decimals = delimiter != "," and width > 1 and _are_numbers(cells)
        return (width > 1, n_same / max(1, len(rows)), has_decimals, width)

    return max(_DELIMITERS, key=quality)


def _are_numbers(cells: Iterable[str]) -> bool:
    first = next(iter(cells), None)
    return first is not None and is_number(first) and all(map(is_number, cells))


def _with_header(
    sample: Sample, layout: Layout, rows: list[list[str]], lines: Sequence[str]
) -> tuple[Layout, list[str]]:
    """Lines before the header are passed over; a header may lack the name of one column."""
    filled = [number for number, row in enumerate(rows) if any(cell.strip() for cell in row)]
    width = Counter(len(rows[number]) for number in filled).most_common(1)[0][0]
    start = _start_of_table(rows, filled, width) if sample.allows("layout") else filled[0]
    skipped = [number for number in filled if number < start]
    n_before = _n_lines_of(start, lines, layout)
    layout = replace(layout, n_lines_before=layout.n_lines_before + n_before)
    if skipped:
        example = sample.options.delimiter or layout.delimiter
        words = example.join(rows[skipped[0]])[:40]
        layout = layout.noted(
            f"{'the first line' if n_before == 1 else f'the first {n_before} lines'} (such as "
            f"{words!r}) {'is' if n_before == 1 else 'are'} not part of the table and passed over",
            "layout",
        )
    if not sample.options.header:
        return layout, [f"X{j + 1}" for j in range(width)]
    header, body = rows[start], rows[start + 1 :]
    if len(header) == width - 1 and sample.allows("layout") and len(body) > 1:
        return _with_nameless_column(layout, header, body)
    return layout, header


def _n_lines_of(n_rows: int, lines: Sequence[str], layout: Layout) -> int:
    """A cell in quotes may go over several lines."""
    reader = csv.reader(lines, delimiter=layout.delimiter, skipinitialspace=layout.skips_blanks)
    try:
        for _ in range(n_rows):
            next(reader)
    except csv.Error:  # each line was taken for a row
        return n_rows
    return reader.line_num


def _start_of_table(rows: Rows, filled: Sequence[int], width: int) -> int:
    """The first line as wide as the table, or one cell short right before it and all words."""
    for position, number in enumerate(filled):
        row = rows[number]
        if row[0].startswith("#") and len(filled) > position + 1:
            wide = len(rows[filled[position + 1]]) == width
            if not (wide and len(row) == width and width > 1):
                continue
        if len(row) == width:
            return number
        wide = position + 1 < len(filled) and len(rows[filled[position + 1]]) == width
        words = not any(is_number(cell) for cell in row)
        if len(row) == width - 1 and wide and words and width > 2:
            return number
        if width == 1 or len(row) > width:
            return number
    return filled[0]


def _with_nameless_column(
    layout: Layout, header: list[str], body: list[list[str]]
) -> tuple[Layout, list[str]]:
    """Rows one cell longer than the header: a delimiter at their ends, or names of rows before."""
    width = len(header) + 1
    last = {row[-1].strip() for row in body if len(row) == width}
    if last <= {""}:
        return replace(layout, extra="(nothing)"), [*header, "(nothing)"]
    layout = layout.noted(
        f"the rows have one cell more than the header; the first column was called {ROW_NAMES!r}",
        "layout",
    )
    return layout, [ROW_NAMES, *header]


def _with_names(sample: Sample, layout: Layout, header: Sequence[str]) -> Layout:
    """Names without spaces around them, each of them once."""
    if sample.options.header and looks_headless(header) and len(set(header)) < len(header):
        raise headless(sample.source)
    if not sample.allows("names"):
        return replace(layout, names=tuple(header))
    names, repeated, notes = tidy_names(header)
    return replace(layout, names=names, repeated=frozenset(repeated), notes=(*layout.notes, *notes))


def tidy_names(header: Sequence[str]) -> tuple[tuple[str, ...], list[str], list[Note]]:
    """Names without spaces around them, each of them once; which were repeated; what was done."""
    names: list[str] = []
    known: set[str] = set()
    nameless, repeated = [], []
    for number, cell in enumerate(header, start=1):
        name = cell.strip()
        if not name:
            name = f"column {number}"
            nameless.append(name)
        elif name in known:
            repeated.append(name)
        names.append(name)
        known.add(name)
    notes = []
    if nameless:
        notes.append(Note(f"columns without a name were called {quoted(nameless)}", "names"))
    if repeated:
        text = f"{quoted(repeated)}: the name of more than one column; the later ones got a number"
        notes.append(Note(f"{text} after it", "names"))
    return _unique(names), repeated, notes


def _unique(names: Sequence[str]) -> tuple[str, ...]:
    """Later copies of a name get a number.

    >>> _unique(["a", "a", "a_2", "a"])
    ('a', 'a_3', 'a_2', 'a_4')
    """
    taken, given = set(names), set()
    unique = []
    for name in names:
        number, candidate = 2, name
        while candidate in given or (candidate != name and candidate in taken):
            candidate, number = f"{name}_{number}", number + 1
        given.add(candidate)
        unique.append(candidate)
    return tuple(unique)


def looks_headless(names: Sequence[str]) -> bool:
    """Whether what should be names are only numbers.

    >>> looks_headless(["1", "-2.5", "1e3"]), looks_headless(["1", "age"])
    (True, False)
    """
    return all(_PLAIN_NUMBER.fullmatch(name.strip()) for name in names)


def headless(source: str) -> InputError:
    return InputError(
        f"the first row of {source} holds only numbers, no names; if it has no header, add "
        "--no-header and name the target X1, X2, …"
    )
