"""Print the N-th shell block of a Markdown file; fail when there is none."""

from __future__ import annotations

import re
import sys
from pathlib import Path

SHELL_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def shell_block(markdown: str, number: int) -> str:
    blocks: list[str] = SHELL_BLOCK.findall(markdown)
    if not 1 <= number <= len(blocks):
        raise SystemExit(f"there is no shell block {number}, only {len(blocks)}")
    return blocks[number - 1]


if __name__ == "__main__":
    sys.stdout.write(shell_block(Path(sys.argv[1]).read_text(encoding="utf-8"), int(sys.argv[2])))
