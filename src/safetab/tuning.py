"""Choosing parameters: what a configuration gives, and which configuration gives what is wanted.

>>> from safetab.tuning import tuning_of, least_budget
>>> tuning = tuning_of().require()  # 2020 production
>>> tuning.loss.unbounded
Fraction(618, 125)
"""

from safetab.foundation.argument_types import python_function
from safetab.inputs.tuning.concerns import concerns
from safetab.inputs.tuning.questions import (
    BudgetForMargin,
    MarginsForTotal,
    Multiplicity,
    NoiseComparison,
    ThresholdForError,
    best_margins,
    compare_noises,
    least_budget,
    multiplicities,
    threshold_for,
)
from safetab.inputs.tuning.tuned_level import TunedLevel
from safetab.inputs.tuning.tuning import Tuning
from safetab.inputs.tuning.tuning import tuning_of as tuning_of_command

__all__ = [
    "BudgetForMargin", "MarginsForTotal", "Multiplicity", "NoiseComparison", "ThresholdForError",
    "TunedLevel", "Tuning", "best_margins", "compare_noises", "concerns", "least_budget",
    "multiplicities", "threshold_for", "tuning_of",
]  # fmt: skip

tuning_of = python_function(tuning_of_command)
