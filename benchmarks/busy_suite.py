"""The whole suite three times in a row while a busy loop occupies every core.

``python -m benchmarks.busy_suite [--rounds 3]`` writes ``results/busy-suite.md``: a test that
depends on the speed of the machine fails here. Every round that ended is kept in a file with its
commit, so a run that was ended goes on where it was; ``--rounds 1`` and later ``--rounds 3`` is the
same as three at once, as long as the commit is the same.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.frame import write_report

LAST_LINES = 60


@dataclass(frozen=True)
class Round:
    """How one run of the suite ended."""

    commit: str
    code: int
    words: str
    seconds: float
    end: str  # of what pytest said: the names of failing tests


def commit() -> str:
    """With "+" where files differ from it."""
    words = ["git", "describe", "--always", "--dirty=+", "--abbrev=12"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def one_round() -> Round:
    begun, start = commit(), time.perf_counter()
    words = [sys.executable, "-m", "pytest", "-q", "-n", "2"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines() or [done.stderr.strip() or "pytest said nothing"]
    took = time.perf_counter() - start
    return Round(begun, done.returncode, lines[-1], took, "\n".join(lines[-LAST_LINES:]))


@contextmanager
def busy_loops() -> Iterator[None]:
    loop = [sys.executable, "-c", "while True: pass"]
    loops = [subprocess.Popen(loop) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in loops:
            process.kill()
            process.wait()


def ended(path: Path) -> list[Round]:
    """The rounds of this commit."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [found for line in lines if (found := Round(**json.loads(line))).commit == commit()]


def report(rounds: list[Round]) -> Path:
    rows = [f"| {r.code} | {r.words} | {r.seconds:.0f} s |" for r in rounds]
    return write_report(
        "busy-suite",
        "The suite on a busy machine",
        f"{os.cpu_count()} busy loops beside it, {sum(r.code == 0 for r in rounds)} of "
        f"{len(rounds)} rounds on commit {rounds[0].commit} passed.",
        "\n".join(["| exit code | pytest | time |", "|---|---|---|", *rows]),
        packages=("pytest", "numpy", "scikit-learn"),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "busy.jsonl")
    arguments = parser.parse_args()
    while len(rounds := ended(arguments.out)) < arguments.rounds:
        with busy_loops():
            found = one_round()
        with arguments.out.open("a", encoding="utf-8") as out:
            out.write(json.dumps(asdict(found)) + "\n")
        print(found.end, flush=True)
    print(report(rounds))
    sys.exit(any(r.code for r in rounds))


if __name__ == "__main__":
    main()
