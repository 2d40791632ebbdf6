"""What the README opens with: pictures that exist, are small and show what the tool says."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from docs import recording
from tests.commands import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(set(re.findall(r'src(?:set)?="([^"]+)"', README))))
def test_a_picture_of_the_readme_is_there_and_small(path):
    assert 0 < (ROOT / path).stat().st_size < 100_000


def test_the_pictures_come_before_the_commands():
    first_command = README.index("```sh")
    assert README.index("report-light.png") < first_command
    assert README.index("terminal.svg") < first_command


def test_the_recording_shows_the_command_that_its_script_runs():
    svg = ElementTree.parse(recording.PICTURES / "terminal.svg")
    texts = [node.text or "" for node in svg.iter("{http://www.w3.org/2000/svg}text")]
    joined = re.sub(r"\s+", " ", " ".join(texts))
    assert joined.startswith("$ " + recording.COMMAND)
    assert "featsieve: wrote report.html" in joined


def test_a_recording_is_text_whatever_it_contains():
    svg = recording.as_svg(
        recording.Recording("featsieve x", ["<b>&amp;", "featsieve: " + "w " * 99])
    )
    texts = [node.text for node in ElementTree.fromstring(svg).iter() if node.tag.endswith("text")]
    assert texts[:2] == ["$ featsieve x", "<b>&amp;"]
    assert len(texts) == 5
    assert svg.count('class="line note"') == 3
