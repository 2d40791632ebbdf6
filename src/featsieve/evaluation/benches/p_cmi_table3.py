"""Venkateswara et al. (2015), Tables II to IV: errors of TPower and LowRank against the others."""

from __future__ import annotations

from collections import Counter

import numpy as np

from featsieve.evaluation.benches._cmi_errors import (
    ALL,
    FOLDS,
    OURS,
    PROTOCOL,
    QUICK_FOLDS,
    cells_for,
    chosen_methods,
    errors_by_k,
    paths,
)
from featsieve.evaluation.benches._frame import Bench, Request, Results
from featsieve.evaluation.benches._report import (
    Claim,
    Comparison,
    Report,
    markdown_table,
    mean_and_error,
)
from featsieve.evaluation.benches._tables import shape_of
from featsieve.evaluation.cells import Cell
from featsieve.evaluation.significance import win_tie_loss

LEGEND = """Difference of the mean errors in per cent over all k, ± its deviation over k (negative:
fewer errors than the other), and what most k decide by one-sided paired t-tests over the folds at
5 %: w win, t tie, l loss. In brackets the paper's; ↓ is below, ↑ better than the paper by more than
two of the deviations taken together."""
# Table II: error with all columns. Rows and columns are those of the paper.
PAPER_ALL = {
    "arrhythmia": 31.1, "colon": 37.0, "gisette": 2.5, "leukemia": 26.4, "lung": 9.6,
    "lymphoma": 81.3, "madelon": 45.5, "multifeatures": 1.5, "musk2": 4.6, "optdigits": 3.3,
    "promoter": 26.0, "spambase": 7.5, "waveform": 13.1,
}  # fmt: skip
# Tables III and IV, for the sets that a folder of ours has: difference, deviation, decision.
RIVALS = {
    "TPower": ("MaxRel", "MRMR", "JMI", "QPFS", "Spectral", "SDP", "LowRank"),
    "LowRank": ("MaxRel", "MRMR", "JMI", "QPFS", "Spectral", "SDP", "TPower"),
}
PAPER: dict[str, dict[str, str]] = {
    "TPower": {
        "colon": "-7.28 4.6 w -4.42 4.2 w -2.47 3.8 w -6.70 4.6 w -0.60 2.8 w - - - 4.03 4.5 l",
        "leukemia": "0.11 1.4 w 1.40 1.6 l 1.59 1.8 l 0.41 1.1 t -0.03 0.6 w - - - 1.49 1.3 l",
        "madelon": "0.32 0.5 l 0.80 0.9 l 0.01 0.4 w -0.22 0.7 w -0.01 0.6 w 0.15 0.6 l "
        "-0.11 0.4 t",
        "optdigits": "-0.19 0.5 w -0.01 0.6 t 0.16 0.6 l -0.65 1.0 w 0.03 0.3 l -2.53 13.0 w "
        "0.08 0.4 l",
        "promoter": "0.73 3.0 l -0.04 3.2 w 0.19 3.0 l -1.29 3.8 w -0.48 2.8 w -0.56 2.9 w "
        "-0.17 3.1 w",
        "spambase": "-0.34 0.3 w 0.06 0.2 l -0.23 0.3 w 0.03 0.4 l -0.09 0.3 w -0.10 0.3 w "
        "0.02 0.1 l",
    },
    "LowRank": {
        "colon": "-11.31 4.7 w -8.45 4.3 w -6.50 3.9 w -10.73 5.3 w -4.63 5.0 w - - - -4.03 4.5 w",
        "leukemia": "-1.39 1.4 w -0.09 1.5 t 0.09 1.7 t -1.09 1.3 w -1.52 1.2 w - - - -1.49 1.3 w",
        "madelon": "0.43 0.5 l 0.91 0.8 l 0.12 0.5 l -0.11 0.7 w 0.10 0.6 l 0.26 0.5 l 0.11 0.4 t",
        "optdigits": "-0.26 0.6 w -0.09 0.4 w 0.08 0.4 l -0.72 1.2 w -0.04 0.4 t -2.61 13.1 w "
        "-0.08 0.4 w",
        "promoter": "0.90 3.1 l 0.13 2.7 w 0.35 2.9 w -1.13 3.7 w -0.31 2.8 t -0.40 2.5 t "
        "0.17 3.1 l",
        "spambase": "-0.36 0.3 w 0.04 0.2 l -0.24 0.3 w 0.02 0.4 t -0.11 0.3 w -0.12 0.3 w "
        "-0.02 0.1 w",
    },
}
PAPER_TOTALS = {
    "TPower": "MaxRel 10/1/2, MRMR 5/1/7, JMI 6/1/6, QPFS 7/2/4, Spectral 10/2/1, SDP 7/1/1, "
    "LowRank 3/2/8",
    "LowRank": "MaxRel 9/0/4, MRMR 6/1/6, JMI 6/2/5, QPFS 8/2/3, Spectral 5/4/4, SDP 3/2/4, "
    "TPower 8/2/3",
}


def paper_cell(hero: str, name: str, rival: str) -> tuple[float, float, str] | None:
    """
    >>> paper_cell("TPower", "colon", "MaxRel"), paper_cell("TPower", "colon", "SDP")
    ((-7.28, 4.6, 'w'), None)
    """
    words = PAPER.get(hero, {}).get(name, "").split()
    rival = "SDP" if rival == "SDP, plain" else rival
    if not words or rival not in RIVALS[hero]:
        return None
    at = 3 * RIVALS[hero].index(rival)
    return None if words[at] == "-" else (float(words[at]), float(words[at + 1]), words[at + 2])


