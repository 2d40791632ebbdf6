"""Comparing selections and methods. Nothing heavy is imported before a function is used."""

from __future__ import annotations

from featsieve.lazy import attach

__all__ = ["f_measure"]

__getattr__, __dir__ = attach(__name__, {"f_measure": "metrics"})
