"""The tables of the leaderboard, out of its journal."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from featsieve.evaluation.ranks import RankTest, friedman_nemenyi
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
    """The mean over the counts and useless columns of each set (first axis): it counts once."""
    rows = [[i for i, (name, _) in enumerate(keys) if set_of(name) == s] for s in sets_of(keys)]
    return np.array([values[row].mean(axis=0) for row in rows])


def standard_error(values: np.ndarray) -> float:
    """Of the mean; not known from a single value."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan


def set_of(table: str) -> str:
    """The set behind a table.

    >>> set_of("glass + random"), set_of("glass")
    ('glass', 'glass')
    """
    return table.partition(" + ")[0]


def sets_of(keys: list[tuple[str, Any]]) -> list[str]:
    return list(dict.fromkeys(set_of(name) for name, _ in keys))


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


def write_leaderboard(
    journals: list[Path], name: str, protocol: str, offered: Sequence[str] = ()
) -> str:
    """``offered``: the sets that there are, of which some may not have been run."""
    records = list({key: (key, piece) for path in journals for key, piece in read(path)}.values())
    sets = finished_sets(records)
    if not sets:
        return "no set is finished yet"
    cells, failed = errors_of(records, sets)
    keys, methods, errors = completed(cells)
    means = errors.mean(axis=2)
    excess = per_set(keys, means - means.min(axis=1, keepdims=True))
    ranks = per_set(keys, rankdata(errors, axis=1).mean(axis=2))
    test = friedman_nemenyi(ranks, methods)
    in_tuning = np.array([is_tuning(name) for name in sets_of(keys)])
    own = own_count_of(records, cells, sets)
    left_out = [name for name in offered if name not in sets_of(keys)]
    lines = [
        f"# Leaderboard{'' if protocol == 'plain' else ' with useless columns added'}",
        "",
        *_explained(test, len(keys), in_tuning),
        "",
        *(met_lines(test, excess, in_tuning, own, left_out) if protocol == "plain" else []),
        *(kept_lines(records, keys, methods) if protocol != "plain" else []),
        *_method_lines(test, excess, in_tuning, seconds_of(records, sets), failed),
        "",
        f"![average ranks]({name}-ranks.png)",
        "",
        *([] if own is None else ["## With its own count", "", own.words, ""]),
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
        "cells": [{"key": key, "piece": piece} for key, piece in records],
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
        spread = standard_error(gap)
        lines.append(
            f"| {methods[j]} | {test.ranks[methods[j]]:.2f} | {excess[:, j].mean():.4f} | "
            f"{_mean_of(excess[~in_tuning, j])} | {gap.mean():+.4f} ± {spread:.4f} | "
            f"{median:.2f} | {mean:.2f} | {len(failed.get(methods[j], []))} |"
        )
    return lines


def _mean_of(values: np.ndarray) -> str:
    return f"{values.mean():.4f}" if len(values) else "–"


def draw_ranks(test: RankTest, path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from featsieve.plots import CriticalDifferenceDisplay

    display = CriticalDifferenceDisplay(test).plot()
    display.figure_.savefig(path, dpi=110, bbox_inches="tight")


@dataclass(frozen=True)
class OwnCount:
    """AutoSelector with its own count next to the best method at the largest count."""

    sizes: list[int]
    fixed: str
    own: np.ndarray
    best: np.ndarray

    @property
    def gap(self) -> float:
        return float(np.mean(self.own - self.best))

    @property
    def spread(self) -> float:
        return standard_error(self.own - self.best)

    @property
    def words(self) -> str:
        return (
            f"On {len(self.own)} sets, AutoSelector with its own count keeps "
            f"{np.mean(self.sizes):.1f} columns on average (median {np.median(self.sizes):.0f}); "
            f"its mean error is {np.mean(self.own):.4f}, that of the best single method at k = 20 "
            f"(or the largest count below the number of columns), {self.fixed}, "
            f"{np.mean(self.best):.4f}: a difference of {self.gap:+.4f} with standard error "
            f"{self.spread:.4f}."
        )


def own_count_of(records: Any, cells: Cells, sets: list[str]) -> OwnCount | None:
    """k = 20, or the most there is; None where AutoSelector did not choose a count."""
    own, best, sizes = [], [], []
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
        return None
    fixed = min(complete, key=lambda m: np.mean(list(complete[m].values())))
    for name in largest:
        if OWN_COUNT in cells.get((name, "auto"), {}):
            own.append(cells[name, "auto"][OWN_COUNT].mean())
            best.append(complete[fixed][name])
    for (name, _, method, _), piece in records:
        if method == OWN_COUNT and name in largest and "columns" in piece:
            sizes.append(len(piece["columns"]))
    return OwnCount(sizes, fixed, np.array(own), np.array(best)) if own else None


def met_lines(
    test: RankTest,
    excess: np.ndarray,
    in_tuning: np.ndarray,
    own: OwnCount | None,
    left_out: Sequence[str],
) -> list[str]:
    """What was asked of AutoSelector and of this comparison, and what of it the figures show."""
    methods = list(test.ranks)
    if AUTO not in methods or len(methods) < 2:
        return []
    lines = [
        _enough_sets(test.n_sets, left_out),
        _lowest(methods, excess, "the lowest mean excess error, peers included"),
        _lowest(methods, excess[~in_tuning], "the same on the sets it was not designed on"),
        _in_front(test),
    ]
    if own is not None:
        met = own.gap <= own.spread and np.mean(own.sizes) <= 10
        lines.append(
            f"{_verdict(met)}: its own count, with at most 10 columns on average and an error "
            "within one standard error of the best fixed method at k = 20 "
            f"({np.mean(own.sizes):.1f} columns; {own.gap:+.4f} ± {own.spread:.4f})."
        )
    return ["## Asked and met", "", *(f"- {line}" for line in lines), ""]


def _verdict(met: bool) -> str:
    return "met" if met else "**not met**"


def _enough_sets(n_sets: int, left_out: Sequence[str]) -> str:
    words = f" Not run, for their time: {', '.join(left_out)}." if left_out else ""
    return f"{_verdict(n_sets >= 25)}: at least 25 sets ({n_sets}).{words}"


def _lowest(methods: list[str], excess: np.ndarray, asked: str) -> str:
    """AutoSelector against the best of the others, with the standard error over sets."""
    at = methods.index(AUTO)
    if not len(excess):
        return f"not shown: {asked} (there are none)."
    means = excess.mean(axis=0)
    rival = min((j for j in range(len(methods)) if j != at), key=lambda j: means[j])
    gap = excess[:, rival] - excess[:, at]
    spread = standard_error(gap)
    sure = "more" if gap.mean() > 2 * spread else "no more"
    return (
        f"{_verdict(means[at] < means[rival])}: {asked} ({means[at]:.4f}; {methods[rival]} has "
        f"{means[rival]:.4f}, {gap.mean():+.4f} ± {spread:.4f} from it, {sure} than chance "
        f"gives over {len(gap)} sets)."
    )


def _in_front(test: RankTest) -> str:
    order = sorted(test.ranks, key=lambda name: test.ranks[name])
    rival = next(name for name in order if name != AUTO)
    ours, best = test.ranks[AUTO], test.ranks[order[0]]
    clear = sum(rank - ours >= test.critical_difference for rank in test.ranks.values())
    return (
        f"{_verdict(ours <= best + 0.5)}: an average rank within 0.5 of the best ({ours:.2f}; "
        f"{rival} has {test.ranks[rival]:.2f}). It is ahead of {clear} of {len(order) - 1} by more "
        f"than the critical difference, {test.critical_difference:.2f}."
    )


def kept_lines(records: Any, keys: list[tuple[str, Any]], methods: list[str]) -> list[str]:
    """How many of the selected columns are the set's own: as many as it has are selected."""
    shares: dict[Any, list[float]] = defaultdict(list)
    known = set(keys)
    for (name, _, method, k), piece in records:
        if (name, k) in known and "columns" in piece:
            own = np.mean(np.array(piece["columns"]) < k)
            shares[method, name.partition(" + ")[2]].append(float(own))
    kinds = list(dict.fromkeys(name.partition(" + ")[2] for name, _ in keys))
    lines = [
        "## The set's own columns",
        "",
        "As many columns are selected as the set had before as many useless ones were added: the "
        "share of them that are its own, by the kind of the others (0.5 is chance).",
        "",
        "| method | " + " | ".join(kinds) + " |",
        "|---" * (1 + len(kinds)) + "|",
    ]
    means = {m: [np.mean(shares[m, kind] or [np.nan]) for kind in kinds] for m in methods}
    for method in sorted(methods, key=lambda m: -np.nan_to_num(np.mean(means[m]))):
        lines.append(f"| {method} | " + " | ".join(f"{v:.2f}" for v in means[method]) + " |")
    return [*lines, ""]


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
