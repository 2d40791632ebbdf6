"""Content as HTML: one file without any address in it, a fragment for notebooks, and JSON."""

from __future__ import annotations

import json
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from featsieve.io.atomic import atomic_write
from featsieve.markup import points
from featsieve.report.charts import pair_map, score_chart
from featsieve.report.content import ColumnFacts, Content, describe

MOST_CUT = 200
MOST_SELECTED = 100
SHOWN_WHY = 200


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
        f"<title>{title}</title>\n<style>{_asset('report.css')}</style>\n</head>\n"
        f"<body class='featsieve'>\n<main>{_body(content)}</main>\n"
        f"<script>{_asset('report.js')}</script>\n</body>\n</html>\n"
    )


def fragment(content: Content) -> str:
    """A part of a page, for a notebook: the same content without search and slider."""
    parts = [_header(content), _selected(content), _near_misses(content), _notes(content)]
    parts += [_section("Scores", score_chart(content)), _shared(content), _settings(content)]
    style = f"<style>{_asset('report.css')}</style>"
    return f"<div class='featsieve'>{style}{''.join(parts)}</div>"


def _asset(name: str) -> str:
    return resources.files("featsieve.report").joinpath(name).read_text(encoding="utf-8")


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=True, separators=(",", ":"))


def _embedded(value: Any) -> str:
    """JSON inside a script element: no character of it can end the element."""
    return _json(value).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _body(content: Content) -> str:
    parts = [_header(content), _selected(content), _near_misses(content), _notes(content)]
    return "\n".join([*parts, _explorer(content), _shared(content), _settings(content)])


