"""CONTRIBUTING.md, followed literally in a copy of the project."""

from __future__ import annotations

import shutil

import pytest

from tests.commands import ROOT, assert_succeeds
from tests.markdown import CodeBlock, code_blocks

COPIED = ["src", "tests", "docs", "benchmarks", "pyproject.toml", "README.md"]

# What is compiled already comes along; what another test process is writing just now does not.
BEING_WRITTEN = shutil.ignore_patterns("*.tmp.*", "*.pyc.*")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project in which every step of the page has been done."""
    folder = tmp_path_factory.mktemp("project")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=BEING_WRITTEN)
        else:
            shutil.copy(source, folder / name)
    for block in steps():
        follow(block, folder)
    assert_succeeds("-m", "docs.tables", cwd=folder)
    return folder


def steps() -> list[CodeBlock]:
    return [block for block in code_blocks(ROOT / "CONTRIBUTING.md") if block.title]


def follow(block: CodeBlock, folder) -> None:
    path = folder / block.title
    if block.language == "diff":
        path.write_text(with_added_lines(path.read_text("utf-8"), block.code), encoding="utf-8")
    else:
        assert not path.exists(), f"{block.title} is said to be new"
        path.write_text(block.code, encoding="utf-8")


def with_added_lines(text: str, diff: str) -> str:
    """The text with the lines marked + put after the line that the diff shows before them."""
    shown = "".join(line[1:] + "\n" for line in diff.splitlines() if not line.startswith("+"))
    added = "".join(line[1:] + "\n" for line in diff.splitlines() if line.startswith("+"))
    assert text.count(shown) == 1, f"{shown!r} is not there once"
    return text.replace(shown, shown + added)


def test_the_page_adds_a_measure_a_named_method_and_a_search():
    assert [block.title.removeprefix("src/featsieve/") for block in steps()] == [
        "measures/explained_variance.py",
        "measures/__init__.py",
        "tests/measures/test_explained_variance.py",
        "methods/forward_regression.py",
        "registry.py",
        "searches/random_sets.py",
        "searches/__init__.py",
        "tests/searches/test_random_sets.py",
    ]


def test_the_tests_of_the_page_pass_and_the_matrix_grows_by_itself(project):
    files = ["measures/test_explained_variance", "searches/test_random_sets", "test_compat_matrix"]
    wanted = "explained_variance or random_sets or ExplainedVariance or Pearson-RandomSets"
    words = ["-m", "pytest", "-vv", "-k", wanted, *(f"tests/{name}.py" for name in files)]
    found = assert_succeeds(*words, cwd=project)
    for pair in (
        "ExplainedVariance-RandomSets",
        "ExplainedVariance-Backward",
        "Pearson-RandomSets",
    ):
        assert f"[{pair}] PASSED" in found
    for name in (
        "test_forward_search_finds_the_columns",
        "test_many_random_sets_find_the_best_one",
    ):
        assert f"{name} PASSED" in found


@pytest.mark.parametrize(
    "words",
    [["ruff", "check"], ["ruff", "format", "--check"], ["mypy"]],
    ids=["ruff-check", "ruff-format", "mypy"],
)
def test_the_code_of_the_page_keeps_the_house_rules(project, words):
    written = [block.title for block in steps() if block.title.startswith("src")]
    assert_succeeds("-m", *words, *written, cwd=project)


# What loops over the registries meets the new measure and the new method by itself.
LOOPS = {
    "tests/measures/test_registered_measures.py": [
        "test_engines_agree[ExplainedVariance-blocks]",
        "test_engines_agree[ExplainedVariance-file]",
        "test_engines_agree[ExplainedVariance-dask]",
        "test_a_group_is_one_unit[ExplainedVariance]",
        "test_missing_values_are_understood_or_refused_by_column[ExplainedVariance]",
    ],
    "tests/test_registry.py": ["test_every_source_is_in_the_reference_list[ForwardRegression]"],
    "tests/test_stopping.py": [
        "test_every_method[ForwardRegression-memory]",
        "test_every_method[ForwardRegression-file]",
    ],
    "tests/docs/test_docs.py": ["test_the_readme_has_the_method_table_of_the_registry"],
    "tests/docs/test_docstrings.py": [
        "test_exports_show_an_example[featsieve]",
        "test_exports_show_an_example[featsieve.measures]",
        "test_exports_show_an_example[featsieve.searches]",
    ],
}


@pytest.mark.parametrize("path", LOOPS)
def test_the_new_names_are_tested_without_being_listed(project, path):
    wanted = [f"{path}::{name}" for name in LOOPS[path]]
    done = assert_succeeds("-m", "pytest", "-vv", "-n", "0", *wanted, cwd=project)
    for name in wanted:
        assert f"{name} PASSED" in done


def test_the_examples_of_the_new_names_hold(project):
    written = [block.title for block in steps() if block.title.startswith("src")]
    modules = [path for path in written if not path.endswith(("__init__.py", "registry.py"))]
    assert_succeeds("-m", "pytest", "-q", "-n", "0", "--doctest-modules", *modules, cwd=project)
