"""What the first fit of a process costs beyond a warm one, for every registered method.

Each method is fitted in new processes: with an empty cache of compiled code, then with the cache
that this process has filled. Python's own byte code is there, as pip leaves it. With a journal,
methods that stand in it are not measured again, so that the whole table can be taken in short
pieces on a machine that is quiet only now and then.

    python -m benchmarks.first_fits [METHOD ...] [--rows N] [--columns N] [--journal FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.frame import write_byte_code, write_report
from featsieve.registry import METHODS

ALLOWED_EMPTY, ALLOWED_FILLED = 5.0, 0.5
CHILD = """
import inspect, sys, time, warnings
import numpy as np
import featsieve
warnings.simplefilter("ignore")
name, n, d = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = np.random.default_rng(0)
X = rng.normal(size=(n, d))
y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
cls = getattr(featsieve, name)
from sklearn.linear_model import LogisticRegression
inner = {"estimator": LogisticRegression(), "selector": featsieve.PearsonRanking()}
inner["measure"] = inner["selector"]
parameters = inspect.signature(cls).parameters
open_roles = [role for role in inner if role in parameters
              and parameters[role].default in (None, inspect.Parameter.empty)]
given = {role: inner[role] for role in open_roles}
if "selector" in given:
    given.pop("measure", None)
if "n_features_to_select" in cls(**given).get_params():
    given["n_features_to_select"] = 3
if "random_state" in cls(**given).get_params():
    given["random_state"] = 0
seconds = []
for _ in range(3):
    start = time.perf_counter()
    cls(**given).fit(X, y)
    seconds.append(time.perf_counter() - start)
print(seconds[0], min(seconds[1:]))
"""


def beyond_warm(name: str, cache: str, rows: int, columns: int) -> tuple[float, float]:
    """Seconds of the first fit beyond a warm one, and of the warm one."""
    words = [sys.executable, "-c", CHILD, name, str(rows), str(columns)]
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    first, warm = map(float, done.stdout.split())
    return first - warm, warm


def measured(name: str, rows: int, columns: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as cache:
        empty, warm = beyond_warm(name, cache, rows, columns)
        filled, _ = beyond_warm(name, cache, rows, columns)
    return {"empty": empty, "filled": filled, "warm": warm}


def line(name: str, figures: dict[str, float]) -> str:
    cells = [
        f"{figures[kind]:.2f} s" + (" (!)" if figures[kind] > most else "")
        for kind, most in (("empty", ALLOWED_EMPTY), ("filled", ALLOWED_FILLED))
    ]
    return f"| {name} | {' | '.join(cells)} | {figures['warm']:.3f} s |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="*", metavar="METHOD")
    parser.add_argument("--rows", type=int, default=120)
    parser.add_argument("--columns", type=int, default=8)
    parser.add_argument("--journal", type=Path)
    arguments = parser.parse_args()
    names = arguments.methods or [m.name for m in METHODS if m.name != "FeatureSelector"]
    known: dict[str, dict[str, float]] = {}
    if arguments.journal and arguments.journal.exists():
        known = json.loads(arguments.journal.read_text())
    write_byte_code()
    lines = [
        f"| method, {arguments.rows} × {arguments.columns} "
        f"| empty cache (allowed: {ALLOWED_EMPTY} s) "
        f"| filled cache (allowed: {ALLOWED_FILLED} s) | a warm fit |",
        "|---|---|---|---|",
    ]
    for name in names:
        if name not in known:
            known[name] = measured(name, arguments.rows, arguments.columns)
            if arguments.journal:
                arguments.journal.write_text(json.dumps(known))
        lines.append(line(name, known[name]))
        print(lines[-1], flush=True)
    note = (
        "Seconds of the first fit of a process less those of a warm fit, after the imports. "
        "AutoSelector compiles what the methods of its race need, one after the other."
    )
    if len(names) > 3:
        write_report("first_fits", "First fits", note, "\n".join(lines), packages=("numba",))


if __name__ == "__main__":
    main()
