"""How long a person waits: --help, the command on a table of 200,000 × 100, a report that opens."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.frame import run_command, write_report

ROWS, COLUMNS = 200_000, 100
TOOL = [sys.executable, "-m", "featsieve.cli"]
LIMITS = {"--help": 0.4, "select": 60.0, "report opens": 3.0}


def write_tables(folder: Path) -> dict[str, Path]:
    """One table of classes and one of numbers, as text."""
    import pyarrow as pa
    from pyarrow import csv

    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS)).round(5)
    columns = {f"c{j}": X[:, j] for j in range(COLUMNS)}
    score = X[:, 3] * X[:, 7] + X[:, 1] + 0.5 * rng.normal(size=ROWS)
    targets = {"classes": np.where(score > 0, "yes", "no"), "numbers": score}
    paths = {}
    for name, target in targets.items():
        paths[name] = folder / f"{name}.csv"
        csv.write_csv(pa.table({**columns, "target": target}), paths[name])
    return paths


def seconds_of_select(table: Path, *words: str) -> float:
    report = str(table.with_suffix(".html"))
    words = ("select", str(table), "--target", "target", "--report", report, "--quiet", *words)
    return run_command([*TOOL, *words]).seconds


def seconds_to_open(folder: Path) -> tuple[float, float, int]:
    """A report of 20,000 columns: until it has loaded, from the browser's start to its end; bytes.

    The second is more than opening the page: the browser starts, and the probe of the tests runs.
    """
    from tests.report.test_report import large_page

    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None or "--no-browser" in sys.argv:
        return float("nan"), float("nan"), 0
    probe = (Path(__file__).parent.parent / "tests/report/probe.js").read_text(encoding="utf-8")
    html = large_page()
    page = folder / "large.html"
    page.write_text(html.replace("<main>", f"<script>{probe}</script><main>", 1), encoding="utf-8")
    words = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'u'}"]
    done = run_command([browser, *words, "--dump-dom", page.as_uri()])
    probe_answer = re.search(r"<pre id=\"probe\">(.*?)</pre>", done.output, re.DOTALL)
    if probe_answer is None:
        raise RuntimeError("the page did not run to its end")
    return json.loads(probe_answer[1])["seconds"], done.seconds, len(html.encode())


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        help_seconds = median(run_command([*TOOL, "--help"]).seconds for _ in range(5))
        tables = write_tables(folder)
        rows = [("`featsieve --help`", help_seconds, LIMITS["--help"])]
        for kind, path in tables.items():
            words = f"`select` on {ROWS:,} × {COLUMNS} CSV, {kind}, default method, with report"
            rows.append((words, seconds_of_select(path), LIMITS["select"]))
        loaded, used, size = seconds_to_open(folder)
        page = f"a report of 20,000 columns with hostile names ({size:,} bytes)"
        rows.append((f"open {page}", loaded, LIMITS["report opens"]))
        rows.append((f"start a browser, open {page}, use it", used, LIMITS["report opens"]))
    lines = ["| what | seconds | at most |", "|---|---|---|"]
    lines += [f"| {what} | {seconds:.2f} | {limit:g} |" for what, seconds, limit in rows]
    load = f"Load average of the machine during the run: {os.getloadavg()[0]:.1f}."
    title = "How long a person waits"
    write_report("waiting", title, "\n".join(lines), load, packages=["scikit-learn"])
    print("\n".join(lines))


if __name__ == "__main__":
    main()
