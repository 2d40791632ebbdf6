"""The leaderboard: useless columns, and what its report says of the figures."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from benchmarks.leaderboard import EXTRA_KINDS, Table, with_extra_columns

from benchmarks import leaderboard_report as report

RNG = np.random.default_rng(0)


@pytest.fixture
def table():
    X = RNG.normal(size=(40, 5)) * 10 + 3
    return Table("small", pd.DataFrame(X), X, np.arange(40) % 2, "classification")


@pytest.mark.parametrize("kind", EXTRA_KINDS)
def test_as_many_useless_columns_are_added_and_as_many_selected_as_there_were(table, kind):
    wider = with_extra_columns(table, kind)
    own, extra = wider.numbers[:, :5], wider.numbers[:, 5:]
    assert extra.shape == (40, 5)
    assert own.mean(axis=0) == pytest.approx(np.zeros(5), abs=1e-12)
    assert wider.counts((5, 10, 20)) == [5]
    assert table.counts((3, 5, 10)) == [3]
    if kind == "second-order":
        products = {tuple(np.round(own[:, i] * own[:, j], 9)) for i in range(5) for j in range(i)}
        assert {tuple(np.round(column, 9)) for column in extra.T} <= products
        assert len(np.unique(extra, axis=1).T) == 5


def journal_of(path, tables, errors):
    """One line per cell: a method's error is the same for all judges and splits."""
    lines = [{"about": {}}]
    for name in tables:
        for method, error in errors.items():
            for split in range(2):
                key = [name, split, method, "auto" if method == report.OWN_COUNT else 5]
                columns = [0, 1, 2, 3, 4] if method == report.AUTO else [3, 4, 5, 6, 7]
                piece = {"errors": [error] * 3, "seconds": 1.0, "columns": columns}
                lines.append({"key": key, "piece": piece})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_the_report_says_what_is_met_and_what_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr(report, "draw_ranks", lambda test, path: None)
    errors = {report.AUTO: 0.3, report.OWN_COUNT: 0.25, "MRMR": 0.2, "random": 0.5}
    journal_of(tmp_path / "a.jsonl", ["glass", "wine", "heart"], errors)
    text = report.write_leaderboard([tmp_path / "a.jsonl"], "board", "plain", ["glass", "isolet"])
    asked = text.partition("## Asked and met")[2].partition("| method")[0]
    assert "**not met**: at least 25 sets (3). Not run, for their time: isolet." in asked
    assert "**not met**: the lowest mean excess error, peers included (0.1000; MRMR" in asked
    assert "**not met**: an average rank within 0.5 of the best (2.00; MRMR has 1.00)" in asked
    assert "**not met**: its own count" in asked


def test_a_set_with_several_kinds_of_useless_columns_counts_once(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr(report, "draw_ranks", lambda test, path: None)
    names = [f"{name} + {kind}" for name in ("glass", "wine") for kind in EXTRA_KINDS]
    journal_of(tmp_path / "a.jsonl", names, {report.AUTO: 0.1, "MRMR": 0.2})
    text = report.write_leaderboard([tmp_path / "a.jsonl"], "board", "cherepanova")
    assert text.partition("\n\n")[2].startswith("2 sets, 6 pairs")
    assert "| AutoSelector | 1.00 | 1.00 | 1.00 |" in text
    assert "| MRMR | 0.40 | 0.40 | 0.40 |" in text
