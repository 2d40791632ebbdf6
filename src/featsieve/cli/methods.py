"""``featsieve methods``: what there is."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from featsieve import registry
from featsieve.cli.parser import offered_methods
from featsieve.cli.render import csv_text, json_text, screen_width, text_table

_HEAD = ["name", "class", "measure", "search", "what it sees"]


def run(arguments: argparse.Namespace) -> int:
    offered = set(offered_methods())
    shown = [method for method in registry.METHODS if method.command_name in offered]
    rows = [[m.command_name, m.name, m.measure, m.search, m.summary] for m in shown]
    if arguments.format == "json":
        print(json_text([{"command": m.command_name} | asdict(m) for m in shown]))
    elif arguments.format == "csv":
        print(csv_text([_HEAD, *rows]))
    else:
        print(_table(rows, screen_width()))
    return 0


def _table(rows: list[list[str]], width: int | None) -> str:
    """All five columns, or name and summary where the terminal is narrow."""
    if width is None or width >= 90:
        return text_table(_HEAD, rows, right="lllll", width=width, flexible=4)
    short = [[row[0], row[4]] for row in rows]
    return text_table([_HEAD[0], _HEAD[4]], short, right="ll", width=width, flexible=1)
