"""The benchmark frame: turns, ratios, children, and a report without the machine's paths."""

from __future__ import annotations

import sys
from itertools import count

import pytest
from benchmarks.frame import Case, compare, comparison_table, run_command, write_report

from featsieve.evaluation import surroundings


class FakeWork:
    """A clock that only moves while somebody works."""

    def __init__(self):
        self.now = 0.0
        self.order = []

    def takes(self, name, *seconds):
        durations = iter(seconds)

        def run():
            self.order.append(name)
            self.now += next(durations)
            return name

        return run


def test_contenders_take_turns_and_the_warm_up_is_not_counted():
    work = FakeWork()
    case = Case("toy", work.takes("ours", 9, 1, 2, 3), {"peer": work.takes("theirs", 9, 4, 8, 100)})
    found = compare(case, repeats=3, clock=lambda: work.now)
    assert work.order == ["ours", "theirs"] * 4
    assert found.ours.runs == (1, 2, 3)
    assert found.peers[0].best == 4
    assert found.ratio(found.peers[0]) == 2 / 8


def test_the_table_names_the_case_the_ratio_and_the_agreement():
    ticks = count()
    case = Case("toy", lambda: 1.0, {"peer": lambda: 3.0}, lambda a, b: f"off by {b - a}")
    table = comparison_table([compare(case, repeats=1, clock=lambda: float(next(ticks)))])
    row = "| toy | 1.00 s (1.00 s) | peer | 1.00 s (1.00 s) | **1.00** | off by 2.0 |"
    assert table.splitlines()[-1] == row


def test_a_command_reports_its_output_its_time_and_its_own_peak_memory():
    small = run_command([sys.executable, "-c", "print('hello')"])
    large = run_command([sys.executable, "-c", "x = bytearray(200_000_000)"])
    assert small.output == "hello\n"
    assert small.seconds > 0
    assert large.peak_bytes - small.peak_bytes > 150_000_000


def test_a_failing_command_stops_the_benchmark():
    with pytest.raises(RuntimeError, match="exit code 3"):
        run_command([sys.executable, "-c", "raise SystemExit(3)"])


def test_the_report_says_command_versions_machine_and_date_but_no_path(tmp_path, monkeypatch):
    words = ["/opt/venv/bin/python", "-m", "benchmarks.toy", "--data", "/home/me/data"]
    monkeypatch.setattr(sys, "orig_argv", words)
    path = write_report("toy", "A toy", "body", packages=["pytest"], results=tmp_path / "results")
    text = path.read_text()
    assert path.name == "toy.md"
    assert text.startswith("# A toy\n\nbody\n\n")
    assert "`python -m benchmarks.toy --data data`" in text
    assert f"pytest {pytest.__version__}" in text
    assert surroundings.cpu_model() in text
    assert "/home/me" not in text


def test_the_command_itself_is_not_a_script_of_python(monkeypatch):
    words = ["/opt/venv/bin/python", "/opt/venv/bin/featsieve", "bench", "--out", "a.md"]
    monkeypatch.setattr(sys, "orig_argv", words)
    assert surroundings.command_line() == "featsieve bench --out a.md"
