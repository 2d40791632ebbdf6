"""The guide knows every command and every option."""

from __future__ import annotations

from featsieve.cli.parser import COMMANDS, build_parser
from tests.commands import ROOT

GUIDE = (ROOT / "docs/guide/cli.md").read_text(encoding="utf-8")


def test_every_command_and_option_is_documented():
    parser = build_parser()
    assert all(f"`featsieve {name}" in GUIDE for name in COMMANDS)
    (commands,) = (a.choices for a in parser._actions if isinstance(a.choices, dict))
    options = [o for action in commands["select"]._actions for o in action.option_strings]
    assert [o for o in options if o.startswith("--") and o not in GUIDE] == []
