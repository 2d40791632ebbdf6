"""The same fits on two trees of the project, in turns: what a change costs or gains.

    python -m benchmarks.before_after --before FOLDER

FOLDER is another checkout. Each tree runs in processes of its own, which take turns; a job's time
is the least of all its runs, after a first one that compiles. Import and first fit are measured in
new processes with a filled cache.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.frame import write_report

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 3
JOBS = r"""
import json, sys, time
started = time.perf_counter()
import numpy as np
import featsieve
from featsieve import BAHSIC, CMIM, FOHSIC, JMI, L1LSMI, MRMR, QPFS, GlobalCMI, HSICLasso
from featsieve import HSICRanking, LassoSelector, LSMIRanking, MaxRel, PearsonRanking
from featsieve.datasets import make_quad
imported = time.perf_counter() - started
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 200)); y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
wide = rng.normal(size=(300, 60)); wide_y = wide[:, 0] ** 2 + wide[:, 1]
quad = make_quad(400, random_state=0); quad = quad.data, quad.target
k = dict(n_features_to_select=10)
jobs = {
    "PearsonRanking 2000 × 200": lambda: PearsonRanking(**k).fit(X, y),
    "MaxRel 2000 × 200": lambda: MaxRel(**k).fit(X, y),
    "MRMR 2000 × 200": lambda: MRMR(**k).fit(X, y),
    "JMI 2000 × 200": lambda: JMI(**k).fit(X, y),
    "CMIM 2000 × 200": lambda: CMIM(**k).fit(X, y),
    "QPFS 2000 × 200": lambda: QPFS(**k).fit(X, y),
    "GlobalCMI 2000 × 200": lambda: GlobalCMI(solver="tpower", **k).fit(X, y),
    "HSICRanking 300 × 60": lambda: HSICRanking(**k).fit(wide, wide_y),
    "BAHSIC 300 × 60": lambda: BAHSIC(**k).fit(wide, wide_y),
    "FOHSIC 300 × 60, step 0.1": lambda: FOHSIC(step=0.1, **k).fit(wide, wide_y),
    "HSICLasso 300 × 60": lambda: HSICLasso(**k).fit(wide, wide_y),
    "LSMIRanking 300 × 60": lambda: LSMIRanking(random_state=0, **k).fit(wide, wide_y),
    "L1LSMI quad": lambda: L1LSMI(n_features_to_select=2, random_state=0).fit(*quad),
    "LassoSelector 300 × 60": lambda: LassoSelector(**k).fit(wide, wide_y),
}
first = time.perf_counter(); jobs["MRMR 2000 × 200"](); first = time.perf_counter() - first
times = {"import": imported, "first MRMR fit, filled cache": first}
for name, job in jobs.items():
    job()
    runs = []
    while len(runs) < 5 and sum(runs) < 3:
        begin = time.perf_counter(); job(); runs.append(time.perf_counter() - begin)
    times[name] = min(runs)
print(json.dumps(times))
"""


def measure(tree: Path) -> dict[str, float]:
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONWARNINGS": "ignore"}
    words = [sys.executable, "-c", JOBS]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    times: dict[str, float] = json.loads(done.stdout)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, required=True)
    before_tree = parser.parse_args().before
    before, after = measure(before_tree), measure(ROOT)  # also fills the caches
    before["import"] = after["import"] = float("inf")
    for _ in range(ROUNDS):
        for tree, best in ((before_tree, before), (ROOT, after)):
            for name, seconds in measure(tree).items():
                best[name] = min(best[name], seconds)
    rows = [
        f"| {name} | {before[name]:.4f} | {after[name]:.4f} | {after[name] / before[name]:.2f} |"
        for name in before
    ]
    head = ["| job | before (s) | after (s) | after ÷ before |", "|---|---|---|---|"]
    print(write_report("before-after", "The same fits before and after", "\n".join(head + rows)))


if __name__ == "__main__":
    main()
