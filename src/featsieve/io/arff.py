"""Weka's ARFF, dense and sparse: numbers, nominal states, strings, dates as text, ``?``.

A small parser of our own, since the grammar is small and the known ones are slow or absent."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from featsieve.arrays import Array
from featsieve.errors import InputError, reason

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"\s*(?P<name>{_QUOTED}|[^\s{{]+)\s*(?P<kind>.+)", re.DOTALL)
_CELL = re.compile(rf"((?:{_QUOTED}|[^,'\"])*),", re.DOTALL)
HEADER_GROWTH = 10  # a state of one letter takes as much as a Python object does
BYTES_PER_CELL = 16  # a value, and the index of a sparse cell
BYTES_PER_STATE = 200
_NUMBERS = {"numeric", "real", "integer"}
_SPARSE_WITH_WEIGHT = re.compile(r"(\{[^{}]*)\}\s*,\s*\{[^{}]*\}")
_DATE_PART = re.compile(r"'[^']*'|(?:([a-zA-Z])\1*)|.")
_ESCAPE = re.compile(r"\\(.)")
_DATE_CODES = {  # of SimpleDateFormat → of strptime
    **dict.fromkeys(("y", "yyy", "yyyy"), "%Y"),
    "yy": "%y",
    **dict.fromkeys(("M", "MM"), "%m"),
    "MMM": "%b",
    "MMMM": "%B",
    **{
        code * n: f"%{letter}"
        for code, letter in zip("dHhms", "dHIMS", strict=True)
        for n in (1, 2)
    },
    "SSS": "%f",
    "a": "%p",
    **dict.fromkeys(("E", "EE", "EEE"), "%a"),
    "EEEE": "%A",
    **dict.fromkeys(("Z", "X", "XX", "XXX"), "%z"),
}
_CONTROL = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True)
class Attribute:
    """A column: ``states`` is None for numbers, () for free text, else the declared states.

    ``date_format`` is what :func:`datetime.strptime` reads the texts of a date by.
    """

    name: str
    states: tuple[str, ...] | None
    date_format: str | None = None


@dataclass(frozen=True)
class ArffData:
    """Columns as floats: states are codes 0, 1, …, missing cells are NaN.

    ``matrix`` is a dense array, or a CSR array for a sparse file; free text columns have got
    their distinct texts as states.
    """

    relation: str
    attributes: tuple[Attribute, ...]
    matrix: Any
    has_weights: bool = False  # of rows

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def categories(self) -> dict[int, tuple[str, ...]]:
        """Column → its states, for the columns that are not numbers."""
        pairs = enumerate(self.attributes)
        return {j: attribute.states for j, attribute in pairs if attribute.states is not None}


def parse_arff(
    lines: Iterable[str],
    source: str = "the ARFF file",
    take_memory: Callable[[int], None] = lambda n_bytes: None,
) -> ArffData:
    """Read a whole file, given line by line; ``take_memory`` hears of bytes before they are taken.

    >>> data = parse_arff(["@attribute a real", "@attribute b {u, v}", "@data", "1,v"])
    >>> data.matrix, data.categories
    (array([[1., 1.]]), {1: ('u', 'v')})
    """
    numbered = _meaningful(lines)
    relation, attributes = _header(numbered, source, take_memory)
    rows = _Rows(attributes, source, take_memory)
    for number, line in numbered:
        rows.add(number, line)
    return ArffData(relation, rows.attributes(), rows.matrix(), rows.has_weights)


def _meaningful(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Numbered lines without comments and blank lines."""
    for number, line in enumerate(lines, start=1):
        text = line.strip().lstrip("\ufeff")
        if text and not text.startswith("%"):
            yield number, text


