"""Full disks, files that go away, and signals in every phase of the command and of a fit."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.chaos_cluster import Verdict, judged

N_SIGNALS = 25  # of each kind
ENDS_WITHIN = 60.0  # seconds; one compiled call may still run to its end


def write_table(path: Path, n_rows: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    X = np.random.default_rng(0).normal(size=(n_rows, 20))
    columns = {f"x{j}": X[:, j] for j in range(20)} | {"y": (X[:, 0] > 0).astype(int)}
    pq.write_table(pa.table(columns), path, row_group_size=20_000)


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "featsieve.cli", *words]


def run(words: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, check=False, **options)


@contextmanager
def small_disk(n_bytes: int) -> Iterator[Path | None]:
    """A tmpfs; None where mounting is not allowed."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["-t", "tmpfs", "-o", f"size={n_bytes}", "tmpfs", folder]
        if run(["mount", *options]).returncode:
            yield None
            return
        try:
            yield Path(folder)
        finally:
            run(["umount", folder])


def _one_sentence(done: subprocess.CompletedProcess[str], *words: str) -> str:
    lines = done.stderr.strip().splitlines()
    text = lines[-1] if lines else ""
    if done.returncode != 1 or "Traceback" in done.stderr or not all(w in text for w in words):
        return f"**exit code {done.returncode}**: {done.stderr[-300:]}"
    return text


def full_disk(_: int) -> Verdict:
    def work() -> str:
        with tempfile.TemporaryDirectory() as folder, small_disk(200_000) as disk:
            if disk is None:
                return "skipped: mounting a tmpfs is not allowed here"
            table = Path(folder) / "t.parquet"
            write_table(table, 40_000)
            done = run(
                command(
                    *("select", str(table), "--target", "y", "--method", "pc", "-k", "10"),
                    *("--output", str(disk / "out.csv")),
                )
            )
            left = [file.name for file in disk.iterdir()]
            words = _one_sentence(done, "the disk is full")
            return words if not left else f"**left behind: {left}**"

    return judged("the disk is full while the answer is written", work)


def full_temporary_disk(_: int) -> Verdict:
    """The information methods keep their codes in a temporary file beyond the memory limit."""

    def work() -> str:
        with tempfile.TemporaryDirectory() as folder, small_disk(200_000) as disk:
            if disk is None:
                return "skipped: mounting a tmpfs is not allowed here"
            table = Path(folder) / "t.parquet"
            write_table(table, 200_000)
            words = ("select", str(table), "--target", "y", "--method", "mrmr", "-k", "3")
            places = {"TMPDIR": str(disk), "NUMBA_CACHE_DIR": str(disk)}
            done = run(command(*words, "--memory-limit", "3MB"), env={**os.environ, **places})
            if done.returncode == 0:
                return "an answer: nothing had to be written there"
            return _one_sentence(done, "error")

    return judged("the disk for temporary files is full", work)


def file_goes_away(seed: int) -> Verdict:
    def work() -> str:
        rng, ends = random.Random(seed), Counter[str]()
        for change in ("removed", "rewritten") * 4:
            ends[_meddled(change, rng.uniform(0.5, 6.0))] += 1
        bad = [words for words in ends if words.startswith("**")]
        return bad[0] if bad else ", ".join(f"{n} × {words}" for words, n in ends.items())

    return judged("the file is removed or rewritten meanwhile", work, patience=400)


def _meddled(change: str, delay: float) -> str:
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "t.parquet"
        write_table(table, 200_000)
        words = ("select", str(table), "--target", "y", "--method", "mrmr", "-k", "5")
        child = start(command(*words, "--memory-limit", "20MB", "--format", "json"))
        time.sleep(delay)
        table.unlink() if change == "removed" else write_table(table, 100_000)
        out, err = child.communicate(timeout=ENDS_WITHIN)
    if "Traceback" in err:
        return f"**traceback** {err[-300:]}"
    if child.returncode == 0:
        return "an answer (it was read before)" if '"selected"' in out else "**no answer**"
    sentences = ("was changed or removed", "there is no file", "is not a complete Parquet file")
    is_said = any(words in err for words in sentences)
    return "refused in a sentence" if is_said else f"**{err[-300:]}**"


def start(words: Sequence[str]) -> Any:
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


