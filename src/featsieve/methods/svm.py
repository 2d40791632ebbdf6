"""Selection by support vector machines."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any, Literal

from featsieve.errors import InputError
from featsieve.procedures.svm.rfe import RecursiveElimination
from featsieve.protocols import Procedure
from featsieve.selector import BaseSelector


@dataclass(kw_only=True, eq=False, repr=False)
class _SVMSelector(BaseSelector):
    """Standardised columns, classes only."""

    standardize: bool = True

    def _scale_ddof(self) -> int | None:
        return 0 if self.standardize else None
