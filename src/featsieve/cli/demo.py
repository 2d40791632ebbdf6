"""``featsieve demo``: the main job on a data set that comes with scikit-learn."""

from __future__ import annotations

import argparse

from featsieve.cli.render import show_outcome
from featsieve.cli.running import say
from featsieve.cli.selecting import Job, run_method
from featsieve.io.model import Split

N_COLUMNS = 5
# The demonstration is over in a moment, and shows p-values.
SHOWN = frozenset({"PearsonRanking"})


def run(arguments: argparse.Namespace) -> int:
    from featsieve.datasets import fetch

    wine = fetch("wine")
    names = tuple(name.replace("_", " ") for name in wine.feature_names)
    job = Job(Split(wine.data, wine.target, names, None), len(wine.data), "cultivar")
    arguments.k = N_COLUMNS if arguments.k is None else arguments.k
    if not arguments.quiet:
        say("which of 13 chemical measurements tell three Italian wines (178 bottles) apart?")
    outcome = run_method(job, arguments, available=SHOWN)
    print(show_outcome(outcome, arguments.format, everything=arguments.all))
    if not arguments.quiet:
        say("now yours: featsieve select FILE --target COL")
    return 0
