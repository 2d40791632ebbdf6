"""Venkateswara et al. (2015), Table I: the exponent of each solver's time in n."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from featsieve.evaluation.benches._frame import Bench, Request, Results, trial_values
from featsieve.evaluation.benches._quadratic import (
    chosen_methods,
    random_problem,
    run_method,
    warm_up_for,
)
from featsieve.evaluation.benches._report import Claim, Figure, Report, markdown_table
from featsieve.evaluation.cells import Cell
from featsieve.evaluation.surroundings import seconds_in_words

SIZES, QUICK_SIZES = (250, 500, 1000, 2000), (100, 200, 400)
TRIALS, QUICK_TRIALS = 3, 2
N_SELECTED = 20
N_SAMPLES = 20_000  # LowRank's time is proportional to this number, whatever n
EXACT_RANK_2 = "LowRank, d = 2, exact"
PAPER: dict[str, tuple[str, float]] = {
    "Linear": ("O(nk)", 1.0),
    "Spectral": ("O(n²)", 2.0),
    "SDP": ("O(n^4.5)", 4.5),
    "SDP, plain": ("O(n^4.5)", 4.5),
    "LowRank": ("O(n^(d+1)), d = 3", 4.0),
    "TPower": ("O(tn²)", 2.0),
    "TPower, paper's binary": ("O(tn²)", 2.0),
}
NOTE = (
    f"k = {N_SELECTED}. Compilation is not counted. LowRank, d = 3, is run with {N_SAMPLES:,} "
    "random directions instead of the 926,519 that ε = δ = 0.1 ask for: its time is proportional "
    "to their number. Small times hold fixed costs, which flatten the slope. Linear passes over "
    "the whole matrix once for its row sums, which is n² by itself."
)


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Slope of log time over log n.

    >>> round(exponent([10, 100, 1000], [1.0, 100.0, 10000.0]), 6)
    2.0
    """
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _cases(request: Request) -> dict[str, tuple[str, dict[str, Any]]]:
    """Label → method and its changes."""
    names = chosen_methods(request.methods)
    cases: dict[str, tuple[str, dict[str, Any]]] = {name: (name, {}) for name in names}
    if "LowRank" in names:
        cases["LowRank"] = ("LowRank", {"n_samples": N_SAMPLES})
        cases[EXACT_RANK_2] = ("LowRank", {"rank": 2})
    return cases


def _sizes(request: Request) -> tuple[int, ...]:
    return QUICK_SIZES if request.quick else SIZES


def _trial(n: int, method: str, changes: dict[str, Any], seed: int) -> float:
    return run_method(random_problem(n, N_SELECTED, seed), method, seed, **changes)[0]


def cells(request: Request) -> list[Cell]:
    return [
        Cell((label, str(n), str(seed)), partial(_trial, n, method, changes, seed))
        for label, (method, changes) in _cases(request).items()
        for n in _sizes(request)
        for seed in range(request.repeats(TRIALS, QUICK_TRIALS))
    ]


def report(request: Request, results: Results) -> Report:
    sizes = _sizes(request)
    rows, claims, panel = [], [], {}
    for label in _cases(request):
        seconds = [median(trial_values(results, label, str(n)) or [np.nan]) for n in sizes]
        slope = exponent(sizes, seconds)
        order, paper = PAPER.get(label, ("", np.nan))
        shown = [seconds_in_words(s) for s in seconds]
        deviation = f"{slope - paper:+.2f}" if order else ""
        rows.append([label, *shown, f"**{slope:.2f}**", order, deviation])
        panel[label] = {"x": list(sizes), "y": seconds}
        if order:
            claims.append(Claim(f"{label} is {order}", slope <= paper + 0.1, f"n^{slope:.2f}"))
    trials = request.repeats(TRIALS, QUICK_TRIALS)
    head = ["method", *(f"n = {n}" for n in sizes), "measured exponent", "paper", "deviation"]
    return Report(
        "Venkateswara et al. (2015), Table I: how time grows with n",
        [
            markdown_table(head, rows),
            f"Median of {trials} random symmetric non-negative matrices. {NOTE}",
        ],
        claims=claims,
        figures=[Figure("times", {"seconds": panel}, xlabel="n", ylabel="seconds", log=True)],
        seeds=f"0 … {trials - 1}",
    )


BENCH = Bench("p-cmi-table1", cells, report, warm_up=warm_up_for)
