"""``featsieve methods``: what there is, by family, and one method in full."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from typing import Any

from featsieve import registry
from featsieve.cli.parser import offered_methods
from featsieve.cli.render import csv_text, json_text, screen_width, text_table, wrapped
from featsieve.registry import Method

_HEAD = ["name", "class", "family", "measure", "search", "what it looks at"]
# Parameters that every selector has; the guide explains them once.
_SHARED = {
    "n_features_to_select",
    "task",
    "categorical_features",
    "feature_groups",
    "n_jobs",
    "max_time",
    "memory_limit",
    "callback",
}


def run(arguments: argparse.Namespace) -> int:
    if arguments.name is not None:
        print(_one_method(registry.find_method(arguments.name), arguments.format))
        return 0
    offered = set(offered_methods())
    shown = [method for method in registry.METHODS if method.command_name in offered]
    if arguments.format == "json":
        print(json_text([_as_json(method) for method in shown]))
    elif arguments.format == "csv":
        print(csv_text([_HEAD, *(_row(method) for method in shown)]))
    else:
        print(_by_family(shown, screen_width()))
    return 0


def _as_json(method: Method) -> dict[str, Any]:
    return {"command": method.command_name} | asdict(method)


def _row(method: Method) -> list[str]:
    return [
        method.command_name,
        method.name,
        method.family,
        method.measure,
        method.search,
        method.summary,
    ]


def _by_family(methods: Iterable[Method], width: int | None) -> str:
    """A table per family; a narrow terminal gets name and summary only."""
    families: dict[str, list[Method]] = {}
    for method in methods:
        families.setdefault(method.family, []).append(method)
    parts = [f"{family}\n{_family_table(group, width)}" for family, group in families.items()]
    return "\n\n".join([*parts, "'featsieve methods NAME' shows one in full."])


def _family_table(methods: Sequence[Method], width: int | None) -> str:
    rows = [[m.command_name, ", ".join(m.sees) or "–", m.summary] for m in methods]
    head = ["name", "sees", "what it looks at"]
    if width is not None and width < 90:
        head, rows = [head[0], head[2]], [[row[0], row[2]] for row in rows]
    return text_table(head, rows, right="l" * len(head), width=width, flexible=len(head) - 1)


def _one_method(method: Method, style: str) -> str:
    parameters = _parameters(method)
    if style == "json":
        return json_text(_as_json(method) | {"parameters": dict(parameters)})
    if style == "csv":
        return csv_text([["parameter", "default"], *parameters])
    facts = [
        f"{method.name} ({method.command_name}): {method.summary}",
        "",
        f"measure × search: {method.measure} × {method.search}",
        f"sees: {', '.join(method.sees) or 'what its measure sees'}",
        f"use it {method.use}",
        f"cost: {method.cost} (n rows, m columns, k selected columns)",
        f"score: {method.score}",
        f"larger tables: {registry.ENGINE_WORDS[method.engines]}",
        f"from: {method.paper}",
        "",
        "parameters (--param NAME=VALUE), besides those of all methods:",
    ]
    listed = [f"  {name} = {default}" for name, default in parameters]
    return f"{wrapped(facts)}\n" + "\n".join(listed or ["  none"])


def _parameters(method: Method) -> list[tuple[str, str]]:
    """Name and default of the parameters that only this method has."""
    build: Any = method.load()
    defaults = build().get_params(deep=False)
    names = [field.name for field in fields(build) if field.name in defaults]
    return [(name, repr(defaults[name])) for name in names if name not in _SHARED]
