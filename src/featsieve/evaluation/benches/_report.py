"""Tables and the results file of a bench."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from featsieve.evaluation.surroundings import circumstances


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """
    >>> print(markdown_table(["a", "b"], [["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = [header, ["---"] * len(header), *rows]
    cells = ["| " + " | ".join(line) + " |" for line in lines]
    cells[1] = cells[1].replace(" ", "")
    return "\n".join(cells)


def finish(title: str, *sections: str, out: Path | None, packages: Sequence[str] = ()) -> str:
    """The whole report, also written to ``out`` with command, versions, machine and date."""
    text = "\n\n".join([f"# {title}", *sections])
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(f"{text}\n\n{circumstances(packages)}\n")
    return text
