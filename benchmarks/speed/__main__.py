"""The command: run the rows, write the table, and compare with the last run."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.frame import RESULTS, write_report
from benchmarks.speed import dask_rows, history, thread_rows
from benchmarks.speed.row import Options, Outcome, Row, Skipped, run
from benchmarks.speed.table import TABLE
from featsieve.evaluation.surroundings import seconds_in_words

HISTORY = RESULTS / "speed-history.jsonl"
MOST_SECONDS = 240  # of one row
PACKAGES = ("scikit-learn", "scipy", "numba", "pyarrow", "dask", "pyHSICLasso")


def run_child(row: Row, given: argparse.Namespace) -> Outcome | str:
    """A row in a process of its own; a reason where there is no outcome."""
    words = [sys.executable, "-m", "benchmarks.speed", "--child", row.name]
    words += ["--parquet-rows", str(given.parquet_rows)]
    for name in ("data", "folder"):
        words += [f"--{name}", str(getattr(given, name))] if getattr(given, name) else []
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        return f"no outcome in {MOST_SECONDS} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["it failed"])[-1]
    answer = json.loads(done.stdout.splitlines()[-1])
    return answer["skipped"] if "skipped" in answer else Outcome(**answer)


def child(name: str, options: Options) -> None:
    try:
        answer = run(TABLE.rows[name], options).as_json()
    except Skipped as reason:
        answer = {"skipped": f"skipped: {reason}"}
    print(json.dumps(answer))


def table_line(row: Row, outcome: Outcome | str) -> str:
    if isinstance(outcome, str):
        return f"| {row.name} | | {row.peer} | | | {row.allowed:.2f} | {outcome} | |"
    reached = "yes" if outcome.ratio <= row.allowed else "**no**"
    memory = f"{outcome.peak_bytes >> 20} ({(outcome.peak_bytes - outcome.data_bytes) >> 20})"
    return (
        f"| {row.name} | {seconds_in_words(outcome.ours)} | {row.peer} "
        f"| {seconds_in_words(outcome.peer)} | {outcome.ratio:.2f} | {row.allowed:.2f} "
        f"| {reached} | {memory} |"
    )


def report(lines: list[str], seconds: float) -> None:
    head = [
        "| job | ours | peer or limit | its time | ours ÷ peer | allowed | reached | MiB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    note = (
        "Times are the best of several runs in turns, in one process per row. MiB is the peak of "
        "resident memory in one run of ours, in brackets what it had beyond the process before it "
        f"(data, libraries and compiled code included there). All rows took {seconds:.0f} s.\n\n"
        f"{thread_rows.NOTE}\n\n{dask_rows.NOTE}"
    )
    write_report("speed", "Speed", "\n".join(head + lines), note, packages=PACKAGES)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="WORD", help="rows whose name has the word")
    parser.add_argument("--data", type=Path, help="a folder with housing.parquet and others")
    parser.add_argument("--parquet-rows", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="where Parquet tables are kept between runs")
    parser.add_argument("--history", type=Path, default=HISTORY)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    given = arguments()
    if given.child:
        child(given.child, Options(given.data, given.parquet_rows, given.folder))
        return 0
    start, lines, ratios = time.perf_counter(), [], {}
    for row in TABLE.rows.values():
        if given.only and not any(word in row.name for word in given.only):
            continue
        outcome = run_child(row, given)
        lines.append(table_line(row, outcome))
        print(lines[-1], flush=True)
        if isinstance(outcome, Outcome):
            ratios[row.name] = outcome.ratio
    if not given.only:
        report(lines, time.perf_counter() - start)
    return remember(given.history, ratios, is_complete=not given.only)


def remember(path: Path, ratios: dict[str, float], *, is_complete: bool) -> int:
    """Exit code 1 when a row became worse; only a complete run is written down."""
    line = history.new_line(ratios)
    worse = history.worse_rows(history.read(path), line)
    if is_complete:
        history.append(path, line)
    for name, (before, now) in worse.items():
        print(f"worse: {name}: {before:.2f} → {now:.2f}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
