"""The frame of the benches: verdicts, continuing after a kill, interrupts, plots."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from featsieve.cli.bench import PACKAGE, bench_names
from featsieve.errors import InputError
from featsieve.evaluation.benches._frame import Bench, Request, cells_path, run_bench
from featsieve.evaluation.benches._report import Comparison, Figure, Report, wide_table
from featsieve.evaluation.cells import Cell, CellStore

# --- verdicts -------------------------------------------------------------------------------------


def compared(ours, error, paper, paper_error, **words):
    return Comparison("row", "column", ours, error, 50, paper, paper_error, **words)


def test_more_than_two_standard_errors_worse_is_below():
    assert compared(0.30, 0.03, 0.20, 0.04, precision=0.0).verdict == "level"  # 2 × 0.05
    assert compared(0.301, 0.03, 0.20, 0.04, precision=0.0).verdict == "below"
    assert compared(0.099, 0.03, 0.20, 0.04, precision=0.0).verdict == "better"
    assert compared(0.301, 0.03, 0.20, 0.04, precision=0.0, larger_is_better=True).verdict == (
        "better"
    )
    assert compared(0.204, 0.0, 0.20, 0.0).verdict == "level"  # the paper prints two digits
    assert compared(0.5, 0.0, None, 0.0).verdict == ""
    assert compared(0.301, 0.03, 0.20, 0.04).deviation == pytest.approx(0.101)


def test_tables_show_the_papers_figure_and_the_direction():
    table = wide_table([compared(0.5, 0.01, 0.2, 0.0)], marked={"row": ["column"]})
    assert "**0.50 ± 0.01** (0.20) ↓" in table
    report = Report("t", ["text"], comparisons=[compared(0.5, 0.01, 0.2, 0.0, note="Because.")])
    assert "Because." in "\n".join(report.body())
    assert "0 level and 1 below" in "\n".join(report.body())


# --- cells ----------------------------------------------------------------------------------------


def counting_bench(calls, n=4, fail_at=None, error=KeyboardInterrupt):
    def work(i):
        if i == fail_at:
            raise error
        calls.append(i)
        return {"square": i * i}

    def report(request, results):
        total = sum(answer["square"] for answer in results.values())
        return Report("Squares", [f"sum {total} of {len(results)}"])

    cells = [Cell((str(i),), lambda i=i: work(i)) for i in range(n)]
    return Bench("p-squares", lambda request: cells, report, options=("trials",))


def test_an_interrupted_bench_reports_what_it_has_and_continues(tmp_path):
    out, calls, words = tmp_path / "b.md", [], []
    text = run_bench(counting_bench(calls, fail_at=2), Request(out=out), say=words.append)
    assert "Interrupted: 2 of 4 cells" in text
    assert "sum 1 of 2" in text
    assert "start again to continue" in words[-1]
    text = run_bench(counting_bench(calls), Request(out=out), say=words.append)
    assert calls == [0, 1, 2, 3]
    assert "sum 14 of 4" in text
    assert "2 of 4 cells were done in an earlier run" in text
    assert not cells_path(counting_bench([]), Request(out=out)).exists()
    run_bench(counting_bench(calls), Request(out=out))
    assert calls == [0, 1, 2, 3] * 2  # finished: the next run starts from the beginning


def test_a_cell_that_raises_is_a_row_with_its_reason_and_is_tried_again(tmp_path):
    out, calls, words = tmp_path / "b.md", [], []
    broken = counting_bench(calls, fail_at=1, error=ValueError("no rows | left"))
    text = run_bench(broken, Request(out=out), say=words.append)
    assert calls == [0, 2, 3]
    assert "sum 13 of 3" in text
    assert "1 of 4 cells failed" in text
    assert "Interrupted" not in text
    assert "| 1 | ValueError: no rows \\| left |" in text
    assert "try them again" in words[-1]
    failures = json.loads(out.with_suffix(".json").read_text())["failures"]
    assert failures == [{"key": ["1"], "reason": "ValueError: no rows | left"}]
    assert "sum 14 of 4" in run_bench(counting_bench(calls), Request(out=out))
    assert calls == [0, 2, 3, 1]


def test_a_report_in_json_is_enough_to_ask_for_more(tmp_path):
    out, calls = tmp_path / "b.md", []
    run_bench(counting_bench(calls, n=2), Request(out=out))
    assert not cells_path(counting_bench([]), Request(out=out)).exists()
    text = run_bench(counting_bench(calls, n=4), Request(out=out))
    assert calls == [0, 1, 2, 3]
    assert "sum 14 of 4" in text
    assert "2 of 4 cells were done in an earlier run" in text


def test_a_report_of_other_settings_or_with_lost_figures_is_not_continued(tmp_path):
    out, calls = tmp_path / "b.md", []
    run_bench(counting_bench(calls, n=2), Request(out=out))
    run_bench(counting_bench(calls, n=3), Request(out=out, quick=True))
    assert calls == [0, 1, 0, 1, 2]
    path = out.with_suffix(".json")
    path.write_text(path.read_text().replace('"square": 1', '"square": null'))
    run_bench(counting_bench(calls, n=4), Request(out=out, quick=True))
    assert calls[5:] == [1, 3]
    path.write_text("[]")
    run_bench(counting_bench(calls, n=1), Request(out=out, quick=True))
    assert calls[7:] == [0]


def test_cells_of_another_setting_or_a_cut_line_are_not_used(tmp_path):
    path = tmp_path / "c.jsonl"
    *_, answers = CellStore(path, {"v": 1}).steps([Cell(("a",), lambda: 1)])
    assert answers == {("a",): 1}
    path.write_text(path.read_text() + '{"key": ["b"], "ans')
    store = CellStore(path, {"v": 1})
    assert store.answers == {("a",): 1}
    *_, answers = store.steps([Cell(("a",), lambda: 2), Cell(("b",), lambda: 3)])
    assert answers == {("a",): 1, ("b",): 3}
    assert CellStore(path, {"v": 2}).answers == {}
    assert CellStore(path, {"v": 1}).answers == answers


SLOW_BENCH = """
import sys, time
from pathlib import Path
from featsieve.evaluation.benches import p_lsmi_table4 as table4
from featsieve.evaluation.benches._frame import Request, run_bench
import dataclasses
def slow(request):
    def waiting(cell):
        def work():
            time.sleep(0.1)
            return dict(cell.work(), seconds=0.0)
        return dataclasses.replace(cell, work=work)
    return [waiting(cell) for cell in table4.cells(request)]
