"""Text tables that fit the terminal, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
import unicodedata
from collections.abc import Sequence
from typing import Any

from featsieve.cli.outcome import Outcome
from featsieve.errors import printable
from featsieve.io.writer import neutral
from featsieve.markup import points

_GAP = "  "
_SHORTEST = 8


def width_of(text: str) -> int:
    """Terminal cells that a text takes: wide letters take two, combining ones none."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)


def shorten(text: str, width: int) -> str:
    """At most ``width`` cells, the middle left out.

    >>> shorten("mean concave points", 11)
    'mean …oints'
    """
    if width_of(text) <= width:
        return text
    head, tail = (width - 1) // 2, (width - 1) - (width - 1) // 2
    short = f"{text[:head]}…{text[len(text) - tail :]}"
    while width_of(short) > width:
        short = short[:-1]
    return short


def screen_width() -> int | None:
    """Cells of a line on the terminal; None when the output goes elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def text_table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: str,
    width: int | None,
    flexible: int,
) -> str:
    """Aligned columns; the ``flexible`` one is shortened until a line fits ``width``.

    ``right`` has one letter per column: r for right-aligned numbers, l for text.
    """
    cells = [[printable(cell) for cell in row] for row in [head, *rows]]
    widths = [max(width_of(row[j]) for row in cells) for j in range(len(head))]
    if width is not None:
        rest = sum(widths) - widths[flexible] + len(_GAP) * (len(head) - 1)
        widths[flexible] = min(widths[flexible], max(_SHORTEST, width - rest))
    lines = [_line(row, widths, right) for row in cells]
    lines.insert(1, _GAP.join("-" * width for width in widths))
    return "\n".join(lines)


def _line(row: Sequence[str], widths: Sequence[int], right: str) -> str:
    padded = []
    for cell, width, side in zip(row, widths, right, strict=True):
        text = shorten(cell, width)
        space = " " * (width - width_of(text))
        padded.append(space + text if side == "r" else text + space)
    return _GAP.join(padded).rstrip()


def _number(value: float | None, digits: int = 4) -> str:
    return "–" if value is None else f"{value:.{digits}g}"


def outcome_table(outcome: Outcome, *, everything: bool = False) -> str:
    """What was selected, by which method and why."""
    shown = outcome.columns if everything else outcome.selected
    # Scores of different steps are not on one scale: a bar would compare what cannot be compared.
    bars = [""] * len(shown) if outcome.by_step else bars_of([column.score for column in shown])
    parts: list[tuple[str, str, Sequence[str]]] = [
        ("rank", "r", ["–" if c.rank is None else str(c.rank) for c in shown]),
        ("column", "l", [c.name for c in shown]),
        (outcome.symbol, "r", [_number(c.score) for c in shown]),
        ("", "l", bars),
    ]
    if outcome.has_intervals:
        parts.append(("95 % interval", "r", [_interval(c.interval) for c in shown]))
    if outcome.threshold is not None:
        parts.append(("threshold", "r", [_number(outcome.threshold)] * len(shown)))
    if outcome.has_pvalues:
        parts.append(("p", "r", [_number(c.pvalue, 3) for c in shown]))
        parts.append(("adjusted p", "r", [_number(c.adjusted, 3) for c in shown]))
    if outcome.has_gains:
        parts.append(("adds", "r", [points(c.adds) for c in shown]))
    rows = list(zip(*(cells for _, _, cells in parts), strict=True))
    right = "".join(side for _, side, _ in parts)
    head = [title for title, _, _ in parts]
    table = text_table(head, rows, right=right, width=screen_width(), flexible=1)
    words = wrapped(_summary(outcome))
    return f"{table}\n\n{words}" if shown else words


def _interval(interval: tuple[float, ...] | None) -> str:
    return "–" if interval is None else f"{interval[0]:.2f} to {interval[1]:.2f}"


def bars_of(scores: Sequence[float | None], cells: int = 8) -> list[str]:
    """A small bar per score, from the smallest (or 0) to the largest.

    >>> bars_of([4.0, 2.0, None])
    ['########', '####', '']
    """
    known = [score for score in scores if score is not None]
    low, high = min([0.0, *known]), max([0.0, *known])
    span = high - low
    return [
        "" if score is None or not span else "#" * round(cells * (score - low) / span)
        for score in scores
    ]


def _summary(outcome: Outcome) -> list[str]:
    n_chosen, n_columns = len(outcome.selected), len(outcome.columns)
    lines = [
        f"{n_chosen} of {n_columns} columns for {printable(outcome.target)!r} "
        f"({outcome.task}, {outcome.n_rows:,} rows), {outcome.elapsed:.2f} s",
        f"method: {outcome.method} ({outcome.reason})",
    ]
    if outcome.score:
        lines.append(f"{outcome.symbol}: {outcome.score}")
    if outcome.threshold is not None:
        lines.append(f"threshold: a column is kept from this {outcome.symbol} on")
    if outcome.guarantee and outcome.selected:
        lines.append(f"guarantee: {outcome.guarantee}")
    if outcome.explanation:
        lines.append(outcome.explanation)
    if outcome.has_pvalues:
        lines.append(
            "p: by permutation, for each column alone; adjusted p: for the number of columns "
            "tested (Benjamini–Hochberg)"
        )
    if outcome.has_gains:
        lines.append(
            "adds: percentage points of the target that a simple model explains in "
            "cross-validation beyond the columns above"
        )
    return lines


def wrapped(paragraphs: Sequence[str]) -> str:
    """Lines no longer than the terminal is wide."""
    import textwrap

    width = screen_width()
    if width is None:
        return "\n".join(paragraphs)
    return "\n".join(textwrap.fill(paragraph, max(width, 20)) for paragraph in paragraphs)


def outcome_csv(outcome: Outcome, *, everything: bool = False, keep_formulas: bool = False) -> str:
    shown = outcome.columns if everything else outcome.selected
    head = ["rank", "column", "index", "score", "pvalue", "adjusted", "adds", "selected"]
    rows = [
        [c.rank, c.name, c.index, c.score, c.pvalue, c.adjusted, c.adds, int(c.selected)]
        for c in shown
    ]
    return csv_text([head, *rows], keep_formulas=keep_formulas)


def csv_text(rows: Sequence[Sequence[Any]], *, keep_formulas: bool = False) -> str:
    out = io.StringIO()
    cells = [[_csv_cell(cell, keep_formulas) for cell in row] for row in rows]
    csv.writer(out, lineterminator="\n").writerows(cells)
    return out.getvalue().rstrip("\n")


def _csv_cell(cell: Any, keep_formulas: bool) -> Any:
    """A spreadsheet runs a text that begins like a formula, and a terminal obeys its escapes.

    In a pipe or a file escapes are data, and stay as they are.
    """
    if cell is None:
        return ""
    if not isinstance(cell, str):
        return cell
    text = printable(cell) if sys.stdout.isatty() else cell
    return text if keep_formulas else neutral(text)


def json_text(value: Any) -> str:
    """JSON that any program reads: no NaN, no letters beyond ASCII."""
    return json.dumps(value, indent=2, allow_nan=False)


def show_outcome(
    outcome: Outcome, style: str, *, everything: bool = False, keep_formulas: bool = False
) -> str:
    """The outcome in one of the three formats."""
    if style == "json":
        return json_text(outcome.as_json())
    if style == "csv":
        return outcome_csv(outcome, everything=everything, keep_formulas=keep_formulas)
    return outcome_table(outcome, everything=everything)
