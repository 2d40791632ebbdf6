"""``featsieve compare``: several methods on one table, judged on rows that they have not seen."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from featsieve import __version__
from featsieve.cli.loading import load
from featsieve.cli.outcome import finite
from featsieve.cli.parser import BY_P_VALUES
from featsieve.cli.places import check_places
from featsieve.cli.progress import Bar
from featsieve.cli.render import csv_text, json_text, screen_width, text_table, width_of, wrapped
from featsieve.cli.running import FAILED, say, tell
from featsieve.cli.selecting import PERMUTATIONS, Job, build_selector, without_gaps
from featsieve.registry import find_method

SHOWN = 30
_METRICS = {
    "error_rate": "share of wrong classes",
    "unexplained": "share of the target's variance that is not explained",
}


def run(arguments: argparse.Namespace) -> int:
    from featsieve.evaluation.compare import compare

    check_places(arguments)
    # p-values play no part here but to count columns.
    arguments.permutations = PERMUTATIONS if arguments.k in BY_P_VALUES else 0
    _, job = load(arguments, most_rows=arguments.rows)
    names = dict.fromkeys(find_method(name).name for name in arguments.methods)
    selectors = {name: build_selector(job, arguments, name) for name in names}
    for selector in selectors.values():
        job = without_gaps(job, selector, arguments)
    with Bar(quiet=arguments.quiet) as bar:
        comparison = compare(
            job.split.X,
            job.split.y,
            selectors,
            cv=arguments.folds,
            n_bootstraps=arguments.samples,
            task=arguments.task,
            random_state=arguments.seed,
            n_jobs=arguments.jobs,
            resume=arguments.resume,
            callback=bar,
        )
    if all(row.failed for row in comparison.rows):
        for reason in _failures(comparison):
            say(reason)
        return FAILED
    if any(selector.get_params().get("max_time") for selector in selectors.values()):
        tell(arguments, "--max-time is the limit of each selection, not of the comparison.")
    print(_shown(comparison, job, arguments))
    return 0


def _shown(comparison: Any, job: Job, arguments: argparse.Namespace) -> str:
    if arguments.format == "json":
        return json_text(_json(comparison, job, arguments))
    if arguments.format == "csv":
        return csv_text([[*_fields(comparison.rows[0])], *(_values(r) for r in comparison.rows)])
    selections = {row.name: row.columns for row in comparison.rows if not row.failed}
    parts = [_figures(comparison), show_side_by_side(selections), wrapped(_words(comparison, job))]
    return "\n\n".join(parts)


def _json(comparison: Any, job: Job, arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        **comparison.as_dict(),
        "target": job.target,
        "n_samples": job.n_rows,
        "n_features": len(job.split.names),
        "notes": list(job.notes),
        "seed": arguments.seed,
        "version": __version__,
    }


def _fields(row: Any) -> dict[str, Any]:
    """One method as cells of a line; numbers that do not exist are empty."""
    index = row.stability
    return {
        "method": row.name,
        "error": finite(row.error),
        "standard_error": finite(row.standard_error),
        "n_selected": finite(row.n_selected),
        "stability": None if index is None else finite(index.value),
        "stability_low": None if index is None else finite(index.low),
        "stability_high": None if index is None else finite(index.high),
        "seconds": finite(row.seconds),
        "columns": ", ".join(row.columns),
        "failed": row.failed,
    }


def _values(row: Any) -> list[Any]:
    return list(_fields(row).values())


def _figures(comparison: Any) -> str:
    """Errors, counts, stability and times, the smallest error first, failures last."""
    order = sorted(comparison.rows, key=lambda row: (row.failed is not None, row.error))
    head, width = ["method", "error", "columns", "stability", "seconds"], screen_width()
    rows = [_figures_row(row) for row in order]
    table = text_table(head, rows, right="lrrrr", width=width, flexible=0)
    if width is not None and width_of(table.partition("\n")[0]) > width:
        brief = [[cell.partition(" ")[0] for cell in row] for row in rows]
        table = text_table(head, brief, right="lrrrr", width=width, flexible=0)
    return "\n".join([table, *map(wrapped, ([reason] for reason in _failures(comparison)))])


def _failures(comparison: Any) -> list[str]:
    return [f"{row.name} failed: {row.failed}" for row in comparison.rows if row.failed]


def _figures_row(row: Any) -> list[str]:
    if row.failed is not None:
        return [row.name, "failed", "–", "–", "–"]
    return [row.name, *row.figures()]


def _words(comparison: Any, job: Job) -> list[str]:
    judges = ", ".join(comparison.judges)
    lines = [
        f"error: {_METRICS[comparison.metric]}, on average over the models {judges} and "
        f"{comparison.n_folds} folds, ± its standard error; each fold selects on its training rows "
        f"alone ({job.n_rows:,} rows); columns: how many were selected in the mean",
    ]
    if comparison.n_bootstraps:
        lines.append(
            f"stability: agreement of {comparison.n_bootstraps} bootstrap samples (1: always the "
            "same columns, 0: as by chance), with its 95 % interval"
        )
    lines.append(
        "seconds: of one selection; the numbers in the second table are ranks on all rows, – is "
        "not selected"
    )
    return lines


# --- columns by method ----------------------------------------------------------------------------


def show_side_by_side(selections: Mapping[str, Sequence[str]]) -> str:
    """A table of votes, or a list per method where the terminal is too narrow for it.

    ``selections`` has the columns of each method, best first.
    """
    width = screen_width()
    table = _votes(selections, width)
    if width is None or all(width_of(line) <= width for line in table.splitlines()):
        return table
    return _lists(selections, width)


def _votes(selections: Mapping[str, Sequence[str]], width: int | None) -> str:
    """Columns that any method selected, most votes first, with the rank each method gave."""
    ranks = [{name: j + 1 for j, name in enumerate(names)} for names in selections.values()]
    names = list(dict.fromkeys(name for chosen in ranks for name in chosen))
    votes = {name: sum(name in chosen for chosen in ranks) for name in names}
    names.sort(key=lambda name: -votes[name])
    rows = [
        [name, str(votes[name]), *(str(chosen.get(name, "–")) for chosen in ranks)]
        for name in names[:SHOWN]
    ]
    right = "l" + "r" * (1 + len(selections))
    head = ["column", "votes", *selections]
    table = text_table(head, rows, right=right, width=width, flexible=0)
    rest = len(names) - SHOWN
    return f"{table}\n… and {rest:,} more columns" if rest > 0 else table


def _lists(selections: Mapping[str, Sequence[str]], width: int) -> str:
    """The selected columns of each method, for terminals too narrow for one column per method."""
    rows = [[method, ", ".join(names)] for method, names in selections.items()]
    return text_table(["method", "columns, best first"], rows, right="ll", width=width, flexible=1)
