"""The two yardsticks of the counting kernels, fixed before the kernels were written.

1. ``counting_loop``: the plain way to the CMI of all unordered pairs: one table of counts per pair,
   the outer column's offsets hoisted, serial code run by a pool of threads.
2. ``bare_popcount``: only the AND and popcount that bit planes need for those tables: a column of
   S states needs S − 1 planes, as the last state follows from the margins. No tables, no logs.

``python benchmarks/information_yardsticks.py`` prints both on madelon-like data.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from multiprocessing.pool import ThreadPool
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic


def make_codes(
    n_samples: int, n_columns: int, n_states: int, n_classes: int = 2, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Codes that depend on the classes a little, so that no table is degenerate."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_samples)
    noise = rng.normal(size=(n_samples, n_columns))
    values = noise + 0.3 * y[:, None] * rng.normal(size=n_columns)
    cuts = np.quantile(values, np.arange(1, n_states) / n_states, axis=0)
    codes = sum((values > cut).astype(np.uint8) for cut in cuts)
    return np.asarray(codes, dtype=np.uint8), y.astype(np.uint8)


@intrinsic
def _popcount(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@njit(nogil=True, cache=True)
def _count_rows(codes, y, n_states, n_classes, nlogn, first, step, pair_sums, triple_sums):
    m, n = codes.shape
    offset = np.empty(n, np.int64)
    table = np.empty(n_states * n_classes * n_states, np.int32)
    for i in range(first, m, step):
        for row in range(n):
            offset[row] = (codes[i, row] * n_classes + y[row]) * n_states
        for j in range(i):
            table[:] = 0
            other = codes[j]
            for row in range(n):
                table[offset[row] + other[row]] += 1
            triple = 0.0
            for cell in range(table.size):
                triple += nlogn[table[cell]]
            pair = 0.0
            for a in range(n_states):
                for b in range(n_states):
                    total = 0
                    for c in range(n_classes):
                        total += table[(a * n_classes + c) * n_states + b]
                    pair += nlogn[total]
            pair_sums[i, j] = pair
            triple_sums[i, j] = triple


@njit(nogil=True, cache=True)
def _popcount_rows(words, n_planes, first, step):
    total = np.uint64(0)
    for i in range(first, words.shape[1] // n_planes, step):
        for w in range(words.shape[0]):
            row = words[w]
            for a in range(n_planes):
                mine = row[i * n_planes + a]
                for plane in range(i * n_planes):
                    total += _popcount(mine & row[plane])
    return total


def nlogn_table(n: int) -> np.ndarray:
    counts = np.arange(n + 1, dtype=np.float64)
    return counts * np.log(np.maximum(counts, 1.0))


def pack_words(codes: np.ndarray, y: np.ndarray, n_states: int) -> np.ndarray:
    """Words × planes; each class starts a new word, so that no mask for the class is needed."""
    parts = []
    for label in np.unique(y):
        rows = codes[y == label]
        planes = rows[:, :, None] == np.arange(n_states - 1)
        padded = np.zeros((-(-len(rows) // 64) * 64, planes[0].size), bool)
        padded[: len(rows)] = planes.reshape(len(rows), -1)
        bits = np.packbits(padded.T, axis=1, bitorder="little")
        parts.append(np.ascontiguousarray(bits).view(np.uint64).T)
    return np.ascontiguousarray(np.concatenate(parts))


def counting_loop(codes: np.ndarray, y: np.ndarray, n_jobs: int) -> tuple[np.ndarray, np.ndarray]:
    """Σ n log n over the tables of all pairs, without and with the class."""
    n, m = codes.shape
    by_column = np.ascontiguousarray(codes.T)
    sums = np.zeros((m, m)), np.zeros((m, m))
    arguments = (by_column, y, int(codes.max()) + 1, int(y.max()) + 1, nlogn_table(n))
    _in_threads(lambda first: _count_rows(*arguments, first, n_jobs, *sums), n_jobs)
    return sums


def bare_popcount(words: np.ndarray, n_planes: int, n_jobs: int) -> int:
    return sum(_in_threads(lambda first: _popcount_rows(words, n_planes, first, n_jobs), n_jobs))


def _in_threads(work: Callable[[int], Any], n_jobs: int) -> list[Any]:
    with ThreadPool(n_jobs) as pool:
        return pool.map(work, range(n_jobs))


def best_time(work: Callable[[], Any], repeats: int = 5) -> float:
    """Seconds of the fastest of some runs, after one that compiles."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def measure(codes: np.ndarray, y: np.ndarray, n_jobs: int) -> dict[str, float]:
    """Seconds of each yardstick for the codes (all columns with the same number of states)."""
    n_states = int(codes.max()) + 1
    words = pack_words(codes, y, n_states)
    return {
        "counting loop": best_time(lambda: counting_loop(codes, y, n_jobs)),
        "bare popcount": best_time(lambda: bare_popcount(words, n_states - 1, n_jobs)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--columns", type=int, default=500)
    parser.add_argument("--states", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    codes, y = make_codes(arguments.rows, arguments.columns, arguments.states)
    pairs = arguments.columns * (arguments.columns - 1) / 2
    for name, seconds in measure(codes, y, arguments.jobs).items():
        print(f"{name}: {seconds:.4f} s, {seconds / pairs * 1e9:.0f} ns per pair")


if __name__ == "__main__":
    main()
