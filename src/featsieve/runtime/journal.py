"""The steps of a long search, kept in a file, so that a run can go on where another one ended.

A search is deterministic: run again, it asks its measure the same questions in the same order. The
journal answers those that were answered before, and the work goes on at the first new one. Keys
hold a digest of the data and of the measure, so answers about other data are never used.
"""

from __future__ import annotations

import hashlib
import io
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from featsieve.errors import InputError

# What a bound measure answers without changing itself, and what changes it.
ANSWERS = (
    *("scores", "value", "cross_validated", "values_with", "values_without"),
    *("value_and_gradient", "value_and_gradient_matrix", "context_scores", "conditional_gains"),
)
CHANGES = ("tune",)
SECONDS_BETWEEN_WRITES = 1.0
_TABLE = "CREATE TABLE IF NOT EXISTS answer (key BLOB PRIMARY KEY, value BLOB)"


class Journal:
    """Answers by key, in a SQLite file; safe to use from several threads."""

    def __init__(self, path: str | Path) -> None:
        import sqlite3  # some builds of Python lack it

        self.n_recalled = self.n_recorded = 0  # recalled: of what earlier runs recorded
        self._new: set[bytes] = set()
        self._path = Path(path)
        self._lock = Lock()
        self._written = time.monotonic()
        with ExitStack() as on_error:
            try:
                self._file = sqlite3.connect(self._path, check_same_thread=False)
                on_error.callback(self._file.close)
                self._file.execute(_TABLE)
                self.n_known = int(self._file.execute("SELECT COUNT(*) FROM answer").fetchone()[0])
            except sqlite3.DatabaseError as error:
                raise InputError(
                    f"{self._path.name!r} is not a file of --resume ({error}); give another name."
                ) from None
            on_error.pop_all()

    def recall(self, key: bytes) -> Any:
        """The answer, or None."""
        with self._lock:
            row = self._file.execute("SELECT value FROM answer WHERE key = ?", (key,)).fetchone()
            self.n_recalled += row is not None and key not in self._new
        return None if row is None else _unpacked(row[0])

    def record(self, key: bytes, answer: Any) -> None:
        with self._lock:
            self._file.execute(
                "INSERT OR REPLACE INTO answer VALUES (?, ?)", (key, _packed(answer))
            )
            self._new.add(key)
            self.n_recorded += 1
            if time.monotonic() - self._written > SECONDS_BETWEEN_WRITES:
                self._file.commit()
                self._written = time.monotonic()

    def close(self) -> None:
        with self._lock:
            self._file.commit()
            self._file.close()


ACTIVE: ContextVar[Journal | None] = ContextVar("journal", default=None)


@contextmanager
def recording(path: str | Path) -> Iterator[Journal]:
    """Searches that start inside keep their steps in the file, and use those it holds."""
    journal = Journal(path)
    token = ACTIVE.set(journal)
    try:
        yield journal
    finally:
        ACTIVE.reset(token)
        journal.close()


def recorded(bound: Any, measure: Any, engine: Any) -> Any:
    """The bound measure, its answers kept in the active journal; as it is without one."""
    journal = ACTIVE.get()
    if journal is None or not hasattr(bound, "__dict__"):
        return bound
    parameters = repr(sorted(measure.get_params().items(), key=lambda item: item[0]))
    data = engine.reduce_rows(_digest_of_block).digests
    _attach(bound, journal, _digest(type(measure).__name__, parameters, *data))
    return bound


@dataclass(frozen=True)
class _Digests:
    digests: tuple[bytes, ...]

    def merge(self, other: _Digests) -> _Digests:
        return _Digests(self.digests + other.digests)


def _digest_of_block(block: Any) -> _Digests:
    X = block.X
    parts = [X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr]
    return _Digests((_digest(*parts, block.y),))


def _digest(*parts: Any) -> bytes:
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        if isinstance(part, np.ndarray):
            state.update(f"{part.dtype}{part.shape}".encode())
            state.update(np.ascontiguousarray(part).tobytes())
        else:
            state.update(part if isinstance(part, bytes) else repr(part).encode())
        state.update(b"\0")
    return state.digest()


@dataclass
class _Changes:
    """Changes of a bound measure: how many, and those that were passed over so far."""

    count: int = 0
    waiting: list[Callable[[], Any]] = field(default_factory=list)

    def catch_up(self) -> None:
        """Make the changes that were passed over while all answers were known."""
        waiting, self.waiting = self.waiting, []
        for change in waiting:
            change()


def _attach(bound: Any, journal: Journal, prefix: bytes) -> None:
    """Put recording functions in front of the methods of this one object."""
    changes = _Changes()
    for name in (*ANSWERS, *CHANGES, "restart", "report"):
        bound.__dict__.pop(name, None)  # left over from the object it is a copy of
        method = getattr(bound, name, None)
        if method is None:
            continue
        if name in ANSWERS:
            bound.__dict__[name] = _answering(method, journal, prefix, changes)
        elif name in CHANGES:
            bound.__dict__[name] = _changing(method, changes)
        elif name == "restart":
            bound.__dict__[name] = _restarting(method, journal, prefix)
        else:
            bound.__dict__[name] = _reporting(method, changes)


def _answering(method: Any, journal: Journal, prefix: bytes, changes: _Changes) -> Any:
    def answer(*arguments: Any) -> Any:
        plain = [np.asarray(argument) for argument in arguments]
        key = _digest(prefix, method.__name__, changes.count, *plain)
        known = journal.recall(key)
        if known is not None:
            return known
        changes.catch_up()
        fresh = method(*arguments)
        journal.record(key, fresh)
        return fresh

    return answer


def _changing(method: Any, changes: _Changes) -> Any:
    def change(*arguments: Any) -> None:
        kept = [np.array(argument) for argument in arguments]
        changes.count += 1
        changes.waiting.append(lambda: method(*kept))

    return change


def _restarting(method: Any, journal: Journal, prefix: bytes) -> Any:
    def restart(seed: int) -> Any:
        fresh = method(seed)
        if hasattr(fresh, "__dict__"):
            _attach(fresh, journal, _digest(prefix, "restart", int(seed)))
        return fresh

    return restart


def _reporting(method: Any, changes: _Changes) -> Any:
    def report() -> Any:
        changes.catch_up()
        return method()

    return report


def _packed(answer: Any) -> bytes:
    """A number, an array, or a number and an array: no other program is in the file."""
    parts = answer if isinstance(answer, tuple) else (answer,)
    out = io.BytesIO()
    arrays: dict[str, Any] = {str(j): np.asarray(part) for j, part in enumerate(parts)}
    np.savez(out, **arrays)
    return out.getvalue()


def _unpacked(content: bytes) -> Any:
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        parts = [arrays[str(j)] for j in range(len(arrays.files))]
    plain = [part if part.ndim else float(part) for part in parts]
    return plain[0] if len(plain) == 1 else tuple(plain)


_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def settings_of(estimator: Any) -> dict[str, str]:
    """All parameters in words that are the same in the next process."""
    words = {"": type(estimator).__name__}
    given = estimator.get_params() if hasattr(estimator, "get_params") else {"it": estimator}
    words |= {name: _in_full(value) for name, value in given.items()}
    return dict(sorted(words.items()))


def _in_full(value: Any) -> str:
    """Every number of an array, also where they are many: those as a digest."""
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        text = _ADDRESS.sub("", repr(value))
    return (
        text if len(text) <= 1000 else f"{text[:100]}… {hashlib.sha256(text.encode()).hexdigest()}"
    )
