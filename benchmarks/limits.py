"""Limits of time and memory: every method on every engine, measured.

Each method runs on tables on which it cannot finish, or can only just; what it took is compared
with the promise: an end within 10 % + 1 s of ``max_time``, and resident memory that grows by at
most ``memory_limit`` + 200 MB. Outcomes are kept in a journal beside the results, so that a
run that was ended goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.frame import RESULTS, write_report
from benchmarks.limits_case import (
    ENGINES,
    MEMORY_SHAPES,
    MIB,
    TIME_SHAPES,
    VARIANTS,
    Outcome,
    case_names,
    make_tables,
)
from featsieve.evaluation.journal import Journal
from featsieve.registry import METHODS

MAX_TIME = 1.5
LATEST = 1.1 * MAX_TIME + 1
MEMORY_LIMIT = 64 * MIB
MOST_GROWTH = MEMORY_LIMIT + 200 * 10**6
SECONDS_A_FIT = 600  # a process that is silent for longer is ended, and its table says so
NOTES = Path(__file__).with_name("limits_notes.md")  # written by hand
MEMORY_SECONDS = 200.0  # of processor time, as a rule: enough for most methods that stream

Key = tuple[str, str, str]  # kind, case, engine
Outcomes = dict[Key, dict[str, Outcome]]


def jobs(kinds: list[str]) -> Iterator[Key]:
    streaming = {method.name for method in METHODS if method.engines == "streams"}
    for kind in kinds:
        for case in case_names():
            if kind == "time":
                engines = ("memory",) if case in VARIANTS else ENGINES
            elif case in VARIANTS:
                continue
            else:
                engines = ENGINES if case in streaming else ("parquet",)
            for engine in engines:
                yield kind, case, engine


def shapes_of(kind: str, engine: str) -> list[str]:
    """Row groups are Parquet's: elsewhere one table of each form is enough."""
    if kind == "time":
        return list(TIME_SHAPES)
    return [name for name in MEMORY_SHAPES if engine == "parquet" or "all rows" in name]


class Batch:
    """Some cases on one engine, by one process at a time; a new one if it hangs or dies."""

    def __init__(self, kind: str, engine: str, arguments: argparse.Namespace) -> None:
        of_kind = shapes_of(kind, engine)
        self.shapes = [name for name in arguments.shapes or of_kind if name in of_kind]
        # A task of Dask that runs on after its fit has ended would count in the next fit.
        is_alone = kind == "memory" and engine == "dask"
        self._together = [[name] for name in self.shapes] if is_alone else [self.shapes]
        limits: dict[str, Any] = {"max_time": MAX_TIME, "memory_limit": "1GiB"}
        if kind == "memory":
            limits = {"max_time": arguments.memory_seconds, "memory_limit": MEMORY_LIMIT}
        self._given = {"engine": engine, "folder": str(arguments.folder), "clock": arguments.clock}
        self._given |= limits

    def run(self, cases: list[str]) -> Iterator[tuple[str, dict[str, Outcome]]]:
        # A process of its own makes the tables: what that takes is not the fit's.
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            folder = Path(self._given["folder"])
            pool.submit(make_tables, self._given["engine"], self.shapes, folder).result()
        while cases:
            found: dict[str, Outcome] = {}
            for case, name, outcome in self._lines(cases):
                found[name] = Outcome(**outcome)
                if len(found) == len(self.shapes):
                    yield case, found
                    cases, found = cases[1:], {}
            if cases:  # the process ended in the midst of the first of those left
                missing = [name for name in self.shapes if name not in found]
                yield cases[0], found | {n: Outcome(float("nan"), 0, self._reason) for n in missing}
                cases = cases[1:]

    def _lines(self, cases: list[str]) -> Iterator[Any]:
        for shapes in self._together:
            yield from self._lines_of_process(cases, shapes)

    def _lines_of_process(self, cases: list[str], shapes: list[str]) -> Iterator[Any]:
        given = json.dumps(self._given | {"cases": cases, "shapes": shapes})
        argv = [sys.executable, "-m", "benchmarks.limits_case", given]
        with tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=errors, text=True)
            assert process.stdout is not None
            while select.select([process.stdout], [], [], SECONDS_A_FIT)[0]:
                line = process.stdout.readline()
                if not line:
                    break
                yield json.loads(line)
            else:
                process.kill()
            if process.wait():
                errors.seek(0)
                said = (errors.read().strip().splitlines() or ["no message"])[-1]
                hangs = f"ended after {SECONDS_A_FIT} s"
                self._reason = hangs if process.returncode < 0 else said[:200]


