"""``featsieve select``: the main job on a file."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from featsieve.cli.loading import load
from featsieve.cli.outcome import Outcome
from featsieve.cli.pipeline import pipeline_code
from featsieve.cli.places import check_places
from featsieve.cli.render import json_text, show_outcome
from featsieve.cli.running import FAILED, UsageError, say, tell
from featsieve.cli.selecting import Job, run_method, with_gains, write_report
from featsieve.io.atomic import atomic_write
from featsieve.io.model import Table
from featsieve.io.writer import check_size


def run(arguments: argparse.Namespace) -> int:
    check_places(arguments)
    if arguments.pipeline and arguments.file == "-":
        raise UsageError(
            "--pipeline writes code that reads the table again, and standard input cannot be read "
            "twice; save the table to a file and name it."
        )
    table, job = load(arguments)
    if arguments.output:
        check_size(Path(arguments.output), table.n_rows)
    outcome = with_gains(job, run_method(job, arguments, arguments.method))
    shown = {"everything": arguments.all, "keep_formulas": arguments.keep_formulas}
    print(show_outcome(outcome, arguments.format, **shown))
    try:
        _write_files(arguments, table, job, outcome)
    except KeyboardInterrupt:
        say("interrupted while writing; the answer above stands, and no file is half-written.")
        return FAILED
    return 0


def _write_files(arguments: argparse.Namespace, table: Table, job: Job, outcome: Outcome) -> None:
    if arguments.output:
        _write_output(table, outcome, arguments.output, neutralize=not arguments.keep_formulas)
        tell(arguments, f"wrote {arguments.output}")
    if arguments.report:
        command = shlex.join(["featsieve", *sys.argv[1:]])
        code = "" if arguments.file == "-" else pipeline_code(arguments, outcome, job.split.X)
        write_report(arguments.report, job, outcome, command=command, code=code)
        tell(arguments, f"wrote {arguments.report}")
    if arguments.pipeline:
        _write_text(pipeline_code(arguments, outcome, job.split.X), arguments.pipeline)
        tell(arguments, f"wrote {arguments.pipeline}")


def _write_output(table: Table, outcome: Outcome, path: str, *, neutralize: bool) -> None:
    if path.lower().endswith(".json"):
        _write_text(json_text(outcome.as_json()) + "\n", path)
        return
    from featsieve.io.writer import write_table

    columns = _kept_columns(table, outcome)
    write_table(table.parts(columns), path, target=outcome.target, neutralize=neutralize)


def _write_text(text: str, path: str) -> None:
    with atomic_write(path) as stream:
        stream.write(text.encode())


def _kept_columns(table: Table, outcome: Outcome) -> Sequence[str]:
    """Selected columns and the target, in the file's order."""
    wanted = {column.name for column in outcome.selected} | {outcome.target}
    return [name for name in table.names if name in wanted]
