"""The tables of the leaderboard, out of its journal."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from featsieve.evaluation.ranks import RankTest, average_ranks
from featsieve.evaluation.surroundings import circumstances

RESULTS = Path(__file__).parent / "results"
AUTO, OWN_COUNT = "AutoSelector", "AutoSelector, own count"
MOST_ERROR = 1.5  # of a number that is predicted far worse than by its mean
PACKAGES = (
    "scikit-learn",
    "mrmr-selection",
    "fast-select",
    "feature-engine",
    "pyHSICLasso",
    "Boruta",
    "fastcan",
)
Cells = dict[tuple[str, Any], dict[str, np.ndarray]]


def read(path: Path) -> list[tuple[tuple[str, int, str, Any], dict[str, Any]]]:
    records = []
    for line in path.read_text(encoding="utf-8").split("\n")[1:]:
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue  # the last line of a run that was killed
        records.append((tuple(record["key"]), record["piece"]))
    return records


def finished_sets(records: Any) -> list[str]:
    """Those for which every method has been tried in both splits."""
    tried = defaultdict(set)
    for (name, split, method, k), _ in records:
        tried[name].add((split, method, k))
    wanted = {(split, method) for name in tried for split, method, _ in tried[name]}
    return [name for name, cells in tried.items() if {(s, m) for s, m, _ in cells} >= wanted]


def errors_of(records: Any, sets: list[str]) -> tuple[Cells, dict[str, list[str]]]:
    """(set, k) → method → errors of the judges, meaned over the splits; and the failures."""
    collected: dict[Any, list[Any]] = defaultdict(list)
    failed: dict[str, list[str]] = defaultdict(list)
    for (name, _, method, k), piece in records:
        if name in sets and "failed" in piece:
            failed[method].append(f"{name}, k = {k}: {piece['failed']}")
        elif name in sets:
            collected[name, k, method].append(np.minimum(piece["errors"], MOST_ERROR))
    cells: Cells = defaultdict(dict)
    for (name, k, method), errors in collected.items():
        cells[name, k][method] = np.mean(errors, axis=0)
    return cells, failed


def completed(cells: Cells) -> tuple[list[tuple[str, Any]], list[str], np.ndarray]:
    """(cells, methods, errors: cells × methods × judges); a failure gets the worst of its cell."""
    keys = [key for key in cells if key[1] != "auto"]
    methods = sorted({m for key in keys for m in cells[key]} - {OWN_COUNT})
    n_judges = len(next(iter(cells[keys[0]].values())))
    table = np.full((len(keys), len(methods), n_judges), np.nan)
    for i, key in enumerate(keys):
        for j, method in enumerate(methods):
            if method in cells[key]:
                table[i, j] = cells[key][method]
    worst = np.nanmax(table, axis=1, keepdims=True)
    return keys, methods, np.where(np.isnan(table), worst, table)


def per_set(keys: list[tuple[str, Any]], values: np.ndarray) -> np.ndarray:
    """The mean over the counts of each set (first axis), so that a set counts once."""
    names = list(dict.fromkeys(name for name, _ in keys))
    rows = [[i for i, key in enumerate(keys) if key[0] == name] for name in names]
    return np.array([values[row].mean(axis=0) for row in rows])


def seconds_of(records: Any, sets: list[str]) -> dict[str, tuple[float, float]]:
    """Median and mean CPU seconds of a selection."""
    times = defaultdict(list)
    for (name, _, method, _), piece in records:
        if name in sets and "seconds" in piece:
            times[method].append(piece["seconds"])
    return {m: (float(np.median(t)), float(np.mean(t))) for m, t in times.items()}


def is_tuning(name: str) -> bool:
    """Whether AutoSelector's design may have been chosen on this set: half of them, by hash."""
    return hashlib.sha256(name.encode()).hexdigest() < "9"


