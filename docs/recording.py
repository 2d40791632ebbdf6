"""What the README shows: a recording of the terminal and a picture of the report, from a real run.

``python -m docs.recording`` makes the pictures of ``docs/pictures`` again; the picture of the
report needs chromium and Pillow (which matplotlib brings).
"""

from __future__ import annotations

import html
import io
import os
import shlex
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
COMMAND = (
    "featsieve select wine.csv --target cultivar -k 5 --drop sample_id,bin,bottled "
    "--report report.html"
)
WIDTH = 96  # letters per line
LETTER, LINE, MARGIN = 7.8, 18, 16  # pixels
TYPING, PAUSE, STEP = 2.5, 0.8, 0.12  # seconds

STYLE = """
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
       fill: #d7dde5; white-space: pre; }
.prompt { fill: #4fc3a1; } .note { fill: #9fb3c8; } .ground { fill: #1b222c; }
.line { animation: appear 0.01s linear backwards; }
.cover { fill: #1b222c; visibility: hidden; }
.cover { animation-name: uncover; animation-fill-mode: backwards; }
@keyframes appear { from { opacity: 0; } }
@keyframes uncover { from { visibility: visible; }
                     to { transform: translateX(750px); visibility: visible; } }
@media (prefers-reduced-motion) { .line, .cover { animation: none; } }
"""


@dataclass(frozen=True)
class Recording:
    """A command and what it wrote, in the order in which a terminal shows it."""

    command: str
    lines: list[str]


def record(command: str, folder: Path) -> Recording:
    """Run a command of this environment in a folder; both streams go to the same place."""
    program, *words = shlex.split(command)
    assert program == "featsieve"
    done = subprocess.run(
        [sys.executable, "-m", "featsieve.cli", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    return Recording(command, done.stdout.rstrip().splitlines())


def as_svg(recording: Recording) -> str:
    """The recording as an animation; where nothing moves, everything is in sight from the start."""
    typed = textwrap.wrap("$ " + recording.command, WIDTH, subsequent_indent="    ")
    shown = [(part, kind_of(line)) for line in recording.lines for part in wrapped(line)]
    height = 2 * MARGIN + LINE * (len(typed) + len(shown))
    width = round(2 * MARGIN + LETTER * WIDTH)
    body = [_typed(row, text, len(typed)) for row, text in enumerate(typed)]
    start = TYPING + PAUSE
    for row, (text, kind) in enumerate(shown):
        body.append(_line(row + len(typed), text, kind, start + STEP * row))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{html.escape(recording.command)}"><style>{STYLE}</style>'
        f'<clipPath id="screen"><rect width="{width}" height="{height}" rx="8"/></clipPath>'
        f'<g clip-path="url(#screen)"><rect class="ground" width="{width}" height="{height}"/>'
        f"{''.join(body)}</g></svg>\n"
    )


def wrapped(line: str) -> list[str]:
    """
    >>> wrapped("a" * 95 + " b")[1:], wrapped("")
    (['    b'], [''])
    """
    return textwrap.wrap(line, WIDTH, subsequent_indent="    ", drop_whitespace=True) or [""]


def _typed(row: int, text: str, n_rows: int) -> str:
    """A line that appears letter by letter, from under a cover that moves to the right."""
    length = TYPING / n_rows
    when = f"animation-duration:{length:.2f}s;animation-delay:{row * length:.2f}s"
    cover = (
        f'<rect class="cover" x="{MARGIN}" y="{MARGIN + LINE * row}" width="{LETTER * WIDTH}" '
        f'height="{LINE}" style="{when};animation-timing-function:steps({WIDTH})"/>'
    )
    return f'<text class="prompt" {_position(row)}>{html.escape(text)}</text>{cover}'


def kind_of(line: str) -> str:
    return "line note" if line.startswith("featsieve:") else "line"


def _line(row: int, text: str, kind: str, at: float) -> str:
    style = f'style="animation-delay:{at:.2f}s"'
    return f'<text class="{kind}" {_position(row)} {style}>{html.escape(text)}</text>'


def _position(row: int) -> str:
    return f'x="{MARGIN}" y="{MARGIN + LINE * row + 13}" xml:space="preserve"'


def photograph(page: Path, *, dark: bool) -> bytes:
    """The top of a page in headless chromium, with few colours so that the file is small."""
    from PIL import Image

    with TemporaryDirectory() as folder:
        shot = Path(folder) / "shot.png"
        words = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        words += [f"--user-data-dir={folder}/user", "--window-size=1000,1250"]
        words += ["--blink-settings=preferredColorScheme=0"] if dark else []
        browser = shutil.which("chromium") or "chromium"
        subprocess.run([browser, *words, f"--screenshot={shot}", page.as_uri()], check=True)
        picture = io.BytesIO()
        Image.open(shot).convert("RGB").quantize(64).save(picture, "PNG", optimize=True)
    return picture.getvalue()


def main() -> None:
    sys.path.insert(0, str(ROOT / "examples"))
    from messy_csv import write_messy_csv

    PICTURES.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        write_messy_csv(Path(folder) / "wine.csv")
        record(COMMAND, Path(folder))  # compiled now: the recording shows a warm run
        (PICTURES / "terminal.svg").write_text(as_svg(record(COMMAND, Path(folder))), "utf-8")
        for name, dark in (("light", False), ("dark", True)):
            picture = photograph(Path(folder) / "report.html", dark=dark)
            (PICTURES / f"report-{name}.png").write_bytes(picture)


if __name__ == "__main__":
    main()
