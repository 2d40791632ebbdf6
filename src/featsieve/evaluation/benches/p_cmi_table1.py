"""Venkateswara et al. (2015), Table I: the exponent of each solver's time in n."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from featsieve.evaluation.benches._quadratic import (
    chosen_methods,
    random_problem,
    run_method,
    warm_up,
)
from featsieve.evaluation.benches._report import finish, markdown_table
from featsieve.evaluation.surroundings import seconds_in_words

SIZES, QUICK_SIZES = (250, 500, 1000, 2000), (100, 200, 400)
TRIALS, QUICK_TRIALS = 3, 2
N_SELECTED = 20
N_SAMPLES = 20_000  # LowRank's time is proportional to this number, whatever n
PAPER = {
    "Linear": "O(nk): 1",
    "Spectral": "O(n²): 2",
    "SDP": "O(n^4.5): 4.5",
    "LowRank": "O(n^(d+1)): 4 for d = 3",
    "TPower": "O(tn²): 2",
    "TPower, paper's binary": "O(tn²): 2",
}


def _typical_seconds(n: int, method: str, trials: int, **changes: Any) -> float:
    problems = [random_problem(n, N_SELECTED, seed) for seed in range(trials)]
    return median(run_method(p, method, seed, **changes)[0] for seed, p in enumerate(problems))


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Slope of log time over log n.

    >>> round(exponent([10, 100, 1000], [1.0, 100.0, 10000.0]), 6)
    2.0
    """
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def run(
    data_dir: Path | None,
    *,
    trials: int | None = None,
    methods: Sequence[str] | None = None,
    quick: bool = False,
    out: Path | None = None,
) -> str:
    """Median seconds over n at fixed k, and the slope (``data_dir`` is not used)."""
    sizes = QUICK_SIZES if quick else SIZES
    repeats = trials or (QUICK_TRIALS if quick else TRIALS)
    names = chosen_methods(methods)
    warm_up(names)
    cases: list[tuple[str, str, dict[str, Any]]] = [(name, name, {}) for name in names]
    if "LowRank" in names:
        cases[names.index("LowRank")] = ("LowRank", "LowRank", {"n_samples": N_SAMPLES})
        cases.append(("LowRank, d = 2, exact", "LowRank", {"rank": 2}))
    rows = []
    for label, method, changes in cases:
        seconds = [_typical_seconds(n, method, repeats, **changes) for n in sizes]
        slope = f"**{exponent(sizes, seconds):.2f}**"
        times = [seconds_in_words(s) for s in seconds]
        rows.append([label, *times, slope, PAPER.get(label, "")])
    return finish(
        "Venkateswara et al. (2015), Table I: how time grows with n",
        markdown_table(
            ["method", *(f"n = {n}" for n in sizes), "measured exponent", "paper"], rows
        ),
        f"k = {N_SELECTED}, median of {repeats} random symmetric non-negative matrices. LowRank, "
        f"d = 3, is run with {N_SAMPLES:,} random directions instead of the 926,519 that "
        "ε = δ = 0.1 ask for: its time is proportional to their number. Small times hold fixed "
        "costs, which flatten the slope.",
        out=out,
        packages=["numpy", "scipy", "numba"],
    )