def _header(
    lines: Iterator[tuple[int, str]], source: str, take_memory: Callable[[int], None]
) -> tuple[str, list[Attribute]]:
    relation, attributes = "", []
    for number, line in lines:
        take_memory(HEADER_GROWTH * len(line))
        keyword, *after = line.split(maxsplit=1)
        rest = after[0] if after else ""
        match keyword.lower():
            case "@relation":
                relation = unquote(rest)
            case "@attribute":
                attributes.append(_attribute(rest, number, source))
            case "@data":
                return relation, _checked(attributes, source)
            case _:
                raise InputError(
                    f"line {number} of {source} is {line[:60]!r}; an ARFF header has only "
                    "@relation, @attribute and @data lines: fix or remove it."
                )
    raise InputError(f"{source} has no @data line; it is not an ARFF file, or it was cut off.")


def _checked(attributes: list[Attribute], source: str) -> list[Attribute]:
    if not attributes:
        raise InputError(f"{source} declares no @attribute before @data; add them.")
    return attributes


def _attribute(text: str, number: int, source: str) -> Attribute:
    match = _ATTRIBUTE.fullmatch(text)
    if match is None:
        raise InputError(
            f"line {number} of {source} declares @attribute {text[:60]!r}; "
            "write: @attribute NAME TYPE."
        )
    name, kind = unquote(match["name"]), match["kind"].strip()
    if kind.startswith("{") and kind.endswith("}"):
        states = dict.fromkeys(unquote(cell) for cell in split_cells(kind[1:-1]))
        return Attribute(name, tuple(states))
    word = kind.split()[0].lower()
    if word in _NUMBERS:
        return Attribute(name, None)
    if word == "date":
        return Attribute(name, (), _date_format(unquote(kind[len(word) :].strip())))
    if word == "string":
        return Attribute(name, ())
    raise InputError(
        f"line {number} of {source} gives column {name!r} the type {kind[:40]!r}; "
        "numeric, real, integer, string, date and {states} are allowed."
    )


def _date_format(pattern: str) -> str | None:
    """A pattern of Java's SimpleDateFormat for Python; None where it is not given or not known.

    >>> _date_format("MM/dd/yy HH:mm"), _date_format("yyyy-MM-dd'T'HH:mm"), _date_format("ww")
    ('%m/%d/%y %H:%M', '%Y-%m-%dT%H:%M', None)
    """
    parts = []
    for part in (match[0] for match in _DATE_PART.finditer(pattern)):
        if part[0].isalpha() and part not in _DATE_CODES:
            return None
        literal = part.strip("'") or "'"
        parts.append(_DATE_CODES.get(part) or literal.replace("%", "%%"))
    return "".join(parts) or None


def _iso_date(text: str, date_format: str) -> str:
    """The date as no reader can take it for another; what is not one stays as it is."""
    try:
        moment = datetime.strptime(text.strip(), date_format)
    except ValueError:
        return text
    has_clock = any(code in date_format for code in ("%H", "%I"))
    return moment.isoformat(" ") if has_clock else moment.date().isoformat()


def split_cells(text: str) -> list[str]:
    """Cells between commas, still quoted, quotes protecting commas.

    >>> split_cells("1, 'a, b' ,?")
    ['1', "'a, b'", '?']
    """
    if "'" not in text and '"' not in text:
        return [cell.strip() for cell in text.split(",")]
    cells, position, ended = [], 0, text + ","
    while position < len(ended):
        match = _CELL.match(ended, position)
        if match is None:
            raise ValueError("a quote that is not closed")
        cells.append(match[1].strip())
        position = match.end()
    return cells


def unquote(cell: str) -> str:
    r"""The text of a cell.

    >>> unquote("'it\\'s'"), unquote("plain")
    ("it's", 'plain')
    """
    if len(cell) >= 2 and cell[0] == cell[-1] and cell[0] in "'\"":
        return _ESCAPE.sub(lambda escape: _CONTROL.get(escape[1], escape[1]), cell[1:-1])
    return cell


def _states(attribute: Attribute, texts: Iterable[str]) -> tuple[str, ...]:
    if attribute.date_format is None:
        return tuple(texts)
    return tuple(_iso_date(text, attribute.date_format) for text in texts)


