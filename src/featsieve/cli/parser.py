"""What may be typed. Only the standard library, so that ``--help`` answers at once."""

from __future__ import annotations

import argparse
import difflib
import math
from typing import Any, NoReturn

from featsieve import __version__, registry

# The module that runs each command, imported when the command is chosen.
COMMANDS = {
    "demo": "featsieve.cli.demo",
    "methods": "featsieve.cli.methods",
    "select": "featsieve.cli.select",
    "compare": "featsieve.cli.compare",
    "bench": "featsieve.cli.bench",
    "completion": "featsieve.cli.completion",
}
SHELLS = ("bash", "zsh", "fish")
# What is put right in a file before it is looked at, and can be switched off.
FIXES = (
    *("encoding", "layout", "names", "codes", "rows", "header"),
    *("numbers", "dates", "empty", "spelling", "target", "states"),
)
LARGEST_SEED = 2**32 - 1
BY_P_VALUES = ("bh", "by", "wy")  # featsieve.methods.ranking says what they are
# These need more than a file and a target.
_NOT_OFFERED = {"FeatureSelector", "WrapperSelector"}


def offered_methods() -> dict[str, str]:
    """Name on the command line → class name."""
    return {m.command_name: m.name for m in registry.METHODS if m.name not in _NOT_OFFERED}