def write_leaderboard(journals: list[Path], name: str, protocol: str) -> str:
    records = [record for path in journals for record in read(path)]
    sets = finished_sets(records)
    if not sets:
        return "no set is finished yet"
    cells, failed = errors_of(records, sets)
    keys, methods, errors = completed(cells)
    means = errors.mean(axis=2)
    excess = per_set(keys, means - means.min(axis=1, keepdims=True))
    ranks = per_set(keys, rankdata(errors, axis=1).mean(axis=2))
    test = average_ranks(ranks, methods)
    test = replace(test, ranks=dict(zip(methods, ranks.mean(axis=0).tolist(), strict=True)))
    in_tuning = np.array([is_tuning(n) for n in dict.fromkeys(key[0] for key in keys)])
    lines = [
        f"# Leaderboard{'' if protocol == 'plain' else ' with useless columns added'}",
        "",
        *_explained(test, len(keys), in_tuning),
        "",
        *_method_lines(test, excess, in_tuning, seconds_of(records, sets), failed),
        "",
        f"![average ranks]({name}-ranks.png)",
        "",
        *own_count_lines(records, cells, sets),
        "",
        *set_lines(keys, methods, means),
        "",
        "## Failures",
        "",
        *(f"- {m}: {len(words)}; first: {words[0]}" for m, words in sorted(failed.items())),
        "",
        circumstances(PACKAGES),
    ]
    (RESULTS / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    draw_ranks(test, RESULTS / f"{name}-ranks.png")
    data = {
        "sets": list(dict.fromkeys(key[0] for key in keys)),
        "methods": methods,
        "ranks": {m: round(rank, 4) for m, rank in test.ranks.items()},
        "excess": dict(zip(methods, excess.mean(axis=0).round(5).tolist(), strict=True)),
        "critical_difference": test.critical_difference,
        "friedman_pvalue": test.friedman_pvalue,
        "cells": [{"key": key, "piece": piece} for key, piece in records if key[0] in sets],
    }
    text = json.dumps({k: v for k, v in data.items() if k != "cells"}, indent=1)
    cells_text = ",\n  ".join(json.dumps(cell) for cell in data["cells"])
    text = text.removesuffix("\n}") + f',\n "cells": [\n  {cells_text}\n ]\n}}\n'
    (RESULTS / f"{name}.json").write_text(text, encoding="utf-8")
    return "\n".join(lines)


def _explained(test: RankTest, n_cells: int, in_tuning: np.ndarray) -> list[str]:
    return [
        f"{test.n_sets} sets, {n_cells} pairs of set and count, {len(test.ranks)} methods, three "
        f"judges, two splits. Friedman p = {test.friedman_pvalue:.2g}; critical difference of "
        f"average ranks (Nemenyi, 5 %): {test.critical_difference:.2f}.",
        "",
        "rank: mean over judges, counts, then sets (1 is best; a failure shares the last rank). "
        "excess: error above that of the best method of the same table and count, mean over "
        "judges, counts, sets; then the same over the "
        f"{int((~in_tuning).sum())} sets that AutoSelector's design was not chosen on (the other "
        f"{int(in_tuning.sum())} are the first half by a hash of the name), and their difference "
        "from AutoSelector with its standard error over sets. Errors are shares of wrong "
        "classes or of unexplained variance (at most 1.5). seconds: CPU seconds of a selection, "
        "median and mean.",
    ]


def _method_lines(
    test: RankTest, excess: np.ndarray, in_tuning: np.ndarray, times: Any, failed: Any
) -> list[str]:
    methods = list(test.ranks)
    auto = excess[:, methods.index(AUTO)] if AUTO in methods else excess.min(axis=1)
    lines = [
        "| method | rank | excess | excess, other half | above AutoSelector | seconds | "
        "mean seconds | failed cells |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for j in np.argsort(excess.mean(axis=0)):
        median, mean = times.get(methods[j], (np.nan, np.nan))
        gap = excess[:, j] - auto
        spread = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.nan
        lines.append(
            f"| {methods[j]} | {test.ranks[methods[j]]:.2f} | {excess[:, j].mean():.4f} | "
            f"{excess[~in_tuning, j].mean():.4f} | {gap.mean():+.4f} ± {spread:.4f} | "
            f"{median:.2f} | {mean:.2f} | {len(failed.get(methods[j], []))} |"
        )
    return lines


def draw_ranks(test: RankTest, path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from featsieve.plots import CriticalDifferenceDisplay

    display = CriticalDifferenceDisplay(test).plot()
    display.figure_.savefig(path, dpi=110, bbox_inches="tight")


def own_count_lines(records: Any, cells: Cells, sets: list[str]) -> list[str]:
    """AutoSelector with its own count next to the best method at k = 20 (or the most there is)."""
    own, best, sizes, spread = [], [], [], []
    largest = {
        name: max(k for n, k in cells if n == name and k != "auto")
        for name in sets
        if any(n == name and k != "auto" for n, k in cells)
    }
    means = defaultdict(list)
    for name, k in largest.items():
        for method, errors in cells[name, k].items():
            means[method].append((name, errors.mean()))
    complete = {m: dict(v) for m, v in means.items() if len(v) == len(largest)}
    if not complete or not any(key[1] == "auto" for key in cells):
        return []
    fixed = min(complete, key=lambda m: np.mean(list(complete[m].values())))
    for name in largest:
        if OWN_COUNT in cells.get((name, "auto"), {}):
            own.append(cells[name, "auto"][OWN_COUNT].mean())
            best.append(complete[fixed][name])
    for (name, _, method, _), piece in records:
        if method == OWN_COUNT and name in largest and "columns" in piece:
            sizes.append(len(piece["columns"]))
    gap = np.array(own) - np.array(best)
    spread = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.nan
    return [
        "## With its own count",
        "",
        f"On {len(gap)} sets, AutoSelector with its own count keeps {np.mean(sizes):.1f} columns "
        f"on average (median {np.median(sizes):.0f}); its mean error is {np.mean(own):.4f}, that "
        f"of the best single method at k = 20 (or the largest count below the number of columns), "
        f"{fixed}, {np.mean(best):.4f}: a difference of {gap.mean():+.4f} with "
        f"standard error {spread:.4f}.",
    ]


def set_lines(keys: Any, methods: list[str], means: np.ndarray) -> list[str]:
    lines = [
        "## By set",
        "",
        "| set | k | best | its error | AutoSelector |",
        "|---|---|---|---|---|",
    ]
    at = methods.index(AUTO) if AUTO in methods else None
    for i, (name, k) in enumerate(keys):
        best = int(means[i].argmin())
        auto = f"{means[i, at]:.4f}" if at is not None else "–"
        lines.append(f"| {name} | {k} | {methods[best]} | {means[i, best]:.4f} | {auto} |")
    return lines
