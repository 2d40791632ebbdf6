"""Jitkrittum et al. (2013), Table 7: SVC and SVR errors on real sets, nine methods."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import hypot
from statistics import median, stdev

import numpy as np

from featsieve.evaluation.benches._frame import Bench, Request, Results, trial_values
from featsieve.evaluation.benches._lsmi_errors import (
    METHODS,
    N_SAMPLES,
    PROTOCOL,
    chosen_methods,
    paths,
    refuses,
    trial,
)
from featsieve.evaluation.benches._report import (
    Claim,
    Comparison,
    Report,
    markdown_table,
    mean_and_error,
    wide_table,
)
from featsieve.evaluation.benches._table7_reasons import (
    QUESTIONED,
    REASONS,
    measured_reasons,
    reasons_section,
)
from featsieve.evaluation.benches._tables import Shape, shape_of
from featsieve.evaluation.cells import Cell
from featsieve.evaluation.significance import bold_face, top_counts
from featsieve.evaluation.surroundings import seconds_in_words

TRIALS, QUICK_TRIALS, PAPER_TRIALS = 50, 1, 50
K = {"satimage": 10, "spectf": 10, "senseval2": 10, "speech": 10, "sonar": 10, "msd": 10}
FEW, SOME = 36, 100  # columns: 4 are selected below, 10, then 20, as in the paper

# Mean (standard deviation over 50 trials) by METHODS; None: not run, or not readable in the scan.
_N = None
PAPER: dict[str, tuple[tuple[float, float] | None, ...]] = {
    "abalone": ((.73, .04), (.74, .04), (.70, .05), (.73, .04), (.70, .05), (.73, .05),
                (.75, .04), (.70, .04), (.69, .04)),
    "bcancer": ((.24, 0), (.24, 0), (.23, .01), (.23, 0), (.23, .01), (.25, 0), (.23, 0),
                (.24, 0), (.26, 0)),
    "glass": ((.29, 0), (.28, 0), (.30, .01), (.30, .01), (.30, .01), (.30, 0), (.29, 0), _N,
              (.31, 0)),
    "housing": ((4.03, .19), (4.14, .20), (4.20, .21), (3.95, .20), (3.91, .19), (3.97, .20),
                (4.11, .23), (4.14, .27), (4.10, .21)),
    "vowel": ((.20, .02), (.23, .03), (.24, .03), (.20, .02), (.21, .02), (.20, .02), (.20, .02),
              _N, (.21, .02)),
    "wine": ((.03, 0), (.03, 0), (.03, .01), (.03, .01), (.03, .01), (.03, 0), (.03, 0), _N,
             (.03, 0)),
    "image": ((.10, .01), (.19, .03), (.17, .03), (.13, .03), (.06, .02), (.14, .02), (.11, .02),
              (.11, .02), (.05, .01)),
    "segment": ((.19, .03), (.24, .03), (.17, .02), (.11, .03), (.05, .01), (.05, .01), (.08, .03),
                _N, (.13, .02)),
    "vehicle": ((.32, .02), (.33, .03), (.28, .02), (.34, .03), (.27, .02), (.39, .05), (.39, .05),
                _N, (.32, .04)),
    "german": ((.25, .02), (.29, .01), (.29, .02), (.25, .02), (.25, .02), (.25, .02), (.25, .02),
               (.25, .02), (.26, .02)),
    "cpuact": ((.25, .03), (.33, .12), (.28, .07), (.54, .31), (.25, .16), (.23, .06), (.27, .04),
               (.26, .04), _N),
    "ionosphere": ((.07, 0), (.07, 0), (.08, .01), (.07, 0), (.07, 0), _N, (.07, 0), (.07, 0),
                   (.07, 0)),
    "satimage": ((.22, .02), (.14, .01), (.13, .02), (.14, .02), (.13, .02), (.14, .01),
                 (.14, .02), _N, (.16, .02)),
    "spectf": ((.19, 0), (.17, 0), (.17, .01), (.19, .01), (.17, .01), (.18, 0), (.18, 0),
               (.18, 0), (.18, 0)),
    "senseval2": ((.18, .01), (.18, .01), (.18, .02), (.19, .02), (.18, .01), (.18, .01),
                  (.18, .01), _N, (.21, .01)),
    "speech": ((.01, 0), (.01, 0), (.01, 0), _N, (.01, 0), (.02, 0), (.01, 0), (.01, 0), (.03, 0)),
    "sonar": ((.23, 0), (.22, 0), (.14, .02), (.21, .02), (.16, .02), (.18, 0), (.19, 0), (.16, 0),
              (.19, 0)),
    "msd": ((.95, .06), (.94, .06), (.92, .06), (.94, .06), (.93, .06), (.97, .06), (.94, .06),
            (.92, .06), _N),
    "musk1": ((.19, .02), (.17, .02), (.14, .02), (.16, .02), (.16, .02), (.15, .02), (.18, .02),
              (.13, .01), (.19, .03)),
    "musk2": ((.09, .01), (.08, .01), (.07, .01), (.09, .01), (.08, .01), (.09, .01), (.09, .02),
              (.07, .01), (.09, .01)),
    "ctslices": ((.79, .07), _N, _N, (.64, .05), (.60, .07), (.45, .04), (.46, .02), (.41, .03),
                 (.56, .05)),
    "isolet": ((.54, .03), _N, _N, (.36, .04), (.27, .03), (.30, .03), (.30, .03), _N, (.49, .03)),
}  # fmt: skip
PAPER_TOP = dict(zip(METHODS, (3, 2, 7, 1, 11, 3, 1, 4, 2), strict=True))
LEGEND = """A cell is our mean error ± its standard error (the paper's); ↓ is below, ↑ better than
the paper by more than two standard errors. **Bold** by the paper's rule: the best, and what a
one-sided paired t-test at 5 % over the trials does not find worse. On sets of at most 400 rows the
paper's figure is that of one draw of folds: its standard error holds the deviation over draws, as
measured here with PC."""
FOLD_LUCK = "PC"  # selects the same columns in each trial of a small set: what is left is folds


def count_for(table: Shape) -> int:
    default = 4 if table.n_columns < FEW else 10 if table.n_columns < SOME else 20
    return min(K.get(table.name, default), table.n_columns)


def _rows(request: Request) -> list[tuple[str, str]]:
    """(set, method) of every cell of the table that is run."""
    methods = chosen_methods(request)
    tables = {name: shape_of(path) for name, path in paths(request).items()}
    return [(n, m) for n, table in tables.items() for m in methods if not refuses(m, table)]


def cells(request: Request) -> list[Cell]:
    """Trial after trial, so that a run that is stopped has as many of each."""
    where = paths(request)
    counts = {name: count_for(shape_of(path)) for name, path in where.items()}
    rows = _rows(request)
    trials = [
        Cell((name, method, str(seed)), partial(trial, where[name], method, counts[name], seed))
        for seed in range(request.repeats(TRIALS, QUICK_TRIALS))
        for name, method in rows
    ]
    reasons = [
        Cell((REASONS, name, method), partial(measured_reasons, where[name], method, counts[name]))
        for name, method in rows
        if method in QUESTIONED.get(name, ()) and not request.quick
    ]
    return [*trials, *reasons]


def warm_up(request: Request) -> None:
    """Each method once, on the smallest table of each task."""
    where = paths(request)
    shapes = {name: shape_of(path) for name, path in where.items()}
    size = {name: s.n_rows * s.n_columns for name, s in shapes.items()}
    rows = sorted(_rows(request), key=lambda row: size[row[0]])
    done: set[tuple[str, bool]] = set()
    for name, method in rows:
        kind = (method, shape_of(where[name]).classes)
        if kind not in done:
            done.add(kind)
            trial(where[name], method, 2, 10**6)


def report(request: Request, results: Results) -> Report:
    rows = [row for row in _rows(request) if trial_values(results, *row)]
    small = {n for n, path in paths(request).items() if shape_of(path).n_rows <= N_SAMPLES}
    compared = [_compared(results, name, method, name in small) for name, method in rows]
    figures = {(c.row, c.column): c.paper for c in compared if c.paper is not None}
    errors = {row: [answer["error"] for answer in trial_values(results, *row)] for row in rows}
    marked = {name: _bold(errors, name) for name in dict.fromkeys(name for name, _ in rows)}
    methods = list(dict.fromkeys(method for _, method in rows))
    tops = top_counts(list(marked.values()), methods)
    last = {
        "top count": {m: str(tops[m]) for m in methods},
        "top count (paper, 22 sets)": {m: str(PAPER_TOP[m]) for m in methods},
    }
    trials = request.repeats(TRIALS, QUICK_TRIALS)
    done = sorted({c.n for c in compared})
    words = " to ".join(str(n) for n in dict.fromkeys((done[0], done[-1]))) if done else "no"
    return Report(
        "Jitkrittum et al. (2013), Table 7: errors of SVC and SVR on the selected columns",
        [
            f"Protocol ({words} trials of each cell; the paper has {PAPER_TRIALS}): {PROTOCOL}",
            wide_table(compared, 3, marked=marked, last=last),
            LEGEND.replace("\n", " "),
            "## Sets and times\n" + _times(request, results),
            *reasons_section(results, figures),
        ],
        comparisons=compared,
        claims=_claims(tops, errors),
        seeds=f"0 … {trials - 1}",
        data={"bold": marked, "top_counts": tops, "protocol": "resubstitution (optimistic)"},
    )


def _compared(results: Results, name: str, method: str, small: bool) -> Comparison:
    values = [answer["error"] for answer in trial_values(results, name, method)]
    mean, error = mean_and_error(values)
    figure = PAPER[name][METHODS.index(method)] if name in PAPER else None
    paper, deviation = figure if figure else (None, 0.0)
    luck = _luck_of_folds(results, name) if small else 0.0
    paper_error = hypot(deviation / PAPER_TRIALS**0.5, luck)
    return Comparison(name, method, mean, error, len(values), paper, paper_error)


def _luck_of_folds(results: Results, name: str) -> float:
    """The deviation over draws of folds, where all of them judge the same columns."""
    values = [answer["error"] for answer in trial_values(results, name, FOLD_LUCK)]
    return stdev(values) if len(values) > 1 else 0.0


def _bold(errors: dict[tuple[str, str], list[float]], name: str) -> list[str]:
    """The trials that all methods have are paired."""
    by_method = {method: values for (data, method), values in errors.items() if data == name}
    n = min(len(values) for values in by_method.values())
    if n < 2:
        best = min(values[0] for values in by_method.values())
        return [method for method, values in by_method.items() if values[0] == best]
    return bold_face({method: values[:n] for method, values in by_method.items()})


def _times(request: Request, results: Results) -> str:
    tables = {name: shape_of(path) for name, path in paths(request).items()}
    methods = chosen_methods(request)
    lines = []
    for name, table in tables.items():
        cells = []
        for method in methods:
            seconds = [answer["seconds"] for answer in trial_values(results, name, method)]
            cells.append(seconds_in_words(median(seconds)) if seconds else "–")
        task = f"C{table.n_classes}" if table.classes else "R"
        shape = [str(table.n_columns), str(min(table.n_rows, N_SAMPLES)), str(count_for(table))]
        lines.append([f"{name} ({task})", *shape, *cells])
    return markdown_table(["data", "m", "n", "k", *methods], lines)


def _claims(tops: dict[str, int], errors: dict[tuple[str, str], list[float]]) -> Sequence[Claim]:
    names = list(dict.fromkeys(name for name, _ in errors))
    if len(tops) < len(METHODS) or len(names) < 2:
        return []
    words = ", ".join(f"{m} {n}" for m, n in sorted(tops.items(), key=lambda item: -item[1]))
    both = [n for n in names if (n, "l1-LSMI") in errors and (n, "l1-HSIC") in errors]
    better = [n for n in both if _lower(errors, n, "l1-LSMI", "l1-HSIC")]
    worse = [n for n in both if _lower(errors, n, "l1-HSIC", "l1-LSMI")]
    return [
        Claim(
            "l1-LSMI ranks top most often (11 of 22 sets)",
            tops["l1-LSMI"] == max(tops.values()),
            f"of {len(names)} sets: {words}",
        ),
        Claim(
            "LSMI gives better columns than HSIC",
            len(better) > len(worse),
            f"l1-LSMI has the smaller mean error on {len(better)} sets, l1-HSIC on {len(worse)}",
        ),
    ]


def _lower(errors: dict[tuple[str, str], list[float]], name: str, a: str, b: str) -> bool:
    return bool(np.mean(errors[name, a]) < np.mean(errors[name, b]) - 1e-12)


BENCH = Bench(
    "p-lsmi-table7", cells, report, options=("trials", "methods", "datasets"), warm_up=warm_up
)
