"""The counting kernels against their yardsticks, and the selectors against other packages.

``python -m benchmarks.information`` makes its data itself. With ``--peers PYTHON`` an interpreter
that has mrmr_selection and fast-select runs those on the same codes.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.feature_selection import mutual_info_classif

from benchmarks.frame import (
    Case,
    Comparison,
    compare,
    comparison_table,
    run_command,
    write_report,
)
from benchmarks.information_yardsticks import (
    bare_popcount,
    counting_loop,
    make_codes,
    pack_words,
)
from featsieve import MRMR, MaxRel
from featsieve.input.boundary import Settings, open_engine
from featsieve.measures import MutualInformation, cmi_matrix
from featsieve.protocols import PairInformation
from featsieve.searches import Greedy
from featsieve.searches.conditional_minimum import ConditionalMinimum
from featsieve.searches.greedy import Criterion, JointInformation, MinimalRedundancy

CRITERIA: dict[str, Criterion] = {
    "mRMR": MinimalRedundancy(),
    "JMI": JointInformation(),
    "CMIM": ConditionalMinimum(),
}
# What a criterion needs of each selected column: one number for every other column.
NEEDED: dict[str, Callable[[PairInformation], Any]] = {
    "mRMR": lambda pair: pair.mutual,
    "JMI": lambda pair: pair.joint,
    "CMIM": lambda pair: pair.conditional,
}
SELECTED = 50


def matrix_case(n_jobs: int) -> Case:
    """All pairs: at most 2.5 times the bare popcounts, at least 3 times faster than counting."""
    codes, y = make_codes(2000, 500, 5)
    words = pack_words(codes, y, 5)
    return Case(
        f"CMI matrix, 2000 × 500, 5 states, {n_jobs} thread(s)",
        lambda: cmi_matrix(codes, y, n_jobs=n_jobs),
        {
            "bare AND + popcount": lambda: bare_popcount(words, 4, n_jobs),
            "counting loop": lambda: counting_loop(codes, y, n_jobs),
        },
    )


def greedy_cases() -> list[Case]:
    """The search itself against nothing but the pair columns that it needs."""
    codes, y = make_codes(2000, 500, 5)
    engine = open_engine(codes.astype(float), y, Settings(takes_missing=True))
    bound = MutualInformation(discretizer=None).bind(engine)
    return [_greedy_case(name, bound) for name in CRITERIA]


def _greedy_case(name: str, bound: Any) -> Case:
    def search() -> Any:
        for result in Greedy(CRITERIA[name]).steps(bound, SELECTED):  # noqa: B007
            pass
        return result

    needed = search().indices[:-1].tolist()

    def columns() -> None:
        for unit in needed:
            NEEDED[name](bound.information_with(unit))

    return Case(f"{name}, k = {SELECTED}, 2000 × 500", search, {"its pair columns": columns})


def peer_case(n_jobs: int) -> Case:
    """Whole fits on codes; scikit-learn's estimator for discrete columns has the same answer."""
    codes, y = make_codes(2000, 500, 5)
    floats = codes.astype(float)
    return Case(
        f"MaxRel, 2000 × 500 codes, {n_jobs} thread(s)",
        lambda: MaxRel(discretizer=None, n_jobs=n_jobs).fit(floats, y).scores_,
        {
            "mutual_info_classif": lambda: mutual_info_classif(
                codes, y, discrete_features=True, n_jobs=n_jobs
            )
        },
        agree=_largest_difference,
    )


def neighbour_case(n_jobs: int) -> Case:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 50))
    y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)
    return Case(
        f"MaxRel(estimator='ksg'), 2000 × 50, {n_jobs} thread(s)",
        lambda: MaxRel(estimator="ksg", n_jobs=n_jobs).fit(X, y).scores_,
        {"mutual_info_classif": lambda: mutual_info_classif(X, y, random_state=0, n_jobs=n_jobs)},
        agree=_largest_difference,
    )


