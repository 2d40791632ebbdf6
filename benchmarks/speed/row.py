"""A row of the table: ours and a peer, how often they run, and what the ratio may be."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

STATUS = Path("/proc/self/status")


class Skipped(Exception):  # noqa: N818 - a reason, not an error
    """Raised by a row whose peer or data is not there."""


@dataclass(frozen=True)
class Options:
    """What the command line says to all rows."""

    data: Path | None = None
    parquet_rows: int = 1_000_000
    folder: Path | None = None


@dataclass(frozen=True)
class Measured:
    """A contender that says itself how many seconds it took: another process, or a difference."""

    seconds: Callable[[], float]


@dataclass(frozen=True)
class Limit:
    """So many seconds are allowed, whatever the machine."""

    seconds: float


Contender = Callable[[], Any] | Measured | Limit


@dataclass(frozen=True)
class Contest:
    """``close`` ends what the contenders need: a cluster, a temporary folder."""

    ours: Contender
    peer: Contender
    repeats: int = 5
    warm_up: int = 1
    close: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class Row:
    """``allowed`` is the largest ratio ours ÷ peer that reaches what was asked for."""

    name: str
    peer: str
    allowed: float
    prepare: Callable[[Options], Contest]


@dataclass(frozen=True)
class Outcome:
    """Best times of both, the ratio, and the peak of resident memory in one run of ours."""

    ours: float
    peer: float
    peak_bytes: int = 0
    data_bytes: int = 0

    @property
    def ratio(self) -> float:
        return self.ours / self.peer

    def as_json(self) -> Mapping[str, float]:
        return {
            "ours": self.ours,
            "peer": self.peer,
            "peak_bytes": self.peak_bytes,
            "data_bytes": self.data_bytes,
        }


@dataclass
class Table:
    """The rows in the order in which they were declared."""

    rows: dict[str, Row] = field(default_factory=dict)

    def row(self, name: str, *, peer: str, allowed: float) -> Callable[[Any], Any]:
        """Declare the decorated function as the preparation of a row."""

        def declare(prepare: Callable[[Options], Contest]) -> Callable[[Options], Contest]:
            self.add(Row(name, peer, allowed, prepare))
            return prepare

        return declare

    def add(self, row: Row) -> None:
        if row.name in self.rows:
            raise ValueError(f"there are two rows {row.name!r}")
        self.rows[row.name] = row


def run(row: Row, options: Options, clock: Callable[[], float] = time.perf_counter) -> Outcome:
    """Ours and the peer in turns; the best of each, for a busy machine only adds time."""
    contest = row.prepare(options)
    try:
        data_bytes, peak_bytes = _memory_of(contest.ours)
        times: dict[str, list[float]] = {"ours": [], "peer": []}
        for turn in range(contest.warm_up + contest.repeats):
            for name, contender in (("ours", contest.ours), ("peer", contest.peer)):
                seconds = seconds_of(contender, clock)
                if turn >= contest.warm_up:
                    times[name].append(seconds)
        return Outcome(min(times["ours"]), min(times["peer"]), peak_bytes, data_bytes)
    finally:
        contest.close()


def seconds_of(contender: Contender, clock: Callable[[], float] = time.perf_counter) -> float:
    if isinstance(contender, Limit):
        return contender.seconds
    if isinstance(contender, Measured):
        return contender.seconds()
    start = clock()
    contender()
    return clock() - start


def _memory_of(contender: Contender) -> tuple[int, int]:
    """Resident bytes before one run, and their peak during it; 0 where the system does not tell."""
    before = _resident("VmRSS")
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    except OSError:
        before = 0
    seconds_of(contender)
    return before, _resident("VmHWM") if before else 0


def _resident(what: str) -> int:
    marks = re.findall(rf"{what}:\s+(\d+) kB", STATUS.read_text()) if STATUS.exists() else []
    return 1024 * int(marks[0]) if marks else 0
