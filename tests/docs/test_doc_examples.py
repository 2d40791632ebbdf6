"""Every example of the README and the docs runs, and shows what it says it shows."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from tests.commands import ROOT, run_tool
from tests.markdown import CodeBlock, code_blocks

OPTIONS = doctest.ELLIPSIS
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def run_block(block: CodeBlock, names: dict[str, object], page: str) -> None:
    if block.language in RUNNERS:
        RUNNERS[block.language](block, names, page)


def run_script(block: CodeBlock, names: dict[str, object], page: str) -> None:
    exec(compile("\n" * block.line + block.code, page, "exec"), names)


def run_session(block: CodeBlock, names: dict[str, object], page: str) -> None:
    example = doctest.DocTestParser().get_doctest(block.code, names, page, page, block.line)
    runner = doctest.DocTestRunner(verbose=False, optionflags=OPTIONS)
    complaints: list[str] = []
    failed = runner.run(example, out=complaints.append, clear_globs=False).failed
    assert not failed, "".join(complaints)
    names.update(example.globs)


def run_commands(block: CodeBlock, names: dict[str, object], page: str) -> None:
    """``$ featsieve …`` and what it prints, on both streams."""
    for command, expected in COMMAND.findall(block.code):
        program, *words = shlex.split(command)
        assert program == "featsieve", f"{page}: only featsieve is run, not {program}"
        done = run_tool("-m", "featsieve.cli", *words, folder=Path.cwd())
        printed = done.stdout + done.stderr
        if not doctest.OutputChecker().check_output(expected, printed, OPTIONS):
            raise AssertionError(f"{page}: {command}\nExpected:\n{expected}\nGot:\n{printed}")


RUNNERS = {"python": run_script, "pycon": run_session, "console": run_commands}


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES_WITH_CODE = [page for page in PAGES if any(b.language in RUNNERS for b in code_blocks(page))]


@pytest.mark.parametrize("page", PAGES_WITH_CODE, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_of_page(page, tmp_path, monkeypatch):
    """The blocks of a page run in order and share their names, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(ROOT / "examples")
    names: dict[str, object] = {"__name__": "__main__"}
    for block in code_blocks(page):
        if needed_package(block) is None:
            run_block(block, names, str(page.relative_to(ROOT)))


def needed_package(block: CodeBlock) -> str | None:
    """A block titled "needs NAME" shows another package, which the test extra does not bring."""
    title = block.title or ""
    return title.removeprefix("needs ") if title.startswith("needs ") else None


def packages_of(page: Path) -> set[str]:
    return {name for block in code_blocks(page) if (name := needed_package(block)) is not None}


@pytest.mark.filterwarnings("ignore")  # the other packages' own
@pytest.mark.parametrize(
    "page", [page for page in PAGES if packages_of(page)], ids=lambda p: p.stem
)
def test_comparison_with_another_package(page, tmp_path, monkeypatch):
    for package in packages_of(page):
        pytest.importorskip(package, reason=f"compares with {package}, which is not installed")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for block in code_blocks(page):
        run_block(block, names, page.stem)


def test_a_wrong_example_fails():
    with pytest.raises(AssertionError, match="Expected"):
        run_block(CodeBlock("pycon", None, ">>> 1 + 1\n3\n", 0), {}, "page.md")


def test_a_right_example_keeps_its_names():
    names: dict[str, object] = {}
    run_block(CodeBlock("pycon", None, ">>> x = 2\n>>> x\n2\n", 0), names, "page.md")
    run_block(CodeBlock("python", None, "y = x + 1\n", 0), names, "page.md")
    assert names["y"] == 3
