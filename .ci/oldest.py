"""Print the oldest versions that pyproject.toml allows, one pinned requirement per line.

``python .ci/oldest.py > oldest.txt`` and ``pip install -c oldest.txt -e ".[test]"`` make the oldest
environment in which the suite has to pass; ``.ci/versions`` does both and runs it.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*>=\s*([0-9][0-9.]*)")


def oldest(requirement: str) -> str | None:
    """
    >>> oldest("dask[array,dataframe]>=2024.8"), oldest("mkdocs>=1.6,<2"), oldest("featsieve[cli]")
    ('dask==2024.8', 'mkdocs==1.6', None)
    """
    found = REQUIREMENT.match(requirement)
    return f"{found[1]}=={found[2]}" if found else None


def pinned(project: dict[str, object]) -> list[str]:
    """All dependencies, those of the extras included."""
    extras = project["optional-dependencies"]
    assert isinstance(extras, dict)
    groups = [project["dependencies"], *extras.values()]
    pins = {oldest(requirement) for group in groups for requirement in group}  # type: ignore[union-attr, attr-defined]
    return sorted(pin for pin in pins if pin)


if __name__ == "__main__":
    root = Path(__file__).resolve().parents[1]
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    sys.stdout.write("\n".join(pinned(settings["project"])) + "\n")
