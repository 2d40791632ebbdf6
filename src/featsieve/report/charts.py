"""The pictures of a report, as inline SVG."""

from __future__ import annotations

from html import escape

from featsieve.report.content import Content

SHOWN_BARS = 40
SHOWN_CELLS = 25
_STEP, _HEIGHT, _TOP = 16, 120, 4


def score_chart(content: Content) -> str:
    """Scores of the best columns as bars, and what a tree explains with the first 1, 2, … of them.

    The script moves the line ``#line`` to where the slider cuts.
    """
    shown = content.columns[:SHOWN_BARS]
    scores = [column.score for column in shown]
    known = [score for score in scores if score is not None]
    if not known and not content.explained:
        return ""
    low, high = min([0.0, *known]), max([0.0, *known])
    span = (high - low) or 1.0
    zero = _TOP + _HEIGHT * high / span
    bars = []
    for position, (column, score) in enumerate(zip(shown, scores, strict=True)):
        height = 0.0 if score is None else _HEIGHT * abs(score) / span
        top = zero if score is None or score < 0 else zero - height
        words = "no score" if score is None else f"{score:.4g}"
        bars.append(
            f"<rect class='bar {'in' if column.selected else 'out'}' x='{_STEP * position + 2}' "
            f"y='{top:.1f}' width='12' height='{height:.1f}'>"
            f"<title>{position + 1}. {escape(column.name)}: {words}</title></rect>"
        )
    width = _STEP * len(shown) + 4
    cut = _STEP * len(content.selected) + 1
    line = (
        f"<line id='line' x1='0' x2='0' y1='0' y2='{_HEIGHT + 2 * _TOP}' "
        f"transform='translate({cut} 0)'></line>"
    )
    which = f"the first {len(shown)} columns" if len(shown) > 1 else "the column"
    axis, below = "", ""
    if low < 0:
        axis = f"<line class='zero' x1='0' x2='{width}' y1='{zero:.1f}' y2='{zero:.1f}'></line>"
        below = ", negative ones below the line"
    label = f"scores of {which} in order, selected ones coloured"
    return (
        f"<svg role='img' aria-label='{label}' viewBox='0 0 {width} {_HEIGHT + 2 * _TOP}' "
        f"style='max-width:{1.6 * width:.0f}px'>{''.join(bars)}{axis}{_curve(content)}{line}</svg>"
        f"<p class='small'>Bars: {label}{below}; point at one for its name."
        f"{_curve_words(content)}</p>"
    )


def _curve(content: Content) -> str:
    if not content.explained:
        return ""
    points = [
        (_STEP * position + 8, _TOP + _HEIGHT * (1 - min(1.0, max(0.0, share))))
        for position, share in enumerate(content.explained)
    ]
    path = " ".join(f"{x},{y:.1f}" for x, y in points)
    dots = "".join(
        f"<circle cx='{x}' cy='{y:.1f}' r='2.5'><title>first {position + 1}: "
        f"{100 * content.explained[position]:.1f} % explained</title></circle>"
        for position, (x, y) in enumerate(points)
    )
    return f"<g class='curve'><polyline points='{path}'></polyline>{dots}</g>"


def _curve_words(content: Content) -> str:
    if not content.explained:
        return ""
    best = max(content.explained)
    return (
        " Line: what a simple model explains with the columns up to there, in cross-validation, "
        f"from 0 to 100 % (at most {100 * max(0.0, best):.0f} %)."
    )


def pair_map(content: Content) -> str:
    """How much pairs of the best columns share."""
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
        "<div class='side'>"
        f"<svg role='img' aria-label='rank correlation of pairs of columns' "
        f"viewBox='0 0 {14 * size} {14 * size}' style='max-width:{22 * size}px'>"
        f"{''.join(cells)}</svg><ol class='small'>{legend}</ol></div>"
        "<p class='small'>Absolute rank correlation of the best columns, on at most 2,000 rows; "
        "a strong colour is much.</p>"
    )
