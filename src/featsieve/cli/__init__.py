"""The command line: ``featsieve demo | methods | select | compare | bench``.

Nothing is imported outside ``main``, and nothing but the parser before a command is chosen.
"""

from __future__ import annotations

import os
import sys


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the answer is the exit code: 0 done, 1 failed (2 is wrong usage)."""
    _lead_closed_streams_nowhere()
    try:
        from featsieve.cli.parser import build_parser
        from featsieve.cli.running import run

        parsed = build_parser().parse_args(arguments)
        return run(parsed)
    except KeyboardInterrupt:  # while modules were being imported
        print("featsieve: interrupted before a first answer was ready.", file=sys.stderr)
        return 1


def _lead_closed_streams_nowhere() -> None:
    """Where standard output or error was closed, nothing else may get its number and its text."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
