"""Benches without a report keep their cells in the user's cache: not in these tests."""

import pytest


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FEATSIEVE_DATA", str(tmp_path / "cache"))
