"""Venkateswara et al. (2015), Tables II to IV: errors of TPower and LowRank against the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.evaluation.benches._cmi_errors import (
    FOLDS,
    LOWRANK_SAMPLES,
    MOST_ROWS,
    OURS,
    DataSet,
    chosen_methods,
    error_table,
    read_sets,
)
from featsieve.evaluation.benches._report import finish, markdown_table

LEVEL = 0.05
_LEGEND = (
    "Difference of the mean errors in percent over all k (negative: fewer errors than the other), "
    "and the decision of most k by one-sided paired t-tests over the folds at "
    f"{LEVEL:.0%}: w win, t tie, l loss. Selection sees all rows, as in the paper; at most "
    f"{MOST_ROWS} rows a set; QPFS with information; LowRank with {LOWRANK_SAMPLES} samples."
)
Errors = Mapping[str, Mapping[int, FloatArray]]
# W/T/L as the paper's last rows print them.
PAPER = {
    "TPower": "MaxRel 10/1/2, MRMR 5/1/7, JMI 6/1/6, QPFS 7/2/4, Spectral 10/2/1, SDP 7/1/1, "
    "LowRank 3/2/8",
    "LowRank": "MaxRel 9/0/4, MRMR 6/1/6, JMI 6/2/5, QPFS 8/2/3, Spectral 5/4/4, SDP 3/2/4, "
    "TPower 8/2/3",
}


def run(
    data_dir: Path | None,
    *,
    trials: int | None = None,
    methods: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    quick: bool = False,
    out: Path | None = None,
) -> str:
    """``trials`` is the number of folds."""
    names = chosen_methods(methods)
    folds = trials or (3 if quick else FOLDS)
    sets = read_sets(data_dir, quick, datasets)
    tables = {data.name: error_table(data, names, folds) for data in sets}
    heroes = [name for name in ("TPower", "LowRank", OURS) if name in names]
    return finish(
        "Venkateswara et al. (2015), Tables II to IV: errors of a linear SVM on the columns",
        "## Table II\n" + _table_two(sets, tables),
        *(f"## {hero} against the others\n{_against(hero, names, tables)}" for hero in heroes),
        _LEGEND,
        *(f"The paper's W/T/L for {hero}: {PAPER[hero]}." for hero in heroes if hero in PAPER),
        out=out,
        packages=["scipy", "scikit-learn"],
    )


def _table_two(sets: Sequence[DataSet], tables: Mapping[str, Errors]) -> str:
    rows = [
        [data.name, str(data.shape[1]), str(data.shape[0]), str(int(data.y.max()) + 1),
         f"{_least_error(tables[data.name]):.1f}"]
        for data in sets
    ]  # fmt: skip
    return markdown_table(["data", "columns", "rows", "classes", "least error, %"], rows)


def _least_error(errors: Errors) -> float:
    return min(float(fold.mean()) for by_k in errors.values() for fold in by_k.values())


def _against(hero: str, names: Sequence[str], tables: Mapping[str, Errors]) -> str:
    rivals = [name for name in names if name != hero]
    rows, decisions = [], {rival: Counter[str]() for rival in rivals}
    for data, errors in tables.items():
        cells = []
        for rival in rivals:
            if rival not in errors or hero not in errors:
                cells.append("N/A")
                continue
            word = decision(errors[hero], errors[rival])
            decisions[rival][word] += 1
            cells.append(f"{_difference(errors[hero], errors[rival])} {word}")
        rows.append([data, *cells])
    totals = ["/".join(str(decisions[rival][w]) for w in "wtl") for rival in rivals]
    return markdown_table(["data", *rivals], [*rows, ["W/T/L", *totals]])


def _difference(ours: Mapping[int, FloatArray], theirs: Mapping[int, FloatArray]) -> str:
    gaps = np.array([ours[k].mean() - theirs[k].mean() for k in ours])
    return f"{gaps.mean():+.2f} ± {gaps.std():.1f}"


def decision(ours: Mapping[int, FloatArray], theirs: Mapping[int, FloatArray]) -> str:
    """The decision of most k; between equally many, the more cautious one (tie first)."""
    counts = Counter(_one_decision(ours[k], theirs[k]) for k in ours)
    return max("twl", key=lambda word: counts[word])


def _one_decision(ours: FloatArray, theirs: FloatArray) -> str:
    from scipy.stats import ttest_rel

    gaps = ours - theirs
    if np.ptp(gaps) == 0:
        return "t" if gaps[0] == 0 else ("w" if gaps[0] < 0 else "l")
    if ttest_rel(ours, theirs, alternative="less").pvalue < LEVEL:
        return "w"
    return "l" if ttest_rel(ours, theirs, alternative="greater").pvalue < LEVEL else "t"
