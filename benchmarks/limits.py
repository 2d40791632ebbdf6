"""Limits of time and memory: every method on every engine, measured.

Each method runs in a process of its own on tables on which it cannot finish, or can only just; what
it took is compared with the promise: an end within 10 % + 1 s of ``max_time``, and resident memory
that grows by at most ``memory_limit`` + 200 MB. Outcomes are kept in a folder, so that a run that
was ended goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.frame import write_report
from benchmarks.limits_case import (
    ENGINES,
    MEMORY_SHAPES,
    MIB,
    TIME_SHAPES,
    VARIANTS,
    Outcome,
    case_names,
)
from featsieve.registry import METHODS

MAX_TIME = 1.5
LATEST = 1.1 * MAX_TIME + 1
MEMORY_LIMIT = 64 * MIB
MOST_GROWTH = MEMORY_LIMIT + 200 * 10**6
SECONDS_PER_CASE = 120  # a process that takes longer is ended, and its table says so
MEMORY_SECONDS = 8.0

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


def run(key: Key, folder: Path, shapes: list[str] | None) -> dict[str, Outcome]:
    kind, case, engine = key
    limits: dict[str, Any] = {"max_time": MAX_TIME, "memory_limit": "1GiB"}
    if kind == "memory":
        limits = {"max_time": MEMORY_SECONDS, "memory_limit": MEMORY_LIMIT}
    given = {"case": case, "engine": engine, "kind": kind, "folder": str(folder), "shapes": shapes}
    argv = [sys.executable, "-m", "benchmarks.limits_case", json.dumps(given | limits)]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        output, errors = process.communicate(
            timeout=SECONDS_PER_CASE * (1 + 4 * (kind == "memory"))
        )
    except subprocess.TimeoutExpired:
        process.kill()
        output, errors = process.communicate()
        errors = f"ended after {SECONDS_PER_CASE} s"
    outcomes = {name: Outcome(**outcome) for name, outcome in map(json.loads, output.splitlines())}
    if process.returncode:
        missing = set(shapes or (TIME_SHAPES if kind == "time" else MEMORY_SHAPES)) - set(outcomes)
        reason = (errors.strip().splitlines() or ["no message"])[-1]
        outcomes |= {name: Outcome(float("nan"), 0, reason[:200]) for name in missing}
    return outcomes


class Store:
    """Outcomes as JSON, one file per method, engine and kind."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "outcomes"
        self._folder.mkdir(parents=True, exist_ok=True)

    def _path(self, key: Key) -> Path:
        return self._folder / f"{'-'.join(key).replace(' ', '_')}.json"

    def read(self, key: Key) -> dict[str, Outcome] | None:
        path = self._path(key)
        if not path.exists():
            return None
        return {name: Outcome(**outcome) for name, outcome in json.loads(path.read_text()).items()}

    def write(self, key: Key, found: dict[str, Outcome]) -> None:
        plain = {name: outcome.__dict__ for name, outcome in found.items()}
        self._path(key).write_text(json.dumps(plain))


def is_kept(kind: str, outcome: Outcome) -> bool:
    if kind == "time":
        return outcome.seconds <= LATEST
    return outcome.growth <= MOST_GROWTH


def cell(kind: str, outcome: Outcome | None) -> str:
    if outcome is None:
        return "not run"
    figure = f"{outcome.seconds:.1f} s" if kind == "time" else f"{outcome.growth / 10**6:.0f} MB"
    word = {"completed": "", "max_time": " cut"}.get(outcome.answer)
    if word is None:
        word = {"TimeoutError": " T", "MemoryBudgetError": " M"}.get(
            outcome.answer.split(":")[0], f" {outcome.answer[:60]}"
        )
    return f"{figure}{word}" if is_kept(kind, outcome) else f"**{figure}{word}**"


def table(kind: str, engine: str, found: Outcomes) -> str:
    shapes = TIME_SHAPES if kind == "time" else MEMORY_SHAPES
    words = [s.words for s in shapes.values()] if kind == "time" else list(shapes)
    lines = [f"| method | {' | '.join(words)} |", "|---" * (len(words) + 1) + "|"]
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
        if not is_kept(kind, outcome)
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
    "Imports and compilation are not counted: each process fits small tables first. Dask is its "
    "default scheduler of threads; partitions are 16 MiB. Other work may have run on the machine: "
    "a figure is then an upper bound."
)
FOREIGN = """## Calls that cannot be stopped

The clock is looked at between pieces of work; a piece that has begun ends by itself.

| call | methods | what is done about it |
|---|---|---|
| LAPACK, all eigenvalues of n × n | QPFS, PrincipalFeatures | timed on 400 × 400 first; not begun \
if it would end after the limit |
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
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "limits")
    parser.add_argument("--kinds", nargs="+", default=["time", "memory"])
    parser.add_argument("--cases", nargs="+")
    parser.add_argument("--engines", nargs="+", default=list(ENGINES))
    parser.add_argument("--shapes", nargs="+")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start nothing later")
    parser.add_argument("--again", action="store_true", help="measure again what is there")
    parser.add_argument("--report", action="store_true", help="write the report of what is there")
    given = parser.parse_args()
    store = Store(given.folder)
    started = time.monotonic()
    for key in [] if given.report else jobs(given.kinds):
        kind, case, engine = key
        if (given.cases and case not in given.cases) or engine not in given.engines:
            continue
        earlier = store.read(key)
        if (earlier is not None and not given.again) or time.monotonic() - started > given.seconds:
            continue
        outcomes = run(key, given.folder, given.shapes)
        store.write(key, (earlier or {}) | outcomes)
        print(*key, {name: cell(kind, outcome) for name, outcome in outcomes.items()}, flush=True)
    if given.report:
        report({key: outcomes for key in jobs(given.kinds) if (outcomes := store.read(key))})


def report(found: Outcomes) -> None:
    sections = [summary(found), LEGEND]
    for kind in ("time", "memory"):
        for engine in ENGINES:
            title = f"## {kind.capitalize()}, {engine}"
            sections += [title, table(kind, engine, found)]
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
