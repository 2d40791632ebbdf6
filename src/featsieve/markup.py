"""Small tables for notebooks, as HTML; every text is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_STYLE = "text-align:left;padding:.15em .8em .15em 0;border-bottom:1px solid rgba(128,128,128,.35)"


def html_table(
    title: str, head: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str] = ()
) -> str:
    """A titled table with lines of text below.

    >>> page = html_table("2 of 3", ["column"], [["<i>"]])
    >>> "<td" in page, "<i>" in page, "&lt;i&gt;" in page
    (True, False, True)
    """
    cells = "".join(f"<th scope='col' style='{_STYLE}'>{escape(name)}</th>" for name in head)
    lines = "".join(
        "<tr>" + "".join(f"<td style='{_STYLE}'><bdi>{escape(c)}</bdi></td>" for c in row) + "</tr>"
        for row in rows
    )
    below = "".join(f"<div style='opacity:.75'>{escape(note)}</div>" for note in notes)
    return (
        f"<div class='featsieve-result'><b>{escape(title)}</b>"
        f"<table style='border-collapse:collapse'><thead><tr>{cells}</tr></thead>"
        f"<tbody>{lines}</tbody></table>{below}</div>"
    )


def points(share: float | None) -> str:
    """Percentage points with their sign; what rounds to zero has none.

    >>> points(0.1234), points(-0.0001), points(None)
    ('+12.3', '0.0', '–')
    """
    shown = "–" if share is None else f"{100 * share:+.1f}"
    return "0.0" if shown in ("+0.0", "-0.0") else shown


def short_number(value: float | None) -> str:
    """Four digits, and a dash for what is not there.

    >>> short_number(0.123456), short_number(None), short_number(float("nan"))
    ('0.1235', '–', '–')
    """
    return "–" if value is None or value != value else f"{value:.4g}"
