"""ReliefF against fast-select and skrebate, which live in an environment of their own.

The peers run in a child process that stays alive, so that their kernels are warm, and they measure
their fits themselves; ours and theirs take turns.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from typing import Any

import numpy as np

from benchmarks.frame import Comparison, Timing, comparison_table, write_report
from featsieve import ReliefF

PEERS = {"fast-select": "fast_select", "skrebate": "skrebate"}
CHILD = """
import importlib, importlib.metadata, json, sys, time, warnings
import numpy as np
warnings.filterwarnings("ignore")
print(json.dumps({name: importlib.metadata.version(name) for name in sys.argv[1:]}), flush=True)
for line in sys.stdin:
    ask = json.loads(line)
    ReliefF = importlib.import_module(ask["module"]).ReliefF
    data = np.load(ask["data"])
    start = time.perf_counter()
    fitted = ReliefF(
        n_neighbors=10, n_features_to_select=ask["kept"], n_jobs=ask["n_jobs"]
    ).fit(data["X"], data["y"])
    seconds = time.perf_counter() - start
    order = np.argsort(-np.asarray(fitted.feature_importances_))[: ask["kept"]]
    print(json.dumps({"seconds": seconds, "order": order.tolist()}), flush=True)
"""
KEPT = 10


class Peers:
    """A child process of another environment that fits what it is asked to."""

    def __init__(self, python: str, data: str) -> None:
        self._data = data
        self._process = subprocess.Popen(
            [python, "-c", CHILD, *PEERS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.versions: dict[str, str] = json.loads(self._process.stdout.readline())

    def fit(self, name: str, n_jobs: int) -> tuple[float, list[int]]:
        ask = {"module": PEERS[name], "data": self._data, "n_jobs": n_jobs, "kept": KEPT}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(ask) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return answer["seconds"], answer["order"]


def make_table(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    return X, (X[:, :KEPT].sum(axis=1) > 0).astype(int)


def fit_ours(X: Any, y: Any, n_jobs: int) -> tuple[float, list[int]]:
    start = time.perf_counter()
    fitted = ReliefF(n_features_to_select=KEPT, n_jobs=n_jobs).fit(X, y)
    return time.perf_counter() - start, fitted.indices_.tolist()


def compare(X: Any, y: Any, peers: Peers, name: str, n_jobs: int, repeats: int) -> Comparison:
    runs: tuple[list[float], list[float]] = ([], [])
    warm_up = 0 if name == "skrebate" else 1  # it has nothing to compile, and takes minutes
    for turn in range(warm_up + repeats):
        answers = fit_ours(X, y, n_jobs), peers.fit(name, n_jobs)
        if turn >= warm_up:
            runs[0].append(answers[0][0])
            runs[1].append(answers[1][0])
    common = len(set(answers[0][1]) & set(answers[1][1]))
    case = f"{X.shape[0]} × {X.shape[1]}, two classes, {n_jobs} thread(s)"
    return Comparison(
        case,
        Timing("featsieve", tuple(runs[0])),
        (Timing(name, tuple(runs[1])),),
        {name: f"{common} of {KEPT} columns the same"},
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-python", required=True, help="of an environment with the peers")
    parser.add_argument("--data", default="relief-table.npz", help="file to write the table to")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--columns", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    X, y = make_table(arguments.rows, arguments.columns)
    np.savez(arguments.data, X=X, y=y)
    peers = Peers(arguments.peer_python, arguments.data)
    fit_ours(X, y, 1)
    comparisons = [
        compare(X, y, peers, "fast-select", 1, arguments.repeats),
        compare(X, y, peers, "fast-select", 2, arguments.repeats),
        compare(X, y, peers, "skrebate", 1, 1),
    ]
    versions = ", ".join(f"{name} {version}" for name, version in peers.versions.items())
    note = (
        f"{versions}. Whole fits, warm. fast-select works in single precision; ours finds exact "
        "neighbours in double precision and shares ranks among ties."
    )
    path = write_report("relief", "ReliefF", comparison_table(comparisons), note)
    print(path.read_text())


if __name__ == "__main__":
    main()
