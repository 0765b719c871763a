"""The options of a release: rules, the coterminous step, the confidence.

Rules are those of a tabulation system: measured numbers that are not shown, or shown as zero.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import Any

from safetab.core.algorithm.level_design import CONFIDENCE
from safetab.foundation.findings import Finding, FindingsOf, InvalidInput
from safetab.model.census.area_levels import AreaKind
from safetab.model.census.census import Census, Words
from safetab.model.census.groups import (
    CharacteristicIteration,
    Classification,
    Members,
    PublicLists,
)


class ReleaseRule(Enum):
    """A rule. The value is its name on the command line and in the release."""

    CLAMP_NEGATIVES = "clamp-negatives"
    WITHHOLD_NEGATIVES = "withhold-negatives"
    WITHHOLD_ALONE_ABOVE_PARTNER = "withhold-alone-above-partner"

    def explained(self, words: Words) -> str:
        """The effect of the rule, in words that end without a full stop."""
        return {
            "clamp-negatives": "a number below 0 is shown as 0",
            "withhold-negatives": "a number below 0 is withheld",
            "withhold-alone-above-partner": f"a number of {words.only_above_any}",
        }[self.value]


def partner_codes(lists: PublicLists, kind: AreaKind) -> dict[str, str]:
    """For each group of records with only its codes, the group of those with any of them.

    Both are tabulated in areas of `kind`. A code belongs to at most one iteration of a kind, a
    level and a grain of geography, so there is at most one partner.
    """

    def identity(iteration: CharacteristicIteration) -> tuple[Classification, int, frozenset[str]]:
        codes = lists.codes_of_iteration.get(iteration.code, frozenset())
        return iteration.kind.classification, iteration.level.number, codes

    tabulated = [iteration for iteration in lists.iterations if iteration.is_tabulated(kind)]
    with_any = {
        identity(iteration): iteration.code
        for iteration in tabulated
        if iteration.kind.members is Members.ANY and lists.codes_of_iteration.get(iteration.code)
    }
    with_only = (
        (each.code, identity(each)) for each in tabulated if each.kind.members is Members.ONLY
    )
    return {code: with_any[its_own] for code, its_own in with_only if its_own in with_any}


_ABOUT_NEGATIVES = frozenset({ReleaseRule.CLAMP_NEGATIVES, ReleaseRule.WITHHOLD_NEGATIVES})
_LEAST_CONFIDENCE, _MOST_CONFIDENCE = Fraction(1, 2), Fraction(999_999, 1_000_000)


@dataclass(frozen=True, slots=True)
class CoterminousOptions:
    """The order in which kinds give numbers to others.

    `copy_all` says whether to copy groups that the target's level does not tabulate.
    """

    # Names of kinds; those of the census in its own order if there are none.
    order: tuple[str, ...] = ()
    copy_all: bool = False

    def refused_order(self, census: Census) -> tuple[Finding, ...]:
        """A finding if the order does not name kinds of the census that can give."""
        names, known = (
            list(map(str.casefold, self.order)),
            [kind.name for kind in census.donor_order],
        )
        findings = FindingsOf("the command")
        if names and (
            len(names) < 2
            or len(set(names)) != len(names)
            or not set(names) <= {*map(str.casefold, known)}
        ):
            findings.error(
                "--order",
                f"must be two or more of {','.join(known)}, each once, separated by commas.",
            )
        return findings.findings

    def donors(self, census: Census) -> tuple[AreaKind, ...]:
        """The kinds in their order. Raises InvalidInput if the census has no such kinds."""
        refused = self.refused_order(census)
        if refused:
            raise InvalidInput(refused)
        kind_of = {kind.name.casefold(): kind for kind in census.donor_order}
        return tuple(kind_of[name.casefold()] for name in self.order) or census.donor_order


@dataclass(frozen=True, slots=True)
class ReleaseOptions:
    """The steps after measuring. By default there are no rules and no copies."""

    confidence: Fraction = CONFIDENCE
    rules: tuple[ReleaseRule, ...] = ()
    coterminous: CoterminousOptions | None = None
    csv: bool = False  # whether the tables are there as CSV too

    @property
    def change_numbers(self) -> bool:
        """Whether the release can show other numbers than the product's own tables."""
        return bool(self.rules) or self.coterminous is not None

    def withholding(self, *, negatives: bool) -> ReleaseOptions:
        """The options with the rule that withholds negative numbers, if that is wanted.

        They stay as they are if they have a rule about those.
        """
        if not negatives or _ABOUT_NEGATIVES.intersection(self.rules):
            return self
        wanted = {*self.rules, ReleaseRule.WITHHOLD_NEGATIVES}
        return replace(self, rules=tuple(rule for rule in ReleaseRule if rule in wanted))


@dataclass(frozen=True, slots=True)
class ReleaseRequest:
    """The options of a release as the command line and Python receive them."""

    confidence: str = "0.95"
    rules: tuple[str, ...] = ()
    coterminous: bool = False
    order: str | None = None
    copy_all: bool = False
    csv: bool = False

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> ReleaseRequest:
        """The request, from values by the names of declared options."""
        names = ("coterminous", "order", "copy_all")
        given = {name: values[name] for name in names} | {"csv": values.get("csv", False)}
        return cls(str(values["confidence"]), tuple(values["rules"] or ()), **given)

    def options(self) -> ReleaseOptions:
        """The options. Raises InvalidInput with every problem that doesn't depend on the census."""
        findings = FindingsOf("the command")
        confidence, rules = (
            confidence_of(self.confidence, findings),
            _rules_of(self.rules, findings),
        )
        names = () if self.order is None else tuple(name.strip() for name in self.order.split(","))
        for option, is_given in (
            ("--order", self.order is not None),
            ("--copy-all", self.copy_all),
        ):
            if is_given and not self.coterminous:
                findings.error(option, "is about the coterminous step. Give --coterminous too.")
        coterminous = CoterminousOptions(names, self.copy_all) if self.coterminous else None
        if findings.has_errors:
            raise InvalidInput(findings.findings)
        return ReleaseOptions(confidence, rules, coterminous, self.csv)


def confidence_of(text: str, findings: FindingsOf) -> Fraction:
    """The exact confidence in a text such as 0.9, or 0.95 and a finding if the text is invalid."""
    try:
        confidence = Fraction(text) if len(text) <= 20 and "e" not in text.lower() else Fraction(0)
    except (ValueError, ZeroDivisionError):
        confidence = Fraction(0)
    if not _LEAST_CONFIDENCE <= confidence <= _MOST_CONFIDENCE:
        findings.error("--confidence", "must be a number from 0.5 to 0.999999, e.g. 0.95.")
        return CONFIDENCE
    return confidence


def _rules_of(names: Collection[str], findings: FindingsOf) -> tuple[ReleaseRule, ...]:
    """The distinct rules with these names, in the order in which they are applied."""
    known = {rule.value: rule for rule in ReleaseRule}
    unknown = sorted(set(names) - set(known))
    if unknown:
        findings.error("--rule", f'"{unknown[0]}" is not a rule. The rules are {", ".join(known)}.')
    rules = tuple(rule for rule in ReleaseRule if rule.value in names)
    if set(rules) >= _ABOUT_NEGATIVES:
        findings.error("--rule", "negative numbers can be clamped or withheld, not both.")
    return rules
