"""A file of finished pieces of work, so that a killed run continues where it stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

from featsieve.errors import InputError

_BEGINNING = '{"about": '


def append_line(path: Path, record: Mapping[str, Any]) -> None:
    """One line of JSON, on the disk when this returns."""
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(record) + "\n")
        stream.flush()
        os.fsync(stream.fileno())


def as_read_again(value: Any) -> Any:
    """As JSON gives it back: a continued run sees exactly what an unbroken one sees."""
    return json.loads(json.dumps(value))


def _file_in_a_folder(path: str | os.PathLike[str]) -> Path:
    try:
        file = Path(path)
    except TypeError:
        raise InputError(f"{path!r} is not the name of a file for finished pieces.") from None
    if not file.parent.is_dir():
        raise InputError(f"there is no folder {str(file.parent)!r} for {file.name!r}; make it.")
    return file


class Journal:
    """One line of JSON per finished piece; the first line says what the run is about.

    A line that was cut off by the end of the process is left out, and its piece is done again.
    Without a path, pieces are remembered in memory only.
    """

    def __init__(self, path: str | os.PathLike[str] | None, about: Mapping[str, Any]) -> None:
        self._path = None if path is None else _file_in_a_folder(path)
        self._pieces: dict[Hashable, Any] = {}
        if self._path is None:
            return
        if self._path.exists() and self._path.stat().st_size:
            self._read(about)
        else:
            self._append({"about": dict(about)})

    def _read(self, about: Mapping[str, Any]) -> None:
        assert self._path is not None
        text, records = self._records()
        cut = text[text.rfind("\n") + 1 :]
        if cut:  # the process ended inside a line
            self._path.write_text(text.removesuffix(cut), encoding="utf-8")
        if not records:
            self._append({"about": dict(about)})
            return
        if records[0].get("about") != as_read_again(dict(about)):
            raise InputError(
                f"{self._path} belongs to another run (other data, methods or settings); "
                "give another file, or delete it."
            )
        for record in records[1:]:
            self._pieces[tuple(record["key"])] = record["piece"]

    def _records(self) -> tuple[str, list[dict[str, Any]]]:
        """The text, and its whole lines; a file of anything else is refused, and left alone."""
        assert self._path is not None
        try:
            text = self._path.read_text(encoding="utf-8")
            records = [json.loads(line) for line in text.split("\n")[:-1] if line]
        except (OSError, ValueError):
            text, records = "", [None]
        begins = text.startswith(_BEGINNING) or _BEGINNING.startswith(text)
        if not begins or not all(isinstance(record, dict) for record in records):
            raise InputError(
                f"{self._path} is not a file of finished pieces; give another file for them."
            )
        return text, records

    def _append(self, record: Mapping[str, Any]) -> None:
        assert self._path is not None
        append_line(self._path, record)

    def __len__(self) -> int:
        return len(self._pieces)

    def __contains__(self, key: Sequence[Any]) -> bool:
        return tuple(key) in self._pieces

    def __getitem__(self, key: Sequence[Any]) -> Any:
        return self._pieces[tuple(key)]

    def write(self, key: Sequence[Any], piece: Any) -> Any:
        """Remember a piece, as JSON gives it back."""
        outcome = as_read_again(piece)
        if self._path is not None:
            self._append({"key": list(key), "piece": outcome})
        self._pieces[tuple(key)] = outcome
        return outcome

    def piece(self, key: Sequence[Any], work: Callable[[], Any]) -> Any:
        """The piece from the file, or done now and written down."""
        return self[key] if key in self else self.write(key, work())
