"""The long run of the fuzz suite: resumable, every failing case written down.

``python -m benchmarks.fuzz --cases 50000 --seed 0 --out fuzz.jsonl`` appends one line per failing
case and a mark every 100 cases; run again with the same arguments it goes on where it ended.
``--case 1234`` looks at one case again, ``--again`` at all that failed, and ``--report`` writes
``results/fuzz.md``.

Of ten cases four are random tables for random methods (each some three to ten fits), four are
strange values for random parameters, and two are damaged files.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fuzz import fits, parameters, reading
from tests.fuzz.cases import Case

from benchmarks.frame import write_report

MARK_EVERY = 100
KINDS = ("fit", "parameter", "file", "fit", "parameter") * 2
SECONDS = 300  # of processor time, for one case


@dataclass
class Run:
    """What the cases so far have shown."""

    seed: int
    reader: reading.Reader = field(default_factory=reading.Reader)
    tally: Counter[str] = field(default_factory=Counter)

    def problems(self, number: int) -> tuple[list[str], Any]:
        """What is wrong with a case, and the case in words."""
        kind = KINDS[number % len(KINDS)]
        self.tally[f"{kind} cases"] += 1
        with _time_limit():
            return getattr(self, f"_{kind}")(number)

    def _fit(self, number: int) -> tuple[list[str], Any]:
        case = Case.numbered(self.seed, number)
        return list(fits.problems(case, self.tally)), case.as_dict()

    def _parameter(self, number: int) -> tuple[list[str], Any]:
        subject, values = parameters.numbered(self.seed, number)
        words = {name: repr(value)[:80] for name, value in values.items()}
        return list(parameters.problems(subject, values, self.tally)), {subject.name: words}

    def _file(self, number: int) -> tuple[list[str], Any]:
        answer = self.reader.ask(self.seed, number)
        self.tally[f"file {answer.outcome}"] += 1
        return answer.problems, answer.case


class TooLong(BaseException):
    """Not an Exception, so that nothing on the way takes it for a refusal."""


@contextlib.contextmanager
def _time_limit() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TooLong(f"more than {SECONDS} seconds")

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def read(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def failing(run: Run, number: int) -> dict[str, Any] | None:
    start = time.perf_counter()
    try:
        complaints, case = run.problems(number)
    except TooLong as stop:
        complaints, case = [str(stop)], None
    seconds = round(time.perf_counter() - start, 2)
    if not complaints:
        return None
    return {"number": number, "problems": complaints, "seconds": seconds, "case": case}


def go_on(run: Run, first: int, n_cases: int, path: Path) -> None:
    """From the last mark, or the first case, to the end."""
    marks = [entry for entry in read(path) if "done" in entry]
    first = max((mark["done"] for mark in marks), default=first)
    with path.open("a", encoding="utf-8") as out:
        for number in range(first, n_cases):
            entry = failing(run, number)
            if entry:
                out.write(json.dumps(entry) + "\n")
            if (number + 1) % MARK_EVERY == 0 or number + 1 == n_cases:
                mark = {"done": number + 1, "seed": run.seed, "tally": run.tally}
                out.write(json.dumps(mark) + "\n")
                out.flush()
                run.tally.clear()


def again(run: Run, path: Path) -> Iterator[dict[str, Any]]:
    """The cases that failed and still do."""
    numbers = sorted({entry["number"] for entry in read(path) if "number" in entry})
    for number in numbers:
        entry = failing(run, number)
        if entry:
            yield entry


# --- the report ----------------------------------------------------------------------------------


def tally_of(path: Path) -> Counter[str]:
    total: Counter[str] = Counter()
    for entry in read(path):
        total.update(entry.get("tally", {}))
    return total


def n_done(entries: list[dict[str, Any]]) -> int:
    """Each mark stands for the cases before it; two processes may have shared the work."""
    marks = {entry["done"] for entry in entries if "done" in entry}
    return MARK_EVERY * len(marks)


def summary(path: Path) -> str:
    entries = read(path)
    done = n_done(entries)
    numbers = {e["number"]: e for e in entries if "number" in e}  # a part may have run twice
    kinds = Counter(p.partition(":")[0] for e in numbers.values() for p in e["problems"])
    lines = [f"{done} cases, {len(numbers)} with problems", str(dict(tally_of(path)))]
    return "\n".join(lines + [f"{n:6d}  {what}" for what, n in kinds.most_common()])


def report(path: Path, still: list[dict[str, Any]]) -> Path:
    entries = read(path)
    done = n_done(entries)
    failed = {entry["number"] for entry in entries if "number" in entry}
    tally = tally_of(path)
    fits_of_method = {
        k.removeprefix("fits of "): n for k, n in tally.items() if k[:8] == "fits of "
    }
    rows = [f"| {what} | {n:,} |" for what, n in sorted(tally.items()) if what[:8] != "fits of "]
    methods = ", ".join(f"{name} {n:,}" for name, n in sorted(fits_of_method.items()))
    return write_report(
        "fuzz",
        "Fuzz: random tables, parameters and damaged files",
        f"{done:,} cases, {len(failed)} with problems in the first run; run again on the final "
        f"code, **{len(still)}** of them have a problem.",
        "\n".join(["| what | count |", "|---|---|", *rows]),
        f"Fits of each method (at least {min(fits_of_method.values(), default=0):,}): {methods}.",
        *(f"- case {e['number']}: {e['problems']}" for e in still),
        __doc__.partition("\n\n")[2],
        packages=("numpy", "scipy", "scikit-learn", "numba", "narwhals", "pandas", "polars"),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=50_000)
    parser.add_argument("--first", type=int, default=0, help="where to begin, for a second process")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("fuzz.jsonl"))
    parser.add_argument("--case", type=int, help="one case by its number")
    parser.add_argument("--again", action="store_true", help="the cases that failed")
    parser.add_argument("--report", action="store_true", help="write results/fuzz.md")
    arguments = parser.parse_args()
    run = Run(arguments.seed)
    if arguments.case is not None:
        print(json.dumps(failing(run, arguments.case), indent=1))
    elif arguments.again or arguments.report:
        still = list(again(run, arguments.out))
        print("\n".join(json.dumps(entry) for entry in still) or "nothing")
        if arguments.report:
            print(report(arguments.out, still))
    else:
        go_on(run, arguments.first, arguments.cases, arguments.out)
        print(summary(arguments.out))
    run.reader.close()


if __name__ == "__main__":
    main()