bench = dataclasses.replace(table4.BENCH, cells=slow, warm_up=lambda request: None)
run_bench(bench, Request(trials=4, methods=["PC"], out=Path(sys.argv[1])))
"""


def test_a_killed_bench_continues_and_gives_the_same_table(tmp_path):
    """SIGKILL in the middle; the second start computes the rest only."""
    command = [sys.executable, "-c", SLOW_BENCH]
    subprocess.run([*command, str(tmp_path / "whole.md")], check=True)
    killed = subprocess.Popen([*command, str(tmp_path / "killed.md")])
    cells = tmp_path / "killed.cells.jsonl"
    _wait_for_lines(cells, 4, killed)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    done = len(cells.read_text().splitlines()) - 1
    assert 3 <= done < 12
    assert not (tmp_path / "killed.md").exists()
    subprocess.run([*command, str(tmp_path / "killed.md")], check=True)
    texts = [(tmp_path / name).read_text() for name in ("whole.md", "killed.md")]
    tables = [[line for line in text.splitlines() if line.startswith("|")] for text in texts]
    assert tables[0] == tables[1]
    assert len(tables[0]) == 5
    documents = [json.loads((tmp_path / n).read_text()) for n in ("whole.json", "killed.json")]
    assert documents[0]["comparisons"] == documents[1]["comparisons"]
    assert documents[0]["cells"] == documents[1]["cells"]
    assert "were done in an earlier run" in documents[1]["state"]


def _wait_for_lines(path: Path, n: int, process) -> None:
    while process.poll() is None:
        if path.exists() and len(path.read_text().splitlines()) >= n:
            return
        time.sleep(0.02)
    raise AssertionError("the bench ended before it was killed")


CONTRACT = """p-lsmi-table4 p-lsmi-table5 p-lsmi-table7 p-lsmi-fig1 p-cmi-table1 p-cmi-fig2
p-cmi-fig3 p-cmi-table3 p-cmi-fig4 p-l1inf-table1 p-lecture p-hsic-fig1 p-hsic-table1
p-hsic-bands"""


def test_every_bench_is_there_under_its_name():
    assert set(CONTRACT.split()) <= set(bench_names())
    for name in bench_names():
        module = importlib.import_module(f"{PACKAGE}.{name.replace('-', '_')}")
        assert module.BENCH.name == name


# --- words and plots ------------------------------------------------------------------------------


def test_options_that_a_bench_does_not_know_are_refused():
    with pytest.raises(InputError, match="takes no --datasets"):
        run_bench(counting_bench([]), Request(datasets=["x"]))


def test_the_short_version_says_so(tmp_path):
    text = run_bench(counting_bench([]), Request(quick=True, out=tmp_path / "q.md"))
    assert "not evidence" in text
    assert json.loads((tmp_path / "q.json").read_text())["quick"] is True


@pytest.mark.parametrize(
    "figure",
    [
        Figure("curves", {"a": {"m": {"x": [1, 2], "y": [1, 2], "error": [0, 1]}}}),
        Figure("image", {"a": {"x": [1, 2], "y": [1, 2], "values": [[1, float("nan")], [2, 3]]}},
               "image"),
        Figure("points", {"a": {"m": {"x": [1], "y": [2]}, "line: 5 %": {"y": [1.0]}}}, "points"),
    ],
    ids=lambda figure: figure.kind,
)  # fmt: skip
def test_figures_are_drawn_and_linked(figure, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    from featsieve.plots.bench import draw

    bench = Bench("p-x", lambda r: [], lambda r, results: Report("X", [], figures=[figure]))
    run_bench(bench, Request(out=tmp_path / "x.md"), draw=draw)
    picture = tmp_path / f"x-{figure.name}.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.name in (tmp_path / "x.md").read_text()
