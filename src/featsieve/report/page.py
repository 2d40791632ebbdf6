"""Content as HTML: one file without any address in it, a fragment for notebooks, and JSON."""

from __future__ import annotations

import json
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from featsieve.io.atomic import atomic_write
from featsieve.report.content import Content, describe

SHOWN_BARS = 40
SHOWN_CELLS = 25


def write(path: str | Path, content: Content | Any, X: Any = None, y: Any = None) -> None:
    """Write a report: ``.html`` a page, ``.json`` its content; whole or not at all.

    ``content`` is what :func:`describe` returned, or a fitted selector with its X and y.

    Examples
    --------
    >>> from featsieve import MRMR
    >>> from featsieve.datasets import make_and_or
    >>> from featsieve.report import describe, page
    >>> data = make_and_or(100, random_state=0)
    >>> selector = MRMR(n_features_to_select=3).fit(data.data, data.target)
    >>> page(describe(selector, data.data, data.target)).startswith("<!doctype html>")
    True
    """
    facts = content if isinstance(content, Content) else describe(content, X, y)
    text = _json(facts.as_json()) if str(path).lower().endswith(".json") else page(facts)
    with atomic_write(path) as stream:
        stream.write(text.encode())


def page(content: Content) -> str:
    """A page of its own."""
    title = escape(f"{content.method}: columns for {content.target}")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_asset('report.css')}</style>\n</head>\n<body>\n"
        f"{_body(content)}\n<script>{_asset('report.js')}</script>\n</body>\n</html>\n"
    )


def fragment(content: Content) -> str:
    """A part of a page, for a notebook: the same content without search and slider."""
    return f"<div class='featsieve'><style>{_asset('report.css')}</style>{_summary(content)}</div>"


def _asset(name: str) -> str:
    return resources.files("featsieve.report").joinpath(name).read_text(encoding="utf-8")


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=True, separators=(",", ":"))


def _embedded(value: Any) -> str:
    """JSON inside a script element: no character of it can end the element."""
    return _json(value).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _body(content: Content) -> str:
    parts = [_summary(content), _bars(content), _table(content), _redundancy(content)]
    return "<main>" + "\n".join([*parts, _settings(content)]) + "</main>"


def _summary(content: Content) -> str:
    chosen = content.selected
    rows = "".join(_chosen_row(rank, column) for rank, column in enumerate(chosen, start=1))
    notes = "".join(f"<li>{escape(note)}</li>" for note in content.notes)
    gap = (
        ""
        if content.gap is None
        else f"<p>At most {100 * content.gap:.1f} % below the best possible set.</p>"
    )
    stopped = (
        ""
        if content.stop_reason == "completed"
        else f"<p class='warn'>Stopped early: {escape(content.stop_reason)}.</p>"
    )
    return (
        f"<header><h1>{len(chosen)} of {len(content.columns)} columns for "
        f"<bdi>{escape(content.target)}</bdi></h1>"
        f"<p>{escape(content.task)}, {content.n_rows:,} rows; <b>{escape(content.method)}</b>"
        f" ({escape(content.reason or content.paper)}), {content.elapsed:.2f} s</p>{stopped}{gap}"
        f"</header><section><h2>Selected</h2><table class='plain'><thead><tr><th>rank</th>"
        f"<th>column</th><th>score</th><th>adds</th><th>nearest among the selected</th></tr>"
        f"</thead><tbody>{rows}</tbody></table>"
        f"<p class='small'>Score: {escape(content.score)}. <i>Adds</i>: percentage points of "
        "what a small tree explains in cross-validation, beyond the columns above.</p></section>"
        + (f"<section><h2>Notes on the data</h2><ul>{notes}</ul></section>" if notes else "")
    )


def _chosen_row(rank: int, column: Any) -> str:
    adds = "" if column.adds is None else f"{100 * column.adds:+.1f}"
    near = "" if column.like is None else f"<bdi>{escape(column.like)}</bdi> ({column.shared:.2f})"
    score = "" if column.score is None else f"{column.score:.4g}"
    return (
        f"<tr><td>{rank}</td><td><bdi>{escape(column.name)}</bdi></td><td>{score}</td>"
        f"<td>{adds}</td><td>{near}</td></tr>"
    )


