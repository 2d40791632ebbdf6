"""The tables of the leaderboard, out of its journal."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from dataclasses import dataclass, replace
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
    """Of a journal, or of the cells of an earlier report in JSON."""
    if path.suffix == ".json":
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return [(tuple(cell["key"]), cell["piece"]) for cell in cells]
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


@dataclass(frozen=True)
class Standing:
    """The errors of all methods, and what is said of them: ranks, and excess over the best."""

    keys: list[tuple[str, Any]]  # set, k
    methods: list[str]
    means: np.ndarray  # keys × methods, over the judges
    excess: np.ndarray  # sets × methods
    test: RankTest

    @classmethod
    def of(cls, cells: Cells) -> Standing:
        keys, methods, errors = completed(cells)
        means = errors.mean(axis=2)
        excess = per_set(keys, means - means.min(axis=1, keepdims=True))
        ranks = per_set(keys, rankdata(errors, axis=1).mean(axis=2))
        test = average_ranks(ranks, methods)
        test = replace(test, ranks=dict(zip(methods, ranks.mean(axis=0).tolist(), strict=True)))
        return cls(keys, methods, means, excess, test)

    @property
    def sets(self) -> list[str]:
        return list(dict.fromkeys(name for name, _ in self.keys))

    @property
    def in_tuning(self) -> np.ndarray:
        return np.array([is_tuning(name) for name in self.sets])


def write_leaderboard(journals: list[Path], name: str, protocol: str) -> str:
    records = list({key: (key, piece) for path in journals for key, piece in read(path)}.values())
    sets = finished_sets(records)
    if not sets:
        return "no set is finished yet"
    cells, failed = errors_of(records, sets)
    standing = Standing.of(cells)
    lines = [
        f"# Leaderboard{'' if protocol == 'plain' else ' with useless columns added'}",
        "",
        *_explained(standing),
        "",
        *_method_lines(standing, seconds_of(records, sets), failed),
        "",
        f"![average ranks]({name}-ranks.png)",
        "",
        *own_count_lines(records, cells, sets),
        "",
        *set_lines(standing),
        "",
        "## Failures",
        "",
        *(f"- {m}: {len(words)}; first: {words[0]}" for m, words in sorted(failed.items())),
        "",
        circumstances(PACKAGES),
    ]
    (RESULTS / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    draw_ranks(standing.test, RESULTS / f"{name}-ranks.png")
    (RESULTS / f"{name}.json").write_text(_as_json(standing, records), encoding="utf-8")
    return "\n".join(lines)


def _as_json(standing: Standing, records: Any) -> str:
    """The summary, then one line per cell."""
    test = standing.test
    excess = standing.excess.mean(axis=0).round(5).tolist()
    summary = {
        "sets": standing.sets,
        "methods": standing.methods,
        "ranks": {m: round(rank, 4) for m, rank in test.ranks.items()},
        "excess": dict(zip(standing.methods, excess, strict=True)),
        "critical_difference": test.critical_difference,
        "friedman_pvalue": test.friedman_pvalue,
    }
    cells = ",\n  ".join(json.dumps({"key": key, "piece": piece}) for key, piece in records)
    text = json.dumps(summary, indent=1)
    return text.removesuffix("\n}") + f',\n "cells": [\n  {cells}\n ]\n}}\n'


def _explained(standing: Standing) -> list[str]:
    test, in_tuning = standing.test, standing.in_tuning
    return [
        f"{test.n_sets} sets, {len(standing.keys)} pairs of set and count, {len(test.ranks)} "
        "methods, three judges, two splits. "
        f"Friedman p = {test.friedman_pvalue:.2g}; critical difference of average ranks "
        f"(Nemenyi, 5 %): {test.critical_difference:.2f}.",
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


def _method_lines(standing: Standing, times: Any, failed: Any) -> list[str]:
    methods, excess, in_tuning = standing.methods, standing.excess, standing.in_tuning
    auto = excess[:, methods.index(AUTO)] if AUTO in methods else excess.min(axis=1)
    lines = [
        "| method | rank | excess | excess, other half | above AutoSelector | seconds | "
        "mean seconds | failed cells |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for j in np.argsort(excess.mean(axis=0)):
        median, mean = times.get(methods[j], (np.nan, np.nan))
        gap = excess[:, j] - auto
        lines.append(
            f"| {methods[j]} | {standing.test.ranks[methods[j]]:.2f} | {excess[:, j].mean():.4f} | "
            f"{excess[~in_tuning, j].mean():.4f} | {gap.mean():+.4f} ± {standard_error(gap):.4f} | "
            f"{median:.2f} | {mean:.2f} | {len(failed.get(methods[j], []))} |"
        )
    return lines


def draw_ranks(test: RankTest, path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from featsieve.plots import CriticalDifferenceDisplay

    display = CriticalDifferenceDisplay(test).plot()
    display.figure_.savefig(path, dpi=110, bbox_inches="tight")


def standard_error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan


def own_count_lines(records: Any, cells: Cells, sets: list[str]) -> list[str]:
    """AutoSelector with its own count next to the best method at k = 20 (or the most there is)."""
    largest = {
        name: max(k for n, k in cells if n == name and k != "auto")
        for name in sets
        if any(n == name and k != "auto" for n, k in cells)
    }
    complete = _errors_at(cells, largest)
    if not complete or not any(key[1] == "auto" for key in cells):
        return []
    fixed = min(complete, key=lambda m: np.mean(list(complete[m].values())))
    names = [name for name in largest if OWN_COUNT in cells.get((name, "auto"), {})]
    ours = np.array([cells[name, "auto"][OWN_COUNT].mean() for name in names])
    best = np.array([complete[fixed][name] for name in names])
    sizes = [
        len(piece["columns"])
        for (name, _, method, _), piece in records
        if method == OWN_COUNT and name in largest and "columns" in piece
    ]
    gap = ours - best
    return [
        "## With its own count",
        "",
        f"On {len(gap)} sets, AutoSelector with its own count keeps {np.mean(sizes):.1f} columns "
        f"on average (median {np.median(sizes):.0f}); its mean error is {np.mean(ours):.4f}, that "
        f"of the best single method at k = 20 (or the largest count below the number of columns), "
        f"{fixed}, {np.mean(best):.4f}: a difference of {gap.mean():+.4f} with "
        f"standard error {standard_error(gap):.4f}.",
    ]


def _errors_at(cells: Cells, counts: dict[str, int]) -> dict[str, dict[str, float]]:
    """Method → set → error at its count, for the methods that have an error on every set."""
    means: dict[str, dict[str, float]] = defaultdict(dict)
    for name, k in counts.items():
        for method, errors in cells[name, k].items():
            means[method][name] = errors.mean()
    return {method: errors for method, errors in means.items() if len(errors) == len(counts)}


def set_lines(standing: Standing) -> list[str]:
    methods, means = standing.methods, standing.means
    lines = [
        "## By set",
        "",
        "| set | k | best | its error | AutoSelector |",
        "|---|---|---|---|---|",
    ]
    at = methods.index(AUTO) if AUTO in methods else None
    for i, (name, k) in enumerate(standing.keys):
        best = int(means[i].argmin())
        auto = f"{means[i, at]:.4f}" if at is not None else "–"
        lines.append(f"| {name} | {k} | {methods[best]} | {means[i, best]:.4f} | {auto} |")
    return lines
