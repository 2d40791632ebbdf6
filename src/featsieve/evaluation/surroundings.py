"""What a reader needs to judge a figure: the command, the machine, its load and the date."""

from __future__ import annotations

import datetime
import os
import platform
import shlex
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

OURS = "featsieve"


def command_line() -> str:
    """The command as a reader would type it: no path of the machine it ran on."""
    words = [_without_folder(word) for word in sys.orig_argv[1:]]
    is_script = words[:1] == [OURS]
    return shlex.join(words if is_script else ["python", *words])


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


def seconds_in_words(seconds: float) -> str:
    """
    >>> seconds_in_words(0.0123), seconds_in_words(2.5)
    ('12.3 ms', '2.50 s')
    """
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def described_circumstances(packages: Sequence[str]) -> dict[str, str]:
    """Command, versions, machine and date."""
    versions = [f"Python {sys.version.split()[0]}"]
    versions += [f"{name} {_version(name)}" for name in dict.fromkeys((OURS, "numpy", *packages))]
    return {
        "command": command_line(),
        "versions": ", ".join(versions),
        "machine": f"{cpu_model()}, {os.cpu_count()} cores, {memory_size()}; load {load_average()}",
        "date": today(),
    }


def circumstances(packages: Sequence[str]) -> str:
    """The closing section of a report."""
    described = described_circumstances(packages)
    described["command"] = f"`{described['command']}`"
    lines = [f"- {name.capitalize()}: {words}" for name, words in described.items()]
    return "## Where and when\n" + "\n".join(lines)


def _version(package: str) -> str:
    if package == OURS:
        import featsieve

        return featsieve.__version__
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
