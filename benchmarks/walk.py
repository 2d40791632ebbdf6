"""How many of our files does one fit pass through?

For each method, counts the distinct source files of featsieve with a call event in the second fit
of a process (all threads, by ``sys.setprofile``), and the changes of package: our functions are put
in the order of their first call, and a change is a function whose package is not that of the one
before it. A module that stands loose at the top is a package of its own. Compiled functions count
where numba reports their calls.

    python -m benchmarks.walk [METHOD ...] [--verbose] [--before FOLDER]

With another checkout as FOLDER, both are counted and the table goes to ``results/walk.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import warnings
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import featsieve
from featsieve.datasets import make_and_or

ROOT = Path(featsieve.__file__).parent
REPOSITORY = Path(__file__).resolve().parents[1]
METHODS: dict[str, dict[str, Any]] = {
    "PearsonRanking": {},
    "MRMR": {},
    "BAHSIC": {},
    "L1LSMI": {"random_state": 0, "n_init": 2},
    "GlobalCMI": {"random_state": 0},
}


@dataclass
class Walk:
    """Collects the call events of our own functions."""

    functions: dict[tuple[str, str], None] = field(default_factory=dict)  # by first call

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and is_ours(frame):
            self.functions.setdefault((file_of(frame), frame.f_code.co_name))

    @property
    def files(self) -> set[str]:
        return {file for file, _ in self.functions}

    @property
    def n_changes(self) -> int:
        packages = [package_of(file) for file, _ in self.functions]
        return sum(a != b for a, b in pairwise(packages))


def is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(str(ROOT))


def file_of(frame: FrameType) -> str:
    return Path(frame.f_code.co_filename).relative_to(ROOT).as_posix()


def package_of(file: str) -> str:
    folder = file.rpartition("/")[0]
    return folder or file


def walk(method: str, **parameters: Any) -> Walk:
    """The second fit of a method; the first one imports and compiles."""
    data = make_and_or(200, random_state=0)
    selector = getattr(featsieve, method)(n_features_to_select=3, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(data.data, data.target)
        seen = Walk()
        threading.setprofile(seen)
        sys.setprofile(seen)
        try:
            selector.fit(data.data, data.target)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return seen


def counts_of(tree: Path) -> dict[str, tuple[int, int]]:
    """Files and changes of package for each method, on another checkout."""
    code = (
        "import json; from benchmarks.walk import METHODS, walk;"
        "seen = {m: walk(m, **METHODS[m]) for m in METHODS};"
        "print(json.dumps({m: (len(w.files), w.n_changes) for m, w in seen.items()}))"
    )
    environment = {**os.environ, "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{REPOSITORY}"}
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    counts: dict[str, tuple[int, int]] = json.loads(done.stdout)
    return counts


def report(before_tree: Path) -> None:
    from benchmarks.frame import write_report

    before, after = counts_of(before_tree), counts_of(REPOSITORY)
    lines = [
        "| second fit | files before | files after | changes of package before | after |",
        "|---|---|---|---|---|",
    ]
    for method in METHODS:
        (files, changes), (files_now, changes_now) = before[method], after[method]
        lines.append(f"| {method} | {files} | {files_now} | {changes} | {changes_now} |")
    note = (
        "A change of package: our functions in the order of their first call, where the package "
        "of one differs from that of the one before it; a loose module is a package of its own."
    )
    print(write_report("walk", "The walk through one fit", "\n".join(lines), note).read_text())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="*", metavar="METHOD", default=list(METHODS))
    parser.add_argument("--verbose", action="store_true", help="name the files")
    parser.add_argument("--before", type=Path, metavar="FOLDER", help="another checkout")
    arguments = parser.parse_args()
    if arguments.before:
        report(arguments.before)
        return
    for method in arguments.methods:
        seen = walk(method, **METHODS.get(method, {}))
        print(f"{method}: {len(seen.files)} files, {seen.n_changes} changes of package")
        if arguments.verbose:
            print("\n".join(f"    {file}" for file in sorted(seen.files)))


if __name__ == "__main__":
    main()
