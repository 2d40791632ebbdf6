"""Fenced code blocks of Markdown pages."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n"
    r"(?P<code>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class CodeBlock:
    language: str
    title: str | None
    code: str
    line: int


def code_blocks(path: Path) -> list[CodeBlock]:
    text = path.read_text(encoding="utf-8")
    return [
        CodeBlock(
            found["language"],
            found["title"],
            textwrap.dedent(found["code"]),
            text[: found.start("code")].count("\n"),
        )
        for found in FENCE.finditer(text)
    ]