def batches(wanted: list[Key]) -> Iterator[tuple[str, str, list[str]]]:
    """What one process does: all cases of an engine, but for memory one case."""
    for engine in ENGINES:
        cases = [case for kind, case, engine_ in wanted if (kind, engine_) == ("time", engine)]
        if cases:
            yield "time", engine, cases
    for kind, case, engine in wanted:
        if kind == "memory":
            yield kind, engine, [case]


class Store:
    """Outcomes by method, engine and kind; a run that was ended goes on from its file."""

    def __init__(self, path: Path) -> None:
        about = {"max_time": MAX_TIME, "memory_limit": MEMORY_LIMIT}
        self._journal = Journal(path, about)

    def read(self, key: Key) -> dict[str, Outcome] | None:
        if key not in self._journal:
            return None
        return {name: Outcome(**outcome) for name, outcome in self._journal[key].items()}

    def write(self, key: Key, found: dict[str, Outcome]) -> None:
        self._journal.write(key, {name: asdict(outcome) for name, outcome in found.items()})


ANSWERS = {
    "completed": "",
    "max_time": " cut",
    "TimeoutError": " T",
    "MemoryBudgetError": " M",
}

ENDED_EARLY = (" cut", " T")


def ending(outcome: Outcome) -> str | None:
    """How the table marks the way in which a fit ended; None: not a documented one."""
    return ANSWERS.get(outcome.answer.split(":")[0])


def keeps_promise(kind: str, outcome: Outcome) -> bool:
    """Whether the limit held and the fit ended in one of the documented ways."""
    held = outcome.seconds <= LATEST if kind == "time" else outcome.growth <= MOST_GROWTH
    return held and ending(outcome) is not None


def cell(kind: str, outcome: Outcome | None) -> str:
    if outcome is None:
        return "not run"
    figure = f"{outcome.seconds:.1f} s" if kind == "time" else f"{outcome.growth / 10**6:.0f} MB"
    mark = ending(outcome)
    figure += f" {outcome.answer[:60]}" if mark is None else mark
    if kind == "memory" and mark in ENDED_EARLY:
        figure += f" at {outcome.seconds:.0f} s"
    return figure if keeps_promise(kind, outcome) else f"**{figure}**"


def table(kind: str, engine: str, found: Outcomes) -> str:
    shapes = shapes_of(kind, engine)
    if kind == "time":
        head = [TIME_SHAPES[name].words for name in shapes]
    else:
        head = shapes if engine == "parquet" else [name.partition(",")[0] for name in shapes]
    lines = [f"| method | {' | '.join(head)} |", "|---" * (len(head) + 1) + "|"]
    for (kind_, case, engine_), outcomes in found.items():
        if (kind_, engine_) == (kind, engine):
            cells = [cell(kind, outcomes.get(name)) for name in shapes]
            lines.append(f"| {case} | {' | '.join(cells)} |")
    return "\n".join(lines)


def broken(found: Outcomes) -> list[str]:
    return [
        f"- {kind}, {case}, {engine}, {shape}: {cell(kind, outcome)}"
        for (kind, case, engine), outcomes in found.items()
        for shape, outcome in outcomes.items()
        if not keeps_promise(kind, outcome)
    ]


def summary(found: Outcomes) -> str:
    n_cells = dict.fromkeys(("time", "memory"), 0)
    for (kind, _, _), outcomes in found.items():
        n_cells[kind] += len(outcomes)
    misses = broken(found)
    head = (
        f"{n_cells['time']} fits under max_time={MAX_TIME}: the promise is an end within "
        f"{LATEST:.2f} s. {n_cells['memory']} fits under memory_limit=64 MiB on tables of about "
        f"340 MB: the promise is a growth of at most {MOST_GROWTH / 10**6:.0f} MB of resident "
        f"memory. {len(misses)} fits break it{':' if misses else '.'}"
    )
    return "\n".join([head, "", *misses])


