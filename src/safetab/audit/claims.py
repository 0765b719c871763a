"""What the audit tries to break: each claim, how it is attacked, and each check, in plain words."""

from __future__ import annotations

from collections.abc import Mapping

from safetab.audit import noise_checks, publication_checks, random_bits_checks, replay_checks, spending_checks
from safetab.audit.loss_bound import LOSS
from safetab.audit.worlds.configuration import CONFIG, SPECIFIED
from safetab.audit.worlds.plain_census import COUNTED

DISTRIBUTED = "Noise has the right distribution"
NEW_KEY = "Every run has a new, unpredictable key"
OWN_BITS = "No two numbers share random bits"
ONE_RECORD = "One record changes only what the proof allows"
NOISY_ONLY = "Everything published depends only on noisy numbers"
RECORDED = "Spending is recorded first, and too little noise is refused"
PAID = "Noise matches its cost and is independent"
BUDGET = "Nobody loses more than the budget"

ATTACKS: Mapping[str, str] = {
    DISTRIBUTED: "Noise is drawn as in a run and compared with exact probabilities.",
    NEW_KEY: "Someone who guesses the key of a run can take the noise away, so keys are drawn again and again.",
    OWN_BITS: "Two numbers with the same noise would give away their difference, so thousands are compared.",
    ONE_RECORD: "Whole runs are made on two censuses that differ in one record. Their exact counts are compared.",
    NOISY_ONLY: "Two different censuses are given the same noisy numbers. Then every published byte must be the same.",
    RECORDED: "The accounts of a run are read when its first noise is drawn. Then runs are asked for too little noise.",
    PAID: "The noise of whole runs is taken out and measured: how wide it is, and whether numbers are related.",
    BUDGET: "An attacker who knows everything but one record guesses from many releases whether the record is there.",
}
"""How each claim is attacked."""

_READ_TWICE = "A second, simple reader finds the same budgets and thresholds in the file."
EXPLAINED: Mapping[str, str] = {
    noise_checks.DISTRIBUTION: "Each value is drawn as often as the exact probabilities say.",
    noise_checks.EXACT: "Even counts beyond 2^60 are not rounded before noise is added.",
    random_bits_checks.KEYS: "Keys come from the operating system, all differ, and every bit is 0 and 1 equally often.",
    random_bits_checks.EVERY_BIT: "A key with one bit changed gives unrelated noise, so no bit is wasted.",
    random_bits_checks.NO_SHARED_BITS: "No two numbers of a census have equal or opposite noise.",
    random_bits_checks.LAZY: "Empty groups are left out and published as if noise had been drawn for each.",
    CONFIG: _READ_TWICE,
    SPECIFIED: _READ_TWICE,
    COUNTED: "Every exact count is what a second reader of the specification counts.",
    publication_checks.PUBLISHED: "A judge works out every group again, and finds what was published.",
    publication_checks.TOTALS: "Totals taken from another release choose the tables that they should.",
    publication_checks.ADJUSTED: "Cells made to agree with each other are those of least squares.",
    replay_checks.ONE_RECORD: "One record more, or changed, moves only as many counts as the proof says, by as much.",
    replay_checks.REPLAY: "With the same noisy numbers, both censuses give the same files, to the byte.",
    replay_checks.NO_TRACE: "Other noise in suppressed groups changes no published byte.",
    replay_checks.ALL_ROUTES: "The same holds for every option and for every command that makes files from a release.",
    replay_checks.SCALE: "The same holds for thousands of records in another order.",
    spending_checks.SPENT: "The whole budget is in the spend log before the first noise is drawn.",
    spending_checks.FLOOR: "Noise that is mostly zero is refused unless the records are made up.",
    noise_checks.FRESH: "The same census, run twice, gets different noise.",
    noise_checks.PAID: "Each charge is the share of the budget that was asked for, and buys noise of the right width.",
    noise_checks.UNRELATED: "The noise of one number says nothing about that of another.",
    noise_checks.WIDE: "The noise of small and large counts alike is as wide as it should be.",
    LOSS: "What the attacker learns about the record stays below the claimed loss.",
}
"""What each check shows if it passes, by the name of the check without the case that it tries."""


def check_and_case(name: str) -> tuple[str, str]:
    """The name of a check, and the case that it tries, which may be empty."""
    check, _, case = name.partition(": ")
    return check, case
