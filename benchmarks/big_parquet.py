"""A Parquet file larger than the memory that is used: peak memory, and how time grows with rows."""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import featsieve
from benchmarks.frame import ChildRun, run_command, seconds_in_words, write_report

COLUMNS = 50
RELEVANT = 5
ROWS_PER_GROUP = 250_000
METHODS = ("PearsonRanking", "LassoSelector")
MEMORY_TARGET = 1 << 30
EXPONENT_TARGET = 1.1


def write_table(path: Path, n_rows: int) -> None:
    """Random doubles (nothing to compress), one row group at a time."""
    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(COLUMNS)]
    schema = pa.schema([(name, pa.float64()) for name in [*names, "y"]])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for start in range(0, n_rows, ROWS_PER_GROUP):
            X = rng.normal(size=(min(ROWS_PER_GROUP, n_rows - start), COLUMNS))
            y = X[:, :RELEVANT].sum(axis=1) + rng.normal(size=len(X))
            columns = [*X.T, y]
            writer.write_table(pa.table([pa.array(c) for c in columns], schema=schema))


def child(method: str, path: str) -> None:
    """One selection in a process of its own; what it took goes to standard output."""
    selector = getattr(featsieve, method)(n_features_to_select=RELEVANT)
    warm_up(selector)
    table = featsieve.open_parquet(path, target="y")
    wall, cpu = time.perf_counter(), time.process_time()
    selector.fit(table)
    answer = {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "selected": sorted(selector.indices_.tolist()),
    }
    print(json.dumps(answer))


def warm_up(selector: Any) -> None:
    """Imports and compiled code are loaded before the clock starts, so that only rows are timed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.parquet"
        write_table(path, 1000)
        selector.fit(featsieve.open_parquet(path, target="y"))


def measure(method: str, path: Path) -> tuple[ChildRun, dict[str, Any]]:
    argv = [sys.executable, "-m", "benchmarks.big_parquet", "--child", method, str(path)]
    run = run_command(argv)
    return run, json.loads(run.output)


def rows_of_report(folder: Path, sizes: list[int], repeats: int) -> list[str]:
    """One line per method and size; the best of several runs, for a busy machine only adds time."""
    measured: dict[tuple[str, int], list[tuple[ChildRun, dict[str, Any]]]] = {}
    file_bytes = {}
    for n_rows in sizes:
        path = folder / f"{n_rows}.parquet"
        write_table(path, n_rows)
        file_bytes[n_rows] = path.stat().st_size
        for _ in range(repeats):
            for method in METHODS:
                measured.setdefault((method, n_rows), []).append(measure(method, path))
        path.unlink()
    lines = []
    for method in METHODS:
        first = measured[method, sizes[0]]
        for n_rows in sizes:
            runs = measured[method, n_rows]
            growth = [_exponent(runs, first, n_rows / sizes[0], key) for key in ("wall", "cpu")]
            lines.append(_line(method, n_rows, file_bytes[n_rows], runs, growth))
    return lines


def _exponent(runs: list[Any], first: list[Any], growth: float, key: str) -> str:
    if growth == 1:
        return ""
    return f"**{math.log(_best(runs, key) / _best(first, key)) / math.log(growth):.2f}**"


def _line(method: str, n_rows: int, size: int, runs: list[Any], growth: list[str]) -> str:
    peak = max(run.peak_bytes for run, _ in runs) / 2**20
    right = all(answer["selected"] == list(range(RELEVANT)) for _, answer in runs)
    return (
        f"| {method} | {n_rows:,} × {COLUMNS} | {size / 2**20:.0f} MiB "
        f"| {seconds_in_words(_best(runs, 'wall'))} | {seconds_in_words(_best(runs, 'cpu'))} "
        f"| **{peak:.0f} MiB** | {' | '.join(growth)} | {'yes' if right else 'NO'} |"
    )


def _best(runs: list[Any], key: str) -> float:
    return min(float(answer[key]) for _, answer in runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[500_000, 5_000_000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--child", nargs=2, metavar=("METHOD", "FILE"))
    arguments = parser.parse_args()
    if arguments.child:
        return child(*arguments.child)
    needed = 2 * max(arguments.rows) * (COLUMNS + 1) * 8
    with tempfile.TemporaryDirectory() as folder:
        if shutil.disk_usage(folder).free < needed:
            sys.exit(
                f"{needed >> 20} MiB of free disk space are needed in {os.path.dirname(folder)}"
            )
        lines = rows_of_report(Path(folder), arguments.rows, arguments.repeats)
    head = [
        "| method | table | file | fit, wall (best) | fit, CPU (best) | peak resident memory "
        "| exponent, wall | exponent, CPU | the five relevant columns |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    note = (
        "Each run is a process of its own; its peak memory is the operating system's, from start "
        "to end and with all imports, its times are those of `fit` after a warm-up. LassoSelector "
        "sums the second moments of five folds in one pass and keeps the whole path with its "
        f"error. Targets: below {MEMORY_TARGET >> 20} MiB, exponent at most {EXPONENT_TARGET}."
    )
    path = write_report(
        "big-parquet",
        "Parquet larger than the memory used",
        "\n".join([*head, *lines]),
        note,
        packages=["pyarrow", "scikit-learn"],
    )
    print(path.read_text())
    return None


if __name__ == "__main__":
    main()
