"""The speed table: turns, limits, skipped peers, and a history that notices what became worse."""

from __future__ import annotations

import json
from argparse import Namespace
from itertools import count

import pytest
from benchmarks.speed import __main__ as command
from benchmarks.speed import history
from benchmarks.speed.row import Contest, Limit, Measured, Options, Outcome, Row, Skipped, run
from benchmarks.speed.table import TABLE


def line(commit, machine="a machine", **ratios):
    return history.Line(commit, "today", machine, "0.1", ratios)


def test_contenders_take_turns_and_the_best_counts():
    seen = []
    ours, theirs = iter([9.0, 9.0, 3.0, 2.0]), iter([9.0, 8.0, 4.0])

    def note(name, times):
        return Measured(lambda: (seen.append(name), next(times))[1])

    closed = []
    contest = Contest(note("ours", ours), note("peer", theirs), 2, 1, lambda: closed.append(True))
    outcome = run(Row("toy", "peer", 1.0, lambda options: contest), Options())
    assert seen == ["ours", *["ours", "peer"] * 3]  # once more for the memory
    assert (outcome.ours, outcome.peer, outcome.ratio) == (2.0, 4.0, 0.5)
    assert closed == [True]


def test_a_limit_is_a_peer_that_never_changes():
    ticks = count()
    contest = Contest(lambda: None, Limit(4.0), repeats=1)
    row = Row("toy", "4 s", 1.0, lambda options: contest)
    assert run(row, Options(), clock=lambda: next(ticks)).ratio == 0.25


def test_names_are_unique_and_every_row_has_a_peer():
    assert len(TABLE.rows) > 50
    assert all(row.peer and row.allowed > 0 for row in TABLE.rows.values())
    with pytest.raises(ValueError, match="two rows"):
        TABLE.add(next(iter(TABLE.rows.values())))


def test_a_missing_peer_is_skipped_by_its_name(capsys, monkeypatch):
    def prepare(options):
        raise Skipped("praznik is not installed")

    monkeypatch.setitem(TABLE.rows, "toy", Row("toy", "praznik", 1.0, prepare))
    command.child("toy", Options())
    reason = json.loads(capsys.readouterr().out)["skipped"]
    assert reason == "skipped: praznik is not installed"
    assert reason in command.table_line(TABLE.rows["toy"], reason)


def test_the_table_says_whether_a_row_reached_what_was_asked_for():
    row = Row("toy", "peer", 1.0, lambda options: None)
    assert "| 0.50 | 1.00 | yes |" in command.table_line(row, Outcome(1.0, 2.0))
    assert "| 2.00 | 1.00 | **no** |" in command.table_line(row, Outcome(2.0, 1.0))


def test_worse_is_a_fifth_more_than_the_last_time_on_such_a_machine():
    before = [
        line("a", x=9.0, y=1.0),
        line("b", x=1.0),
        line("c", machine="another machine", x=0.1),
    ]
    assert history.worse_rows(before, line("d", x=1.19, y=1.19, z=5.0)) == {}
    assert history.worse_rows(before, line("d", x=1.21, y=1.21)) == {
        "x": (1.0, 1.21),
        "y": (1.0, 1.21),
    }
    assert history.worse_rows(before, line("b", x=1.21)) == {}  # against another commit only


def test_one_line_per_commit(tmp_path):
    path = tmp_path / "history.jsonl"
    for entry in (line("a", x=1.0), line("b", x=2.0), line("b", x=3.0)):
        history.append(path, entry)
    assert [(old.commit, old.ratios) for old in history.read(path)] == [
        ("a", {"x": 1.0}),
        ("b", {"x": 3.0}),
    ]


def test_the_exit_code_tells(tmp_path, monkeypatch, capsys):
    path = tmp_path / "history.jsonl"
    for commit, ratio, code in (("a", 1.0, 0), ("b", 1.1, 0), ("c", 1.5, 1), ("d", 1.5, 0)):
        monkeypatch.setattr(history, "_commit", lambda commit=commit: commit)
        assert command.remember(path, {"x": ratio}, is_complete=True) == code
    assert "worse: x: 1.10 → 1.50" in capsys.readouterr().out


def test_a_row_runs_in_a_process_of_its_own():
    row = TABLE.rows["Pearson, 100,000 × 100"]
    outcome = command.run_child(row, Namespace(parquet_rows=1000, data=None, folder=None))
    assert outcome.ours > 0
    assert outcome.peer > 0