def _section(title: str, inner: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{inner}</section>" if inner else ""


def _header(content: Content) -> str:
    lines = [
        f"{escape(content.task)}, {content.n_rows:,} rows; <b>{escape(content.method)}</b> "
        f"({escape(content.reason or content.paper)}), {content.elapsed:.2f} s"
    ]
    if content.explained and content.selected:
        count = min(len(content.selected), len(content.explained))
        share = max(0.0, content.explained[count - 1])
        chosen = "it" if count == 1 else f"the first {count} of them"
        lines.append(
            f"With {chosen} a simple model explains {100 * share:.0f} % of "
            f"<bdi>{escape(content.target)}</bdi>, in cross-validation."
        )
    if content.guarantee and content.selected:
        lines.append(f"<b>Guarantee.</b> {escape(content.guarantee)}")
    if content.explanation:
        lines.append(f"<b>{escape(content.explanation)}</b>")
    if content.gap is not None:
        lines.append(f"At most {100 * content.gap:.1f} % below the best possible set.")
    if content.stop_reason != "completed":
        lines.append(f"<b class='warn'>Stopped early: {escape(content.stop_reason)}.</b>")
    title = f"{len(content.selected)} of {len(content.columns)} columns for "
    text = "".join(f"<p>{line}</p>" for line in lines)
    return f"<header><h1>{title}<bdi>{escape(content.target)}</bdi></h1>{text}</header>"


def _selected(content: Content) -> str:
    if not content.selected:
        return _section("Selected", "<p>No column.</p>")
    words = (
        f"<i>{escape(content.symbol.capitalize())}</i>: {escape(content.score)}. <i>Adds</i>: "
        "percentage points of what a simple model (linear, or a small tree, whichever is better) "
        "explains in cross-validation, beyond the columns above. <i>Nearest</i>: the other "
        "selected column with the largest rank correlation."
    )
    if content.threshold is not None:
        words += f" <i>Threshold</i>: a column is kept from this {escape(content.symbol)} on."
    if _is_tested(content):
        words += (
            " <i>p</i>: for the column alone; <i>adjusted p</i>: for the number of columns tested."
        )
    table = _column_table(content)
    rest = len(content.selected) - MOST_SELECTED
    if rest > 0:
        words = f"And {rest:,} more, in the table of all columns. {words}"
    return _section("Selected", f"{table}<p class='small'>{words}</p>")


def _near_misses(content: Content) -> str:
    missed = content.near_misses
    if not missed:
        return ""
    items = "".join(f"<li><bdi>{escape(c.name)}</bdi>: {escape(_why_near(c))}</li>" for c in missed)
    first = len(content.selected) + 1
    return _section("Near misses", f"<ol start='{first}'>{items}</ol>")


def _why_near(column: ColumnFacts) -> str:
    return column.why.removeprefix("near miss: ")


def _is_tested(content: Content) -> bool:
    return any(column.pvalue is not None for column in content.columns)


def _column_table(content: Content) -> str:
    """The selected columns; each of the further figures has its place where it exists."""
    columns = content.selected[:MOST_SELECTED]
    titles = ["rank", "column", content.symbol]
    titles += ["95 % interval"] if columns[0].interval is not None else []
    titles += ["threshold"] if content.threshold is not None else []
    titles += ["p", "adjusted p"] if _is_tested(content) else []
    titles += ["adds", "nearest"]
    head = "".join(f"<th scope='col'>{escape(title)}</th>" for title in titles)
    rows = ""
    for rank, column in enumerate(columns, start=1):
        cells = _cells(rank, column, content)
        rows += "<tr>" + "".join(f"<td>{cells[title]}</td>" for title in titles) + "</tr>"
    return f"<table class='plain'><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cells(rank: int, column: ColumnFacts, content: Content) -> dict[str, str]:
    near = "" if column.like is None else f"<bdi>{escape(column.like)}</bdi> ({column.shared:.2f})"
    low, high = column.interval or (0.0, 0.0)
    return {
        "rank": str(rank),
        "column": f"<bdi>{escape(column.name)}</bdi>",
        content.symbol: _number(column.score),
        "95 % interval": f"{low:.2f} to {high:.2f}",
        "threshold": _number(content.threshold),
        "p": _number(column.pvalue),
        "adjusted p": _number(column.adjusted),
        "adds": "" if column.adds is None else points(column.adds),
        "nearest": near,
    }


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _notes(content: Content) -> str:
    notes = "".join(f"<li>{escape(note)}</li>" for note in content.notes)
    return _section("Notes on the data", f"<ul>{notes}</ul>" if notes else "")


def _explorer(content: Content) -> str:
    """Chart, slider and a table of all columns that holds any number of them."""
    rows = [
        [c.name, c.score, c.pvalue, c.adjusted, int(c.selected), c.why if i < SHOWN_WHY else ""]
        for i, c in enumerate(content.columns)
    ]
    most = min(len(rows), MOST_CUT)
    cut = min(len(content.selected), most)
    return (
        f"<section><h2>All columns</h2>{score_chart(content)}<p class='controls'>"
        f"<label>Cut the order after <input id='cut' type='range' min='{min(cut, 1)}' "
        f"max='{most}' value='{cut}'></label> <output id='kept' for='cut'></output> "
        "<label>Search <input id='search' type='search' autocomplete='off'></label></p>"
        "<details><summary>Names of those kept</summary><pre id='names'></pre></details>"
        f"<div id='grid' data-score='{escape(content.symbol)}' role='table' "
        "aria-label='all columns' tabindex='0'></div>"
        "<p class='small' id='status' aria-live='polite'></p>"
        f"<script type='application/json' id='data'>{_embedded(rows)}</script></section>"
    )


def _shared(content: Content) -> str:
    groups = "".join(
        "<li>" + ", ".join(f"<bdi>{escape(name)}</bdi>" for name in group) + "</li>"
        for group in content.groups
    )
    listed = f"<p>These carry the same information:</p><ul>{groups}</ul>" if groups else ""
    return _section("What they share", listed + pair_map(content))


def _settings(content: Content) -> str:
    params = "".join(
        f"<tr><td>{escape(str(name))}</td><td>{escape(repr(value))}</td></tr>"
        for name, value in content.params.items()
    )
    again = "".join(
        f"<pre>{escape(text)}</pre>" for text in (content.command, content.code) if text
    )
    facts = (
        f"<p>featsieve {escape(content.version)}, seed {escape(str(content.seed))}, "
        f"from {escape(content.paper)}</p>"
    )
    table = f"<table class='plain'><tbody>{params}</tbody></table>" if params else ""
    return _section("Settings", facts + table) + _section("The same again", again)