def cells(request: Request) -> list[Cell]:
    return cells_for(request, paths(request), everything=True)


def report(request: Request, results: Results) -> Report:
    names = [name for name in paths(request) if any(key[0] == name for key in results)]
    heroes = [h for h in ("TPower", "LowRank", OURS) if h in chosen_methods(request)]
    compared = [c for name in names for c in _with_all_columns(results, name)]
    sections = ["## Table II\n" + _table_two(request, results, names)]
    claims = []
    for hero in heroes:
        table, differences, totals = _against(request, results, names, hero)
        sections.append(f"## {hero} against the others\n{table}")
        compared += differences
        if hero in PAPER_TOTALS:
            words = ", ".join(f"{rival} {total}" for rival, total in totals.items())
            sections.append(f"The paper's W/T/L for {hero}, 13 sets: {PAPER_TOTALS[hero]}.")
            claims.append(_claim(hero, totals, words))
    folds = request.repeats(FOLDS, QUICK_FOLDS)
    return Report(
        "Venkateswara et al. (2015), Tables II to IV: errors of a linear SVM on the columns",
        [f"Protocol ({folds}-fold): {PROTOCOL}", *sections, LEGEND.replace("\n", " ")],
        comparisons=compared,
        claims=claims,
        seeds="0 (folds and solvers)",
        data={"protocol": "resubstitution (optimistic)"},
    )


def _claim(hero: str, totals: dict[str, str], words: str) -> Claim:
    counts = [[int(n) for n in total.split("/")] for total in totals.values()]
    wins, losses = sum(c[0] for c in counts), sum(c[2] for c in counts)
    text = f"{hero} does well on most sets against the others"
    return Claim(text, wins > losses, f"W/T/L {words}")


def _with_all_columns(results: Results, name: str) -> list[Comparison]:
    errors = errors_by_k(results, name, ALL)
    if not errors:
        return []
    (folds,) = errors.values()
    mean, error = mean_and_error(folds.tolist())
    note = "Columns are standardised and states are indicators here, which the paper does not say."
    return [
        Comparison(name, ALL, mean, error, len(folds), PAPER_ALL.get(name), error, 0.05, note=note)
    ]


def _table_two(request: Request, results: Results, names: list[str]) -> str:
    rows = []
    for name in names:
        table = shape_of(paths(request)[name])
        least = min(
            (float(fold.mean()), method, k)
            for method in chosen_methods(request)
            for k, fold in errors_by_k(results, name, method).items()
        )
        full = _with_all_columns(results, name)
        shown = f"{full[0].ours:.1f} ± {full[0].error:.1f}" if full else "–"
        shape = [str(table.n_columns), str(table.n_rows), str(table.n_classes)]
        paper = PAPER_ALL.get(name)
        figure = "" if paper is None else f"{paper:.1f}"
        best = f"{least[0]:.1f} ({least[1]}, k = {least[2]})"
        rows.append([name, *shape, shown, figure, best])
    head = [
        "data",
        "columns",
        "rows",
        "classes",
        "error, all columns, %",
        "paper",
        "least error, %",
    ]
    return markdown_table(head, rows)


def _against(
    request: Request, results: Results, names: list[str], hero: str
) -> tuple[str, list[Comparison], dict[str, str]]:
    rivals = [name for name in chosen_methods(request) if name != hero]
    decisions = {rival: Counter[str]() for rival in rivals}
    rows, compared = [], []
    for name in names:
        line = [name]
        for rival in rivals:
            ours, theirs = (errors_by_k(results, name, m) for m in (hero, rival))
            common = [k for k in ours if k in theirs]
            if not common:
                line.append("N/A")
                continue
            gaps = [float(ours[k].mean() - theirs[k].mean()) for k in common]
            word = win_tie_loss({k: ours[k] for k in common}, theirs)[0]
            decisions[rival][word] += 1
            cell = _difference(hero, name, rival, gaps)
            compared.append(cell)
            line.append(_shown(cell, word, paper_cell(hero, name, rival)))
        rows.append(line)
    totals = {rival: "/".join(str(decisions[rival][w]) for w in "wtl") for rival in rivals}
    table = markdown_table(["data", *rivals], [*rows, ["W/T/L", *totals.values()]])
    return table, compared, totals


def _difference(hero: str, name: str, rival: str, gaps: list[float]) -> Comparison:
    paper = paper_cell(hero, name, rival)
    figure, spread = (paper[0], paper[1]) if paper else (None, 0.0)
    mean, deviation = float(np.mean(gaps)), float(np.std(gaps))
    label = f"{hero} − {rival}"
    return Comparison(name, label, mean, deviation, len(gaps), figure, spread)


def _shown(cell: Comparison, word: str, paper: tuple[float, float, str] | None) -> str:
    ours = f"{cell.ours:+.2f} ± {cell.error:.1f} {word}"
    arrow = {"below": " ↓", "better": " ↑"}.get(cell.verdict, "")
    return ours + (f" ({paper[0]:+.2f} {paper[2]}){arrow}" if paper else "")


def _settings(request: Request) -> dict[str, object]:
    return {"quick": request.quick, "folds": request.repeats(FOLDS, QUICK_FOLDS)}


BENCH = Bench(
    "p-cmi-table3",
    cells,
    report,
    options=("trials", "methods", "datasets"),
    settings=_settings,
)
