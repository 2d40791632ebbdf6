"""Equations as MathML, which browsers draw themselves: no script, no font and no network."""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert

# What pymdownx.arithmatex leaves of $…$ and $$…$$.
MARKED = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<latex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL
)


def typeset(page: str) -> str:
    """
    >>> typeset('<p>so <span class="arithmatex">\\\\(x^2\\\\)</span></p>')[:35]
    '<p>so <math xmlns="http://www.w3.org'
    """
    return MARKED.sub(_equation, page)


def _equation(match: re.Match[str]) -> str:
    latex = html.unescape(match["latex"]).strip()
    block = match["tag"] == "div"
    drawn = convert(latex, display="block" if block else "inline")
    return f'<div class="equation">{drawn}</div>' if block else drawn
