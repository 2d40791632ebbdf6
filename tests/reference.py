"""Slow, obvious twins of the fast functions: loops and definitions, nothing clever."""

from __future__ import annotations
