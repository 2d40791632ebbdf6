"""Small pieces of linear algebra and optimisation that know nothing of featsieve."""

from __future__ import annotations

from featsieve.linalg.projections import project_l1_ball

__all__ = ["project_l1_ball"]
