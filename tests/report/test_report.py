"""The report: what it says, and that names are text whatever they contain."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from featsieve import L1LSMI, MRMR, GlobalCMI, PearsonRanking
from featsieve.datasets import make_and_or
from featsieve.errors import InputError
from featsieve.registry import METHODS
from featsieve.report import describe, fragment, page, write
from featsieve.report.content import ColumnFacts, Content
from tests.commands import ROOT
from tests.estimators import method_ids, quick_selector

HOSTILE = [
    "<script>alert(1)</script>",
    "\"quotes\" and 'quotes'",
    "emoji 🙂",
    "שלום עולם",
    "n" * 300,
    "</script><img src=x onerror=alert(2)>",
]


@pytest.fixture(scope="module")
def fitted():
    data = make_and_or(200, random_state=0)
    return MRMR(n_features_to_select=3).fit(data.data, data.target), data.data, data.target


def test_content_is_plain_and_complete(fitted):
    content = describe(*fitted, target="y", notes=("a note",), command="featsieve select t.csv")
    answer = json.loads(json.dumps(content.as_json(), allow_nan=False))
    assert [c["name"] for c in answer["columns"] if c["selected"]] == [
        f"x{j}" for j in fitted[0].indices_
    ]
    assert len(answer["columns"]) == 10
    assert len(answer["redundancy"]) == 10
    assert answer["columns"][0]["why"].startswith("selected; adds")


def test_a_copy_is_left_out_with_its_reason():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    X[:, 2] = X[:, 0] + 0.01 * rng.normal(size=200)
    y = X[:, 0] + X[:, 1]
    selector = MRMR(n_features_to_select=2).fit(X, y)
    content = describe(selector, X, y)
    assert "carries the same information" in content.columns[2].why


def test_the_gap_of_a_global_answer_is_told():
    data = make_and_or(200, random_state=0)
    selector = GlobalCMI(n_features_to_select=3, random_state=0).fit(data.data, data.target)
    assert "below the best possible set" in page(describe(selector, data.data, data.target))


def test_names_are_text(fitted):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, len(HOSTILE))), columns=HOSTILE)
    selector = PearsonRanking(n_features_to_select=3).fit(X, X.iloc[:, 0] + rng.normal(size=60))
    html = page(describe(selector, X, X.iloc[:, 0], target="<b>y</b>", notes=("<i>note</i>",)))
    for name in ("<script>alert(1)", "<img src=x", "<b>y</b>", "<i>note"):
        assert name not in html
    rows = json.loads(re.search(r"id='data'>(.*?)</script>", html, re.DOTALL)[1])
    assert {row[0] for row in rows} == set(HOSTILE)


def test_formats(fitted, tmp_path):
    write(tmp_path / "r.html", *fitted)
    write(tmp_path / "r.json", *fitted)
    assert json.loads((tmp_path / "r.json").read_text())["method"] == "MRMR"
    assert "http" not in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert fragment(describe(*fitted)).startswith("<div")


@pytest.mark.parametrize("method", METHODS, ids=method_ids)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_method_can_be_reported(method):
    data = make_and_or(60, random_state=0)
    selector = quick_selector(method, n_features_to_select=2).fit(data.data, data.target)
    content = describe(selector, data.data, data.target)
    n_selected = len(selector.indices_)
    if not hasattr(selector, "guarantee_"):  # there as many as pass
        assert n_selected == 2
    assert len(content.selected) == n_selected
    assert f"<h1>{n_selected} of 10 columns" in page(content)


def large_page(n_columns=20_000):
    rng = np.random.default_rng(0)
    names = [*HOSTILE, *(f"c{j}" for j in range(n_columns - len(HOSTILE)))]
    X = pd.DataFrame(rng.normal(size=(40, n_columns)), columns=names)
    selector = PearsonRanking(n_features_to_select=10).fit(X, X.iloc[:, 0] + rng.normal(size=40))
    return page(describe(selector, X, X.iloc[:, 0]))


BROWSER = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def large():
    return large_page()


def test_a_large_page_stays_small(large):
    assert len(large.encode()) <= 2_000_000


@pytest.mark.skipif(BROWSER is None, reason="needs Debian's package chromium")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_works_in_a_browser(tmp_path, large, scheme):
    """Search, sorting and slider act, also by keyboard; nothing is fetched, no error is logged."""
    probe = (ROOT / "tests/report/probe.js").read_text(encoding="utf-8")
    path: Path = tmp_path / "r.html"
    html = large.replace("<main>", f"<script>{probe}</script><main>", 1)
    path.write_text(html, encoding="utf-8")
    words = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'u'}"]
    words += [f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}"]
    done = subprocess.run(
        [BROWSER, *words, "--virtual-time-budget=20000", "--dump-dom", path.as_uri()],
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )
    answers = json.loads(re.search(r"<pre id=\"probe\">(.*?)</pre>", done.stdout, re.DOTALL)[1])
    del answers["seconds"]  # benchmarks/waiting.py measures it on a quiet machine
    assert answers == {
        "errors": [],
        "rows": "20000 of 20000 columns shown",
        "searched": "1 of 20000 columns shown",
        "sorted": True,
        "announced": "ascending",
        "kept": 3,
        "bars": 3,
        "names": 3,
        "unreachable": 0,
        "nameless": 0,
        "contrast": True,
        "texts": True,
        "requests": 0,
        "alerts": 0,
    }


def test_near_misses_groups_and_reasons_are_told():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 8)), columns=list("abcdefgh"))
    X["copy of a"] = X["a"] + 0.01 * rng.normal(size=300)
    y = X["a"] + 0.5 * X["b"] + 0.2 * X["c"] + 0.1 * rng.normal(size=300)
    content = describe(PearsonRanking(n_features_to_select=2).fit(X, y), X, y)
    assert {c.name for c in content.selected} == {"a", "copy of a"}
    assert content.groups == [("a", "copy of a")] or content.groups == [("copy of a", "a")]
    assert "much the same as" in content.selected[0].why
    assert content.near_misses[0].name == "b"
    assert content.near_misses[0].why.startswith("near miss: among the next in order; would add")
    assert content.explained[2] > content.explained[1] + 0.1  # b adds, the copy does not
    html = page(content)
    assert "<h2>Near misses</h2>" in html
    assert "These carry the same information" in html


def test_no_near_misses_where_the_rest_has_no_order():
    data = make_and_or(200, random_state=0)
    selector = L1LSMI(n_features_to_select=4, n_init=2, random_state=0)
    content = describe(selector.fit(data.data, data.target), data.data, data.target)
    assert content.near_misses == []


def test_many_selected_columns_stay_a_short_table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 500))
    selector = PearsonRanking(n_features_to_select=300).fit(X, X[:, 0])
    html = page(describe(selector, X, X[:, 0]))
    assert html.count("<tr>") < 150
    assert "And 200 more, in the table of all columns." in html


def test_a_report_is_about_the_fitted_table(fitted):
    selector, X, y = fitted
    with pytest.raises(NotFittedError):
        describe(MRMR(), X, y)
    with pytest.raises(InputError, match=r"X has 2 columns, but the selector was fitted on 10"):
        describe(selector, X[:, :2], y)
    with pytest.raises(InputError, match=r"X has 200 rows and y has 5: inconsistent"):
        describe(selector, X, y[:5])


def content_of(scores, selected):
    columns = [
        ColumnFacts(f"c{j}", score, selected=j in selected) for j, score in enumerate(scores)
    ]
    return Content("y", "regression", 9, tuple(columns), "PearsonRanking")


def test_an_empty_answer_keeps_no_column_in_the_explorer():
    html = page(content_of([0.3, 0.1], ()))
    assert "type='range' min='0' max='2' value='0'" in html
    assert "class='bar in'" not in html
    assert "type='range' min='1' max='2' value='1'" in page(content_of([0.3, 0.1], (0,)))


def test_bars_of_the_chart_begin_at_zero():
    html = page(content_of([3.0, 0.0, -1.0], (0,)))
    tops, heights = (
        [float(value) for value in re.findall(rf"class='bar \w+' .*?{name}='([\d.]+)'", html)]
        for name in (" y", "height")
    )
    assert heights == [90.0, 0.0, 30.0]
    assert tops == [4.0, 94.0, 94.0]
    assert "<line class='zero' x1='0' x2='52' y1='94.0' y2='94.0'>" in html
    assert "<line class='zero'" not in page(content_of([3.0, 0.0], (0,)))
