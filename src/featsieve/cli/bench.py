"""``featsieve bench``: the papers' experiments.

Each is a module of ``featsieve.evaluation.benches`` with
``run(data_dir, *, trials, methods, quick, out)``.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import inspect
import pkgutil
from pathlib import Path
from typing import Any

from featsieve.cli.running import say
from featsieve.errors import InputError

PACKAGE = "featsieve.evaluation.benches"
WRONG_USAGE = 2


def bench_names() -> list[str]:
    """The benches there are, without importing any."""
    try:
        package = importlib.import_module(PACKAGE)
    except ModuleNotFoundError:
        return []
    found = pkgutil.iter_modules(package.__path__)
    return sorted(one.name.replace("_", "-") for one in found if not one.name.startswith("_"))


def run(arguments: argparse.Namespace) -> int:
    names = bench_names()
    if arguments.name is None:
        print("\n".join(names))
        return 0
    if arguments.name not in names:
        near = difflib.get_close_matches(arguments.name, names, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else "'featsieve bench' lists them."
        say(f"error: there is no bench {arguments.name!r}; {hint}")
        return WRONG_USAGE
    module = importlib.import_module(f"{PACKAGE}.{arguments.name.replace('-', '_')}")
    answer = module.run(_data_folder(arguments.data), **_options(module.run, arguments))
    if isinstance(answer, str):
        print(answer)
    return 0


def _data_folder(given: str | None) -> Path | None:
    if given is None:
        return None
    folder = Path(given)
    if not folder.is_dir():
        raise InputError(f"--data {given!r} is no folder; give one with NAME.parquet files.")
    return folder


def _options(bench: Any, arguments: argparse.Namespace) -> dict[str, Any]:
    """What was said on the command line; what the bench does not know is refused."""
    out = None if arguments.out is None else Path(arguments.out)
    options: dict[str, Any] = {
        "trials": arguments.trials,
        "methods": arguments.methods,
        "quick": arguments.quick,
        "out": out,
        "datasets": arguments.datasets,
    }
    known = inspect.signature(bench).parameters
    for name, value in options.items():
        if value and name not in known:
            raise InputError(f"the bench {arguments.name!r} takes no --{name}; leave it out.")
    return {name: value for name, value in options.items() if name in known}
