"""Messy files: for each the expected notes and the expected selection; no silent wrong answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

N = 120


@dataclass(frozen=True)
class Messy:
    """A file, what must be noted, and what must be selected."""

    write: Callable[[], str]
    notes: tuple[str, ...]
    selected: tuple[str, ...]
    words: tuple[str, ...] = ()
    name: str = "t.csv"
    target: str = "y"


RNG = np.random.default_rng(0)
SIGNAL, NOISE = RNG.normal(size=N), RNG.normal(size=N)
Y = 2 * SIGNAL + 0.3 * RNG.normal(size=N)
CLASSES = np.where(Y > 0, "yes", "no")


def rows(delimiter=",", header=True, **columns):
    lines = [delimiter.join(columns)] if header else []
    lines += [delimiter.join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    return "\n".join(lines) + "\n"


def table(**more):
    return rows(**({"a": SIGNAL, "b": NOISE} | more | {"y": more.get("y", Y)}))


def comma(values):
    return [f"{v:.4f}".replace(".", ",") for v in values]


def dotted(values):
    return [f'"{v:,.2f}"' for v in values]


def gaps(values, every=10):
    return ["" if j % every == 0 else v for j, v in enumerate(values)]


CASES = {
    "clean": Messy(lambda: table(), (), ("a",)),
    "decimal commas": Messy(
        lambda: rows(";", a=comma(SIGNAL), b=comma(NOISE), y=comma(Y)),
        ("'a' holds numbers written as text", "'y' holds numbers"),
        ("a",),
    ),
    "decimal commas in tabs": Messy(
        lambda: rows("\t", a=comma(SIGNAL), b=comma(NOISE), y=comma(Y)),
        ("'a' holds numbers written as text",),
        ("a",),
        name="t.tsv",
    ),
    "thousands": Messy(
        lambda: rows(a=dotted(SIGNAL * 1e4), b=NOISE, y=Y), ("'a' holds numbers",), ("a",)
    ),
    "euro thousands": Messy(
        lambda: rows(";", a=[f"{v:,.0f}".replace(",", ".") for v in SIGNAL * 1e7], b=NOISE, y=Y),
        ("'a' holds numbers",),
        ("a",),
    ),
    "percent": Messy(
        lambda: rows(a=[f"{v:.2f}%" for v in SIGNAL], b=NOISE, y=Y), ("'a' holds numbers",), ("a",)
    ),
    "currency": Messy(
        lambda: rows(a=[f"${v:.2f}" for v in SIGNAL + 9], b=NOISE, y=Y),
        ("'a' holds numbers",),
        ("a",),
    ),
    "words for gaps": Messy(
        lambda: rows(
            a=["unknown" if j % 20 == 0 else v for j, v in enumerate(SIGNAL)], b=NOISE, y=Y
        ),
        ("unreadable cells as missing", "missing or infinite cells were filled in"),
        ("a",),
    ),
    "row id": Messy(lambda: table(row_id=range(N)), ("'row_id': a different value",), ("a",)),
    "text id": Messy(
        lambda: table(code=[f"k{j}" for j in range(N)]), ("'code': a different value",), ("a",)
    ),
    "copy of the target": Messy(
        lambda: table(price=3 * Y), ("'price': tells the target exactly",), ("price",)
    ),
    "monotone copy": Messy(
        lambda: table(rank=np.exp(Y)),
        ("'rank': tells the target exactly",),
        ("rank",),
        ("--method", "maxrel", "--param", "target_discretizer=quantile"),
    ),
    "class leak": Messy(
        lambda: rows(a=SIGNAL, code=np.where(Y > 0, 7, 3), y=CLASSES),
        ("'code': tells the target exactly",),
        ("code",),
    ),
    "constant": Messy(lambda: table(c=[5] * N), ("'c': the same value",), ("a",)),
    "empty": Messy(lambda: table(c=[""] * N), ("'c': no value at all",), ("a",)),
    "duplicate": Messy(lambda: table(c=SIGNAL), ("'c' is a copy of 'a'",), ("a",)),
    "imbalance": Messy(
        lambda: rows(a=SIGNAL, b=NOISE, y=["x" if v > np.sort(Y)[-4] else "z" for v in Y]),
        ("the rarest of 2 classes has 3 of 120 rows",),
        ("a",),
    ),
    "iso dates": Messy(
        lambda: table(day=np.datetime64("2020-01-01") + RNG.integers(0, 900, N)),
        ("'day': dates were read as numbers of days",),
        ("a",),
    ),
    "date that matters": Messy(
        lambda: rows(
            day=np.datetime64("2020-01-01") + np.round(100 * (SIGNAL + 5)).astype(int), b=NOISE, y=Y
        ),
        ("'day': dates",),
        ("day",),
    ),
    "timestamps": Messy(
        lambda: table(at=[f"2020-01-{1 + j % 28:02d} 10:00:00" for j in range(N)]),
        ("'at': dates",),
        ("a",),
    ),
    "gap in the target": Messy(
        lambda: table(y=gaps(Y)), ("12 of 120 rows have no target",), ("a",)
    ),
    "gaps in columns": Messy(
        lambda: rows(a=gaps(SIGNAL), b=NOISE, y=Y),
        ("'a': missing or infinite cells were filled",),
        ("a",),
    ),
    "gaps dropped": Messy(
        lambda: rows(a=gaps(SIGNAL), b=NOISE, y=Y),
        ("12 rows with missing or infinite cells were left out",),
        ("a",),
        ("--missing", "drop"),
    ),
    "infinite cells": Messy(
        lambda: rows(a=["inf" if j == 3 else v for j, v in enumerate(SIGNAL)], b=NOISE, y=Y),
        ("'a': missing or infinite cells",),
        ("a",),
    ),
    "many states": Messy(
        lambda: rows(
            a=np.repeat(SIGNAL, 5), town=[f"t{j % 300}" for j in range(5 * N)], y=np.repeat(Y, 5)
        ),
        ("'town' has 300 states; the 100 most frequent",),
        ("a",),
    ),
    "no header": Messy(
        lambda: rows(header=False, a=SIGNAL, b=NOISE, y=Y),
        (),
        ("X1",),
        ("--no-header",),
        target="X3",
    ),
    "header under --no-header": Messy(
        lambda: table(),
        ("looks like a header",),
        ("X1",),
        ("--no-header",),
        target="X3",
    ),
    "text classes": Messy(lambda: rows(a=SIGNAL, b=NOISE, y=CLASSES), (), ("a",)),
    "dropped before any check": Messy(
        lambda: rows(a=SIGNAL, mixed=["[1]"] * N, b=NOISE, y=Y), (), ("a",), ("--drop", "mixed")
    ),
    "latin-1 names": Messy(lambda: rows(größe=SIGNAL, b=NOISE, y=Y), (), ("größe",)),
    "pipes": Messy(lambda: rows("|", a=SIGNAL, b=NOISE, y=Y), (), ("a",), name="t.txt"),
}


@pytest.mark.parametrize("name", CASES)
def test_notes_and_selection(run, tmp_path, name):
    case = CASES[name]
    path = tmp_path / case.name
    path.write_text(case.write(), encoding="utf-8")
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
    assert len(answer["notes"]) >= len(case.notes)
    if not case.notes:
        assert answer["notes"] == []


FIXED = {
    "numbers": "decimal commas",
    "dates": "iso dates",
    "empty": "empty",
    "target": "gap in the target",
    "states": "many states",
    "header": "header under --no-header",
}


@pytest.mark.parametrize("fix", FIXED)
def test_strict_refuses_what_would_be_put_right(run, tmp_path, fix):
    case = CASES[FIXED[fix]]
    path = tmp_path / case.name
    path.write_text(case.write(), encoding="utf-8")
    words = ("select", path, "--target", case.target, "-k", 1, "--method", "pc", *case.words)
    code, out, err = run(*words, "--strict")
    assert (code, out) == (1, "")
    assert "--strict refuses" in err


@pytest.mark.parametrize("fix", ["numbers", "states"])
def test_a_fix_can_be_switched_off(run, tmp_path, fix):
    case = CASES[FIXED[fix]]
    path = tmp_path / case.name
    path.write_text(case.write(), encoding="utf-8")
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
    code, out, err = run(*words)
    assert code == 0
    assert "PearsonRanking" in out
    assert "jmi failed: max_time passed" in err


def test_escapes_in_names_never_reach_the_terminal(run, tmp_path):
    (tmp_path / "t.csv").write_text(rows(**{"a\x1b[31m": SIGNAL, "b\x1b]0;x\x07": [1] * N, "y": Y}))
    code, out, err = run("select", tmp_path / "t.csv", "--target", "y", "-k", 1, "--method", "pc")
    assert code == 0
    assert "\x1b" not in out + err
    assert "\\x1b" in out
    assert "\\x1b" in err
