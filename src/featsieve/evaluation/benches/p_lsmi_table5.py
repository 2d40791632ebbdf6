"""Jitkrittum et al. (2013), Table 5: LSMI of all sets of four of X1 … X4, X8 … X10 on and-or."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations
from statistics import fmean

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.datasets import make_and_or
from featsieve.evaluation.benches._and_or import CANDIDATES, exact_smi
from featsieve.evaluation.benches._frame import Bench, Request, Results
from featsieve.evaluation.benches._report import (
    Claim,
    Comparison,
    Report,
    comparison_table,
    mean_and_error,
)
from featsieve.evaluation.cells import Cell
from featsieve.methods.feature_selector import FeatureSelector
from featsieve.searches.exhaustive import Exhaustive

N_SAMPLES, TRIALS, QUICK_TRIALS = 400, 20, 2
TRUE_SET = (0, 1, 2, 3)
Subset = tuple[int, ...]
# As printed; {1, 4, 8, 10} is missing there. One draw of the data, so no error is known.
PAPER = """1234 .496 14910 .341 1238 .365 2348 .367 1239 .381 2349 .382 12310 .357 23410 .390
1248 .376 2389 .341 1249 .384 23810 .312 12410 .372 23910 .322 1289 .346 2489 .340 12810 .330
24810 .328 12910 .336 24910 .328 1348 .382 3489 .356 1349 .376 34810 .349 13410 .392 34910 .353
1389 .325 18910 .330 13810 .330 28910 .334 13910 .333 38910 .303 1489 .342 48910 .335"""


def paper_values() -> dict[Subset, float]:
    """
    >>> paper_values()[0, 1, 2, 3], len(paper_values())
    (0.496, 34)
    """
    words = PAPER.split()
    spelled = {"".join(str(c + 1) for c in s): s for s in combinations(CANDIDATES, 4)}
    pairs = zip(words[::2], words[1::2], strict=True)
    return {spelled[name]: float(value) for name, value in pairs}


def all_values(seed: int) -> dict[Subset, float]:
    """LSMI of every set, numbered as in the whole table."""
    from featsieve.measures import LSMI

    data = make_and_or(N_SAMPLES, random_state=seed)
    n_sets = len(list(combinations(CANDIDATES, 4)))
    selector = FeatureSelector(
        LSMI(random_state=seed), Exhaustive(keep=n_sets), n_features_to_select=4
    )
    selector.fit(_columns(data.data), data.target)
    path = selector.result_.path
    return {tuple(CANDIDATES[c] for c in subset): value for value, subset in path}


def _columns(X: FloatArray) -> FloatArray:
    return np.asarray(X)[:, list(CANDIDATES)]


def _trial(seed: int) -> list[list[object]]:
    return [[list(subset), value] for subset, value in all_values(seed).items()]


def cells(request: Request) -> list[Cell]:
    repeats = request.repeats(TRIALS, QUICK_TRIALS)
    return [Cell((str(seed),), partial(_trial, seed)) for seed in range(repeats)]


def report(request: Request, results: Results) -> Report:
    tables = [{tuple(subset): value for subset, value in answer} for answer in results.values()]
    compared = _compared(tables)
    return Report(
        "Jitkrittum et al. (2013), Table 5: LSMI of all 35 sets of four on and-or",
        [
            comparison_table(compared, 3, names=("columns", "exact SMI")),
            "The paper prints one draw of the data and 34 of the 35 sets: the error of its figures "
            "is the deviation of a single draw, as measured here over the seeds.",
        ],
        comparisons=compared,
        claims=[_claim(tables)],
        seeds=f"0 … {len(tables) - 1}",
    )


def _compared(tables: Sequence[Mapping[Subset, float]]) -> list[Comparison]:
    """One row per set, the largest mean first."""
    paper, rows = paper_values(), []
    for subset in sorted(tables[0], key=lambda s: -fmean(table[s] for table in tables)):
        mean, error = mean_and_error([table[subset] for table in tables])
        rows.append(
            Comparison(
                " ".join(str(column + 1) for column in subset),
                f"{exact_smi(subset):.3f}",
                mean,
                error,
                len(tables),
                paper.get(subset),
                error * len(tables) ** 0.5,
                precision=0.0005,
                larger_is_better=True,
            )
        )
    return rows


def _claim(tables: Sequence[Mapping[Subset, float]]) -> Claim:
    wins = sum(max(table, key=lambda s: table[s]) == TRUE_SET for table in tables)
    true = fmean(table[TRUE_SET] for table in tables)
    second = fmean(max(v for s, v in table.items() if s != TRUE_SET) for table in tables)
    return Claim(
        "{1, 2, 3, 4} has the largest LSMI (0.496, the next 0.392)",
        wins == len(tables),
        f"first for {wins} of {len(tables)} seeds, {true:.3f} against {second:.3f} on average",
    )


BENCH = Bench("p-lsmi-table5", cells, report, options=("trials",))
