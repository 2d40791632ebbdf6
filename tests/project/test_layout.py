"""The shape of the source: short files and functions, and imports in one direction."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import numpy as np
import pytest

from tests.commands import ROOT

PACKAGE = ROOT / "src/featsieve"
FILES = sorted(PACKAGE.rglob("*.py"))
MOST_LINES = 400
MOST_LINES_OF_BODIES = 20  # of 95 % of them


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def imports_of(source: str, modules: set[str]) -> set[str]:
    """Those of ``modules`` that a source imports anywhere: in functions and for types, too."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            members = (f"{node.module}.{alias.name}" for alias in node.names)
            names |= {member if member in modules else node.module for member in members}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names & modules


def import_graph(sources: dict[str, str]) -> dict[str, set[str]]:
    modules = set(sources)
    return {name: imports_of(source, modules) - {name} for name, source in sources.items()}


def test_no_module_imports_itself_by_a_detour():
    sources = {module_name(path): path.read_text(encoding="utf-8") for path in FILES}
    graph = import_graph(sources)
    assert "featsieve.schema" in graph["featsieve.statistics.moments"]
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules


@pytest.mark.parametrize(
    "back",
    [
        "import a",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a import A",
        "def later():\n    from a import A",
    ],
)
def test_the_check_sees_every_kind_of_cycle(back):
    with pytest.raises(CycleError):
        TopologicalSorter(import_graph({"a": "from b import B", "b": back})).prepare()


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_file_is_long(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def body_lengths() -> Iterator[int]:
    """Lines of the body of every function, without its docstring."""
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) is not None else node.body
                yield body[-1].end_lineno - body[0].lineno + 1 if body else 0


def test_functions_are_short():
    assert np.percentile(list(body_lengths()), 95) <= MOST_LINES_OF_BODIES
