"""Every check of what the user gave, once, at the boundary."""

from featsieve.validation.boundary import Settings, open_engine
from featsieve.validation.columns import check_names
from featsieve.validation.parameters import check_flag, resolve_count

__all__ = ["Settings", "check_flag", "check_names", "open_engine", "resolve_count"]
