"""Put right what a file says clumsily, and say so: numbers in text, dates, gaps in the target."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from featsieve.errors import InputError, printable
from featsieve.input.parameters import brief
from featsieve.io.date import DateColumn, orders_of
from featsieve.io.model import Note, quoted
from featsieve.io.states import coarsen_states, merge_spellings, spelling
from featsieve.io.tidied import Tidied, as_string, encoded_states, is_text, known_values, texts_of
from featsieve.io.values import (
    GAP_WORDS,
    Reading,
    as_days,
    days_per_unit,
    is_number,
    is_plain,
    mostly_numbers,
    read_numbers,
    units_of,
)

MOST_REMARKS = 4  # on how dates were read
_TOTAL = re.compile(
    r"(grand |sub)?totals?|sums?|averages?|means?|summe|gesamt|total général|totale?", re.IGNORECASE
)


Step = Callable[[Tidied], None]


def tidy(table: Tidied, *, only: Collection[str] | None = None, strict: bool = False) -> Tidied:
    """Run the steps (all, or ``only`` some) that are not switched off.

    ``strict`` refuses instead of putting right.
    """
    for name, steps in STEPS.items():
        if name not in table.off and (only is None or name in only):
            for step in steps:
                step(table)
    refuse_repairs(table.notes, strict=strict)
    return table


def refuse_repairs(notes: Sequence[Note], *, strict: bool) -> None:
    repaired = [note for note in notes if note.fix]
    if strict and repaired:
        raise InputError(f"{repaired[0].text}; --strict refuses what would have to be put right.")


# --- rows that are not data -----------------------------------------------------------------------


def _drop_repeated_headers(table: Tidied) -> None:
    """Files that were put together keep the header of each part as a row."""
    import pyarrow.compute as pc

    names = table.text_columns()
    if not table.has_header or len(names) < table.data.num_columns:
        return
    is_header = np.ones(table.data.num_rows, dtype=bool)
    for name in names:
        same = pc.equal(pc.utf8_trim_whitespace(as_string(table.data.column(name))), name)
        is_header &= np.asarray(same.fill_null(False).to_numpy())
    n_headers = int(is_header.sum())
    if n_headers:
        table.data = table.data.filter(np.logical_not(is_header))
        table.note(f"{n_headers} rows repeat the header and were left out", "rows")
        _read_plain_numbers(table)


def _read_plain_numbers(table: Tidied) -> None:
    """Columns that only a row of words made text."""
    for name in table.text_columns():
        encoded = encoded_states(table.data.column(name))
        try:
            values = [float(state) for state in texts_of(encoded)]
        except ValueError:
            continue
        table.replace_column(name, _of_states(Reading(list(values)), encoded))


def _drop_header_below_header(table: Tidied) -> None:
    """A first row of words or gaps above numbers: units, or (without a header) the names."""
    if table.data.num_rows < 3 or not table.text_columns():
        return
    words = [table.data.column(name)[0].as_py() for name in table.data.column_names]
    if not all(word is None or (isinstance(word, str) and not is_number(word)) for word in words):
        return
    rest = table.data.slice(1)
    kinds = [
        _kind_of_first(word, rest.column(name), comma_first=table.comma_first)
        for name, word in zip(rest.column_names, words, strict=True)
        if word is not None and word.strip().lower() not in GAP_WORDS
    ]
    if not _are_names(kinds) or not (table.has_header or set(kinds) == {"above numbers"}):
        return
    given = [word for word in words if word is not None]
    table.data = rest
    _read_plain_numbers(table)
    use = "" if table.has_header else ", leave out --no-header to use it"
    kind = "a second header" if table.has_header else "a header"
    table.note(
        f"the first row ({quoted(given)}) looks like {kind}; it was left out of the rows{use}",
        "header",
    )


def _kind_of_first(word: str, rest: Any, *, comma_first: bool) -> str:
    """What the first cell of a column is to the cells below it."""
    reading = _numbers_of(rest, comma_first=comma_first)
    if reading is not None and not reading.unread:
        return "above numbers"
    states = texts_of(encoded_states(rest)) if is_text(rest.type) else []
    if spelling(word) in map(spelling, states):
        return "one of the states"
    return "not one of the states" if 2 * len(states) <= len(rest) else "one of many texts"


def _are_names(kinds: Sequence[str]) -> bool:
    """A word above numbers can be a mistake; a state that comes again is data."""
    evidence = [kind for kind in kinds if kind in ("above numbers", "not one of the states")]
    return (
        "above numbers" in kinds
        and "one of the states" not in kinds
        and 2 * len(evidence) > len(kinds)
    )


def _drop_total(table: Tidied) -> None:
    """The last row, if it is called a total and no other row is."""
    n_rows = table.data.num_rows
    if n_rows < 5:
        return
    for name in table.text_columns():
        column = table.data.column(name)
        word = column[n_rows - 1].as_py()
        if word is None or not _TOTAL.fullmatch(word.strip(" :*")):
            continue
        if not any(word == other for other in column.slice(0, n_rows - 1).to_pylist()):
            table.data = table.data.slice(0, n_rows - 1)
            table.note(f"the last row is called {word!r} and was left out", "rows")
            _read_plain_numbers(table)
            return


def _drop_rows_without_target(table: Tidied) -> None:
    kept = table.data.filter(known_values(table.data.column(table.target)))
    n_gone = table.data.num_rows - kept.num_rows
    if kept.num_rows < 2:
        raise InputError(f"the target {table.target!r} has fewer than two values; choose another.")
    if n_gone:
        table.data = kept
        table.note(
            f"{n_gone} of {n_gone + kept.num_rows} rows have no target and were left out"
            f"{_words_read_as_missing(table)}",
            "target",
        )


def _words_read_as_missing(table: Tidied) -> str:
    counts = [f"{printable(word)!r} in {n} rows" for word, n in table.gap_words.items() if n > 1]
    return f" (words that were read as missing: {', '.join(counts)})" if counts else ""


def _drop_empty_columns(table: Tidied) -> None:
    empty = [
        name
        for name in table.features()
        if table.data.column(name).null_count == table.data.num_rows
    ]
    if empty and len(empty) == len(table.features()):
        raise InputError(f"no column besides the target {table.target!r} has a value; add some.")
    if empty:
        table.data = table.data.drop_columns(empty)
        table.note(f"{quoted(empty)}: no value at all; left out", "empty")


# --- numbers and dates ----------------------------------------------------------------------------


def _numbers_of(column: Any, *, comma_first: bool) -> Reading | None:
    if not is_text(column.type):
        return None
    states = [state.strip() for state in texts_of(encoded_states(column))]
    return read_numbers(states, comma_first=comma_first)


def _read_numbers(table: Tidied) -> None:
    read: dict[str, list[str]] = {}
    n_gaps: dict[str, int] = {}
    remarks: dict[str, str] = {}
    example = ""
    for name in table.text_columns():
        encoded = encoded_states(table.data.column(name))
        states = [state.strip() for state in texts_of(encoded)]
        reading = read_numbers(states, comma_first=table.comma_first)
        if reading is not None:
            gaps = _use_numbers(table, name, encoded, reading)
            kind = printable(reading.unread[0]) if reading.unread else "gaps" if gaps else ""
            read.setdefault(kind, []).append(name)
            n_gaps[kind] = n_gaps.get(kind, 0) + gaps
            remarks[kind] = remarks.get(kind) or reading.remark
            example = example or next((s for s in states if not is_plain(s)), states[0])
        elif mostly_numbers(states) and (words := _though(states)):
            table.note(f"{name!r} is read as text, though {words}")
    for kind, names in read.items():
        such = f" (such as {brief(printable(example))})" if not kind else ""
        words = f", {n_gaps[kind]} unreadable cells" if kind else ""
        words += f" (such as {brief(kind)})" if kind not in ("", "gaps") else ""
        words += " as missing" if kind else ""
        words += f", {remarks[kind]}" if remarks[kind] else ""
        table.note(
            f"{quoted(names)}: numbers written as text{such} were read as numbers{words}", "numbers"
        )


def _though(states: Sequence[str]) -> str | None:
    """Why a column that looks numeric is text; None for codes, of which a note tells already."""
    units = list(units_of(states).values())
    if len(units) > 1:
        return f"its numbers have different units (such as {quoted(units[:2])})"
    word = next((state for state in states if not is_number(state)), None)
    if word is not None:
        words = "many of its cells are numbers; others are not"
        return f"{words} (such as {brief(printable(word))})"
    if any(re.match(r"0\d", state) for state in states):
        return None
    return "its cells are numbers: not all of them are written in one way"


def _use_numbers(table: Tidied, name: str, encoded: Any, reading: Reading) -> int:
    """Put the numbers in the place of the text; how many cells became gaps."""
    values = _of_states(reading, encoded)
    table.replace_column(name, values)
    return int(values.null_count - encoded.indices.null_count)


def _of_states(reading: Reading, encoded: Any) -> Any:
    """The value of each row from the values of its states."""
    import pyarrow as pa

    return pa.array(reading.values, type=pa.float64()).take(encoded.indices)


def _read_dates(table: Tidied) -> None:
    dated = [f.name for f in table.data.schema if days_per_unit(f.type) is not None]
    for name in dated:
        table.replace_column(name, as_days(table.data.column(name)))
    encoded = {name: encoded_states(table.data.column(name)) for name in table.text_columns()}
    written = {name: DateColumn.of(texts_of(column)) for name, column in encoded.items()}
    columns = {name: column for name, column in written.items() if column is not None}
    orders = orders_of(columns)
    remarks: dict[str, None] = {}
    for name, column in columns.items():
        reading = column.read(orders)
        dated.append(name)
        n_gaps = _use_numbers(table, name, encoded[name], reading)
        if reading.remark:
            remarks[reading.remark] = None
        if reading.unread:
            example = brief(printable(reading.unread[0]))
            table.note(
                f"{name!r}: cells that are not dates count as missing ({n_gaps} in all, such as "
                f"{example})",
                "dates",
            )
    if dated:
        how = f" ({'; '.join(list(remarks)[:MOST_REMARKS])})" if remarks else ""
        table.note(f"{quoted(dated)}: dates were read as numbers of days{how}", "dates")


STEPS: dict[str, tuple[Step, ...]] = {
    "rows": (_drop_repeated_headers, _drop_total),
    "header": (_drop_header_below_header,),
    "numbers": (_read_numbers,),
    "dates": (_read_dates,),
    "empty": (_drop_empty_columns,),
    "spelling": (merge_spellings,),
    "target": (_drop_rows_without_target,),
    "states": (coarsen_states,),
}
