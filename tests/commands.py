"""Run a tool of the workshop as a developer would, from the project's root."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def run_tool(
    *words: str, cwd: Path = ROOT, folder: Path | None = None, **env: str
) -> subprocess.CompletedProcess[str]:
    """This environment's Python with the project in ``cwd``, run there or in another folder."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder or cwd,
        env={**inherited, "PYTHONPATH": str(cwd / "src"), **env},
        capture_output=True,
        text=True,
        check=False,
    )


def assert_succeeds(*words: str, cwd: Path = ROOT, **env: str) -> str:
    done = run_tool(*words, cwd=cwd, **env)
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}\n{done.stderr}"
    return done.stdout
