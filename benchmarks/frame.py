"""Run ours and a peer in turns, in one process tree, and write down times, ratios and where.

A benchmark builds one :class:`Case` a question, calls :func:`compare` on it and hands the outcome
to :func:`write_report`. Runs alternate (ours, peer, ours, peer, …), so that a busy machine slows
down both. Whole commands (another environment's peer, start-up times, peak memory) are run by
:func:`run_command`, as children of the same process.
"""

from __future__ import annotations

import compileall
import os
import re
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import featsieve
from featsieve.evaluation.surroundings import OURS, circumstances, seconds_in_words

RESULTS = Path(__file__).parent / "results"


@cache
def write_byte_code() -> None:
    """Of featsieve, as pip leaves it: else each new process may compile the package's text."""
    compileall.compile_dir(Path(featsieve.__file__).parent, quiet=1)


@dataclass(frozen=True)
class Case:
    """One question put to ours and to the peers; ``agree`` says how far their answers differ."""

    name: str
    ours: Callable[[], Any]
    peers: Mapping[str, Callable[[], Any]]
    agree: Callable[[Any, Any], str] | None = None


@dataclass(frozen=True)
class Timing:
    """All runs of one contender, in seconds (or whatever unit the case measures)."""

    name: str
    runs: tuple[float, ...]

    @property
    def typical(self) -> float:
        return median(self.runs)

    @property
    def best(self) -> float:
        return min(self.runs)

    @property
    def in_words(self) -> str:
        return f"{seconds_in_words(self.typical)} ({seconds_in_words(self.best)})"


@dataclass(frozen=True)
class Comparison:
    """What one case showed."""

    case: str
    ours: Timing
    peers: tuple[Timing, ...]
    agreement: Mapping[str, str] = field(default_factory=dict)

    def ratio(self, peer: Timing) -> float:
        """Our median time over the peer's: below 1 we are faster."""
        return self.ours.typical / peer.typical


def compare(
    case: Case,
    *,
    repeats: int = 5,
    warm_up: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> Comparison:
    """Time ours and every peer in turns; the warm-up runs are not counted."""
    contenders = {OURS: case.ours, **case.peers}
    runs: dict[str, list[float]] = {name: [] for name in contenders}
    answers: dict[str, Any] = {}
    for turn in range(warm_up + repeats):
        for name, run in contenders.items():
            start = clock()
            answers[name] = run()
            seconds = clock() - start
            if turn >= warm_up:
                runs[name].append(seconds)
    timings = {name: Timing(name, tuple(values)) for name, values in runs.items()}
    return Comparison(
        case.name,
        timings[OURS],
        tuple(timings[name] for name in case.peers),
        _agreement(case, answers),
    )


def _agreement(case: Case, answers: Mapping[str, Any]) -> dict[str, str]:
    if case.agree is None:
        return {}
    return {name: case.agree(answers[OURS], answers[name]) for name in case.peers}


@dataclass(frozen=True)
class ChildRun:
    """A whole command: how long it took, how much memory it held at most, what it printed."""

    seconds: float
    peak_bytes: int
    output: str


def run_command(argv: Sequence[str], *, env: Mapping[str, str] | None = None) -> ChildRun:
    """Run a command to its end; a failure stops the benchmark."""
    start = time.perf_counter()
    process = subprocess.Popen(
        argv, stdout=subprocess.PIPE, text=True, env={**os.environ, **(env or {})}
    )
    peak = PeakMemory(process.pid)
    output, _ = process.communicate()
    seconds = time.perf_counter() - start
    if process.returncode:
        raise RuntimeError(f"{' '.join(argv)} ended with exit code {process.returncode}")
    return ChildRun(seconds, peak.finish(), output)


class PeakMemory:
    """The high-water mark of a child, read while it runs.

    ``wait4`` will not do: its figure starts from what the parent held when the child was made.
    """

    def __init__(self, pid: int, *, interval: float = 0.01) -> None:
        self._status = Path(f"/proc/{pid}/status")
        self._interval = interval
        self._peak = 0
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while resident := self._read():
            self._peak = max(self._peak, resident)
            time.sleep(self._interval)

    def _read(self) -> int:
        """Bytes; 0 when the child is gone."""
        try:
            marks = re.findall(r"VmHWM:\s+(\d+) kB", self._status.read_text())
        except OSError:
            return 0
        return 1024 * int(marks[0]) if marks else 0

    def finish(self) -> int:
        self._thread.join()
        return self._peak


def comparison_table(comparisons: Sequence[Comparison]) -> str:
    """One row per case and peer."""
    lines = [
        "| case | featsieve, median (best) | peer | peer, median (best) | ours ÷ peer | answers |",
        "|---|---|---|---|---|---|",
    ]
    for comparison in comparisons:
        for peer in comparison.peers:
            lines.append(
                f"| {comparison.case} | {comparison.ours.in_words} | {peer.name} | {peer.in_words} "
                f"| **{comparison.ratio(peer):.2f}** | {comparison.agreement.get(peer.name, '')} |"
            )
    return "\n".join(lines)


def write_report(
    name: str,
    title: str,
    *sections: str,
    packages: Sequence[str] = (),
    results: Path = RESULTS,
) -> Path:
    """``results/NAME.md``: the sections, then command, versions, machine and date."""
    results.mkdir(parents=True, exist_ok=True)
    path = results / f"{name}.md"
    path.write_text("\n\n".join([f"# {title}", *sections, circumstances(packages)]) + "\n")
    return path
