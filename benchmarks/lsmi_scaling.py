"""How LSMI's cost grows with rows and columns, and a whole fit on a table that streams.

    python -m benchmarks.lsmi_scaling growth [--rows 1000,10000,100000] [--columns 20,200,2000]
    python -m benchmarks.lsmi_scaling fit --rows 1000000 [--engines memory,parquet,dask]

``growth``: processor seconds of one value with gradient, and of one cross-validation table of
3 σ × 3 λ, with 100 centres. ``fit``: L1LSMI with ``n_init=1`` and 20 iterations on 20 columns,
each engine in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.frame import run_command, write_report
from featsieve.input.boundary import Settings, open_engine
from featsieve.measures import LSMI
from featsieve.measures.lsmi.lsmi import cv_table
from featsieve.runtime.pool import single_threaded_blas

LAMBDAS = np.array([1e-3, 1e-1, 1e1])
N_COLUMNS, N_FIXED_ROWS = 20, 2000
PACKAGES = ("scipy", "scikit-learn", "numba", "dask", "pyarrow")


def table(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    """Two columns that matter among noise."""
    X = np.random.default_rng(0).normal(size=(n_rows, n_columns))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


def bound_table(n_rows: int, n_columns: int) -> Any:
    X, y = table(n_rows, n_columns)
    bound = LSMI(random_state=0).bind(open_engine(X, y, Settings()))
    bound.sums(np.ones(n_columns), [1.0])  # draws centres and folds
    return bound


def processor_seconds(work: Callable[[], Any], repeats: int) -> float:
    spent = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return min(spent)


def costs(n_rows: int, n_columns: int) -> tuple[float, float]:
    """Of a value with gradient, and of a table of 3 σ × 3 λ."""
    bound, weights = bound_table(n_rows, n_columns), np.full(n_columns, 0.5)
    sigmas = np.sqrt(n_columns) * np.array([0.25, 0.5, 1.0])
    repeats = 5 if n_rows <= 20_000 else 2
    with single_threaded_blas():  # threads that wait for each other count as processor seconds
        return (
            processor_seconds(
                lambda: bound.value_and_gradient_at(weights, sigmas[1], 0.1), repeats
            ),
            processor_seconds(lambda: cv_table(bound.sums(weights, sigmas), LAMBDAS), repeats),
        )


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def growth_table(word: str, sizes: Sequence[int], timings: Sequence[tuple[float, float]]) -> str:
    lines = [f"| {word} | value with gradient | table of 3 σ × 3 λ |", "|---|---|---|"]
    lines += [f"| {size} | {1e3 * a:.1f} ms | {1e3 * b:.1f} ms |" for size, (a, b) in
              zip(sizes, timings, strict=True)]  # fmt: skip
    slopes = [exponent(sizes, [pair[which] for pair in timings]) for which in (0, 1)]
    lines.append(f"| exponent | **{slopes[0]:.2f}** | **{slopes[1]:.2f}** |")
    return "\n".join(lines)


def growth(arguments: argparse.Namespace) -> None:
    costs(1000, N_COLUMNS)  # compiles
    rows, columns = _numbers(arguments.rows), _numbers(arguments.columns)
    by_rows = [costs(n, N_COLUMNS) for n in rows]
    by_columns = [costs(N_FIXED_ROWS, m) for m in columns]
    path = write_report(
        "lsmi-growth",
        "How LSMI's cost grows",
        f"Processor seconds, 100 centres, two classes. Rows at {N_COLUMNS} columns:",
        growth_table("rows", rows, by_rows),
        f"Columns at {N_FIXED_ROWS} rows:",
        growth_table("columns", columns, by_columns),
        packages=PACKAGES,
    )
    print(path.read_text())


# --- a whole fit ---------------------------------------------------------------------------------


def fit_here(engine: str, path: Path) -> None:
    """Run in a child: fit from the Parquet file by one engine and print what came out."""
    from featsieve import L1LSMI, open_parquet

    X, y = open_as(engine, path, open_parquet)
    selector = L1LSMI(
        n_features_to_select=2,
        n_init=1,
        max_iter=20,
        sigmas=[0.1, 0.3, 1.0],
        lambdas=LAMBDAS,
        n_jobs=2,
        random_state=0,
    )
    start = time.perf_counter()
    if engine != "nothing":
        selector.fit(X, y)
    selected = [] if engine == "nothing" else sorted(selector.indices_.tolist())
    print(json.dumps({"seconds": time.perf_counter() - start, "selected": selected}))


def open_as(engine: str, path: Path, open_parquet: Callable[..., Any]) -> tuple[Any, Any]:
    """``nothing`` loads the table and stops: what a fit's memory is compared with."""
    if engine == "parquet":
        return open_parquet(path, target="target"), None
    if engine == "dask":
        import dask.dataframe as dd

        frame = dd.read_parquet(path, split_row_groups=True)
        return frame.drop(columns="target"), frame["target"]
    import pyarrow.parquet as pq

    frame = pq.read_table(path).to_pandas()
    return frame.drop(columns="target").to_numpy(), frame["target"].to_numpy()


def write_table(path: Path, n_rows: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = table(n_rows, N_COLUMNS)
    columns = {f"c{j}": X[:, j] for j in range(N_COLUMNS)} | {"target": y}
    pq.write_table(pa.table(columns), path, row_group_size=65536)


def fit(arguments: argparse.Namespace) -> None:
    n_rows = _numbers(arguments.rows)[0]
    lines = ["| engine | seconds | peak memory | beyond the empty run | selected |"]
    lines.append("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        write_table(path, n_rows)
        bare = _child("nothing", path)[1]
        for engine in arguments.engines.split(","):
            outcome, peak = _child(engine, path)
            lines.append(
                f"| {engine} | {outcome['seconds']:.0f} | {peak / 2**20:.0f} MiB "
                f"| {(peak - bare) / 2**20:.0f} MiB | {outcome['selected']} |"
            )
    note = f"{n_rows} × {N_COLUMNS}; the empty run loads the table as an array and stops."
    report = write_report(
        "lsmi-fit", "A whole fit of L1LSMI", note, "\n".join(lines), packages=PACKAGES
    )
    print(report.read_text())


def _child(engine: str, path: Path) -> tuple[dict[str, Any], int]:
    done = run_command(
        [
            sys.executable,
            "-m",
            "benchmarks.lsmi_scaling",
            "child",
            "--engines",
            engine,
            "--file",
            str(path),
        ]
    )
    return json.loads(done.output.splitlines()[-1]), done.peak_bytes


def _numbers(words: str) -> list[int]:
    return [int(word) for word in words.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["growth", "fit", "child"])
    parser.add_argument("--rows", default="1000,10000,100000")
    parser.add_argument("--columns", default="20,200,2000")
    parser.add_argument("--engines", default="memory,parquet,dask")
    parser.add_argument("--file", type=Path)
    arguments = parser.parse_args()
    if arguments.what == "child":
        fit_here(arguments.engines, arguments.file)
    else:
        {"growth": growth, "fit": fit}[arguments.what](arguments)


if __name__ == "__main__":
    main()
