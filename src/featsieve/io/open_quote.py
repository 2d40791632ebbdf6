"""A quote that is never closed takes the rows up to the next quote into its cell."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Any

from featsieve.errors import InputError
from featsieve.io.tidied import is_text
from featsieve.io.values import is_number

MOST_CELLS = 1000  # that are looked at in a column


def refuse_swallowed_rows(data: Any, delimiter: str, source: str) -> None:
    """Cells of several lines are text, unless each of the lines is a row of this table."""
    is_word = [is_text(field.type) for field in data.schema]
    if len(is_word) < 2:
        return
    for position in (j for j, word in enumerate(is_word) if word):
        for cell in _of_several_lines(data.column(position)):
            lines = [line for line in cell.splitlines() if line.strip()]
            if _are_rows(lines, position, is_word, delimiter):
                raise InputError(
                    f"{source} has a quote that is not closed: the cell that begins with "
                    f"{lines[0][:40]!r} takes in {_next_lines(len(lines) - 1)} to be rows; close "
                    "or remove the quote, or give --no-fix layout if they belong to the cell."
                )


def _of_several_lines(column: Any) -> list[str]:
    import pyarrow.compute as pc

    found = column.filter(pc.match_substring(column, "\n"))
    return [str(cell) for cell in found.slice(0, MOST_CELLS).to_pylist()]


def _are_rows(lines: Sequence[str], position: int, is_word: Sequence[bool], delimiter: str) -> bool:
    """The rest of a row, whole rows, and the beginning of a row."""
    if len(lines) < 2:
        return False
    expected = [is_word[position:], *[is_word] * (len(lines) - 2), is_word[: position + 1]]
    rows = [_cells(line, delimiter) for line in lines]
    if not all(map(_fits, rows, expected)):
        return False
    return len(lines) > 2 or not all(is_word)


def _next_lines(count: int) -> str:
    return "the next line, which seems" if count == 1 else f"the next {count} lines, which seem"


def _cells(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter), [])


def _fits(cells: Sequence[str], is_word: Sequence[bool]) -> bool:
    return len(cells) == len(is_word) and all(
        word or not cell.strip() or is_number(cell)
        for cell, word in zip(cells, is_word, strict=True)
    )
