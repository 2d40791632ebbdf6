"""The oldest versions that the project claims to work with, as ``.ci/versions`` sees them."""

from __future__ import annotations

import importlib.util
import tomllib

import pytest

from tests.commands import ROOT


@pytest.fixture(scope="module")
def oldest():
    spec = importlib.util.spec_from_file_location("oldest", ROOT / ".ci" / "oldest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("requirement", "pin"),
    [
        ("dask[array,dataframe]>=2024.8", "dask==2024.8"),
        ("mkdocs>=1.6,<2", "mkdocs==1.6"),
        ("featsieve[cli,plot]", None),
    ],
)
def test_the_lower_bound_of_a_requirement(oldest, requirement, pin):
    assert oldest.oldest(requirement) == pin


def test_every_dependency_has_a_lower_bound(oldest):
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [settings["dependencies"], *settings["optional-dependencies"].values()]
    foreign = [r for group in groups for r in group if not r.startswith("featsieve[")]
    assert [requirement for requirement in foreign if oldest.oldest(requirement) is None] == []
