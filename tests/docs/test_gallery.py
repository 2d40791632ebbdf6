"""The gallery: every example runs (the build of the docs runs them) and shows its picture."""

from __future__ import annotations

import re

import pytest

from docs import gallery
from tests.commands import ROOT


def test_every_script_is_in_the_gallery():
    scripts = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert scripts == set(gallery.NAMES)
    assert len(scripts) >= 12


@pytest.mark.parametrize("name", gallery.NAMES)
def test_an_example_has_its_page_with_picture_output_and_code(site, name):
    html = (site / f"gallery/{name}.html").read_text(encoding="utf-8")
    picture = re.search(r'<figure class="picture"><svg role="img".*?</svg>', html, re.DOTALL)
    assert picture, "no picture"
    assert picture[0].count("<path") > 5, "an empty picture"
    assert "currentColor" in picture[0], "the ink does not follow the page"
    assert "It prints" in html
    assert f"examples/{name}.py" in html


def test_pictures_are_small(site):
    """A page with all pictures opens quickly."""
    assert (site / "gallery/index.html").stat().st_size < 2_000_000


def test_pictures_on_one_page_do_not_share_names(site):
    html = (site / "gallery/index.html").read_text(encoding="utf-8")
    inside = re.findall(r'<figure class="picture">.*?</figure>', html, re.DOTALL)
    ids = [name for svg in inside for name in set(re.findall(r'\bid="([^"]+)"', svg))]
    assert len(inside) == len(gallery.NAMES)
    assert len(ids) == len(set(ids))


def test_numbers_in_pictures_stay_as_they_were_written():
    path = re.search(r'(?<= d=")[^"]+', '<path d="M 1.2345 2.5 \nL 3.999 4"/>')
    assert gallery._shorter(path) == "M 1.23 2.5 L 3.99 4"


def test_an_example_that_fails_says_so(tmp_path, monkeypatch):
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples/broken.py").write_text("def main():\n    raise ValueError('broken')\n")
    monkeypatch.setattr(gallery, "ROOT", tmp_path)
    with pytest.raises(ValueError, match="broken"):
        gallery.run("broken")
