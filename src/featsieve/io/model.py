"""A table that was read from a file, whatever the file's format."""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from featsieve.arrays import Array
from featsieve.engines.base import block_rows
from featsieve.errors import InputError
from featsieve.input.parameters import brief

DECIMALS = (".", ",")


@dataclass(frozen=True)
class ReadOptions:
    """What a user may say about a text file, and how much memory there is."""

    delimiter: str | None = None
    encoding: str = "utf-8"
    header: bool = True
    memory_limit: int | str = "1GiB"
    no_fix: frozenset[str] = frozenset()
    decimal: str | None = None  # the mark before the decimals: found out
    target: str | None = None  # words for a gap may be classes there


@dataclass(frozen=True)
class Note:
    """One line for the user; ``fix`` names what was put right (None: it was only seen)."""

    text: str
    fix: str | None = None

    def __str__(self) -> str:
        return self.text if self.fix is None else f"{self.text} (--no-fix {self.fix} leaves it)"


def quoted(names: Sequence[str]) -> str:
    """Some names for a sentence, control characters spelled out.

    >>> quoted(["a", "b", "c", "d", "e"])
    "'a', 'b', 'c' and 2 more"
    >>> print(quoted(["\\x1b[31m"]))
    '\\x1b[31m'
    """
    shown = ", ".join(map(brief, names[:3]))
    rest = len(names) - 3
    return shown if rest <= 0 else f"{shown} and {rest} more"


def as_list(names: Sequence[str]) -> str:
    """Names as an option takes them; in quotes where a comma is part of one.

    >>> as_list(["a", "b, c"])
    'a,"b, c"'
    """
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()


@dataclass(frozen=True)
class Split:
    """What a selector's ``fit`` takes: ``categorical`` goes to ``categorical_features``."""

    X: Any
    y: Any
    names: tuple[str, ...]
    categorical: Any = "from_dtype"


class Table(Protocol):
    """Named columns, one of which can be split off as the target."""

    @property
    def source(self) -> str: ...

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def n_rows(self) -> int: ...

    def without(self, dropped: Sequence[str]) -> Table:
        """The table less some columns."""
        ...

    def split(self, target: str) -> Split:
        """Features and target."""
        ...

    def parts(self, names: Sequence[str]) -> Iterator[Any]:
        """These columns as pyarrow tables of consecutive rows."""
        ...


def check_names(names: Sequence[str], source: str) -> tuple[str, ...]:
    """The names, if each is there once."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(
                f"{source} has two columns named {name!r}; give every column a name of its own."
            )
        seen.add(name)
    return tuple(names)


def find_column(name: str, names: Sequence[str], source: str) -> str:
    """``name`` if it is there; otherwise one sentence with the nearest names."""
    if name in names:
        return name
    if not isinstance(name, str):
        raise InputError(f"{brief(name)} is not the name of a column; give it as text.")
    lowered = {known.lower(): known for known in names}
    near = difflib.get_close_matches(name.lower(), list(lowered), n=3, cutoff=0.5)
    if len(names) == 1 and name in re.split(r"[^\w.-]+", names[0]):
        hint = (
            f"its only column is {brief(names[0])}; say with --delimiter what stands between the "
            "columns (' ' for one blank), or replace several blanks by one comma."
        )
    elif near:
        hint = f"did you mean {' or '.join(brief(lowered[match]) for match in near)}?"
    else:
        shown = ", ".join(brief(known) for known in names[:6])
        hint = f"it has {shown}{', …' if len(names) > 6 else ''}."
    raise InputError(f"{source} has no column {brief(name)}; {hint}")


def refuse_nested(schema: Any, source: str) -> None:
    """Lists and records in cells; asked after columns were dropped."""
    import pyarrow.types as kinds

    for column in schema:
        if kinds.is_nested(column.type):
            raise InputError(
                f"the column {column.name!r} of {source} holds nested values ({column.type}); "
                "allowed are numbers, booleans and categories: split it into columns or drop it."
            )


def usual_types(table: Any) -> Any:
    """A pyarrow table without views of text and unsigned codes, which polars writes.

    Not all of Arrow's own functions take them. Dictionaries of decimals and dates, which Parquet
    does not have, are plain columns: only text and integers can be names of states.
    """
    for position, field_ in enumerate(table.schema):
        kind = _usual_type(field_.type)
        if kind != field_.type:
            column = _as_type(table.column(position), kind)
            table = table.set_column(position, field_.with_type(kind), column)
    return table


def _usual_type(kind: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        if not _can_be_states(kind.value_type):
            return kind.value_type
        index = pa.int64() if pa.types.is_unsigned_integer(kind.index_type) else kind.index_type
        return pa.dictionary(index, _usual_type(kind.value_type), kind.ordered)
    if pa.types.is_string_view(kind):
        return pa.large_string()
    return pa.large_binary() if pa.types.is_binary_view(kind) else kind


def _can_be_states(kind: Any) -> bool:
    import pyarrow.types as kinds

    return not (kinds.is_floating(kind) or kinds.is_decimal(kind) or kinds.is_temporal(kind))


def _as_type(column: Any, kind: Any) -> Any:
    import pyarrow as pa

    if not pa.types.is_dictionary(kind):
        return column.cast(kind)
    chunks = [
        pa.DictionaryArray.from_arrays(
            chunk.indices.cast(kind.index_type),
            chunk.dictionary.cast(kind.value_type),
            ordered=kind.ordered,
        )
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, kind)


@dataclass(frozen=True)
class ArrowTable:
    """Columns of any type, in memory."""

    data: Any
    source: str
    delimiter: str = ","  # of the text file it came from
    notes: tuple[Note, ...] = ()  # what was put right while it was read
    repeated: frozenset[str] = frozenset()  # names that more than one column had
    # Words for a gap that the target had, and in how many rows.
    gap_words: Mapping[str, int] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.data.column_names)

    @property
    def n_rows(self) -> int:
        return int(self.data.num_rows)

    def without(self, dropped: Sequence[str]) -> ArrowTable:
        return replace(self, data=self.data.drop_columns(list(dropped)))

    def split(self, target: str) -> Split:
        refuse_nested(self.data.schema, self.source)
        column = find_column(target, self.names, self.source)
        X = self.data.drop_columns([column])
        return Split(X, arrow_values(self.data.column(column)), tuple(X.column_names))

    def parts(self, names: Sequence[str]) -> Iterator[Any]:
        yield self.data.select(list(names))


def as_numbers(column: Any) -> Any:
    """Decimals, and numbers in a dictionary that are not codes, as plain numbers."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind) and not pa.types.is_integer(kind.value_type):
        kind = kind.value_type
    is_number = pa.types.is_decimal(kind) or pa.types.is_floating(kind)
    return column.cast(pa.float64()) if is_number else column


