"""Every method of the last document and its comparators on 100 × 10,000: time and peak memory.

Each fit runs in a process of its own; a small fit before it loads and compiles.

    python -m benchmarks.wide [METHOD ...] [--rows N] [--columns N]
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.frame import run_command, write_report

NAMES = (
    "LDFS",
    "HSFS",
    "PrincipalFeatures",
    "LaplacianScore",
    "SPEC",
    "FisherScore",
    "ReliefF",
    "L1SVM",
    "SVMRFE",
    "L0SVM",
    "R2W2",
    "FOHSIC",
    "L1HSIC",
    "L1LSMI",
)
CHILD = """
import sys, time, warnings
import numpy as np
import featsieve
warnings.simplefilter("ignore")
name, n, d = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = np.random.default_rng(0)
X = rng.normal(size=(n, d))
y = (X[:, 0] + X[:, 1] - X[:, 2] + 0.3 * rng.normal(size=n) > 0).astype(int)
cls = getattr(featsieve, name)
cls(n_features_to_select=3).fit(X[:, :20], y)
start = time.perf_counter()
fitted = cls(n_features_to_select=10).fit(X, y)
print(time.perf_counter() - start, fitted.support_.sum())
"""


def line(name: str, rows: int, columns: int) -> str:
    run = run_command([sys.executable, "-c", CHILD, name, str(rows), str(columns)])
    seconds, kept = run.output.split()
    return f"| {name} | {float(seconds):.2f} s | {run.peak_bytes / 2**20:.0f} MiB | {kept} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="*", metavar="METHOD")
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--columns", type=int, default=10_000)
    arguments = parser.parse_args()
    lines = [
        f"| {arguments.rows} × {arguments.columns:,}, 10 columns asked for | fit "
        "| peak memory of the process | columns kept |",
        "|---|---|---|---|",
    ]
    for name in arguments.methods or NAMES:
        lines.append(line(name, arguments.rows, arguments.columns))
        print(lines[-1], flush=True)
    if not arguments.methods:
        write_report("wide", "Wide tables", "\n".join(lines), packages=("numba", "scikit-learn"))


if __name__ == "__main__":
    main()
