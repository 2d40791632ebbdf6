"""The wrapper method (P-LECTURE): a model's own cross-validated score × a search."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)

from featsieve.errors import InputError
from featsieve.measures.cross_val_score import CrossValScore
from featsieve.pairing import Pairing
from featsieve.searches import Backward, Exhaustive, Forward
from featsieve.selector import PairingSelector

SEARCHES = {"forward": Forward, "backward": Backward, "exhaustive": Exhaustive}
