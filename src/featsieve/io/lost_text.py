"""What is lost when text is read as a number: zeros before a code, points between thousands.

All rows are looked at, so the answer depends neither on their order nor on compression.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.arrays import Array
from featsieve.io.budget import open_unpacked
from featsieve.io.tidied import is_text

CHUNK = 1 << 22
LONGEST_CODE = 64  # bytes
LARGEST_INTEGER = 2.0**63  # readers make longer ones floating-point numbers
_ZERO, _POINT_BYTE = np.frombuffer(b"0.", dtype=np.uint8)
_CODE = r"^\s*0[0-9]+\s*$"
_DIGITS = r"^\s*[0-9]*\s*$"
_POINT = r"\."
_THOUSANDS = r"^\s*[-+]?[1-9][0-9]{0,2}(\.[0-9]{3})+\s*$"
_BELOW_THOUSAND = r"^\s*[-+]?[0-9]{1,3}\s*$"
_DECIMAL_COMMA = r"^\s*[-+]?[0-9]*,[0-9]+([eE][-+]?[0-9]+)?\s*$"

Batches = Callable[[list[str]], Iterator[Any]]  # of these columns as text


# --- codes ----------------------------------------------------------------------------------------


def may_have_codes(path: Path, encoding: str, delimiter: str) -> bool:
    """Whether a cell anywhere in the file is a zero and other digits, seen in bytes."""
    if "0".encode(encoding) != b"0":
        return True
    ends = np.zeros(256, dtype=bool)
    ends[list(b'\r\n" ' + delimiter.encode() + codecs.BOM_UTF8[-1:])] = True
    with open_unpacked(path) as stream:
        return any(_has_code(text, ends) for text in _overlapping(stream))


def _overlapping(stream: Any) -> Iterator[Array]:
    rest = b"\n"
    for chunk in chain(iter(lambda: bytes(stream.read(CHUNK)), b""), [b"\n"]):
        text = rest + chunk
        yield np.frombuffer(text, dtype=np.uint8)
        rest = text[-LONGEST_CODE:]


def _has_code(text: Array, ends: Array) -> bool:
    at = _zeros_before_digits(text)
    at = at[ends[text[at - 1]]] + 1
    for _ in range(LONGEST_CODE):
        at = at[_is_digit(text[at])] + 1
        at = at[at < len(text)]
        if ends[text[at]].any():
            return True
        if not len(at):
            return False
    return False


def _zeros_before_digits(text: Array) -> Any:
    """Where 0 is the first of several digits; few enough to look at each."""
    before, here, after = text[:-2], text[1:-1], text[2:]
    return np.flatnonzero((here == _ZERO) & _is_digit(after) & (before != _POINT_BYTE)) + 1


def _is_digit(text: Array) -> Any:
    return (text - _ZERO) < 10  # letters below 0 become large: bytes have no sign


def columns_of_codes(data: Any, batches: Batches) -> list[str]:
    """Columns that were read as numbers, though all cells are digits and some begin with 0."""
    import pyarrow.compute as pc
    import pyarrow.types as kinds

    left = [f.name for f in data.schema if kinds.is_integer(f.type) or kinds.is_floating(f.type)]
    with_zeros: set[str] = set()
    for batch in batches(left) if left else ():
        for name in list(left):
            cells = batch.column(name)
            if not _all(pc.match_substring_regex(cells, _DIGITS)):
                left.remove(name)
            elif name not in with_zeros and _any(pc.match_substring_regex(cells, _CODE)):
                with_zeros.add(name)
        if not left:
            break
    return [name for name in left if name in with_zeros]


def columns_with_lost_digits(data: Any, texts: Callable[[list[str]], Any]) -> list[str]:
    """Columns of digits, too many for an integer, where different cells became the same number."""
    import pyarrow.compute as pc

    large = [field.name for field in data.schema if _has_large_integers(data.column(field.name))]
    if not large:
        return []
    written = texts(large)
    return [
        name
        for name in large
        if _all(pc.match_substring_regex(written.column(name), _DIGITS))
        and pc.count_distinct(written.column(name)).as_py()
        > pc.count_distinct(data.column(name)).as_py()
    ]


def _has_large_integers(column: Any) -> bool:
    import pyarrow.compute as pc
    import pyarrow.types as kinds

    if not kinds.is_floating(column.type):
        return False
    largest = pc.max(column).as_py()
    return largest is not None and LARGEST_INTEGER < largest < np.inf


# --- thousands ------------------------------------------------------------------------------------


@dataclass
class Pointed:
    """The cells of a column in which each point stands before three digits."""

    example: str = ""
    n_plain: int = 0
    has_large: bool = False  # numbers of four digits without a point

    @property
    def could_be_thousands(self) -> bool:
        return bool(self.example) and not self.has_large


def pointed_columns(data: Any, batches: Batches) -> dict[str, Pointed]:
    """Columns that were read as decimal numbers, though their points may separate thousands."""
    left = {f.name: Pointed() for f in data.schema if _may_be_thousands(data.column(f.name))}
    for batch in batches(list(left)) if left else ():
        for name in list(left):
            if not _add(left[name], batch.column(name)):
                del left[name]
        if not left:
            break
    return {name: cells for name, cells in left.items() if cells.example}


def _add(seen: Pointed, cells: Any) -> bool:
    """Whether the points of these cells, too, could separate thousands."""
    import pyarrow.compute as pc

    known = cells.drop_null()
    has_point = pc.match_substring_regex(known, _POINT)
    pointed, plain = known.filter(has_point), known.filter(pc.invert(has_point))
    if not _all(pc.match_substring_regex(pointed, _THOUSANDS)):
        return False
    seen.example = seen.example or (pointed[0].as_py().strip() if len(pointed) else "")
    seen.n_plain += len(plain)
    seen.has_large |= not _all(pc.match_substring_regex(plain, _BELOW_THOUSAND))
    return True


def _may_be_thousands(column: Any) -> bool:
    """Whether no number below a thousand has more than three decimals."""
    import pyarrow.types as kinds

    if not kinds.is_floating(column.type):
        return False
    values = column.drop_null().to_numpy()
    values = values[np.abs(values) < 1000]  # without NaN, too
    scaled = 1000 * values
    return bool(len(values) and (np.abs(scaled - np.round(scaled)) < 1e-6).all())


def has_decimal_commas(data: Any) -> bool:
    import pyarrow.compute as pc

    texts = (data.column(f.name) for f in data.schema if is_text(f.type))
    return any(_any(pc.match_substring_regex(column, _DECIMAL_COMMA)) for column in texts)


def _any(flags: Any) -> bool:
    return bool(np.asarray(flags.fill_null(False)).any())


def _all(flags: Any) -> bool:
    return bool(np.asarray(flags.fill_null(True)).all())


def any_cell_matches(columns: Iterable[Any], pattern: str) -> bool:
    import pyarrow.compute as pc

    return any(_any(pc.match_substring_regex(column, pattern)) for column in columns)
