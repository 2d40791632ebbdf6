"""A reader who follows one fit opens few files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_FILES = {"PearsonRanking": 18, "MRMR": 24, "BAHSIC": 24, "L1LSMI": 28, "GlobalCMI": 32}
# Half of what they were on the commit before the restructuring: 59, 79, 69, 92 and 91.
MOST_CHANGES = {"PearsonRanking": 29, "MRMR": 39, "BAHSIC": 34, "L1LSMI": 46, "GlobalCMI": 45}
COUNT = (
    "import json; from benchmarks.walk import METHODS, walk;"
    "seen = {m: walk(m, **METHODS[m]) for m in METHODS};"
    "print(json.dumps({m: (len(w.files), w.n_changes) for m, w in seen.items()}))"
)


@pytest.fixture(scope="module")
def counts():
    """In a process of its own: a profiler must not meet that of a coverage run."""
    done = subprocess.run(
        [sys.executable, "-c", COUNT],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT / "src"), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("method", MOST_FILES)
def test_one_fit_passes_through_few_files(method, counts):
    assert counts[method][0] <= MOST_FILES[method]


@pytest.mark.parametrize("method", MOST_CHANGES)
def test_one_fit_seldom_changes_the_package(method, counts):
    assert counts[method][1] <= MOST_CHANGES[method]


def test_the_measure_families_stay_in_few_files():
    folders = [
        ROOT / "src/featsieve/measures" / family for family in ("hsic", "information", "lsmi")
    ]
    assert 3 < sum(len(list(folder.glob("*.py"))) for folder in folders) <= 32
