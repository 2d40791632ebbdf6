"""Venkateswara et al. (2015), Figure 4: cross-validation error against the number of columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from featsieve.evaluation.benches._cmi_errors import (
    FOLDS,
    PROTOCOL,
    QUICK_FOLDS,
    RANKED,
    cells_for,
    chosen_methods,
    errors_by_k,
    paths,
)
from featsieve.evaluation.benches._frame import Bench, Request, Results
from featsieve.evaluation.benches._report import Claim, Figure, Report, markdown_table
from featsieve.evaluation.cells import Cell

SHOWN = ("colon", "gisette", "musk2", "promoter", "spambase")  # the paper has the first three
PROPOSED = ("TPower", "LowRank")


def _where(request: Request) -> dict[str, Path]:
    return paths(request, SHOWN)


def cells(request: Request) -> list[Cell]:
    return cells_for(request, _where(request), everything=False)


def report(request: Request, results: Results) -> Report:
    curves: dict[str, dict[str, dict[str, Any]]] = {
        name: {
            method: {"x": list(errors), "y": [float(e.mean()) for e in errors.values()]}
            for method in chosen_methods(request)
            if (errors := errors_by_k(results, name, method))
        }
        for name in _where(request)
        if any(key[0] == name for key in results)
    }
    panels: dict[str, dict[str, Any]] = {}
    for name, methods in curves.items():
        greedy = {m: c for m, c in methods.items() if m in (*RANKED, *PROPOSED)}
        all_at_once = {m: c for m, c in methods.items() if m not in ("MaxRel", "MRMR", "JMI")}
        panels[f"{name}: greedy"], panels[f"{name}: global"] = greedy, all_at_once
    folds = request.repeats(FOLDS, QUICK_FOLDS)
    return Report(
        "Venkateswara et al. (2015), Figure 4: mean error in percent against k",
        [
            f"Protocol ({folds}-fold): {PROTOCOL} The paper's figure is an image.",
            *(f"## {name}\n{_table(methods)}" for name, methods in curves.items()),
        ],
        claims=_claims(curves),
        figures=[Figure("curves", panels, xlabel="k", ylabel="error in % (optimistic)")],
        seeds="0 (folds and solvers)",
        data={"protocol": "resubstitution (optimistic)"},
    )


def _table(methods: dict[str, dict[str, Any]]) -> str:
    counts = sorted({k for curve in methods.values() for k in curve["x"]})
    rows = []
    for k in counts:
        at = {m: dict(zip(c["x"], c["y"], strict=True)) for m, c in methods.items()}
        rows.append([str(k), *(f"{at[m][k]:.1f}" if k in at[m] else "–" for m in methods)])
    return markdown_table(["k", *methods], rows)


def _claims(curves: dict[str, dict[str, dict[str, Any]]]) -> list[Claim]:
    """What the text says of colon: more columns do not mean fewer errors."""
    colon = curves.get("colon", {})
    if not colon:
        return []
    best = {m: c["x"][c["y"].index(min(c["y"]))] for m, c in colon.items()}
    words = ", ".join(f"{method} {k}" for method, k in best.items())
    last = max(k for c in colon.values() for k in c["x"])
    text = "on colon, more columns do not necessarily mean fewer errors"
    return [Claim(text, min(best.values()) < last, f"k of the least error: {words}")]


BENCH = Bench(
    "p-cmi-fig4",
    cells,
    report,
    options=("trials", "methods", "datasets"),
    settings=lambda r: {"quick": r.quick, "folds": r.repeats(FOLDS, QUICK_FOLDS)},
)
