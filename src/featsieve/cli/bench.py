"""``featsieve bench``: the papers' experiments.

Each is a module of ``featsieve.evaluation.benches`` with
``run(data_dir, *, trials, methods, quick, out)``.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import importlib
import importlib.util
import inspect
import pkgutil
from pathlib import Path
from typing import Any

from featsieve.cli.render import text_table
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
    modules = [module.name for module in pkgutil.iter_modules(package.__path__)]
    return sorted(name.replace("_", "-") for name in modules if not name.startswith("_"))


def _first_line(name: str) -> str:
    """What the bench says about itself, without importing it."""
    spec = importlib.util.find_spec(f"{PACKAGE}.{name.replace('-', '_')}")
    if spec is None or spec.origin is None:
        return ""
    text = ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8")))
    return (text or "").split("\n", 1)[0]


def run(arguments: argparse.Namespace) -> int:
    names = bench_names()
    if arguments.name is None:
        rows = [[name, _first_line(name)] for name in names]
        print(text_table(["bench", "what it shows"], rows, right="ll", width=None, flexible=1))
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
        raise InputError(f"--data {given!r} is not a folder; give one with NAME.parquet files.")
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