class _Rows:
    """Data lines on their way into a matrix of floats."""

    def __init__(
        self, attributes: list[Attribute], source: str, take_memory: Callable[[int], None]
    ) -> None:
        self._declared = attributes
        self._source = source
        self._take_memory = take_memory
        self._codes = [
            None
            if attribute.states is None
            else {state: code for code, state in enumerate(attribute.states)}
            for attribute in attributes
        ]
        # What most cells need; quotes, missing cells and new texts raise and go the long way.
        self._quick: list[Callable[[str], float]] = [
            float if codes is None else codes.__getitem__ for codes in self._codes
        ]
        # Flat and typed: as many bytes as the matrix, which then needs no copy of them.
        self._values = array("d")
        self._columns = array("q")
        self._starts = array("q", [0])
        self._is_sparse: bool | None = None
        self.has_weights = False

    def add(self, number: int, line: str) -> None:
        is_sparse = line.startswith("{")
        if self._is_sparse not in (None, is_sparse):
            raise InputError(
                f"line {number} of {self._source} mixes sparse and dense rows; "
                "write all rows in one form."
            )
        self._is_sparse = is_sparse
        try:
            values = self._sparse_row(line) if is_sparse else self._dense_row(line)
        except ValueError as error:
            raise InputError(
                f"line {number} of {self._source} cannot be read ({reason(error)}); fix or remove "
                "it."
            ) from None
        self._take_memory(BYTES_PER_CELL * len(values))
        self._values.extend(values)
        self._starts.append(len(self._values))

    def _dense_row(self, line: str) -> list[float]:
        cells = split_cells(line)
        if len(cells) == len(self._declared) + 1 and cells[-1].startswith("{"):
            del cells[-1]
            self.has_weights = True
        if len(cells) != len(self._declared):
            raise ValueError(f"{len(cells)} cells for {len(self._declared)} attributes")
        try:
            return [read(cell) for read, cell in zip(self._quick, cells, strict=True)]
        except (ValueError, KeyError):
            return [self._value(j, cell) for j, cell in enumerate(cells)]

    def _sparse_row(self, line: str) -> list[float]:
        end = line.rindex("}")
        if weighted := _SPARSE_WITH_WEIGHT.fullmatch(line):
            end = weighted.end(1)
            self.has_weights = True
        inside = line[1:end].strip()
        values = []
        for pair in split_cells(inside) if inside else []:
            index, _, cell = pair.partition(" ")
            column = int(index)
            if not 0 <= column < len(self._declared):
                raise ValueError(f"index {column} for {len(self._declared)} attributes")
            self._columns.append(column)
            values.append(self._value(column, cell.strip()))
        return values

    def _value(self, column: int, cell: str) -> float:
        codes = self._codes[column]
        if cell == "?":
            return np.nan
        if codes is None:
            return float(unquote(cell))
        text = unquote(cell)
        if not self._declared[column].states:
            if text not in codes:
                self._take_memory(BYTES_PER_STATE + len(text))
            return codes.setdefault(text, len(codes))
        if text not in codes:
            raise ValueError(f"{text!r} is not a state of {self._declared[column].name!r}")
        return codes[text]

    def attributes(self) -> tuple[Attribute, ...]:
        return tuple(
            attribute if codes is None else Attribute(attribute.name, _states(attribute, codes))
            for attribute, codes in zip(self._declared, self._codes, strict=True)
        )

    def matrix(self) -> Array | Any:
        values = np.frombuffer(self._values) if self._values else np.empty(0)
        if not self._is_sparse:
            return values.reshape(-1, len(self._declared))
        from scipy.sparse import csr_array

        columns = np.array(self._columns, dtype=np.intp)
        starts = np.array(self._starts, dtype=np.intp)
        return csr_array((values, columns, starts), shape=(len(starts) - 1, len(self._declared)))
