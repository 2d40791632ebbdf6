"""MaxRel and mRMR on a Parquet file of ten million rows: peak memory and time.

``python -m benchmarks.information_big --rows 10000000`` writes the file into a temporary folder:
100 columns of float32 with 1,000 distinct values each, so that the file stays small.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.frame import run_command, seconds_in_words, write_report

COLUMNS, RELEVANT, SELECTED = 100, 5, 10
ROWS_PER_GROUP = 250_000
MEMORY_TARGET = 2 << 30


def write_table(path: Path, n_rows: int) -> None:
    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(COLUMNS)]
    schema = pa.schema([*[(name, pa.float32()) for name in names], ("y", pa.int8())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n_rows, ROWS_PER_GROUP):
            X = rng.integers(0, 1000, size=(min(ROWS_PER_GROUP, n_rows - start), COLUMNS))
            signal = X[:, :RELEVANT].sum(axis=1) + rng.normal(0, 500, len(X))
            y = (signal > 500 * RELEVANT).astype(np.int8)
            columns = [*X.T.astype(np.float32), y]
            writer.write_table(pa.table([pa.array(c) for c in columns], schema=schema))


def child(method: str, path: str) -> None:
    """One selection in a process of its own."""
    import featsieve

    start = time.perf_counter()
    selector = getattr(featsieve, method)(n_features_to_select=SELECTED, n_jobs=2)
    fitted = selector.fit(featsieve.open_parquet(path, target="y"))
    answer = {
        "seconds": time.perf_counter() - start,
        "relevant": sorted(set(fitted.indices_.tolist()) & set(range(RELEVANT))),
        "approximation": fitted.result_.approximation,
    }
    print(json.dumps(answer))


def row(method: str, path: Path) -> str:
    command = [sys.executable, "-m", "benchmarks.information_big", "--child", method, str(path)]
    run = run_command(command)
    outcome = json.loads(run.output.splitlines()[-1])
    memory = f"{run.peak_bytes / 2**30:.2f} GiB"
    verdict = "under 2 GiB" if run.peak_bytes < MEMORY_TARGET else "ABOVE 2 GiB"
    seconds = seconds_in_words(outcome["seconds"])
    hits = f"{len(outcome['relevant'])} of {RELEVANT}"
    return f"| {method} | {memory} ({verdict}) | {seconds} | {hits} | {outcome['approximation']} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--child", nargs=2)
    arguments = parser.parse_args()
    if arguments.child:
        child(*arguments.child)
        return
    lines = ["| method | peak memory | fit | relevant columns found | approximation |"]
    lines.append("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write_table(path, arguments.rows)
        size = path.stat().st_size
        lines += [row(method, path) for method in ("MaxRel", "MRMR")]
    write_report(
        "information_big",
        f"Information from a file: {arguments.rows:,} × {COLUMNS}, k = {SELECTED}",
        "\n".join(lines),
        f"The file has {size / 2**30:.1f} GiB, its numbers as float64 would take "
        f"{8 * COLUMNS * arguments.rows / 2**30:.1f} GiB; memory_limit is the default 1 GiB.",
        packages=["pyarrow", "numba"],
    )


if __name__ == "__main__":
    main()
