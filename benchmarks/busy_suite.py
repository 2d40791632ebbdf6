"""The whole suite three times in a row while a busy loop occupies every core.

``python -m benchmarks.busy_suite [--rounds 3]`` writes ``results/busy-suite.md``: a test that
depends on the speed of the machine fails here.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time

from benchmarks.frame import write_report


def one_round() -> tuple[int, str, float]:
    start = time.perf_counter()
    words = [sys.executable, "-m", "pytest", "-q", "-n", "2"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.strip().splitlines()[-1], time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    loop = [sys.executable, "-c", "while True: pass"]
    loops = [subprocess.Popen(loop) for _ in range(os.cpu_count() or 1)]
    try:
        rounds = [one_round() for _ in range(given.rounds)]
    finally:
        for process in loops:
            process.kill()
            process.wait()
    rows = [f"| {code} | {words} | {seconds:.0f} s |" for code, words, seconds in rounds]
    path = write_report(
        "busy-suite",
        "The suite on a busy machine",
        f"{len(loops)} busy loops beside it, {sum(code == 0 for code, *_ in rounds)} of "
        f"{len(rounds)} rounds passed.",
        "\n".join(["| exit code | pytest | time |", "|---|---|---|", *rows]),
        packages=("pytest", "numpy", "scikit-learn"),
    )
    print(path)
    sys.exit(any(code for code, *_ in rounds))


if __name__ == "__main__":
    main()
