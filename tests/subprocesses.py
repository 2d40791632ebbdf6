"""Running Python in a process of its own, with this featsieve."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import featsieve

SOURCE = str(Path(next(iter(featsieve.__path__))).parent)


def environment(**changes: str) -> dict[str, str]:
    """The present environment with this featsieve first on the path."""
    return os.environ | {"PYTHONPATH": SOURCE} | changes


def run_python(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """``python ARGUMENTS`` to its end, with what it wrote as text."""
    options = {"capture_output": True, "text": True, "env": environment(), "timeout": 120} | options
    return subprocess.run([sys.executable, *arguments], check=False, **options)
