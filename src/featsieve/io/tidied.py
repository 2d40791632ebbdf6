"""A table on its way from a file, and what its pyarrow columns hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from featsieve.io.model import Note


@dataclass
class Tidied:
    """A pyarrow table on its way, with the notes so far."""

    data: Any
    target: str
    off: frozenset[str] = frozenset()
    delimiter: str = ","
    has_header: bool = True
    decimal: str | None = None
    gap_words: Mapping[str, int] = field(default_factory=dict)  # that the target had
    notes: list[Note] = field(default_factory=list)

    @property
    def comma_first(self) -> bool:
        """Whether a comma rather stands before decimals than between thousands."""
        return (self.decimal or ("." if self.delimiter == "," else ",")) == ","

    def note(self, text: str, fix: str | None = None) -> None:
        self.notes.append(Note(text, fix))

    def replace_column(self, name: str, values: Any) -> None:
        position = self.data.column_names.index(name)
        self.data = self.data.set_column(position, name, values)

    def features(self) -> list[str]:
        return [name for name in self.data.column_names if name != self.target]

    def text_columns(self) -> list[str]:
        return [field.name for field in self.data.schema if is_text(field.type)]


def known_values(column: Any) -> Any:
    """Whether each cell of a pyarrow column holds a value: neither missing nor infinite."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(column.type):
        return pc.fill_null(pc.is_finite(column), False)
    return pc.is_valid(column)


def encoded_states(column: Any) -> Any:
    """A pyarrow column as one array of codes and their states."""
    import pyarrow as pa

    values = column.combine_chunks()
    return values if pa.types.is_dictionary(values.type) else values.dictionary_encode()


def is_text(kind: Any) -> bool:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return is_text(kind.value_type)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def texts_of(encoded: Any) -> list[str]:
    return [str(state) for state in encoded.dictionary.to_pylist()]


def as_string(column: Any) -> Any:
    import pyarrow as pa

    return column.cast(pa.string())
