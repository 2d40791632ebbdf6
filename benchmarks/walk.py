"""How many of our files does one fit pass through?

For each method, counts the distinct source files of featsieve with a call event in the second fit
of a process (all threads, by ``sys.setprofile``), and the changes of package: distinct pairs of a
calling and a called function that lie in different packages. Compiled functions count where numba
reports their calls.

    python -m benchmarks.walk [METHOD ...] [--verbose]
"""

from __future__ import annotations

import argparse
import sys
import threading
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import featsieve
from featsieve.datasets import make_and_or

ROOT = Path(featsieve.__file__).parent
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

    files: set[str] = field(default_factory=set)
    changes: set[tuple[str, str, str, str]] = field(default_factory=set)

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or not is_ours(frame):
            return
        self.files.add(file_of(frame))
        caller = frame.f_back
        while caller is not None and not is_ours(caller):
            caller = caller.f_back
        if caller is not None and package_of(caller) != package_of(frame):
            ends = (file_of(caller), caller.f_code.co_name, file_of(frame), frame.f_code.co_name)
            self.changes.add(ends)


def is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(str(ROOT))


def file_of(frame: FrameType) -> str:
    return Path(frame.f_code.co_filename).relative_to(ROOT).as_posix()


def package_of(frame: FrameType) -> str:
    folder, _, name = file_of(frame).partition("/")
    return folder if name else ""


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="*", metavar="METHOD", default=list(METHODS))
    parser.add_argument("--verbose", action="store_true", help="name the files")
    arguments = parser.parse_args()
    for method in arguments.methods:
        seen = walk(method, **METHODS.get(method, {}))
        print(f"{method}: {len(seen.files)} files, {len(seen.changes)} changes of package")
        if arguments.verbose:
            print("\n".join(f"    {file}" for file in sorted(seen.files)))


if __name__ == "__main__":
    main()
