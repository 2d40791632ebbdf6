"""One line per run: the commit, the machine, and the ratio of each row."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from featsieve.evaluation.surroundings import cpu_model, load_average, today

WORSE = 1.2


@dataclass(frozen=True)
class Line:
    """The ratios of one run; smaller is better."""

    commit: str
    date: str
    machine: str
    load: str
    ratios: Mapping[str, float]


def new_line(ratios: Mapping[str, float]) -> Line:
    rounded = {name: round(ratio, 4) for name, ratio in ratios.items()}
    return Line(_commit(), today(), cpu_model(), load_average(), rounded)


def read(path: Path) -> list[Line]:
    if not path.exists():
        return []
    return [Line(**json.loads(line)) for line in path.read_text().splitlines() if line.strip()]


def append(path: Path, line: Line) -> None:
    """One line per commit: a second run of the same commit takes the place of the first."""
    kept = [old for old in read(path) if (old.commit, old.machine) != (line.commit, line.machine)]
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(asdict(entry), ensure_ascii=False) for entry in [*kept, line]]
    path.write_text("\n".join(lines) + "\n")


def worse_rows(before: list[Line], line: Line) -> dict[str, tuple[float, float]]:
    """Rows whose ratio is 20 % worse than when they last ran on such a machine, with both."""
    worse = {}
    for name, ratio in line.ratios.items():
        earlier = [
            old.ratios[name]
            for old in before
            if old.machine == line.machine and old.commit != line.commit and name in old.ratios
        ]
        if earlier and ratio > WORSE * earlier[-1]:
            worse[name] = earlier[-1], ratio
    return worse


def _commit() -> str:
    """The short name of the commit, with a mark when files differ from it."""
    words = ["git", "describe", "--always", "--dirty=+"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=Path(__file__).parent)
    return done.stdout.strip() or "unknown"