def _largest_difference(ours: Any, peer: Any) -> str:
    return f"scores differ by {np.abs(np.asarray(ours) - np.asarray(peer)).max():.0e} at most"


MANY_COLUMNS = """
import sys, time
import numpy as np
import featsieve
from featsieve.measures import cmi_matrix
data = np.load(sys.argv[1])
codes, y, what, jobs = data["codes"], data["y"], sys.argv[2], int(sys.argv[3])
if what == "CMI matrix":
    work = lambda c, t: cmi_matrix(c, t, n_jobs=jobs)
else:
    selector = getattr(featsieve, what)(n_features_to_select=50, discretizer=None, n_jobs=jobs)
    work = selector.fit
    codes = codes.astype(float)
work(codes[:200, :60], y[:200])  # compiles
start = time.perf_counter()
work(codes, y)
print(time.perf_counter() - start)
"""


def shapes(n_jobs: int) -> str:
    """Many columns: time a pair, what whole selectors need, and the most memory a child held."""
    lines = ["| data | what | seconds | ns per pair | peak memory |", "|---|---|---|---|---|"]
    for rows, columns, states in ((72, 7070, (3,)), (6000, 5000, (2, 3, 4, 5))):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "codes.npz"
            codes, y = mixed_codes(rows, columns, states)
            np.savez(path, codes=codes, y=y)
            del codes
            data = (
                f"{rows} × {columns}, {'–'.join(str(s) for s in states[:: len(states) - 1 or 1])}"
            )
            for what in ("CMI matrix", "MRMR", "JMI", "CMIM", "GlobalCMI"):
                lines.append(f"| {data} states | {_in_child(path, what, n_jobs, columns)} |")
    return "\n".join(lines)


