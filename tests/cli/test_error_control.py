"""--fdr and --stability around any method."""

from __future__ import annotations

import json
import runpy

import numpy as np
import pytest

from featsieve.cli import main


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    y = X[:, :10].sum(axis=1) + rng.normal(size=300)
    names = [f"c{j}" for j in range(20)]
    rows = [",".join(f"{value:.4f}" for value in row) for row in np.c_[X, y]]
    path = tmp_path / "t.csv"
    path.write_text("\n".join([",".join([*names, "y"]), *rows]) + "\n")
    return path


def selected(capsys, *words):
    assert main(["select", *words, "--format", "json"]) == 0
    captured = capsys.readouterr()
    return json.loads(captured.out), captured.err


def test_a_false_discovery_rate(table, capsys, tmp_path):
    code = tmp_path / "model.py"
    words = [str(table), "--target", "y", "--fdr", "0.2", "--pipeline", str(code)]
    answer, _ = selected(capsys, *words)
    assert set(answer["selected"]) >= {f"c{j}" for j in range(8)}
    assert "at most 20% of the selected columns are false" in answer["guarantee"]
    assert min(answer["scores"]) >= answer["threshold"] > 0
    selector = runpy.run_path(str(code))["selector"]
    assert selector.fdr == 0.2
    assert type(selector.selector).__name__ == answer["method"] == "LassoSelector"


def test_stability(table, capsys):
    words = [str(table), "--target", "y", "--stability", "--method", "pc"]
    answer, _ = selected(capsys, *words)
    assert len(answer["selected"]) >= 1
    assert "On average at most 0." in answer["guarantee"]
    assert "false columns are selected" in answer["guarantee"]
    assert 1 >= max(answer["scores"]) >= min(answer["scores"]) >= answer["threshold"]
    for frequency, (low, high) in zip(answer["scores"], answer["intervals"], strict=True):
        assert low <= frequency <= high


@pytest.mark.parametrize(
    ("words", "titles"),
    [
        (("--fdr", "0.2"), ["rank", "column", "W", "threshold", "adds"]),
        (("--stability",), ["rank", "column", "frequency", "95", "%", "interval", "threshold"]),
        (("--param", "n_permutations=50"), ["rank", "column", "score", "p", "adjusted", "p"]),
    ],
)
def test_figures_of_error_control_have_their_columns(table, capsys, tmp_path, words, titles):
    page = tmp_path / "r.html"
    words = (str(table), "--target", "y", "--method", "pc", *words, "--report", str(page))
    assert main(["select", *words]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0].split()[: len(titles)] == titles
    html = page.read_text(encoding="utf-8")
    if "p" not in titles:
        assert "guarantee: " in out
        assert "<b>Guarantee.</b> " in html
        assert "<th scope='col'>threshold</th>" in html
    assert f"<th scope='col'>{titles[2]}</th>" in html


def test_nothing_that_passes_is_explained(table, capsys, tmp_path):
    words = [str(table), "--target", "c19", "--fdr", "0.1", "--method", "pc"]
    answer, _ = selected(capsys, *words)
    assert answer["selected"] == []
    assert "Nothing passes at a false discovery rate of 10%" in answer["explanation"]
    page = tmp_path / "r.html"
    assert main(["select", *words, "--report", str(page)]) == 0
    assert capsys.readouterr().out.startswith("0 of 20 columns for 'c19'")
    assert "Nothing passes at" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("rule", ["bh", "by", "wy"])
def test_adjusted_p_values_decide_the_count(table, capsys, rule):
    words = [str(table), "--target", "y", "--method", "pc", "-k", rule, "--param", "alpha=0.1"]
    answer, _ = selected(capsys, *words)
    assert set(answer["selected"]) >= {f"c{j}" for j in range(8)}
    assert len(answer["selected"]) < 14
    assert answer["guarantee"].endswith("at 10%.")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--method", "mrmr"), "and MRMR has none; give --method pc, maxrel or nmiranking."),
        ((), "and AutoSelector has none; give --method pc, maxrel or nmiranking."),
        (("--method", "pc", "--fdr", "0.1"), "leave --fdr and --stability out."),
    ],
)
def test_adjusted_p_values_that_are_not_there(table, capsys, words, sentence):
    assert main(["select", str(table), "--target", "y", "-k", "bh", *words]) == 2
    assert sentence in capsys.readouterr().err


def test_two_guarantees_at_once_are_refused(table, capsys):
    assert main(["select", str(table), "--target", "y", "--fdr", "0.1", "--stability"]) == 2
    assert "give one of them" in capsys.readouterr().err


@pytest.mark.parametrize("share", ["0", "1.5", "some"])
def test_a_bad_share_is_wrong_usage(table, share, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["select", str(table), "--target", "y", "--fdr", share])
    assert stop.value.code == 2
    assert "is not a share" in capsys.readouterr().err