class Parser(argparse.ArgumentParser):
    """Wrong usage is one sentence, not a page."""

    def error(self, message: str) -> NoReturn:
        text = message if message.endswith((".", "?")) else f"{message}."
        self.exit(2, f"featsieve: error: {text} ('{self.prog} --help' shows what is possible.)\n")


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="featsieve",
        description="Which columns of this table matter for this target, and which to keep?",
        epilog="Results go to standard output, progress and messages to standard error. "
        "Exit codes: 0 done, 1 the data or the run failed, 2 wrong usage.",
    )
    parser.add_argument("--version", action="version", version=f"featsieve {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_demo(commands)
    _add_methods(commands)
    _add_select(commands)
    _add_compare(commands)
    _add_bench(commands)
    _add_completion(commands)
    return parser


def _add_demo(commands: Any) -> None:
    demo = commands.add_parser("demo", help="select columns of an embedded data set")
    _add_run(demo)
    _add_table(demo)


def _add_methods(commands: Any) -> None:
    methods = commands.add_parser("methods", help="list the methods, or show one in full")
    methods.add_argument("name", nargs="?", type=_method, metavar="NAME", help="show this one")
    _add_format(methods)


def _add_select(commands: Any) -> None:
    select = commands.add_parser(
        "select",
        help="select the columns of a file that matter for a target",
        description="FILE: CSV, TSV, Parquet, Arrow (Feather), ARFF, LIBSVM or NPZ, by its ending.",
    )
    _add_input(select)
    select.add_argument(
        "--method",
        type=_method,
        metavar="NAME",
        help="a name from 'featsieve methods'; by default auto: a race of several",
    )
    select.add_argument(
        "--fdr",
        type=_share,
        metavar="Q",
        help="keep what passes at this false discovery rate, such as 0.1 (knockoffs)",
    )
    select.add_argument(
        "--stability",
        action="store_true",
        help="keep what the method selects again and again from halves of the rows",
    )
    select.add_argument(
        "--param",
        type=_parameter,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the method; may be given again",
    )
    select.add_argument(
        "--output",
        metavar="FILE",
        help="write the selected columns and the target, in the format of FILE's ending; "
        "a .json FILE gets the result instead",
    )
    select.add_argument("--report", metavar="FILE.html", help="write an HTML page about the run")
    select.add_argument(
        "--pipeline", metavar="FILE.py", help="write the Python code that does the same"
    )
    select.add_argument(
        "--resume",
        metavar="FILE",
        help="keep the steps of a long search in FILE, and go on from those it holds",
    )
    select.add_argument(
        "--keep-formulas",
        action="store_true",
        help="write CSV texts as they are, even those that a spreadsheet would run",
    )
    _add_run(select)
    _add_table(select)


def _add_compare(commands: Any) -> None:
    compare = commands.add_parser("compare", help="select with several methods, side by side")
    _add_input(compare)
    compare.add_argument(
        "--methods",
        type=_methods,
        required=True,
        metavar="A,B,C",
        help="names from 'featsieve methods', separated by commas",
    )
    compare.add_argument(
        "--folds", type=_folds, default=5, metavar="N", help="for the errors (default: 5)"
    )
    compare.add_argument(
        "--samples",
        type=_whole,
        default=30,
        metavar="N",
        help="bootstrap samples for the stability (default: 30); 0: none",
    )
    compare.add_argument(
        "--rows",
        type=_count,
        default=2000,
        metavar="N",
        help="of more rows, that many are drawn (default: 2000)",
    )
    compare.add_argument(
        "--resume", metavar="FILE", help="keep finished pieces in FILE, and go on from those"
    )
    _add_run(compare)


def _add_bench(commands: Any) -> None:
    bench = commands.add_parser("bench", help="repeat an experiment of the papers")
    bench.add_argument("name", nargs="?", metavar="NAME", help="which one; without it, the list")
    bench.add_argument("--data", metavar="DIR", help="folder of NAME.parquet files with a 'target'")
    bench.add_argument("--out", metavar="FILE", help="write the result here")
    bench.add_argument("--trials", type=_count, metavar="N", help="how often to repeat")
    bench.add_argument("--methods", type=_names, metavar="A,B,C", help="only these methods")
    bench.add_argument("--datasets", type=_names, metavar="A,B,C", help="only these data sets")
    bench.add_argument("--quick", action="store_true", help="a short version, to see that it works")
    bench.add_argument("--quiet", action="store_true", help="no progress, no messages")


def _add_completion(commands: Any) -> None:
    completion = commands.add_parser(
        "completion",
        help="print a script that lets your shell complete commands and options",
        description='For bash: eval "$(featsieve completion bash)"',
    )
    completion.add_argument("shell", choices=SHELLS, help="your shell")


def _add_input(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", metavar="FILE", help="the table; - is CSV on standard input")
    command.add_argument("--target", metavar="COL", help="the column to explain")
    command.add_argument("--drop", type=_names, default=[], metavar="A,B", help="leave these out")
    command.add_argument(
        "--task",
        choices=["auto", "classification", "regression"],
        default="auto",
        help="what the target is (default: decided by its values)",
    )
    command.add_argument("--delimiter", type=_delimiter, metavar="CHAR", help="between CSV cells")
    command.add_argument(
        "--decimal",
        choices=[".", ","],
        metavar="MARK",
        help="point or comma, where a text file leaves open which stands before decimals",
    )
    command.add_argument("--encoding", default="utf-8", metavar="NAME", help="of text files")
    command.add_argument("--no-header", action="store_true", help="name the columns X1, X2, …")
    command.add_argument(
        "--missing",
        choices=["impute", "drop", "refuse"],
        default="impute",
        help="missing cells, for methods that cannot take them: fill them in for the scores "
        "(default), leave out their rows, or refuse",
    )
    command.add_argument(
        "--no-fix",
        type=_fixes,
        default=[],
        metavar="A,B",
        help=f"do not put right: {', '.join(FIXES)}, or all",
    )
    command.add_argument(
        "--strict", action="store_true", help="refuse what would have to be put right"
    )


def _add_run(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "-k",
        type=_how_many,
        metavar="N",
        default="auto",
        help="how many columns, a fraction of them, auto (default), or those whose adjusted "
        "p-values pass: bh, by (false discovery rate), wy (any false column)",
    )
    command.add_argument("--seed", type=_seed, default=0, metavar="S", help="default: 0")
    command.add_argument("--max-time", type=_seconds, metavar="S", help="stop after S seconds")
    command.add_argument("--memory-limit", default="1GiB", metavar="SIZE", help="default: 1GiB")
    command.add_argument("--jobs", type=int, metavar="N", help="threads (default: one)")
    _add_format(command)
    command.add_argument("--quiet", action="store_true", help="no progress, no messages")


def _add_table(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--permutations",
        type=_whole,
        metavar="R",
        help="for p-values (default: 1000 on tables up to ten million cells, else none)",
    )
    command.add_argument("--all", action="store_true", help="also show the other columns")


def _add_format(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--format", choices=["table", "json", "csv"], default="table", help="of standard output"
    )


# --- values: each says what is allowed ------------------------------------------------------------


def _method(text: str) -> str:
    offered = offered_methods()
    by_class = {name.lower(): command for command, name in offered.items()}
    plain = text.strip().lower()
    command = plain if plain in offered else by_class.get(plain)
    if command is not None:
        return command
    near = difflib.get_close_matches(plain, dict.fromkeys([*offered, *by_class]), n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else "'featsieve methods' lists them."
    raise argparse.ArgumentTypeError(f"there is no method {text!r}; {hint}")


def _methods(text: str) -> list[str]:
    return [_method(name) for name in _names(text)]


def _names(text: str) -> list[str]:
    import csv

    cells = next(csv.reader([text], skipinitialspace=True), [])
    names = [name.strip() for name in cells if name.strip()]
    if not names:
        raise argparse.ArgumentTypeError("give at least one name; separate several by commas.")
    return names


def _fixes(text: str) -> list[str]:
    names = _names(text)
    unknown = [name for name in names if name not in (*FIXES, "all")]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"{unknown[0]!r} is not put right anyway; give some of {', '.join(FIXES)}, or all."
        )
    return list(FIXES) if "all" in names else names


def _parameter(text: str) -> tuple[str, Any]:
    import ast

    name, equals, value = text.partition("=")
    if not equals or not name.strip().isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE; write for example alpha=0.1")
    try:
        return name.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError):
        return name.strip(), value.strip()


def _how_many(text: str) -> int | float | str:
    if text == "auto" or text in BY_P_VALUES:
        return text
    number = _number(text)
    if number is not None and number >= 1 and number == int(number) and "." not in text:
        return int(number)
    if number is not None and 0 < number <= 1:
        return number
    raise argparse.ArgumentTypeError(
        f"{text!r} columns cannot be selected; give an integer >= 1, a fraction up to 1.0, auto, "
        "or bh, by or wy: as many as pass by adjusted p-values."
    )


def _share(text: str) -> float:
    share = _number(text)
    if share is None or not 0 < share <= 1:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a share; give a number above 0 and up to 1."
        )
    return share


def _seconds(text: str) -> float:
    number = _number(text)
    if number is None or number <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time; give seconds > 0.")
    return number


def _seed(text: str) -> int:
    seed = _at_least(text, 0, "seed")
    if seed > LARGEST_SEED:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a possible seed; give an integer from 0 to 2**32 - 1."
        )
    return seed


def _whole(text: str) -> int:
    return _at_least(text, 0, "number")


def _folds(text: str) -> int:
    return _at_least(text, 2, "number of folds")


def _count(text: str) -> int:
    return _at_least(text, 1, "number")


def _at_least(text: str, lowest: int, what: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = lowest - 1
    if number < lowest:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a possible {what}; give an integer >= {lowest}."
        )
    return number


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _delimiter(text: str) -> str:
    delimiter = {"\\t": "\t", "tab": "\t"}.get(text, text)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
        raise argparse.ArgumentTypeError(
            f"{text!r} does not separate cells; give one ASCII character other than a quote, or "
            "'tab'."
        )
    return delimiter
