"""The registry tells everything that the docs, the command line and the report show."""

from __future__ import annotations

import re

import pytest

from featsieve import AutoSelector
from featsieve.registry import METHODS, UNKNOWN, find_method, score_of
from tests.commands import ROOT

REFERENCES = (ROOT / "docs/papers.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_entry_is_complete(method):
    assert method.family
    assert method.cost
    assert method.use
    assert method.summary
    assert method.score != UNKNOWN or method.name == "FeatureSelector"
    assert "larger is better" in str(method.score)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_source_is_in_the_reference_list(method):
    for source in method.paper.split("; "):
        if re.search(r"\d{4}", source):
            assert source in REFERENCES, source


def test_names_on_the_command_line_are_unique():
    names = [method.command_name for method in METHODS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("winner", ["JMI", "JMI 2", "what no method is called"])
def test_scores_of_a_race_are_those_of_the_winner_or_explained_as_such(winner):
    race = AutoSelector()
    race.method_ = winner
    expected = "JMI" if winner.startswith("JMI") else "AutoSelector"
    assert score_of(race) == find_method(expected).score
