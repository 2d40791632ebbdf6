"""The HSIC kernels against plain numpy, and HSICLasso against pyHSICLasso.

python -m benchmarks.hsic_speed [--peer PYTHON_WITH_PYHSICLASSO] [--repeats N]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.against_pyhsiclasso import against_pyhsiclasso
from benchmarks.frame import Case, Comparison, compare, comparison_table, run_command, write_report
from benchmarks.hsic_baselines import backward_ranking, fixed_matrix, single_scores

N_JOBS = 2
FIRST_FIT = """
import sys, time
import numpy as np
from featsieve import BAHSIC, HSICLasso, HSICRanking
rng = np.random.default_rng(0)
X, y = rng.normal(size=(200, 20)), rng.normal(size=200)
method = {"BAHSIC": BAHSIC, "HSICLasso": HSICLasso, "HSICRanking": HSICRanking}[sys.argv[1]]
for _ in range(2):
    wall, cpu = time.perf_counter(), time.process_time()
    method(n_features_to_select=5).fit(X, y)
    print(time.perf_counter() - wall, time.process_time() - cpu)
"""
LARGE_RANKING = """
import time
import numpy as np
from featsieve import HSICRanking
rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 50))
y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)
start = time.perf_counter()
fitted = HSICRanking(n_jobs=2, n_features_to_select=1, memory_limit="1GiB").fit(X, y)
print(time.perf_counter() - start, fitted.indices_[0], fitted.result_.approximation)
"""


def classes(n: int, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X standardised, y of two classes, and the target's fixed matrix."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, m))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    counts = np.bincount(y)
    labels = np.where(y == 1, 1 / counts[1], -1 / counts[0])
    return (X - X.mean(axis=0)) / X.std(axis=0), y, fixed_matrix(np.outer(labels, labels))


def single_case() -> Case:
    from featsieve import HSICRanking

    X, y, M = classes(1000, 100)
    selector = HSICRanking(bandwidth=1.0, n_jobs=N_JOBS)
    return Case(
        "all single-feature scores, n = 1000, m = 100",
        lambda: selector.fit(X, y).scores_.copy(),
        {"numpy": lambda: single_scores(X, M, 0.5)},
        lambda a, b: f"differ by {np.abs(a - b).max() / np.abs(b).max():.0e}",
    )


def backward_case() -> Case:
    from featsieve import BAHSIC

    X, y, M = classes(1000, 200)
    selector = BAHSIC(n_features_to_select=1, n_jobs=N_JOBS)
    return Case(
        "full BAHSIC ranking, n = 1000, m = 200, 10 % per round",
        lambda: selector.fit(X, y).result_.order[::-1].tolist(),
        {"numpy": lambda: backward_ranking(X, M)},
        lambda a, b: "same order" if a == b else f"{sum(map(int.__eq__, a, b))} places equal",
    )


def run_lasso(python: str, repeats: int) -> Comparison:
    from featsieve import HSICLasso

    selector = HSICLasso(n_features_to_select=10, n_jobs=N_JOBS)
    name = "HSICLasso, 500 × 500, 10 features"
    return against_pyhsiclasso(name, selector, python=python, repeats=repeats, n_jobs=N_JOBS)


def first_fits(method: str) -> str:
    """What the first fit of a process costs beyond a warm one, with an empty and a filled cache."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "first_fit.py"
        script.write_text(FIRST_FIT)
        extra = []
        for _ in range(2):
            run = run_command(
                [sys.executable, str(script), method], env={"NUMBA_CACHE_DIR": f"{folder}/cache"}
            )
            wall, cpu, warm_wall, warm_cpu = map(float, run.output.split())
            extra.append(f"{cpu - warm_cpu:.2f} s ({wall - warm_wall:.2f} s)")
    return f"| {method} | {extra[0]} | {extra[1]} |"


def large_ranking() -> str:
    run = run_command([sys.executable, "-c", LARGE_RANKING])
    seconds, best, approximation = run.output.split()
    return (
        f"HSICRanking of 20,000 × 50 (exact: approximation is {approximation}; median widths, best "
        f"column {best}): {float(seconds):.1f} s, peak memory {run.peak_bytes / 2**20:.0f} MiB."
    )


def report(comparisons: list[Comparison]) -> None:
    speed_ups = "\n".join(
        f"- {c.case}: **{1 / c.ratio(p):.1f} times** {p.name}" for c in comparisons for p in c.peers
    )
    fits = "\n".join(
        [
            "| first fit beyond a warm one: CPU (wall) | empty cache | filled cache |",
            "|---|---|---|",
        ]
        + [first_fits(name) for name in ("BAHSIC", "HSICRanking", "HSICLasso")]
    )
    write_report(
        "hsic_speed",
        "HSIC: speed against plain numpy and pyHSICLasso",
        f"Both sides may use {N_JOBS} threads.",
        comparison_table(comparisons),
        speed_ups,
        fits,
        large_ranking(),
        packages=("numba", "scipy", "scikit-learn"),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", help="a Python that has pyHSICLasso")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    cases: list[Callable[[], Case]] = [single_case, backward_case]
    comparisons = [
        compare(case(), repeats=arguments.repeats, warm_up=int(case is single_case))
        for case in cases
    ]
    if arguments.peer:
        comparisons.append(run_lasso(arguments.peer, arguments.repeats))
    report(comparisons)


if __name__ == "__main__":
    main()
