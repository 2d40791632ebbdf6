"""2,000 fits of mixed methods in one process: what is left behind.

``python -m benchmarks.soak`` fits every method in turn on random tables of changing container,
shape and target, and looks at resident memory, threads and open files. After the first 200 fits
(imports, compilation, caches) memory may grow by less than 50 MB; threads and files by none.
"""

from __future__ import annotations

import argparse
import gc
import os
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

from tests.fuzz.cases import Case
from tests.fuzz.fits import run

from benchmarks.frame import write_report
from featsieve.registry import METHODS

WARM_UP = 200
ALLOWED_GROWTH = 50e6


@dataclass(frozen=True)
class Look:
    """What the process holds after so many fits."""

    n_fits: int
    resident: float
    threads: int
    files: int

    @classmethod
    def now(cls, n_fits: int) -> Look:
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        resident = pages * os.sysconf("SC_PAGE_SIZE")
        files = len(list(Path("/proc/self/fd").iterdir()))
        return cls(n_fits, float(resident), threading.active_count(), files)

    @property
    def row(self) -> str:
        return f"| {self.n_fits:,} | {self.resident / 1e6:.0f} MB | {self.threads} | {self.files} |"


def table_for(number: int, seed: int) -> Case:
    """Method after method; plain tables, so that nearly every fit runs to its end."""
    case = Case.numbered(seed, number)
    method = METHODS[number % len(METHODS)].name
    changes = {"gaps": "none", "dtype": "float64", "target": ("two classes", "words")[number % 2]}
    return replace(case, method=method, **changes).made_cheap()


def soak(n_fits: int, seed: int) -> tuple[list[Look], int]:
    looks, n_answers, done = [], 0, 0
    for number in range(n_fits):
        case = table_for(number, seed)
        values = case.values()
        y = case.target_values(values)
        outcome = run(case.selector(), case.contained(values), y)
        assert outcome.problem is None, (case, outcome.problem)
        n_answers += outcome.refusal is None
        done = number + 1
        if done in (1, WARM_UP) or done % (n_fits // 5) == 0:
            looks.append(Look.now(done))
            print(looks[-1].row, flush=True)
    return looks, n_answers


def verdict(looks: list[Look]) -> str:
    first = next(look for look in looks if look.n_fits >= WARM_UP)
    last = looks[-1]
    growth = last.resident - first.resident
    is_met = growth < ALLOWED_GROWTH and last.threads <= first.threads and last.files <= first.files
    return (
        f"After the first {first.n_fits} fits resident memory grew by **{growth / 1e6:.1f} MB** "
        f"(allowed: {ALLOWED_GROWTH / 1e6:.0f} MB), threads by {last.threads - first.threads}, "
        f"open files by {last.files - first.files}: {'met' if is_met else '**not met**'}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    start = time.perf_counter()
    looks, n_answers = soak(arguments.fits, arguments.seed)
    head = ["| fits | resident memory | threads | open files |", "|---|---|---|---|"]
    words = (
        f"{arguments.fits:,} fits of {len(METHODS)} methods, {n_answers:,} with an answer (others "
    )
    words += f"were refused in a sentence), in {time.perf_counter() - start:.0f} s."
    path = write_report(
        "soak",
        "Soak: many fits in one process",
        words,
        "\n".join([*head, *(look.row for look in looks)]),
        verdict(looks),
        packages=("numpy", "scipy", "scikit-learn", "numba", "pandas", "polars", "dask"),
    )
    print(verdict(looks), path)


if __name__ == "__main__":
    main()
