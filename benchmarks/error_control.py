"""Knockoffs on a large Parquet file against PearsonRanking, and FOCI on 100,000 × 100.

    python -m benchmarks.error_control [--file FILE.parquet] [--no-foci]

The file has 100 columns and a target y, as ``benchmarks.speed --folder`` writes it. Each run
is a process of its own, after a warm-up on a small table; two jobs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.frame import run_command, write_report

FOCI_ROWS, FOCI_COLUMNS = 100_000, 100
FOCI_LIMIT, TIMES, MEMORY_LIMIT = 60.0, 5.0, 2 << 30


def fit(job: str, path: str) -> float:
    """Seconds for one fit."""
    from featsieve import FOCI, KnockoffSelector, PearsonRanking, open_parquet
    from featsieve.measures import Pearson
    from featsieve.searches import Ranking

    if job == "foci":
        X = np.random.default_rng(0).normal(size=(FOCI_ROWS, FOCI_COLUMNS))
        y = X[:, 0] * X[:, 9] + X[:, 19] ** 2
        FOCI().fit(X[:500, :5], y[:500])
        start = time.perf_counter()
        chosen = FOCI(n_jobs=2).fit(X, y).indices_
        assert sorted(chosen.tolist()) == [0, 9, 19], chosen
        return time.perf_counter() - start
    rows = np.random.default_rng(0).normal(size=(2000, FOCI_COLUMNS))
    selector = (
        PearsonRanking(n_features_to_select=10, n_jobs=2)
        if job == "pearson"
        else KnockoffSelector(Pearson(), Ranking(), random_state=0, n_jobs=2, allow_empty=True)
    )
    selector.fit(rows, rows[:, 0])
    start = time.perf_counter()
    selector.fit(open_parquet(path, target="y"))
    return time.perf_counter() - start


def child(job: str, path: str) -> tuple[float, int]:
    """Seconds, and the peak of memory of the whole process."""
    command = [sys.executable, "-m", "benchmarks.error_control", "--child", job, "--file", path]
    run = run_command(command)
    return float(json.loads(run.output.splitlines()[-1])), run.peak_bytes


def parquet_section(path: str) -> str:
    import pyarrow.parquet as pq

    n_rows = pq.ParquetFile(path).metadata.num_rows
    times: dict[str, list[float]] = {"pearson": [], "knockoffs": []}
    peak = 0
    for job in ("pearson", "knockoffs") * 2:
        seconds, memory = child(job, path)
        times[job].append(seconds)
        peak = max(peak, memory)
    ours, base = min(times["knockoffs"]), min(times["pearson"])
    return (
        f"## {n_rows:,} × 100 from Parquet\n\n"
        "| job | time | peak memory |\n|---|---|---|\n"
        f"| PearsonRanking | {base:.2f} s | |\n"
        f"| KnockoffSelector(Pearson(), Ranking()) | {ours:.2f} s | {peak / 2**20:.0f} MiB |\n\n"
        f"**{ours / base:.2f}** times the time of PearsonRanking (allowed: {TIMES:g}; "
        f"{'reached' if ours <= TIMES * base else '**not reached**'}), memory "
        f"{'within' if peak <= MEMORY_LIMIT else '**above**'} 2 GiB. PearsonRanking reads the file "
        "once and adds up. Knockoffs read it twice, and per number draw a normal one, multiply "
        "with a square and a triangle of 100 × 100 and add to the covariance. The better of two "
        "runs each, in turns."
    )


def foci_section() -> str:
    seconds, _ = child("foci", "")
    return (
        f"## FOCI, {FOCI_ROWS:,} × {FOCI_COLUMNS}, y = x₁x₁₀ + x₂₀²\n\n"
        f"{seconds:.1f} s with two jobs (allowed: {FOCI_LIMIT:g} s; "
        f"{'reached' if seconds <= FOCI_LIMIT else '**not reached**'}); it selects exactly the "
        "three."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--file", type=str, default="")
    parser.add_argument("--no-foci", action="store_true")
    parser.add_argument("--child")
    arguments = parser.parse_args()
    if arguments.child:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            print(json.dumps(fit(arguments.child, arguments.file)))
        return
    sections = [parquet_section(arguments.file)] if Path(arguments.file).is_file() else []
    sections += [] if arguments.no_foci else [foci_section()]
    write_report(
        "error-control", "Error control: speed", *sections, packages=("numpy", "scipy", "pyarrow")
    )


if __name__ == "__main__":
    main()
