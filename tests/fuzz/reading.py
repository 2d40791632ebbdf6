"""Damaged files read by the command line, in a process that may not take much memory.

``python -m tests.fuzz.reading`` is the child: one line of JSON per case in, one out. A file that
kills the child kills nothing else.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import resource
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz.files import FORMATS, damaged, sound

MEMORY_LIMIT = 64 << 20
ALLOWED_GROWTH = MEMORY_LIMIT + (200 << 20)  # of resident memory
ADDRESS_SPACE = 2 << 30  # beyond what the libraries have taken
LONGEST = 500  # characters of a refusal
SECONDS = 120

OPTIONS = (
    *((), (), (), ("--missing", "impute"), ("--missing", "drop"), ("--strict",), ("--no-header",)),
    *(("--encoding", "latin-1"), ("--encoding", "utf-16"), ("--delimiter", ";"), ("--all",)),
    *(("--task", "regression"), ("--task", "classification"), ("--method", "mrmr")),
)


def words_of(path: Path, options: tuple[str, ...]) -> list[str]:
    plain = ("--method", "pc") if "--method" not in options else ()
    target = "target" if path.name.endswith(("libsvm", "npz")) else "y"
    target = "X1" if "--no-header" in options or path.name.endswith("sparse.npz") else target
    return [
        *("select", str(path), "--target", target, *plain, *options, "--format", "json"),
        *("--memory-limit", str(MEMORY_LIMIT)),
    ]


@dataclass(frozen=True)
class Answer:
    """How the reading of a file ended; ``outcome`` is "answered", "refused" or "failed"."""

    outcome: str
    problems: list[str]
    case: Any = None


def read(name: str, content: bytes, options: tuple[str, ...]) -> Answer:
    """Run ``featsieve select`` on the bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table.{name}"
        path.write_bytes(content)
        return _select(words_of(path, options))


def _select(words: list[str]) -> Answer:
    from featsieve.cli import main
    from featsieve.errors import InputError
    from tests.fuzz.fits import in_one_line

    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(words)
    except InputError as error:
        return Answer("refused", list(_not_a_sentence(str(error))))
    except Exception as error:
        return Answer("failed", [in_one_line(error)])
    return Answer("answered", list(_wrong_answer(code, out.getvalue())))


def _not_a_sentence(text: str) -> Iterator[str]:
    if not text.endswith((".", "?")):
        yield f"not a sentence: {text[:LONGEST]!r}"
    if len(text) > LONGEST:
        yield f"{len(text)} characters: {text[:LONGEST]!r}"


def _wrong_answer(code: int, text: str) -> Iterator[str]:
    if code != 0:
        yield f"exit code {code} without an error"
        return
    answer = json.loads(text)
    if not answer["selected"] or len(answer["selected"]) != len(answer["indices"]):
        yield f"an answer without columns: {text[:LONGEST]}"


# --- the child -----------------------------------------------------------------------------------


def numbered(seed: int, number: int) -> tuple[str, bytes, tuple[str, ...]]:
    rng = np.random.default_rng([seed, number])
    name = FORMATS[rng.integers(len(FORMATS))]
    return name, damaged(name, rng), OPTIONS[rng.integers(len(OPTIONS))]


def status(field: str) -> int:
    text = Path("/proc/self/status").read_text()
    return 1024 * int(re.findall(rf"{field}:\s+(\d+) kB", text)[0])


def forget_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def serve() -> None:
    os.environ["FEATSIEVE_DEBUG"] = "1"  # errors come out as they are
    for name in FORMATS:  # imports and compilation are not what is measured
        read(name, sound(name), ())
    limit = status("VmSize") + ADDRESS_SPACE
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    answers = sys.stdout
    for line in sys.stdin:
        seed, number = json.loads(line)
        print(json.dumps(asdict(_measured(seed, number))), file=answers, flush=True)


def _measured(seed: int, number: int) -> Answer:
    name, content, options = numbered(seed, number)
    forget_peak()
    before = status("VmRSS")
    answer = read(name, content, options)
    growth = status("VmHWM") - before
    if growth > ALLOWED_GROWTH:
        answer.problems.append(f"resident memory grew by {growth >> 20} MiB")
    return replace(answer, case=[name, *options])


# --- the parent ----------------------------------------------------------------------------------


class Reader:
    """A child that reads files; a new one when it has died."""

    def __init__(self) -> None:
        self._child: Any = None

    def ask(self, seed: int, number: int) -> Answer:
        if self._child is None:
            self._child = self._start()
        self._child.stdin.write(f"{json.dumps([seed, number])}\n")
        self._child.stdin.flush()
        if not select.select([self._child.stdout], [], [], SECONDS)[0]:
            self.close()
            return Answer("failed", [f"more than {SECONDS} seconds"])
        line = self._child.stdout.readline()
        if line:
            return Answer(**json.loads(line))
        code = self._child.wait()
        self._child = None
        return Answer("failed", [f"the reader died with exit code {code}"])

    @staticmethod
    def _start() -> Any:
        quiet = {"MALLOC_ARENA_MAX": "2", "OMP_NUM_THREADS": "1", "PYTHONFAULTHANDLER": "1"}
        return subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.reading"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **quiet},
            text=True,
        )

    def close(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None


if __name__ == "__main__":
    serve()
