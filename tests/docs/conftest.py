"""The built docs, made once for all test processes: the build runs every example of the gallery."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.commands import assert_succeeds

LONGEST_BUILD = 1200  # seconds, on a machine that does many other things


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / "site"
    try:
        folder.mkdir()
    except FileExistsError:
        return built_elsewhere(folder)
    build(folder)
    return folder


def build(folder: Path) -> None:
    outcome = folder.with_name("site-outcome")
    try:
        assert_succeeds("-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder))
    except AssertionError as failure:
        outcome.write_text(str(failure), encoding="utf-8")
        raise
    outcome.write_text("", encoding="utf-8")


def built_elsewhere(folder: Path) -> Path:
    """The site that another process has begun to build, when it is ready."""
    outcome = folder.with_name("site-outcome")
    give_up = time.monotonic() + LONGEST_BUILD
    while not outcome.exists():
        assert time.monotonic() < give_up, "the docs are still being built"
        time.sleep(0.2)
    failure = outcome.read_text(encoding="utf-8")
    assert not failure, failure
    return folder
