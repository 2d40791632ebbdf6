"""``featsieve demo``: what a linear ranking misses and what is found, on built-in data."""

from __future__ import annotations

import argparse

from featsieve.cli.compare import show_side_by_side
from featsieve.cli.outcome import Outcome
from featsieve.cli.render import json_text, outcome_csv, outcome_table
from featsieve.cli.running import tell
from featsieve.cli.selecting import Job, run_method, with_gains, write_report
from featsieve.io.model import Split

N_COLUMNS = 4
NAMES = (
    *(f"cause {j}" for j in (1, 2, 3, 4)),
    *(f"noise {j}" for j in (5, 6, 7)),
    *(f"echo {j}" for j in (8, 9, 10)),
)
REPORT = "featsieve-demo.html"
_REASON = "it sees redundancy, non-linearity and interaction at once"
_STORY = (
    "the target is (cause 1 and cause 2) or (cause 3 and cause 4); three echoes repeat it with "
    "errors, three columns are noise. Which 4 of the 10 columns tell everything?",
    "the linear ranking takes the echoes, which tell the same thing three times; l1-LSMI sees that "
    "the causes act together and finds all four.",
)


def run(arguments: argparse.Namespace) -> int:
    from featsieve.datasets import make_and_or

    data = make_and_or(400, random_state=arguments.seed)
    job = Job(Split(data.data, data.target, NAMES, None), len(data.data), "target")
    arguments.k = N_COLUMNS if arguments.k is None else arguments.k
    tell(arguments, _STORY[0])
    outcomes = [run_method(job, arguments, name) for name in ("pc", "l1lsmi")]
    outcomes[1] = with_gains(job, outcomes[1])
    _show(outcomes, arguments)
    if {column.name for column in outcomes[1].selected} == set(NAMES[:4]):
        tell(arguments, _STORY[1])
    write_report(REPORT, job, outcomes[1], reason=_REASON, command="featsieve demo")
    tell(arguments, f"wrote {REPORT}, a page about this answer; open it in a browser.")
    tell(arguments, "now yours: featsieve select FILE --target COL --report report.html")
    return 0


def _show(outcomes: list[Outcome], arguments: argparse.Namespace) -> None:
    if arguments.format == "json":
        print(json_text(outcomes[1].as_json()))
    elif arguments.format == "csv":
        print(outcome_csv(outcomes[1], everything=arguments.all))
    else:
        print(show_side_by_side({o.method: [c.name for c in o.selected] for o in outcomes}))
        print()
        print(outcome_table(outcomes[1], everything=arguments.all))
