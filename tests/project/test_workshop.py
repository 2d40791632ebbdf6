"""The workshop: style, types, layers, what an import loads, and the kernels without their JIT."""

from __future__ import annotations

import ast
import re
import sys

import numpy as np
import pytest

from tests.commands import ROOT, assert_succeeds, run_tool

LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"
KERNEL_TESTS = sorted((ROOT / "tests" / "compiled").glob("test_*.py"))
PURE_FILES = sorted(
    path
    for folder in ("compiled", "linalg")
    for path in (ROOT / "src/featsieve" / folder).glob("*.py")
)


# With numpy 2.0 and Dask 2024.8 mypy has 19 complaints that it does not have with today's types.
NEEDS_TYPES = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="numpy's types are too old"
)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["-m", "ruff", "check", "."], id="ruff-check"),
        pytest.param(["-m", "ruff", "format", "--check", "."], id="ruff-format"),
        pytest.param(["-m", "mypy"], id="mypy-strict", marks=NEEDS_TYPES),
        pytest.param(["-c", LINT_IMPORTS], id="import-layers"),
    ],
)
def test_check_passes(words):
    assert_succeeds(*words)


def loaded_packages(code: str) -> set[str]:
    """Top-level packages that Python loads for ``code``, beyond what it loads for nothing."""
    return _imported(code) - _imported("pass")


def _imported(code: str) -> set[str]:
    done = run_tool("-X", "importtime", "-c", code)
    assert done.returncode == 0, done.stderr
    names = re.findall(r"^import time:.*\|\s+(\S+)$", done.stderr, re.MULTILINE)
    return {name.partition(".")[0] for name in names}


def test_importing_the_package_loads_nothing_but_the_standard_library():
    outside = loaded_packages("import featsieve") - sys.stdlib_module_names - {"org"}
    assert outside == {"featsieve"}


def test_the_import_check_sees_a_heavy_import():
    assert "numpy" in loaded_packages("import featsieve.schema")


def test_listing_names_loads_nothing_heavy():
    code = "import featsieve, featsieve.measures, featsieve.searches; dir(featsieve)"
    assert loaded_packages(code) - sys.stdlib_module_names - {"org"} == {"featsieve"}


def test_help_on_the_command_line_loads_nothing_heavy():
    code = "import sys; from featsieve.cli import main; sys.argv[1:] = ['--help']; main()"
    assert loaded_packages(code) - sys.stdlib_module_names - {"org"} == {"featsieve"}


@pytest.mark.parametrize("path", KERNEL_TESTS, ids=lambda path: path.stem)
def test_kernels_pass_their_tests_without_jit(path):
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", str(path.relative_to(ROOT))]
    assert_succeeds(*words, NUMBA_DISABLE_JIT="1")


@pytest.mark.parametrize("path", PURE_FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_kernels_and_linear_algebra_import_nothing_else_of_ours(path):
    own = f"featsieve.{path.parent.name}"
    for name in _ours_imported_by(path.read_text(encoding="utf-8")):
        assert name == own or name.startswith(f"{own}."), f"{path.name} imports {name}"


def _ours_imported_by(source: str) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return [name for name in names if name.partition(".")[0] == "featsieve"]


def test_the_import_layers_name_every_module():
    listed = set(re.findall(r"featsieve\.(\w+)", _contract()))
    package = ROOT / "src/featsieve"
    present = {p.stem for p in package.glob("*.py")} | {
        p.parent.name for p in package.glob("*/*.py")
    }
    assert present - {"__init__"} <= listed


def _contract() -> str:
    return (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("importlinter")[2]


def test_one_version_in_all_places():
    import featsieve

    for name in ("pyproject.toml", "CITATION.cff"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert re.findall(r"^version\W+([\d.]+)", text, re.MULTILINE) == [featsieve.__version__]
