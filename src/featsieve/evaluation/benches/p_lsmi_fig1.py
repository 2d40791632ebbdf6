"""Jitkrittum et al. (2013), Figure 1: SVC and SVR errors against the number of columns."""

from __future__ import annotations

from functools import partial

from featsieve.evaluation.benches._frame import Bench, Request, Results, trial_values
from featsieve.evaluation.benches._lsmi_errors import (
    PROTOCOL,
    chosen_methods,
    paths,
    refuses,
    trial,
)
from featsieve.evaluation.benches._report import (
    Claim,
    Figure,
    Report,
    markdown_table,
    mean_and_error,
)
from featsieve.evaluation.benches._tables import Shape, shape_of
from featsieve.evaluation.cells import Cell

TRIALS, QUICK_TRIALS = 20, 1
N_COUNTS, QUICK_COUNTS = 8, 2
COMPARED = ("PC", "l1-HSIC", "l1-LSMI", "mRMR", "QPFS", "Lasso", "Relief")
NOTE = (
    "The paper's figure is an image without printed values: its claims are compared, not its "
    "points. It varies k in a low range with a step proportional to m; here the step is m/40."
)


def counts_for(table: Shape, quick: bool) -> list[int]:
    step = max(1, round(table.n_columns / 40))
    most = QUICK_COUNTS if quick else N_COUNTS
    return [step * i for i in range(1, most + 1) if step * i <= table.n_columns]


def _rows(request: Request) -> list[tuple[str, str, int]]:
    tables = {name: shape_of(path) for name, path in paths(request).items()}
    return [
        (name, method, k)
        for name, table in tables.items()
        for method in chosen_methods(request, COMPARED)
        if not refuses(method, table)
        for k in counts_for(table, request.quick)
    ]


def cells(request: Request) -> list[Cell]:
    where = paths(request)
    return [
        Cell((name, method, str(k), str(seed)), partial(trial, where[name], method, k, seed))
        for seed in range(request.repeats(TRIALS, QUICK_TRIALS))
        for name, method, k in _rows(request)
    ]


def report(request: Request, results: Results) -> Report:
    curves: dict[str, dict[str, dict[str, list[float]]]] = {}
    for name, method, k in _rows(request):
        errors = [answer["error"] for answer in trial_values(results, name, method, str(k))]
        if errors:
            mean, error = mean_and_error(errors)
            curve = curves.setdefault(name, {}).setdefault(method, {"x": [], "y": [], "error": []})
            for word, value in (("x", k), ("y", mean), ("error", error)):
                curve[word].append(value)
    trials = request.repeats(TRIALS, QUICK_TRIALS)
    return Report(
        "Jitkrittum et al. (2013), Figure 1: error against the number of columns",
        [
            f"Protocol ({trials} trials; the paper has 20): {PROTOCOL}",
            NOTE,
            *(f"## {name}\n{_table(panel)}" for name, panel in curves.items()),
        ],
        claims=_claims(curves),
        figures=[Figure("curves", curves, xlabel="number of columns", ylabel="error (optimistic)")],
        seeds=f"0 … {trials - 1}",
        data={"protocol": "resubstitution (optimistic)"},
    )


def _table(panel: dict[str, dict[str, list[float]]]) -> str:
    counts = sorted({k for curve in panel.values() for k in curve["x"]})
    rows = []
    for k in counts:
        cells = []
        for curve in panel.values():
            at = curve["x"].index(k) if k in curve["x"] else None
            shown = "–" if at is None else f"{curve['y'][at]:.3f} ± {curve['error'][at]:.3f}"
            cells.append(shown)
        rows.append([str(k), *cells])
    return markdown_table(["k", *panel], rows)


def _claims(curves: dict[str, dict[str, dict[str, list[float]]]]) -> list[Claim]:
    both = {n: p for n, p in curves.items() if {"l1-LSMI", "l1-HSIC"} <= set(p)}
    if not both:
        return []
    means = {
        n: [sum(p[m]["y"]) / len(p[m]["y"]) for m in ("l1-LSMI", "l1-HSIC")]
        for n, p in both.items()
    }
    better = [n for n, (lsmi, hsic) in means.items() if lsmi < hsic]
    return [
        Claim(
            "LSMI gives better columns than HSIC",
            2 * len(better) > len(means),
            f"mean over k: l1-LSMI below l1-HSIC on {len(better)} of {len(means)} sets",
        )
    ]


BENCH = Bench("p-lsmi-fig1", cells, report, options=("trials", "methods", "datasets"))
