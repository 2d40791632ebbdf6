"""The command line: ``featsieve demo | methods | select | compare | bench``.

Nothing but the parser is imported before a command is chosen.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the answer is the exit code: 0 done, 1 failed (2 is wrong usage)."""
    from featsieve.cli.parser import build_parser
    from featsieve.cli.running import run

    parsed = build_parser().parse_args(arguments)
    return run(parsed)
