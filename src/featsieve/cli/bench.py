"""``featsieve bench``: the papers' experiments.

Each is a module of ``featsieve.evaluation.benches`` with a ``BENCH``.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import importlib
import importlib.util
import pkgutil
from pathlib import Path
from typing import Any

from featsieve.cli.progress import Bar
from featsieve.cli.render import text_table
from featsieve.cli.running import say, tell
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
    from featsieve.evaluation.benches._frame import run_bench

    bench = importlib.import_module(f"{PACKAGE}.{arguments.name.replace('-', '_')}").BENCH
    with Bar(quiet=arguments.quiet) as bar:
        text = run_bench(
            bench,
            _request(arguments),
            draw=_drawing(arguments),
            say=lambda message: tell(arguments, message),
            callback=bar,
        )
    print(text)
    return 0


def _request(arguments: argparse.Namespace) -> Any:
    from featsieve.evaluation.benches._frame import Request

    return Request(
        data_dir=_data_folder(arguments.data),
        trials=arguments.trials,
        methods=arguments.methods,
        datasets=arguments.datasets,
        quick=arguments.quick,
        out=None if arguments.out is None else Path(arguments.out),
    )


def _drawing(arguments: argparse.Namespace) -> Any:
    """The plots need an optional package: without it the report has none, and the user is told."""
    if importlib.util.find_spec("matplotlib") is None:
        tell(arguments, "note: no plots without matplotlib: pip install 'featsieve[plot]'")
        return None
    from featsieve.plots.bench import draw

    return draw


def _data_folder(given: str | None) -> Path | None:
    if given is None:
        return None
    folder = Path(given)
    if not folder.is_dir():
        raise InputError(f"--data {given!r} is not a folder; give one with NAME.parquet files.")
    return folder