# --- signals --------------------------------------------------------------------------------------


def signalled_command(seed: int) -> Verdict:
    def work() -> str:
        rng, ends = random.Random(seed), Counter[str]()
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "t.parquet"
            write_table(table, 100_000)
            longest = _duration(table, Path(folder))
            for number in (signal.SIGINT, signal.SIGTERM):
                for _ in range(N_SIGNALS):
                    words = _signalled(table, number, rng.uniform(0.0, longest))
                    ends[f"{number.name}: {words}"] += 1
        return _told(ends)

    return judged("SIGINT and SIGTERM at random moments of the command", work, patience=900)


def _words(table: Path, out: Path) -> list[str]:
    words = ("select", str(table), "--target", "y", "--method", "bahsic", "-k", "5")
    return command(*words, "--memory-limit", "40MB", "--output", str(out), "--max-time", "5")


def _duration(table: Path, folder: Path) -> float:
    begin = time.perf_counter()
    run(_words(table, folder / "first.csv"))
    return time.perf_counter() - begin


def _signalled(table: Path, number: signal.Signals, delay: float) -> str:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.csv"
        child = start(_words(table, out))
        time.sleep(delay)
        child.send_signal(number)
        sent = time.perf_counter()
        try:
            _, err = child.communicate(timeout=ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            child.kill()
            return f"**still running after {ENDS_WITHIN:.0f} s**"
        late = time.perf_counter() - sent
        left = [file.name for file in Path(folder).iterdir() if file != out]
    if "Traceback" in err:
        return f"**traceback after {delay:.1f} s**: {err[-400:]}"
    if left:
        return f"**left behind after {delay:.1f} s: {left}**"
    return f"exit code {child.returncode}{' (late)' if late > 10 else ''}"


FITTING = """
import signal, sys, threading, time, warnings
warnings.simplefilter("ignore")
import numpy as np
import featsieve
rng = np.random.default_rng(0)
X = rng.normal(size=(1500, 30)); y = (X[:, 0] * X[:, 1] > 0).astype(int)
selector = getattr(featsieve, sys.argv[1])(n_features_to_select=5)
if "random_state" in selector.get_params():
    selector.set_params(random_state=0)
print("ready", flush=True)
try:
    selector.fit(X, y)
    print("answered", selector.result_.stop_reason, len(selector.indices_) > 0)
except KeyboardInterrupt:
    print("interrupted", hasattr(selector, "support_"), hasattr(selector, "n_features_in_"))
print("threads", threading.active_count())
"""
LIBRARY = ("PearsonRanking", "MRMR", "BAHSIC", "L1LSMI", "GlobalCMI", "LassoSelector", "SVMRFE")


def signalled_fit(seed: int) -> Verdict:
    def work() -> str:
        rng, ends = random.Random(seed), Counter[str]()
        for method in LIBRARY * 4:
            child = start([sys.executable, "-c", FITTING, method])
            child.stdout.readline()
            time.sleep(rng.uniform(0.0, 2.0))
            child.send_signal(signal.SIGINT)
            try:
                out, err = child.communicate(timeout=ENDS_WITHIN)
            except subprocess.TimeoutExpired:
                child.kill()
                ends[f"**{method} still running after {ENDS_WITHIN:.0f} s**"] += 1
                continue
            ends[_state(method, out, err)] += 1
        return _told(ends)

    return judged("Ctrl-C at random moments of a fit", work, patience=900)


def _state(method: str, out: str, err: str) -> str:
    if "interrupted False False" in out:
        return "KeyboardInterrupt, nothing fitted"
    if "answered" in out and "True" in out:
        return "the best so far" if "interrupted" in out else "the whole answer"
    after_the_end = "threads" in out or (not out and "KeyboardInterrupt" in err)
    return "after the end" if after_the_end else f"**{method}: {out!r} {err[-300:]}**"


def _told(ends: Counter[str]) -> str:
    bad = [words for words in ends if "**" in words]
    told = ", ".join(f"{n} × {words}" for words, n in sorted(ends.items()) if "**" not in words)
    return f"**{len(bad)} bad ends**: {bad[0]} (others: {told})" if bad else told


SCENARIOS = (*(full_disk, full_temporary_disk, file_goes_away, signalled_command, signalled_fit),)
