"""The docs site builds without a warning, and says what the code says."""

from __future__ import annotations

import importlib.util
import re
from html.parser import HTMLParser

import pytest
from docs.tables import README, readme_with_table

from featsieve import __all__ as exported
from featsieve.measures import MEASURES
from featsieve.registry import METHODS
from featsieve.searches import SEARCHES
from tests.commands import ROOT


class Page(HTMLParser):
    """The visible words, the anchors and the addresses of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.fetched: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors.add(given.get("id") or "")
        source = given.get("src") or (given.get("href") if tag == "link" else None)
        self.fetched.append(source or "")

    def handle_data(self, data: str) -> None:
        self.text += data


def read_page(site, name: str) -> Page:
    return Page((site / name).read_text(encoding="utf-8"))


def test_every_exported_name_is_in_the_api_reference(site):
    anchors = read_page(site, "api/selectors.html").anchors
    documented = {anchor.rpartition(".")[2] for anchor in anchors}
    assert {name for name in exported if not name.startswith("__")} <= documented


@pytest.mark.parametrize(("page", "names"), [("measures", MEASURES), ("searches", SEARCHES)])
def test_every_measure_and_search_is_in_the_api_reference(site, page, names):
    anchors = read_page(site, f"api/{page}.html").anchors
    assert {f"{module}.{name}" for name, module in names.items()} <= anchors


def test_the_method_page_has_every_method_in_each_of_its_tables(site):
    html = (site / "methods.html").read_text(encoding="utf-8")
    for method in METHODS:
        link = f'href="api/selectors.html#{method.module}.{method.name}"'
        assert html.count(link) == 5, method.name


def test_no_table_mark_is_left_unfilled(site):
    for path in site.rglob("*.html"):
        assert "<!-- table:" not in path.read_text(encoding="utf-8"), path.name


def test_the_search_works_from_disk(site):
    """Browsers load no worker from disk: the index and the stand-in for the worker are scripts."""
    assert (site / "search/search_index.js").exists()
    assert (site / "worker.js").exists()
    assert 'src="worker.js"' in (site / "index.html").read_text(encoding="utf-8")
    assert 'src="../worker.js"' in (site / "guide/hsic.html").read_text(encoding="utf-8")


def test_pages_fetch_nothing_from_the_web(site):
    for path in site.rglob("*.html"):
        remote = [a for a in Page(path.read_text("utf-8")).fetched if re.match(r"(https?:)?//", a)]
        assert remote == [], path.name


def test_the_readme_has_the_method_table_of_the_registry():
    text = README.read_text(encoding="utf-8")
    assert text == readme_with_table(text), "write it again with: python -m docs.tables"


def load_script(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_ci_runs_the_second_shell_block_of_the_readme():
    shell_block = load_script(ROOT / ".ci/readme_block.py").shell_block
    text = README.read_text(encoding="utf-8")
    assert "featsieve demo" in shell_block(text, 1)
    assert '".[test]"' in shell_block(text, 2)
    assert shell_block(text, 2).rstrip().endswith("-m pytest -n 2")
    with pytest.raises(SystemExit, match="no shell block 9"):
        shell_block(text, 9)
