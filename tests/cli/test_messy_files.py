"""Messy files: for each the expected notes and the expected selection; no silent wrong answer."""

from __future__ import annotations

import json

import pytest

from featsieve.cli.parser import FIXES
from tests.cli.messy import CASES, SIGNAL, N, Y, rows, table


@pytest.mark.parametrize("name", CASES)
def test_notes_and_selection(run, tmp_path, name):
    case = CASES[name]
    path = case.put(tmp_path)
    method = () if "--method" in case.words else ("--method", "pc")
    words = (
        "select",
        path,
        "--target",
        case.target,
        "-k",
        1,
        "--format",
        "json",
        *method,
        *case.words,
    )
    code, out, err = run(*words)
    assert code == 0, err
    answer = json.loads(out)
    assert tuple(answer["selected"]) == case.selected
    for note in case.notes:
        assert note in err
        assert any(note in line for line in answer["notes"])
    assert len(answer["notes"]) == len(case.notes), answer["notes"]


FIXED = {
    "numbers": "decimal commas",
    "dates": "iso dates",
    "empty": "empty",
    "target": "gap in the target",
    "states": "many states",
    "header": "header under --no-header",
    "encoding": "utf-16",
    "layout": "comments before",
    "names": "repeated names",
    "codes": "post codes",
    "rows": "totals row",
    "spelling": "classes of several spellings",
}


def test_every_fix_has_a_case():
    assert set(FIXED) == set(FIXES)


@pytest.mark.parametrize("fix", FIXED)
def test_strict_refuses_what_would_be_put_right(run, tmp_path, fix):
    case = CASES[FIXED[fix]]
    path = case.put(tmp_path)
    words = ("select", path, "--target", case.target, "-k", 1, "--method", "pc", *case.words)
    code, out, err = run(*words, "--strict")
    assert (code, out) == (1, "")
    assert "--strict refuses" in err


@pytest.mark.parametrize("fix", FIXED)
def test_a_fix_can_be_switched_off(run, tmp_path, fix):
    case = CASES[FIXED[fix]]
    path = case.put(tmp_path)
    _, _, err = run(
        "select", path, "--target", case.target, "-k", 1, "--method", "pc", "--no-fix", fix
    )
    assert case.notes[0] not in err


def test_too_many_classes_name_the_task(run, tmp_path):
    (tmp_path / "t.csv").write_text(rows(a=SIGNAL, y=[f"k{j}" for j in range(N)]))
    code, out, err = run("select", tmp_path / "t.csv", "--target", "y", "-k", 1)
    assert (code, out) == (1, "")
    assert "has 120 distinct values in 120 rows, too many for classes; give --task" in err


def test_compare_survives_the_failure_of_one_method(run, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise TimeoutError("max_time passed before the first answer was ready")

    monkeypatch.setattr("featsieve.methods.information.JMI.fit", fail)
    (tmp_path / "t.csv").write_text(table())
    words = ("compare", tmp_path / "t.csv", "--target", "y", "-k", 1, "--methods", "jmi,pc")
    code, out, _ = run(*words, "--folds", 2, "--samples", 0)
    assert code == 0
    assert "PearsonRanking  0." in out
    assert "JMI                    failed" in out
    assert "JMI failed: max_time passed" in out


def test_escapes_in_names_never_reach_the_terminal(run, tmp_path):
    (tmp_path / "t.csv").write_text(rows(**{"a\x1b[31m": SIGNAL, "b\x1b]0;x\x07": [1] * N, "y": Y}))
    code, out, err = run("select", tmp_path / "t.csv", "--target", "y", "-k", 1, "--method", "pc")
    assert code == 0
    assert "\x1b" not in out + err
    assert "\\x1b" in out
    assert "\\x1b" in err