LEGEND = (
    "A plain figure: the run was completed; *cut*: the best so far came back at the limit; *T*: "
    "the documented `TimeoutError` (no answer was ready); *M*: the documented `MemoryBudgetError`. "
    "Where a memory table says *cut* or *T*, what would come after those seconds was not measured. "
    "Imports and compilation are not counted: each process fits small tables first. Dask is its "
    "default scheduler of threads; partitions are 16 MiB."
)
CLOCKS = {
    "wall": "Seconds of the wall clock, alone on the machine (`--clock wall`).",
    "cpu": "Seconds of processor time, all threads together (`--clock cpu`): other work ran on the "
    "machine.",
}
FOREIGN = """## Calls that cannot be stopped

The clock is looked at between pieces of work; a piece that has begun ends by itself.

| call | methods | what is done about it |
|---|---|---|
| LAPACK: eigenvalues, inverse, factor, least squares of n × n | QPFS, PrincipalFeatures, LDFS, \
KnockoffSelector, GlobalCMI, groups of LassoSelector | timed on 400 × 400 first; not begun if it \
would end after the limit |
| one matrix product of a block of rows (16 MiB × m columns) | LassoSelector, LDFS, QPFS, \
PrincipalFeatures | the block is the piece; with m = 2000 about 8 · 10⁹ multiplications |
| one fit of a user's estimator on one fold (`n_jobs` folds at once) | WrapperSelector, \
FeatureSelector with CrossValScore | runs to its end; it cannot be predicted |
| a Dask task that already runs | all, on Dask | not waited for: its result is \
thrown away |
| one batch of a Parquet file (Arrow) | all, on Parquet | the batch is the piece (16 MiB); a \
row group that goes through a temporary file is one piece |
| the end of a restart of L1LSMI and L1HSIC | L1LSMI, L1HSIC | about 0.5 s, so that there is an \
answer |
| compilation of a kernel (numba) | all, first fit with an empty cache | not counted |

libsvm and liblinear are not called: the SVM family has solvers of its own that run in short pieces.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "limits", help="of the tables"
    )
    parser.add_argument("--journal", type=Path, default=RESULTS / "limits.jsonl")
    parser.add_argument("--kinds", nargs="+", default=["time", "memory"])
    parser.add_argument("--cases", nargs="+")
    parser.add_argument("--engines", nargs="+", default=list(ENGINES))
    parser.add_argument("--shapes", nargs="+")
    parser.add_argument(
        "--memory-seconds", type=float, default=MEMORY_SECONDS, help="after which those fits end"
    )
    parser.add_argument("--clock", choices=("cpu", "wall"), default="cpu")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start nothing later")
    parser.add_argument("--again", action="store_true", help="measure again what is there")
    parser.add_argument("--report", action="store_true", help="write the report of what is there")
    arguments = parser.parse_args()
    store = Store(arguments.journal)
    started = time.monotonic()
    wanted = [
        key
        for key in jobs(arguments.kinds)
        if (not arguments.cases or key[1] in arguments.cases)
        and key[2] in arguments.engines
        and (arguments.again or store.read(key) is None)
    ]
    for kind, engine, cases in [] if arguments.report else batches(wanted):
        batch = Batch(kind, engine, arguments)
        for case, found in batch.run(cases):
            key = kind, case, engine
            store.write(key, (store.read(key) or {}) | found)
            print(*key, {name: cell(kind, outcome) for name, outcome in found.items()}, flush=True)
            if time.monotonic() - started > arguments.seconds:
                return
    if arguments.report:
        report({key: found for key in jobs(arguments.kinds) if (found := store.read(key))})


def clock_words(kind: str, engine: str, found: Outcomes) -> str:
    """By which clock the time limits of a table were measured."""
    clocks = {
        outcome.clock
        for (kind_, _, engine_), outcomes in found.items()
        for outcome in outcomes.values()
        if (kind_, engine_) == (kind, engine)
    }
    return " ".join(CLOCKS[clock] for clock in sorted(clocks))


def report(found: Outcomes) -> None:
    sections = [summary(found), NOTES.read_text().strip(), LEGEND]
    for kind in ("time", "memory"):
        for engine in ENGINES:
            sections += [f"## {kind.capitalize()}, {engine}", clock_words(kind, engine, found)]
            sections.append(table(kind, engine, found))
    missing = [
        f"{kind} {case} {engine}"
        for kind, case, engine in jobs(["time", "memory"])
        if (kind, case, engine) not in found
    ]
    sections += [FOREIGN, f"## Not measured in this run\n\n{', '.join(missing) or 'nothing'}"]
    path = write_report(
        "limits",
        "Limits of time and memory, method by engine",
        *sections,
        packages=["scipy", "scikit-learn", "numba", "pyarrow", "dask"],
    )
    print(path)


if __name__ == "__main__":
    main()