def holds_numbers(kind: Any) -> bool:
    import pyarrow.types as kinds

    return bool(kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind))


def arrow_values(column: Any) -> Array:
    """A pyarrow column as numbers (nulls as NaN), or as an array of objects."""
    column = as_numbers(column)
    if holds_numbers(column.type):
        return np.asarray(column.to_numpy())
    values = np.empty(len(column), dtype=object)
    values[:] = column.to_pylist()
    return values


@dataclass(frozen=True)
class MatrixTable:
    """Numbers in one array, dense or CSR; columns in ``categories`` hold codes of their states.

    ``targets`` are columns that the file keeps apart from the matrix; ``notes`` say what else is in
    the file.
    """

    matrix: Any
    columns: tuple[str, ...]
    source: str
    categories: dict[int, tuple[str, ...]] = field(default_factory=dict)
    targets: dict[str, Array] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.columns, *self.targets)

    @property
    def n_rows(self) -> int:
        return int(self.matrix.shape[0])

    def without(self, dropped: Sequence[str]) -> MatrixTable:
        kept = [j for j, name in enumerate(self.columns) if name not in dropped]
        return MatrixTable(
            self.matrix if len(kept) == len(self.columns) else self.matrix[:, kept],
            tuple(self.columns[j] for j in kept),
            self.source,
            {
                position: self.categories[j]
                for position, j in enumerate(kept)
                if j in self.categories
            },
            {name: values for name, values in self.targets.items() if name not in dropped},
            self.notes,
        )

    def split(self, target: str) -> Split:
        column = find_column(target, self.names, self.source)
        if column in self.targets:
            return Split(self.matrix, self.targets[column], self.columns, sorted(self.categories))
        rest = self.without([column])
        return Split(rest.matrix, self._values(column), rest.columns, sorted(rest.categories))

    def parts(self, names: Sequence[str]) -> Iterator[Any]:
        import pyarrow as pa

        yield pa.table({name: self._arrow(name) for name in names})

    def _values(self, name: str) -> Array:
        """A column as numbers, or as an array of its states with None for missing cells."""
        if name in self.targets:
            return self.targets[name]
        position = self.columns.index(name)
        column = self.matrix[:, [position]]
        dense = (column if isinstance(column, np.ndarray) else column.toarray()).ravel()
        if position not in self.categories:
            return np.asarray(dense)
        states = np.array([*self.categories[position], None], dtype=object)
        return states[np.where(np.isnan(dense), len(states) - 1, dense).astype(np.intp)]

    def _arrow(self, name: str) -> Any:
        import pyarrow as pa

        values = self._values(name)
        if values.dtype != object:
            return pa.array(values)
        return pa.array(values.tolist()).dictionary_encode()


@dataclass(frozen=True)
class FileTable:
    """Parquet that stays on the disk; ``lazy`` is what the file engine takes."""

    lazy: Any
    path: Path
    source: str
    memory_limit: int

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.lazy.all_names)

    @property
    def n_rows(self) -> int:
        return int(self.lazy.shape[0])

    def without(self, dropped: Sequence[str]) -> FileTable:
        return replace(self, lazy=self.lazy.without(dropped))

    def split(self, target: str) -> Split:
        column = find_column(target, self.names, self.source)
        X = self.lazy.with_target(column)
        return Split(X, None, tuple(X.column_names))

    def parts(self, names: Sequence[str]) -> Iterator[Any]:
        rows = block_rows(len(names), self.memory_limit, 1)
        yield from map(usual_types, self.lazy.batches(list(names), rows, self.memory_limit))

    def in_memory_if_small(self) -> Table:
        """In memory if its columns fit a third of the limit, else as it is."""
        import pyarrow as pa

        limit = self.memory_limit // 3
        is_large = self.lazy.encoded_size() > limit
        parts = None if is_large else _within(self.parts(self.names), limit)
        if parts is None:
            return self
        empty = self.lazy.schema.empty_table().select(list(self.names))
        return ArrowTable(pa.concat_tables([usual_types(empty), *parts]), self.source)


def _within(parts: Iterable[Any], limit: int) -> list[Any] | None:
    """All parts, or None if they are larger than the limit: what a file says of its size is that of
    its encoding, which may be a thousand times smaller."""
    kept, size = [], 0
    for part in parts:
        size += part.nbytes
        if size > limit:
            return None
        kept.append(part)
    return kept