def mixed_codes(
    rows: int, columns: int, states: Sequence[int]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """As many columns of each number of states, in turns."""
    parts = [make_codes(rows, -(-columns // len(states)), s) for s in states]
    codes = np.stack([part for part, _ in parts], axis=2).reshape(rows, -1)[:, :columns]
    return codes, parts[0][1]


def _in_child(path: Path, what: str, n_jobs: int, columns: int) -> str:
    child = run_command([sys.executable, "-c", MANY_COLUMNS, str(path), what, str(n_jobs)])
    seconds = float(child.output)
    is_matrix = what == "CMI matrix"
    pair = f"{seconds / (columns * (columns - 1) / 2) * 1e9:.0f}" if is_matrix else ""
    shown = what if is_matrix else f"{what}, k = {SELECTED}, whole fit"
    return f"{shown} | {seconds:.2f} | {pair} | {child.peak_bytes / 2**30:.2f} GiB"


def _seconds(work: Any) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


FAMILY = (
    "MaxRel()",
    "MaxRel(estimator='ksg')",
    "NMIRanking()",
    "MRMR()",
    "JMI()",
    "CMIM()",
    "DISR()",
    "ICAP()",
    "CIFE()",
    "MIFS()",
    "CondMI()",
    "QPFS()",
    "QPFS(similarity='mi')",
    "GlobalCMI()",
)
FIRST_FIT = """
import sys, time
import numpy as np, sklearn.feature_selection
import featsieve
selector = eval("featsieve." + sys.argv[1]).set_params(n_features_to_select=5)
X = np.random.default_rng(0).normal(size=(300, 20))
y = (X[:, 0] > 0).astype(int)
times = []
for _ in range(2):
    start = time.perf_counter(), time.process_time()
    selector.fit(X, y)
    times.append((time.perf_counter() - start[0], time.process_time() - start[1]))
print(times[0][0] - times[1][0], times[0][1] - times[1][1])
"""


def first_fits() -> str:
    """Seconds that the first fit of a new process needs above a warm one."""
    lines = [
        "| selector | empty JIT cache: wall, CPU | filled cache: wall, CPU |",
        "|---|---|---|",
    ]
    for name in FAMILY:
        with tempfile.TemporaryDirectory() as cache:
            env = {"NUMBA_CACHE_DIR": cache}
            cells = [run_command([sys.executable, "-c", FIRST_FIT, name], env=env) for _ in "ab"]
        shown = [" s, ".join(f"{float(x):.2f}" for x in c.output.split()) + " s" for c in cells]
        lines.append(f"| {name.removesuffix('()')} | {shown[0]} | {shown[1]} |")
    return "\n".join(lines)


PEERS = """
import json, sys, time
import numpy as np, pandas as pd
data = np.load(sys.argv[1])
X, y = data["codes"], data["y"]
found = {}
def timed(name, work):
    try:
        work()
        start = time.perf_counter(); work(); found[name] = time.perf_counter() - start
    except Exception as error:
        found[name] = f"{type(error).__name__}: {error}"
def mrmr_selection():
    from mrmr import mrmr_classif
    mrmr_classif(pd.DataFrame(X.astype(float)), pd.Series(y), K=50, show_progress=False, n_jobs=2)
def fast_select():
    from fast_select import mRMR
    mRMR(n_features_to_select=50, backend="cpu").fit(X.astype(float), y)
timed("mrmr_selection (F statistic and correlation, no information)", mrmr_selection)
timed("fast-select mRMR", fast_select)
print(json.dumps(found))
"""


def peers(python: str | None) -> str:
    """mRMR, k = 50, of other packages in their own environment, right beside ours."""
    if python is None:
        return "Peers in another environment: not run (no --peers)."
    codes, y = make_codes(2000, 500, 5)
    floats = codes.astype(float)
    selector = MRMR(n_features_to_select=SELECTED, discretizer=None, n_jobs=2).fit(floats, y)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "codes.npz"
        np.savez(path, codes=codes, y=y)
        ours = _seconds(lambda: selector.fit(floats, y))
        timings = json.loads(run_command([python, "-c", PEERS, str(path)]).output.splitlines()[-1])
    lines = ["| mRMR, k = 50, 2000 × 500 codes | seconds | ours ÷ peer |", "|---|---|---|"]
    lines.append(f"| featsieve | {ours:.4f} | |")
    for name, seconds in timings.items():
        known = isinstance(seconds, float)
        ratio = f"**{ours / seconds:.4f}**" if known else ""
        lines.append(f"| {name} | {f'{seconds:.3f}' if known else seconds} | {ratio} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", help="python of an environment with the peers")
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    jobs = min(2, os.cpu_count() or 1)
    comparisons: list[Comparison] = []
    for n_jobs in sorted({1, jobs}):
        cases = [matrix_case(n_jobs), peer_case(n_jobs), neighbour_case(n_jobs)]
        comparisons += [compare(case, repeats=arguments.repeats) for case in cases]
    # At this size a step runs on one thread; CPU time, as milliseconds suffer most from others.
    greedy = [
        compare(case, repeats=4 * arguments.repeats, clock=time.process_time)
        for case in greedy_cases()
    ]
    write_report(
        "information",
        "Counting kernels, greedy criteria and their peers",
        comparison_table(comparisons),
        f"## Greedy criteria, CPU time\n{comparison_table(greedy)}",
        "The limits: CMI matrix at most 2.5 times the bare popcounts (for the (S − 1)² plane pairs "
        "that are needed) and at most a third of the counting loop; mRMR and JMI at most 1.3 times "
        "their pair columns, CMIM no more than that.",
        f"## Many columns, {jobs} thread(s)\n{shapes(jobs)}",
        f"## First fit of a new process, above a warm one\n{first_fits()}",
        "The limits: under 5 s with an empty cache, under 0.5 s with a filled one; 6000 × 5000 "
        "within 4 GiB (the floats that the selectors are given take 0.22 GiB of it).",
        f"## Other packages\n{peers(arguments.peers)}",
        packages=["scikit-learn", "numba", "scipy"],
    )


if __name__ == "__main__":
    main()
