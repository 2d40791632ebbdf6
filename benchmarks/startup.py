"""How long ``import featsieve`` and ``featsieve --help`` take, each in a fresh process."""

from __future__ import annotations

import argparse
import sys
from functools import partial

from benchmarks.frame import Case, compare, run_command, write_report

BARE = [sys.executable, "-c", "pass"]
PURPOSES = {
    "`import featsieve`": ([sys.executable, "-c", "import featsieve"], 0.3),
    "`featsieve --help`": ([sys.executable, "-m", "featsieve.cli", "--help"], 0.4),
}


def run(argv: list[str]) -> float:
    return run_command(argv).seconds


def table(repeats: int) -> str:
    lines = [
        "| what | median (best) | allowed | a bare Python, median (best) | ours ÷ bare |",
        "|---|---|---|---|---|",
    ]
    for what, (argv, allowed) in PURPOSES.items():
        case = Case(what, partial(run, argv), {"python -c pass": partial(run, BARE)})
        comparison = compare(case, repeats=repeats)
        bare = comparison.peers[0]
        ratio = comparison.ratio(bare)
        lines.append(
            f"| {what} | {comparison.ours.in_words} | {allowed} s | {bare.in_words} | {ratio:.2f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    path = write_report("startup", "Start-up times", table(arguments.repeats))
    print(path.read_text())


if __name__ == "__main__":
    main()
