"""Put right what a file says clumsily, and say so: numbers in text, dates, gaps in the target."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from featsieve.errors import InputError, printable

MOST_STATES = 255
KEPT_STATES = 100
OTHER_STATES = "(other)"
# Words for a gap that readers do not know as such; more of them are not a column of numbers.
_GAP_WORDS = {"-", "--", ".", "n/a", "n.a.", "missing", "unknown", "none", "nil", "#n/a", "nan"}
_POINT = re.compile(r"[-+]?(\d+|\d{1,3}([, ' ]\d{3})+)(\.\d*)?([eE][-+]?\d+)?|[-+]?\.\d+")
_COMMA = re.compile(r"[-+]?(\d+|\d{1,3}([. ' ]\d{3})+)(,\d*)?([eE][-+]?\d+)?|[-+]?,\d+")
_MARKS = re.compile(r"^[$€£¥]\s*|\s*[$€£¥%]$")


@dataclass(frozen=True)
class Note:
    """One line for the user; ``fix`` names what was put right (None: it was only seen)."""

    text: str
    fix: str | None = None

    def __str__(self) -> str:
        return self.text if self.fix is None else f"{self.text} (--no-fix {self.fix} leaves it)"


@dataclass
class Tidied:
    """A pyarrow table on its way, with the notes so far."""

    data: Any
    target: str
    off: frozenset[str] = frozenset()
    delimiter: str = ","
    has_header: bool = True
    notes: list[Note] = field(default_factory=list)

    def note(self, text: str, fix: str | None = None) -> None:
        self.notes.append(Note(text, fix))

    def replace_column(self, name: str, values: Any) -> None:
        position = self.data.column_names.index(name)
        self.data = self.data.set_column(position, name, values)

    def features(self) -> list[str]:
        return [name for name in self.data.column_names if name != self.target]


Step = Callable[[Tidied], None]


def tidy(table: Tidied, *, strict: bool = False) -> Tidied:
    """Run every step that is not switched off; ``strict`` refuses instead of putting right."""
    for name, step in STEPS.items():
        if name not in table.off:
            step(table)
    repaired = [note for note in table.notes if note.fix]
    if strict and repaired:
        raise InputError(f"{repaired[0].text}; --strict refuses what would have to be put right.")
    return table


def quoted(names: Sequence[str]) -> str:
    """Some names for a sentence.

    >>> quoted(["a", "b", "c", "d", "e"])
    "'a', 'b', 'c' and 2 more"
    """
    shown = ", ".join(repr(printable(name)) for name in names[:3])
    rest = len(names) - 3
    return shown if rest <= 0 else f"{shown} and {rest} more"


# --- header, numbers, dates -----------------------------------------------------------------------


def _read_header_row(table: Tidied) -> None:
    """Without a header, a first row of words above numbers makes text of every column."""
    if table.has_header or table.data.num_rows < 3:
        return
    names = table.data.column_names
    words = [table.data.column(name)[0].as_py() for name in names]
    rest = table.data.slice(1)
    parsed = [_as_numbers(rest.column(name), table.delimiter) for name in names]
    if all(isinstance(word, str) and not _is_number(word) for word in words) and all(
        numbers is not None for numbers in parsed
    ):
        table.data = rest
        table.note(
            f"the first row ({quoted(words)}) looks like a header; it was left out of the rows, "
            "leave out --no-header to use it",
            "header",
        )


def _read_numbers(table: Tidied) -> None:
    for name in table.data.column_names:
        column = table.data.column(name)
        numbers = _as_numbers(column, table.delimiter)
        if numbers is not None:
            example = next(v for v in column.to_pylist() if v is not None and v.strip())
            table.replace_column(name, numbers.values)
            gaps = f", {numbers.n_gaps} unreadable cells as missing" if numbers.n_gaps else ""
            table.note(
                f"{name!r} holds numbers written as text (such as {printable(example)!r}); it was "
                f"read as numbers{gaps}",
                "numbers",
            )


@dataclass(frozen=True)
class _Numbers:
    values: Any
    n_gaps: int


def _as_numbers(column: Any, delimiter: str) -> _Numbers | None:
    """A text column as floats, where nearly every distinct text is a number in one style."""
    import pyarrow as pa

    if not _is_text(column.type):
        return None
    encoded = encoded_states(column)
    states = [str(state).strip() for state in encoded.dictionary.to_pylist()]
    parsed = _parse_states(states, delimiter)
    if parsed is None:
        return None
    values = pa.array(parsed, type=pa.float64()).take(encoded.indices)
    return _Numbers(values, int(values.null_count - encoded.indices.null_count))


def _parse_states(states: Sequence[str], delimiter: str) -> list[float | None] | None:
    styles = [_POINT, _COMMA] if delimiter == "," else [_COMMA, _POINT]
    plain = [_MARKS.sub("", state) for state in states]
    known = [text for text in plain if text and text.lower() not in _GAP_WORDS]
    for style in styles:
        if len(known) >= 2 and all(style.fullmatch(text) for text in known):
            comma = style is _COMMA
            return [_number(text, comma) if text in set(known) else None for text in plain]
    return None


def _number(text: str, comma: bool) -> float:
    kept = re.sub(r"[ ' ]", "", text)
    kept = kept.replace(".", "").replace(",", ".") if comma else kept.replace(",", "")
    return float(kept)


def _is_number(text: str) -> bool:
    return bool(_POINT.fullmatch(text.strip()) or _COMMA.fullmatch(text.strip()))


def encoded_states(column: Any) -> Any:
    """A pyarrow column as one array of codes and their states."""
    import pyarrow as pa

    values = column.combine_chunks()
    return values if pa.types.is_dictionary(values.type) else values.dictionary_encode()


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _read_dates(table: Tidied) -> None:
    dated = [f.name for f in table.data.schema if _days_per_unit(f.type) is not None]
    for name in dated:
        table.replace_column(name, _as_days(table.data.column(name)))
    if dated:
        table.note(f"{quoted(dated)}: dates were read as numbers of days", "dates")


def _days_per_unit(kind: Any) -> float | None:
    """None for what is not a date or time."""
    import pyarrow as pa

    per_day = {"s": 86400.0, "ms": 86400e3, "us": 86400e6, "ns": 86400e9}
    if pa.types.is_date(kind):
        return 1.0 if kind == pa.date32() else 1 / 86400e3
    if pa.types.is_temporal(kind):
        return 1 / per_day[kind.unit]
    return None


def _as_days(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    factor = _days_per_unit(column.type)
    width = pa.int32() if column.type.bit_width == 32 else pa.int64()
    return pc.multiply(column.cast(width).cast(pa.float64()), factor)


# --- rows and columns without values, states ------------------------------------------------------


def _drop_rows_without_target(table: Tidied) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table.data.column(table.target)
    known = pc.is_valid(column)
    if pa.types.is_floating(column.type):
        known = pc.and_(known, pc.fill_null(pc.is_finite(column), False))
    kept = table.data.filter(known)
    n_gone = table.data.num_rows - kept.num_rows
    if n_gone:
        table.data = kept
        table.note(
            f"{n_gone} of {n_gone + kept.num_rows} rows have no target and were left out", "target"
        )


def _drop_empty_columns(table: Tidied) -> None:
    empty = [
        name
        for name in table.features()
        if table.data.column(name).null_count == table.data.num_rows
    ]
    if empty and len(empty) < len(table.features()):
        table.data = table.data.drop_columns(empty)
        table.note(f"{quoted(empty)}: no value at all; left out", "empty")


def _coarsen_states(table: Tidied) -> None:
    for name in table.features():
        column = table.data.column(name)
        if not _is_text(column.type):
            continue
        coarse = _most_frequent(column)
        if coarse is not None:
            values, n_states = coarse
            table.replace_column(name, values)
            table.note(
                f"{name!r} has {n_states} states; the {KEPT_STATES} most frequent were kept, the "
                f"others are {OTHER_STATES!r}",
                "states",
            )


def _most_frequent(column: Any) -> tuple[Any, int] | None:
    """The column with rare states taken together, and how many states there were."""
    import numpy as np
    import pyarrow as pa

    encoded = encoded_states(column)
    n_states = len(encoded.dictionary)
    if n_states <= MOST_STATES:
        return None
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    counts = np.bincount(codes[codes >= 0], minlength=n_states)
    frequent = np.sort(np.argsort(-counts, kind="stable")[:KEPT_STATES])
    new_code = np.full(n_states + 1, KEPT_STATES)
    new_code[frequent], new_code[-1] = np.arange(KEPT_STATES), -1
    states = pa.array([*encoded.dictionary.take(pa.array(frequent)).to_pylist(), OTHER_STATES])
    new = new_code[codes]
    indices = pa.array(new, mask=new < 0)
    return pa.DictionaryArray.from_arrays(indices.cast(pa.int32()), states), n_states


STEPS: dict[str, Step] = {
    "header": _read_header_row,
    "numbers": _read_numbers,
    "dates": _read_dates,
    "empty": _drop_empty_columns,
    "target": _drop_rows_without_target,
    "states": _coarsen_states,
}


# --- missing cells --------------------------------------------------------------------------------


def fill_missing(data: Any, names: Sequence[str]) -> tuple[Any, list[str]]:
    """Medians for numbers and a state of its own for text; and which columns had gaps."""
    filled = []
    for name in names:
        column = data.column(name)
        values = _filled(column)
        if values is not None:
            filled.append(name)
            data = data.set_column(data.column_names.index(name), name, values)
    return data, filled


def _filled(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.fill_null(pc.is_finite(column), False), column, None)
    if not column.null_count:
        return None
    if _is_text(column.type):
        text = column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
        return text.fill_null("(missing)")
    median = pc.quantile(column.cast(pa.float64()), 0.5)[0]
    return column.cast(pa.float64()).fill_null(median.as_py() if median.is_valid else 0.0)


def drop_missing(data: Any) -> Any:
    """The rows without gaps."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in data.column_names:
        column = data.column(name)
        known = pc.is_valid(column)
        if pa.types.is_floating(column.type):
            known = pc.fill_null(pc.is_finite(column), False)
        data = data.filter(known)
    return data
