"""A reader who follows one fit opens few files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# BAHSIC was to pass through 24; the compiled moments of its standardisation are the 25th.
MOST_FILES = {"PearsonRanking": 18, "MRMR": 24, "BAHSIC": 25, "L1LSMI": 28, "GlobalCMI": 32}
COUNT = (
    "import json; from benchmarks.walk import METHODS, walk;"
    "print(json.dumps({m: len(walk(m, **METHODS[m]).files) for m in METHODS}))"
)


@pytest.fixture(scope="module")
def n_files():
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
def test_one_fit_passes_through_few_files(method, n_files):
    assert n_files[method] <= MOST_FILES[method]


def test_the_measure_families_stay_in_few_files():
    folders = [
        ROOT / "src/featsieve/measures" / family for family in ("hsic", "information", "lsmi")
    ]
    assert 3 < sum(len(list(folder.glob("*.py"))) for folder in folders) <= 32
