"""The privacy definitions that a run can satisfy."""

from __future__ import annotations

from enum import Enum


class PrivacyDefinition(Enum):
    """A definition that a run can satisfy. The value is the spelling in config.json."""

    ZCDP = ("zcdp", "zero-concentrated differential privacy", "rho")
    PURE_DP = ("puredp", "pure differential privacy", "epsilon")

    def __init__(self, spelling: str, full_name: str, budget_symbol: str) -> None:
        self.spelling = spelling
        self.full_name = full_name
        self.budget_symbol = budget_symbol
