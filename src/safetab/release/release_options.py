"""What is asked of a release beyond the numbers that were measured."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from safetab.census.geography_levels import COTERMINOUS_ORDER, EntityKind
from safetab.foundation.findings import FindingsOf, InvalidInput
from safetab.planning.level_design import CONFIDENCE
from safetab.release.release_rules import ReleaseRule

_LEAST_CONFIDENCE, _MOST_CONFIDENCE = Fraction(1, 2), Fraction(999_999, 1_000_000)
_LONGEST_NUMBER = 20
KIND_NAMES = {kind.name.lower(): kind for kind in COTERMINOUS_ORDER}
"""What `--order` calls the kinds of entities."""


@dataclass(frozen=True, slots=True)
class CoterminousOptions:
    """Which kinds give to which, and whether groups that the target's level doesn't tabulate are copied too."""

    order: tuple[EntityKind, ...] = COTERMINOUS_ORDER
    copy_all: bool = False


@dataclass(frozen=True, slots=True)
class ReleaseOptions:
    """No rule and no copies unless asked for."""

    confidence: Fraction = CONFIDENCE
    rules: tuple[ReleaseRule, ...] = ()
    coterminous: CoterminousOptions | None = None
    csv: bool = False  # whether the tables are there as CSV too

    @property
    def change_numbers(self) -> bool:
        """Whether the release can show other numbers than the product's own tables."""
        return bool(self.rules) or self.coterminous is not None


@dataclass(frozen=True, slots=True)
class ReleaseRequest:
    """The options of a release as the command line and Python are given them."""

    confidence: str = "0.95"
    rules: tuple[str, ...] = ()
    coterminous: bool = False
    order: str | None = None
    copy_all: bool = False
    csv: bool = False

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> ReleaseRequest:
        """From values by the names of declared options."""
        rules = tuple(values["rules"] or ())
        return cls(
            str(values["confidence"]),
            rules,
            values["coterminous"],
            values["order"],
            values["copy_all"],
            values.get("csv", False),
        )

    def options(self) -> ReleaseOptions:
        """Raises InvalidInput, with all that is wrong."""
        findings = FindingsOf("the command")
        confidence, rules = confidence_of(self.confidence, findings), rules_of(self.rules, findings)
        order = COTERMINOUS_ORDER if self.order is None else order_of(self.order, findings)
        for option, is_given in (("--order", self.order is not None), ("--copy-all", self.copy_all)):
            if is_given and not self.coterminous:
                findings.error(option, "is about the coterminous step. Give --coterminous too.")
        if findings.has_errors:
            raise InvalidInput(findings.findings)
        coterminous = CoterminousOptions(order, self.copy_all) if self.coterminous else None
        return ReleaseOptions(confidence, rules, coterminous, self.csv)


def confidence_of(text: str, findings: FindingsOf) -> Fraction:
    """An exact confidence level, e.g. of 0.9; 0.95 and a finding if the text is none."""
    try:
        confidence = Fraction(text) if len(text) <= _LONGEST_NUMBER and "e" not in text.lower() else Fraction(0)
    except (ValueError, ZeroDivisionError):
        confidence = Fraction(0)
    if not _LEAST_CONFIDENCE <= confidence <= _MOST_CONFIDENCE:
        findings.error("--confidence", "must be a number from 0.5 to 0.999999, e.g. 0.95.")
        return CONFIDENCE
    return confidence


def order_of(text: str, findings: FindingsOf) -> tuple[EntityKind, ...]:
    """An order such as state,county,tract; the usual one and a finding if the text is none."""
    names = [name.strip().lower() for name in text.split(",")]
    if len(names) < 2 or len(set(names)) != len(names) or not set(names) <= set(KIND_NAMES):
        findings.error("--order", f"must be two or more of {','.join(KIND_NAMES)}, each once, separated by commas.")
        return COTERMINOUS_ORDER
    return tuple(KIND_NAMES[name] for name in names)


def rules_of(names: Collection[str], findings: FindingsOf) -> tuple[ReleaseRule, ...]:
    """The rules of these names, each once, in the order in which they are applied."""
    known = {rule.value: rule for rule in ReleaseRule}
    unknown = sorted(set(names) - set(known))
    if unknown:
        findings.error("--rule", f'"{unknown[0]}" is no rule. The rules are {", ".join(known)}.')
    rules = tuple(rule for rule in ReleaseRule if rule.value in names)
    if {ReleaseRule.CLAMP_NEGATIVES, ReleaseRule.WITHHOLD_NEGATIVES} <= set(rules):
        findings.error("--rule", "negative numbers can be clamped or withheld, not both.")
    return rules
