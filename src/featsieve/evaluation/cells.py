"""Pieces of a long run, kept on disk as they are done, so that a killed run continues."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from featsieve.evaluation.journal import append_line, as_read_again

Key = tuple[str, ...]


@dataclass(frozen=True)
class Cell:
    """One piece of work; its answer is a JSON value and depends on nothing but the key."""

    key: Key
    work: Callable[[], Any] = field(repr=False)


class CellStore:
    """Answers by key, in a file with one JSON line per cell; in memory without a file.

    The first line names what the answers depend on beyond their keys. A file with another first
    line is not continued: it is overwritten. A line that was cut by a kill is computed again.
    A cell that raises has no answer but a line in ``failures``, and the next run tries it again.
    """

    def __init__(self, path: Path | None, identity: Mapping[str, Any]) -> None:
        self._path = path
        self._identity = as_read_again(dict(identity))
        self.answers: dict[Key, Any] = {}
        self.failures: dict[Key, str] = {}
        if path is not None and path.exists():
            self._read(path)
        self.n_resumed = len(self.answers)

    def _read(self, path: Path) -> None:
        lines = _json_lines(path)
        if not lines or lines[0] != {"identity": self._identity}:
            return
        for line in lines[1:]:
            self.answers[tuple(line["key"])] = line["answer"]

    def steps(self, cells: Sequence[Cell]) -> Iterator[dict[Key, Any]]:
        """The answers so far, after each cell; those that are known are not computed again."""
        done = {cell.key: self.answers[cell.key] for cell in cells if cell.key in self.answers}
        self.n_resumed = len(done)
        self._rewrite()
        yield done
        for cell in cells:
            if cell.key in done:
                continue
            try:
                done[cell.key] = self.answers[cell.key] = as_read_again(cell.work())
            except Exception as error:  # one cell must not end a run of hours
                self.failures[cell.key] = _reason(error)
            else:
                self._append({"key": cell.key, "answer": done[cell.key]})
            yield done

    def _rewrite(self) -> None:
        """The file without cut or foreign lines, in one step."""
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        lines = [{"identity": self._identity}]
        lines += [{"key": key, "answer": answer} for key, answer in self.answers.items()]
        fresh = self._path.with_name(self._path.name + ".new")
        fresh.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        fresh.replace(self._path)

    def _append(self, line: Mapping[str, Any]) -> None:
        if self._path is not None:
            append_line(self._path, line)

    def remove(self, cells: Sequence[Cell]) -> None:
        """These cells are in a report: the file goes, unless it holds others."""
        if self._path is not None and self.answers.keys() <= {cell.key for cell in cells}:
            self._path.unlink(missing_ok=True)


def _reason(error: Exception) -> str:
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def _json_lines(path: Path) -> list[Any]:
    """Every line that is whole."""
    lines = []
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            lines.append(json.loads(text))
        except json.JSONDecodeError:
            continue
    return lines