def _bars(content: Content) -> str:
    """Scores of the best columns as bars, drawn as SVG."""
    shown = [column for column in content.columns[:SHOWN_BARS] if column.score is not None]
    if not shown:
        return ""
    scores = [column.score for column in shown if column.score is not None]
    low, high = min(0.0, *scores), max(0.0, *scores)
    span = (high - low) or 1.0
    rects = []
    for place, (column, score) in enumerate(zip(shown, scores, strict=True)):
        height = 120 * (score - low) / span
        kind = "in" if column.selected else "out"
        rects.append(
            f"<rect class='{kind}' x='{16 * place + 2}' y='{124 - height:.1f}' width='12' "
            f"height='{height:.1f}'><title>{escape(column.name)}: {score:.4g}</title></rect>"
        )
    width = 16 * len(shown) + 4
    label = f"Scores of the first {len(shown)} columns, selected ones dark"
    return (
        f"<section><h2>Scores</h2><svg role='img' aria-label='{label}' viewBox='0 0 {width} 128' "
        f"style='max-width:{1.6 * width:.0f}px'>{''.join(rects)}</svg>"
        f"<p class='small'>{label}; point at a bar for its name.</p></section>"
    )


def _table(content: Content) -> str:
    rows = [
        [c.name, c.score, c.pvalue, c.adjusted, int(c.selected), c.why if i < SHOWN_WHY else ""]
        for i, c in enumerate(content.columns)
    ]
    count = len(content.selected)
    most = min(len(rows), 200)
    return (
        "<section><h2>All columns</h2><p class='controls'>"
        "<label>Search <input id='search' type='search' autocomplete='off'></label> "
        f"<label>Cut after <input id='cut' type='range' min='1' max='{most}' "
        f"value='{min(count, most) or 1}'></label> <output id='kept'></output></p>"
        "<div id='grid' role='table' aria-label='all columns' tabindex='0'></div>"
        "<p class='small' id='status' aria-live='polite'></p>"
        f"<script type='application/json' id='data'>{_embedded(rows)}</script></section>"
    )


SHOWN_WHY = 200


def _redundancy(content: Content) -> str:
    """A map of pairs: how much the best columns share."""
    size = min(SHOWN_CELLS, len(content.compared))
    if size < 2:
        return ""
    cells = []
    for i in range(size):
        for j in range(size):
            value = content.redundancy[i][j]
            title = f"{content.compared[i]} and {content.compared[j]}: {value:.2f}"
            cells.append(
                f"<rect x='{14 * j}' y='{14 * i}' width='13' height='13' class='cell' "
                f"fill-opacity='{value:.2f}'><title>{escape(title)}</title></rect>"
            )
    legend = "".join(f"<li><bdi>{escape(name)}</bdi></li>" for name in content.compared[:size])
    return (
        "<section><h2>What they share</h2><div class='side'>"
        f"<svg role='img' aria-label='rank correlation of pairs of columns' "
        f"viewBox='0 0 {14 * size} {14 * size}' style='max-width:{22 * size}px'>"
        f"{''.join(cells)}</svg><ol class='small'>{legend}</ol></div>"
        "<p class='small'>Absolute rank correlation of the best columns, on at most 2,000 rows; "
        "dark is much.</p></section>"
    )


def _settings(content: Content) -> str:
    params = "".join(
        f"<tr><td>{escape(str(name))}</td><td>{escape(repr(value))}</td></tr>"
        for name, value in content.params.items()
    )
    command = f"<pre>{escape(content.command)}</pre>" if content.command else ""
    code = f"<pre>{escape(content.code)}</pre>" if content.code else ""
    return (
        f"<section><h2>Settings</h2><p>featsieve {escape(content.version)}, seed "
        f"{escape(str(content.seed))}, from {escape(content.paper)}</p>"
        f"<table class='plain'><tbody>{params}</tbody></table>"
        + (f"<h2>The same again</h2>{command}{code}" if command or code else "")
        + "</section>"
    )
