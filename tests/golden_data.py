"""Reading the figures of tests/golden."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "golden"


def golden(name: str):
    return json.loads((FOLDER / f"{name}.json").read_text())


def toy(name: str) -> tuple[np.ndarray, np.ndarray]:
    """X and y of the P-LSMI authors' own toy data."""
    table = np.loadtxt(FOLDER / f"{name}.csv", delimiter=",")
    return table[:, :-1], table[:, -1]
