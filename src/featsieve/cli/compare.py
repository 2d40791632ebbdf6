"""``featsieve compare``: several methods on one table, side by side."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from featsieve.cli.loading import load
from featsieve.cli.outcome import Outcome
from featsieve.cli.render import csv_text, json_text, screen_width, text_table, width_of, wrapped
from featsieve.cli.running import FAILED, explain, say
from featsieve.cli.selecting import run_method


def run(arguments: argparse.Namespace) -> int:
    _, job = load(arguments)
    outcomes: list[Outcome] = []
    for name in dict.fromkeys(arguments.methods):
        try:
            outcomes.append(run_method(job, arguments, name))
        except (ValueError, TimeoutError, MemoryError) as error:
            say(f"{name} failed: {explain(error)}")
    if not outcomes:
        return FAILED
    print(_shown(outcomes, arguments.format))
    return 0


def _shown(outcomes: Sequence[Outcome], style: str) -> str:
    if style == "json":
        return json_text([outcome.as_json() for outcome in outcomes])
    if style == "csv":
        head = ["method", "seconds", "rank", "column", "score", "pvalue"]
        return csv_text([head, *(row for outcome in outcomes for row in _long(outcome))])
    return f"{show_side_by_side(outcomes)}\n\n{wrapped([_times(outcomes)])}"


def _long(outcome: Outcome) -> list[list[object]]:
    return [
        [outcome.method, round(outcome.elapsed, 3), c.rank, c.name, c.score, c.pvalue]
        for c in outcome.selected
    ]


def _votes(outcomes: Sequence[Outcome], width: int | None) -> str:
    """Columns that any method selected, most votes first, with the rank each method gave."""
    ranks = [{c.name: c.rank for c in outcome.selected} for outcome in outcomes]
    names = list(dict.fromkeys(name for chosen in ranks for name in chosen))
    votes = {name: sum(name in chosen for chosen in ranks) for name in names}
    names.sort(key=lambda name: -votes[name])
    rows = [
        [name, str(votes[name]), *(str(chosen.get(name, "–")) for chosen in ranks)]
        for name in names
    ]
    head = ["column", "votes", *(outcome.method for outcome in outcomes)]
    right = "l" + "r" * (1 + len(outcomes))
    return text_table(head, rows, right=right, width=width, flexible=0)


def _lists(outcomes: Sequence[Outcome], width: int) -> str:
    """The selected columns of each method, for terminals too narrow for one column per method."""
    rows = [[o.method, ", ".join(c.name for c in o.selected)] for o in outcomes]
    return text_table(["method", "columns, best first"], rows, right="ll", width=width, flexible=1)


def show_side_by_side(outcomes: Sequence[Outcome]) -> str:
    """A table of votes, or a list per method where the terminal is too narrow for it."""
    width = screen_width()
    table = _votes(outcomes, width)
    if width is None or all(width_of(line) <= width for line in table.splitlines()):
        return table
    return _lists(outcomes, width)


def _times(outcomes: Sequence[Outcome]) -> str:
    spent = ", ".join(f"{outcome.method} {outcome.elapsed:.2f} s" for outcome in outcomes)
    return f"the numbers are ranks, – is not selected; {spent}"
