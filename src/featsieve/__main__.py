"""``python -m featsieve``."""

from __future__ import annotations

import sys

from featsieve.cli import main

if __name__ == "__main__":
    sys.exit(main())
