"""What a bench reports: our figures beside the paper's, claims that hold or fail, and plots."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Verdict = Literal["better", "level", "below", ""]
LIMIT = 2.0  # standard errors


@dataclass(frozen=True)
class Comparison:
    """One cell of a paper's table, and ours.

    ``error`` and ``paper_error`` are standard errors of the two means (0 where unknown);
    ``precision`` is half a unit of the last digit that the paper prints.
    """

    row: str
    column: str
    ours: float
    error: float
    n: int
    paper: float | None = None
    paper_error: float = 0.0
    precision: float = 0.005
    larger_is_better: bool = False
    note: str = ""

    @property
    def deviation(self) -> float | None:
        return None if self.paper is None else self.ours - self.paper

    @property
    def verdict(self) -> Verdict:
        """ "below": worse than the paper by more than two standard errors of the difference."""
        if self.paper is None or math.isnan(self.ours):
            return ""
        gain = (self.ours - self.paper) * (1 if self.larger_is_better else -1)
        room = LIMIT * math.hypot(self.error, self.paper_error) + self.precision
        if abs(gain) <= room:
            return "level"
        return "better" if gain > 0 else "below"

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "deviation": self.deviation, "verdict": self.verdict}


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, whether it holds here, and what was measured."""

    text: str
    holds: bool
    measured: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        return f"- {self.text}: {'holds' if self.holds else '**does not hold**'} ({self.measured})"


@dataclass(frozen=True)
class Figure:
    """Data of a plot: one panel per title, each with its curves (x, y, error) or an image."""

    name: str
    panels: Mapping[str, Mapping[str, Any]]
    kind: Literal["curves", "image", "points"] = "curves"
    xlabel: str = ""
    ylabel: str = ""
    log: bool = False

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Report:
    """Sections of Markdown, and the same figures for programs."""

    title: str
    sections: Sequence[str]
    comparisons: Sequence[Comparison] = ()
    claims: Sequence[Claim] = ()
    figures: Sequence[Figure] = ()
    seeds: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)

    def body(self) -> list[str]:
        """The sections, then verdicts and claims."""
        parts = list(self.sections)
        if any(c.paper is not None for c in self.comparisons):
            parts.append(verdict_section(self.comparisons))
        if self.claims:
            parts.append("## Claims of the paper\n" + "\n".join(map(str, self.claims)))
        if self.seeds:
            parts.append(f"Seeds: {self.seeds}.")
        return parts

    def as_dict(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "seeds": self.seeds,
            "comparisons": [comparison.as_dict() for comparison in self.comparisons],
            "claims": [claim.as_dict() for claim in self.claims],
            "figures": [figure.as_dict() for figure in self.figures],
            **self.data,
        }


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """
    >>> print(markdown_table(["a", "b"], [["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = [header, ["---"] * len(header), *rows]
    cells = ["| " + " | ".join(line) + " |" for line in lines]
    cells[1] = cells[1].replace(" ", "")
    return "\n".join(cells)


def verdict_section(comparisons: Sequence[Comparison]) -> str:
    """How many cells are better, level and below, and every cell below with what is known of it."""
    counts = Counter(c.verdict for c in comparisons if c.verdict)
    lines = [
        "## Against the paper",
        f"Of {sum(counts.values())} cells {counts['better']} are better, {counts['level']} level "
        f"and {counts['below']} below. "
        f"A cell is below when it is worse by more than {LIMIT:.0f} standard errors of the "
        "difference (and half a unit of the paper's last digit).",
    ]
    below = [c for c in comparisons if c.verdict == "below"]
    lines += [
        f"- {c.row}, {c.column}: ours {c.ours:.4g}, paper {c.paper:.4g}, deviation "
        f"{c.deviation:+.3g}, standard error {math.hypot(c.error, c.paper_error):.2g}. "
        + (c.note or "Not explained.")
        for c in below
    ]
    return "\n".join(lines)


def comparison_table(
    comparisons: Sequence[Comparison], digits: int = 2, *, names: Sequence[str] = ("set", "method")
) -> str:
    """One line per cell: ours, the paper's, the deviation, its error and the verdict."""
    header = [*names, "ours ± error", "trials", "paper", "deviation", "error of it", "verdict"]
    rows = []
    for c in comparisons:
        spread = math.hypot(c.error, c.paper_error)
        known = c.paper is not None
        rows.append(
            [
                c.row,
                c.column,
                f"{c.ours:.{digits}f} ± {c.error:.{digits}f}",
                str(c.n),
                f"{c.paper:.{digits}f}" if known else "",
                f"{c.deviation:+.{digits}f}" if known else "",
                f"{spread:.{digits + 1}f}" if known else "",
                _shown(c.verdict),
            ]
        )
    return markdown_table(header, rows)


def _shown(verdict: str) -> str:
    return f"**{verdict}**" if verdict == "below" else verdict


def wide_table(
    comparisons: Sequence[Comparison],
    digits: int = 2,
    *,
    corner: str = "data",
    marked: Mapping[str, Sequence[str]] | None = None,
    last: Mapping[str, Mapping[str, str]] | None = None,
) -> str:
    """Rows × columns; a cell is ours ± error (paper's), in bold where ``marked``.

    A ↓ stands for "below" the paper, a ↑ for "better".
    """
    columns = list(dict.fromkeys(c.column for c in comparisons))
    cells = {(c.row, c.column): c for c in comparisons}
    rows = []
    for row in dict.fromkeys(c.row for c in comparisons):
        bold = (marked or {}).get(row, ())
        rows.append(
            [row, *(_wide(cells.get((row, name)), digits, name in bold) for name in columns)]
        )
    for name, values in (last or {}).items():
        rows.append([name, *(values.get(column, "") for column in columns)])
    return markdown_table([corner, *columns], rows)


def _wide(cell: Comparison | None, digits: int, bold: bool) -> str:
    if cell is None or math.isnan(cell.ours):
        return "–"
    ours = f"{cell.ours:.{digits}f} ± {cell.error:.{digits}f}"
    ours = f"**{ours}**" if bold else ours
    arrow = {"below": " ↓", "better": " ↑"}.get(cell.verdict, "")
    return ours + (f" ({cell.paper:.{digits}f}){arrow}" if cell.paper is not None else "")


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """The mean and its standard error; 0 for a single value.

    >>> mean_and_error([1.0, 3.0])
    (2.0, 1.0)
    """
    n = len(values)
    if n == 0:
        return math.nan, math.nan
    mean = math.fsum(values) / n
    if n == 1:
        return mean, 0.0
    variance = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    return mean, math.sqrt(variance / n)
