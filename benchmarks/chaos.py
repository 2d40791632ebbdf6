"""Faults of clusters, disks, files and signals: ``python -m benchmarks.chaos [SCENARIO …]``.

Every scenario is bounded in time and uses loopback only. ``results/chaos.md`` has one row per
scenario: the same answer as without the fault, or one clear sentence.
"""

from __future__ import annotations

import argparse
import os
import sys

from benchmarks import chaos_cluster, chaos_files
from benchmarks.chaos_cluster import Verdict
from benchmarks.frame import write_report

SCENARIOS = {s.__name__: s for s in (*chaos_cluster.SCENARIOS, *chaos_files.SCENARIOS)}


def row(verdict: Verdict) -> str:
    good = "yes" if verdict.is_good else "**no**"
    return f"| {verdict.name} | {good} | {verdict.words} | {verdict.seconds:.0f} s |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenarios", nargs="*", help=f"some of {', '.join(SCENARIOS)}")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    verdicts = []
    for name in arguments.scenarios or SCENARIOS:
        verdicts.append(SCENARIOS[name](arguments.seed))
        print(row(verdicts[-1]), flush=True)
    n_good = sum(verdict.is_good for verdict in verdicts)
    if not arguments.scenarios:
        head = ["| fault | as it should be | what happened | time |", "|---|---|---|---|"]
        write_report(
            "chaos",
            "Chaos: faults of clusters, disks, files and signals",
            f"{n_good} of {len(verdicts)} scenarios end as they should (seed {arguments.seed}).",
            "\n".join([*head, *map(row, verdicts)]),
            packages=("dask", "distributed", "numpy", "pyarrow"),
        )
    sys.stdout.flush()
    os._exit(n_good < len(verdicts))  # a hanging scenario is a thread that cannot be joined


if __name__ == "__main__":
    main()
