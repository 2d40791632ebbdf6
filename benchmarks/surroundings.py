"""What a reader needs to judge a figure: the command, the machine, its load and the date."""

from __future__ import annotations

import datetime
import os
import platform
import shlex
import sys
from pathlib import Path


def command_line() -> str:
    """The command as a reader would type it: no path of the machine it ran on."""
    return shlex.join(["python", *(_without_folder(word) for word in sys.orig_argv[1:])])


def _without_folder(word: str) -> str:
    """
    >>> _without_folder("--data=/home/me/data"), _without_folder("-q")
    ('--data=data', '-q')
    """
    option, equals, value = word.partition("=")
    if equals:
        return f"{option}={_without_folder(value)}"
    return Path(word).name if Path(word).is_absolute() else word


def cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def memory_size() -> str:
    if not hasattr(os, "sysconf"):
        return "memory unknown"
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"


def load_average() -> str:
    """Of the last minute, so that a reader sees whether the machine was busy with other things."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def today() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
