"""``featsieve completion``: scripts that let a shell complete commands, options and methods."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from featsieve.cli.parser import COMMANDS, SHELLS, build_parser, offered_methods

_BASH = """\
_featsieve() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=""
    case $before in
{values}
    esac
    if [[ -z $words && COMP_CWORD -eq 1 ]]; then
        words="{commands}"
    elif [[ -z $words && $current == -* ]]; then
        case ${{COMP_WORDS[1]}} in
{options}
        esac
    fi
    if [[ -n $words ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$current"))
    else
        COMPREPLY=($(compgen -f -- "$current"))
    fi
}}
complete -o filenames -F _featsieve featsieve
"""
_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"


def run(arguments: argparse.Namespace) -> int:
    print({"bash": bash, "zsh": zsh, "fish": fish}[arguments.shell](), end="")
    return 0


def _subcommands() -> dict[str, argparse.ArgumentParser]:
    (commands,) = (a.choices for a in build_parser()._actions if isinstance(a.choices, dict))
    return commands


def _options(command: argparse.ArgumentParser) -> list[str]:
    return [o for action in command._actions for o in action.option_strings]


def _values() -> dict[str, list[str]]:
    """Words that may follow an option or a command."""
    words = {
        option: [str(choice) for choice in action.choices]
        for command in _subcommands().values()
        for action in command._actions
        for option in action.option_strings
        if action.choices
    }
    methods = list(offered_methods())
    return words | {"--method": methods, "methods": methods, "completion": list(SHELLS)}


def bash() -> str:
    values = [f'        {name}) words="{" ".join(words)}";;' for name, words in _values().items()]
    options = [
        f'            {name}) words="{" ".join(_options(command))}";;'
        for name, command in _subcommands().items()
    ]
    return _BASH.format(
        values="\n".join(values), options="\n".join(options), commands=" ".join(COMMANDS)
    )


def zsh() -> str:
    return _ZSH + bash()


def fish() -> str:
    return "".join(f"complete -c featsieve {line}\n" for line in _fish_lines())


def _fish_lines() -> Iterator[str]:
    for name, command in _subcommands().items():
        yield f"-n __fish_use_subcommand -f -a {name}"
        for option in _options(command):
            kind = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            words = _values().get(option)
            choices = f" -x -a '{' '.join(words)}'" if words else ""
            yield f"-n '__fish_seen_subcommand_from {name}' {kind}{choices}"
    for name in ("methods", "completion"):
        yield f"-n '__fish_seen_subcommand_from {name}' -f -a '{' '.join(_values()[name])}'"
