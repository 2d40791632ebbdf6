"""Jitkrittum et al. (2013), Table 4: mean F-measure on and-or, quad and xor."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from featsieve.datasets import make_and_or, make_quad, make_xor
from featsieve.evaluation.benches._and_or import exact_forward_path
from featsieve.evaluation.benches._frame import Bench, Request, Results, by_name, trial_values
from featsieve.evaluation.benches._report import Comparison, Report, markdown_table, mean_and_error
from featsieve.evaluation.benches._toy_rules import nan_rule_forward, nearest_k_lasso
from featsieve.evaluation.cells import Cell
from featsieve.evaluation.fitting import fit_quietly
from featsieve.evaluation.metrics import f_measure
from featsieve.evaluation.surroundings import seconds_in_words
from featsieve.registry import find_method

N_SAMPLES, TRIALS, QUICK_TRIALS, PAPER_TRIALS = 400, 50, 2, 50
MORE_SEEDS = 10  # times as many trials for the row that shows chance
TOYS: dict[str, tuple[Any, int]] = {
    "and-or": (make_and_or, 4),
    "quad": (make_quad, 2),
    "xor": (make_xor, 2),
}

# The comparators as P-LSMI's authors set them: biased HSIC, median width, one column per round.
_HSIC = {"estimator": "biased", "bandwidth": "median"}
COLUMNS: dict[str, tuple[str, dict[str, Any]]] = {
    "PC": ("PearsonRanking", {}),
    "F-HSIC": ("FOHSIC", {**_HSIC, "step": 1}),
    "F-LSMI": ("FLSMI", {}),
    "B-HSIC": ("BAHSIC", {**_HSIC, "step": 1}),
    "B-LSMI": ("BLSMI", {}),
    "l1-HSIC": ("L1HSIC", {}),
    "l1-LSMI": ("L1LSMI", {}),
    "mRMR": ("MRMR", {"discretizer": "sigma", "target_discretizer": "sigma"}),
    "QPFS": ("QPFS", {}),
    "Lasso": ("LassoSelector", {}),
    "Relief": ("ReliefF", {"n_neighbors": 10}),
}
# Mean and standard deviation over 50 trials: and-or, quad, xor.
PAPER: dict[str, tuple[tuple[float, float], ...]] = {
    "PC": ((0.25, 0.0), (0.57, 0.20), (0.25, 0.31)),
    "F-HSIC": ((0.25, 0.0), (0.95, 0.15), (0.52, 0.50)),
    "F-LSMI": ((0.57, 0.22), (1.0, 0.0), (0.53, 0.50)),
    "B-HSIC": ((0.25, 0.0), (0.95, 0.15), (1.0, 0.0)),
    "B-LSMI": ((0.85, 0.22), (1.0, 0.0), (1.0, 0.0)),
    "l1-HSIC": ((0.25, 0.0), (0.64, 0.23), (1.0, 0.0)),
    "l1-LSMI": ((1.0, 0.0), (1.0, 0.0), (1.0, 0.0)),
    "mRMR": ((0.25, 0.0), (1.0, 0.0), (0.28, 0.31)),
    "QPFS": ((0.41, 0.17), (0.64, 0.23), (0.25, 0.32)),
    "Lasso": ((0.21, 0.09), (0.66, 0.25), (0.26, 0.32)),
    "Relief": ((0.55, 0.15), (1.0, 0.0), (1.0, 0.0)),
}
# Rows that explain: the authors' own rule, or many more seeds. (column, toy) → what is run.
NEAREST_K, NAN_RULE, CHANCE = "Lasso, nearest k", "F-HSIC, NaN rule", "mRMR, more seeds"
EXTRAS: dict[str, tuple[str, tuple[str, ...]]] = {
    NEAREST_K: ("Lasso", tuple(TOYS)),
    NAN_RULE: ("F-HSIC", ("xor",)),
    CHANCE: ("mRMR", ("xor",)),
}
LEGEND = f"""The rows after the paper's eleven explain differences: `{NEAREST_K}` takes the point of
a path of 100 penalties nearest to k columns, as the authors did (our Lasso always has k);
`{NAN_RULE}` gives a binary column whose median distance is 0 no value, as the authors' program
does; `{CHANCE}` is the mRMR row with {MORE_SEEDS} times as many seeds."""


def trial_score(column: str, toy: str, seed: int) -> dict[str, float]:
    """F-measure and seconds of one fit on freshly drawn rows."""
    make, k = TOYS[toy]
    data = make(N_SAMPLES, random_state=seed)
    start = time.perf_counter()
    chosen = _choose(column, data.data, data.target, k, seed)
    seconds = time.perf_counter() - start
    return {"f": float(f_measure(chosen, data.relevant)), "seconds": seconds}


def _choose(column: str, X: Any, y: Any, k: int, seed: int) -> list[int]:
    if column == NEAREST_K:
        return nearest_k_lasso(X, y, k)
    if column == NAN_RULE:
        return nan_rule_forward(X, y, k)
    name, params = COLUMNS[EXTRAS[column][0] if column in EXTRAS else column]
    selector = find_method(name).load()(n_features_to_select=k, n_jobs=-1, **params)
    if "random_state" in selector.get_params():
        selector.set_params(random_state=seed)
    return list(fit_quietly(selector, X, y).indices_.tolist())


def chosen_columns(methods: Sequence[str] | None) -> list[str]:
    return by_name(methods, {column: name for column, (name, _) in COLUMNS.items()}, "Table 4")


def _seeds(column: str, trials: int) -> range:
    return range(trials, (1 + MORE_SEEDS) * trials) if column == CHANCE else range(trials)


def _rows(request: Request) -> list[tuple[str, str]]:
    columns = chosen_columns(request.methods)
    extras = [(name, toys) for name, (column, toys) in EXTRAS.items() if column in columns]
    return [(column, toy) for column in columns for toy in TOYS] + [
        (name, toy) for name, toys in extras for toy in toys
    ]


def cells(request: Request) -> list[Cell]:
    trials = request.repeats(TRIALS, QUICK_TRIALS)
    return [
        Cell((column, toy, str(seed)), partial(trial_score, column, toy, seed))
        for column, toy in _rows(request)
        for seed in _seeds(column, trials)
    ]


def warm_up(request: Request) -> None:
    for column, toy in _rows(request):
        trial_score(column, toy, 10**6)


def report(request: Request, results: Results) -> Report:
    trials = request.repeats(TRIALS, QUICK_TRIALS)
    compared = [_compared(results, column, toy) for column, toy in _rows(request)]
    lines = [_line(results, c) for c in compared]
    head = ["method", "set", "F (deviation)", "paper", "deviation", "its error", "verdict", "a fit"]
    return Report(
        "Jitkrittum et al. (2013), Table 4: F-measure on the toy sets",
        [
            markdown_table(head, lines),
            f"{trials} trials of {N_SAMPLES} rows; the paper has {PAPER_TRIALS}. "
            + LEGEND.replace("\n", " "),
        ],
        comparisons=[c for c in compared if c.row in COLUMNS],
        data={"explaining_rows": [c.as_dict() for c in compared if c.row in EXTRAS]},
        seeds=f"0 … {trials - 1}; {CHANCE}: {trials} … {(1 + MORE_SEEDS) * trials - 1}",
    )


def _compared(results: Results, column: str, toy: str) -> Comparison:
    scores = [answer["f"] for answer in trial_values(results, column, toy)]
    mean, error = mean_and_error(scores)
    paper, deviation = PAPER[EXTRAS[column][0] if column in EXTRAS else column][
        list(TOYS).index(toy)
    ]
    return Comparison(
        column,
        toy,
        mean,
        error,
        len(scores),
        paper,
        deviation / PAPER_TRIALS**0.5,
        larger_is_better=True,
        note=_note(results, column, toy),
    )


def _line(results: Results, c: Comparison) -> list[str]:
    answers = trial_values(results, c.row, c.column)
    spread = float(np.std([answer["f"] for answer in answers])) if answers else np.nan
    return [
        c.row,
        c.column,
        f"{c.ours:.2f} ({spread:.2f})",
        f"{c.paper:.2f} ({c.paper_error * PAPER_TRIALS**0.5:.2f})",
        f"{c.deviation:+.2f}",
        f"{np.hypot(c.error, c.paper_error):.3f}",
        "**below**" if c.verdict == "below" else c.verdict,
        seconds_in_words(median(answer["seconds"] for answer in answers)) if answers else "",
    ]


def _note(results: Results, column: str, toy: str) -> str:
    """What is known, by calculation or measurement, of cells that can come out below."""
    if column == "F-LSMI":
        return forward_note(toy)
    if (column, toy) == ("F-HSIC", "xor"):
        scores = [answer["f"] for answer in trial_values(results, NAN_RULE, "xor")]
        return (
            "No column of xor says anything alone, so the first pick is chance. The authors' "
            "program gives unbalanced columns no value and so prefers balanced ones, among which "
            f"both true ones are: with that rule F = {mean_and_error(scores)[0]:.2f} here."
        )
    if toy == "xor" and column in ("PC", "mRMR", "QPFS", "Lasso", CHANCE):
        scores = [answer["f"] for answer in trial_values(results, CHANCE, "xor")]
        if not scores:
            return "Chance: two of ten columns at random give F = 0.20."
        mean, error = mean_and_error(scores)
        return (
            "Chance: no column of xor says anything alone, and two of ten at random give F = 0.20; "
            f"mRMR on {len(scores)} other seeds has {mean:.3f} ± {error:.3f}."
        )
    return ""


def forward_note(toy: str) -> str:
    """Why F-LSMI cannot be expected to reach the paper's figures: by exact SMI, not by chance."""
    if toy == "and-or":
        path = exact_forward_path(4)
        return (
            "With the exact SMI of the population, forward selection takes columns "
            f"{', '.join(str(column + 1) for column in path)} (the three noisy copies of the "
            f"target come first), F = {f_measure(path, range(4)):.2f}: the paper's figure is above "
            "a perfect estimate's."
        )
    first_true, second_true = 2 / 10, 2 / 9
    chance = first_true + (1 - first_true) * second_true / 2
    return (
        "No column of xor says anything alone, so the first pick is a draw: the true pair when it "
        f"hits, else at most one true column by chance, F = {chance:.2f} on average."
    )


BENCH = Bench("p-lsmi-table4", cells, report, warm_up=warm_up)
