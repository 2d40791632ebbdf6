"""Running a command: what goes where, and which failures are one sentence."""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import shutil
import signal
import sys
import textwrap
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from featsieve.cli.parser import COMMANDS
from featsieve.errors import InputError, printable

FAILED = 1
WRONG_USAGE = 2
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}  # numba's cache meets a full disk, too
DEBUG_VARIABLE = "FEATSIEVE_DEBUG"
SECONDS_TO_END = 5.0  # after SIGTERM, before it is sent again


class UsageError(InputError):
    """Words that do not go together, found only once the method is known."""


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen command and turn whatever goes wrong into a sentence and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        _never_fail_on_letters(stream)
    with _termination_cleans_up():
        return _run(arguments)


@contextmanager
def _termination_cleans_up() -> Iterator[None]:
    """SIGTERM ends the command as an error would, so that no temporary file stays behind.

    It asks again until the command has ended: Python drops what a signal raises while a destructor
    or a callback of foreign code runs.
    """
    has_ended = threading.Event()

    def insist(number: int) -> None:
        if not has_ended.wait(SECONDS_TO_END):
            os.kill(os.getpid(), number)

    def end(number: int, _: Any) -> None:
        threading.Thread(target=insist, args=(number,), daemon=True).start()
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        has_ended.set()
        signal.signal(signal.SIGTERM, before)


def _run(arguments: argparse.Namespace) -> int:
    try:
        _check_limits(arguments)
        module = importlib.import_module(COMMANDS[arguments.command])
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _show_warning(arguments)
            code: int = module.run(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader has gone (`| head`): nothing to say, and nothing left to flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        say("interrupted before a first answer was ready.")
        return FAILED
    except Exception as error:
        if os.environ.get(DEBUG_VARIABLE):
            raise
        say(f"error: {explain(error)}")
        return WRONG_USAGE if isinstance(error, UsageError) else FAILED


def _check_limits(arguments: argparse.Namespace) -> None:
    """The parser needs the standard library only, and leaves these words to their own checks."""
    if not hasattr(arguments, "memory_limit"):
        return
    from featsieve.input.parameters import effective_n_jobs, parse_memory

    try:
        parse_memory(arguments.memory_limit)
        effective_n_jobs(arguments.jobs)
    except InputError as error:
        words = str(error).replace("memory_limit=", "--memory-limit ").replace("n_jobs=", "--jobs ")
        raise UsageError(words) from None


def explain(error: Exception) -> str:
    """The sentence of an error that was meant for the user, or where to look for the others."""
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.errno in _FULL:
        return f"{text}; make room, or set NUMBA_CACHE_DIR and TMPDIR to another place."
    if isinstance(error, (ValueError, OSError, ImportError, MemoryError)) and text:
        return text
    return (
        f"{type(error).__name__}: {text} (this should not happen; set {DEBUG_VARIABLE}=1 to see "
        "where, and please report it)."
    )


def say(message: str) -> None:
    """A message for the user, on standard error."""
    text = f"featsieve: {printable(message)}"
    if sys.stderr.isatty():  # words stay whole, further lines go in
        width = max(20, shutil.get_terminal_size().columns)
        text = textwrap.fill(text, width, subsequent_indent="  ", break_on_hyphens=False)
    print(text, file=sys.stderr, flush=True)


def tell(arguments: argparse.Namespace, message: str) -> None:
    """The same, unless --quiet was given."""
    if not arguments.quiet:
        say(message)


def _show_warning(arguments: argparse.Namespace) -> Any:
    quiet = getattr(arguments, "quiet", False)

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if not quiet:
            say(f"note: {' '.join(str(message).split())}")

    return show


def _never_fail_on_letters(stream: TextIO) -> None:
    """A terminal that cannot show a letter gets its number instead of an error."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
