"""The table of all methods: what is not in it can't be compared.

No other code names a method.
"""

from __future__ import annotations

from collections.abc import Mapping

from safetab.apps.compare.protections.cell_key import CELL_KEYS
from safetab.apps.compare.protections.method import Method
from safetab.apps.compare.protections.random_rounding import RANDOM_ROUNDING
from safetab.apps.compare.protections.rounding import ROUNDING, SUPPRESSION
from safetab.apps.compare.protections.swapping import SWAPPING
from safetab.apps.compare.protections.thresholds import THRESHOLDS

METHODS = (
    Method("nothing"),
    ROUNDING,
    RANDOM_ROUNDING,
    SUPPRESSION,
    CELL_KEYS,
    THRESHOLDS,
    SWAPPING,
    Method("safetab"),
)

SAID: Mapping[str, str] = {
    step: said for method in METHODS for step, said in method.words["said_for_it"].items()
}
"""The users' arguments for a method, by the name of a step or of steps joined by +."""


def controls_of(kind: str) -> tuple[str, ...]:
    """The protections with which the attack itself is checked, by what they do."""
    return tuple(
        method.words["controls"][kind]
        for method in METHODS
        if kind in method.words.get("controls", {})
    )
