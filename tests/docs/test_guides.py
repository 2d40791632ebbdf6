"""The guides, the FAQ and the equations: nothing is forgotten, nothing stays unfilled."""

from __future__ import annotations

import re

import pytest

from docs import mathml, messages
from featsieve.registry import METHODS
from tests.commands import ROOT

GUIDES = {path: path.read_text(encoding="utf-8") for path in (ROOT / "docs/guide").glob("*.md")}
FAMILIES = (
    *("ranking", "information", "quadratic", "hsic", "hsic-lasso", "lsmi", "conversion"),
    *("lasso", "svm", "relief", "spectral", "wrapper"),
)


def test_every_method_has_a_guide_that_says_what_it_costs_and_scores():
    marks = " ".join(
        m for text in GUIDES.values() for m in re.findall(r"<!-- methods: (.*?) -->", text)
    )
    covered = set(re.findall(r"\w+", marks))
    missing = [method.name for method in METHODS if method.name not in covered]
    assert not missing, f"add them to a guide: <!-- methods: {', '.join(missing)} -->"


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_has_idea_equation_picture_and_limits(family):
    text = GUIDES[ROOT / f"docs/guide/{family}.md"]
    before, limits, after = text.partition("## When it works, and when it fails")
    assert limits, "no limits"
    assert "$$" in before, "no equation"
    assert "<!-- picture: " in before, "no picture"
    assert "**Works**" in after
    assert "**Fails**" in after


def test_equations_are_drawn_by_the_browser_itself(site):
    """MathML, without scripts; no command of LaTeX is left over."""
    n_equations = 0
    for path in site.rglob("*.html"):
        html = path.read_text(encoding="utf-8")
        assert "arithmatex" not in html, path.name
        for equation in re.findall(r"<math.*?</math>", html, re.DOTALL):
            n_equations += 1
            assert "\\" not in re.sub(r"<[^>]+>", "", equation), (path.name, equation)
    assert n_equations > 50


def test_an_equation_inside_code_stays_code():
    assert mathml.typeset("<code>$x$</code>") == "<code>$x$</code>"


# --- The FAQ -------------------------------------------------------------------------------------


def test_every_message_is_found():
    texts = [message.text for message in messages.collected()]
    assert len(texts) > 250
    assert any("pip install" in text for text in texts)
    assert any(text.startswith("the target y is …") for text in texts)


def test_every_message_has_an_answer():
    """Each topic has its section, with words before the list of its messages."""
    page = (ROOT / "docs/start/faq.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"### [^\n]+\{ #([\w-]+) \}\n(.*?)(?=\n### |\Z)", page, re.DOTALL))
    assert {message.topic for message in messages.collected()} <= set(messages.TOPICS)
    assert set(sections) == set(messages.TOPICS)
    for topic, text in sections.items():
        answer, mark, _ = text.partition(f"<!-- messages: {topic} -->")
        assert mark, topic
        assert len(answer.split()) > 10, f"{topic}: no answer"


def test_the_built_page_lists_the_messages(site):
    html = (site / "start/faq.html").read_text(encoding="utf-8")
    assert "<!-- messages" not in html
    listed = re.findall(r"<li><code>", html)
    assert len(listed) >= len({message.text for message in messages.collected()}) - 5
