"""What `safetab show` answers: the question of one area, and of a group in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from safetab.estimates.open_release import Release, open_release
from safetab.estimates.reading.absence import Absence
from safetab.estimates.reading.lookup import Entity
from safetab.estimates.results import Answers
from safetab.foundation.findings import Finding, FindingsOf, InvalidInput, Severity
from safetab.products.product import Product, Refusal

AREA_OPTIONS = ("place", "county", "state", "tract", "aiannh")

_LARGEST = 20


@dataclass(frozen=True, slots=True)
class Question:
    """The options as they were given; `areas` has those that name one, by level, `part` those of products."""

    area: str | None
    areas: Mapping[str, str]
    is_nation: bool
    groups: tuple[str, ...]
    kind: str | None
    is_table: bool
    family: str | None
    part: Mapping[str, str]

    @property
    def group(self) -> str | None:
        return self.groups[0] if self.groups else None

    @property
    def asks_for_a_table(self) -> bool:
        """Or for some of one: a total of a family is that of its table."""
        return self.is_table or bool(self.part) or self.family is not None


def answer_to(path: Path, question: Question) -> str:
    """The release's status, then the answer.

    Raises InvalidInput if the question makes no sense, or names what the release doesn't have.
    """
    release = open_release(path)
    part = _checked(question, release.product)
    return f"{release.output_status.line}\n\n{_answer(release, question, part)}"


def _answer(release: Release, question: Question, part: Mapping[str, object]) -> str:
    if question.area is not None and question.group is not None and release.is_level(question.area):
        if question.asks_for_a_table:
            message = "tables are shown for one area. Give its name, or leave the other options out."
            raise InvalidInput([Finding(Severity.ERROR, "the command", "AREA", message)])
        return _largest(release.totals(group=question.group, level=question.area, kind=question.kind))
    entity = _entity(release, question)
    if question.group is None:
        return _largest(release.totals(geography=entity, kind=question.kind))
    if not question.asks_for_a_table:
        return str(release.total(entity, question.group, kind=question.kind))
    table = release.table(entity, question.group, kind=question.kind, family=question.family)
    if question.is_table or isinstance(table, Absence):
        return str(table)
    return str(table.count(**part))


def _largest(answers: Answers) -> str:
    """The largest numbers, and of how many."""
    if len(answers.numbers) <= _LARGEST:
        return str(answers.largest(_LARGEST))
    _, *lines = str(answers.largest(_LARGEST)).splitlines()
    return "\n".join([f"the {_LARGEST} largest of {len(answers.numbers):,} numbers", *lines])


def _entity(release: Release, question: Question) -> Entity:
    if question.is_nation:
        return release.geography("1", "nation")
    if question.area is not None:
        return release.geography(question.area)
    ((level, name),) = question.areas.items()
    return release.geography(name, level)


def _checked(question: Question, product: Product) -> Mapping[str, object]:
    """What is asked of the group's table."""
    findings, asked = FindingsOf("the command"), product.line_question
    if len(question.areas) + question.is_nation + (question.area is not None) != 1:
        findings.error("area", f"give AREA, or one of {', '.join(f'--{one}' for one in AREA_OPTIONS)} or --nation.")
    if len(question.groups) > 1:
        findings.error("--group", "is GROUP once more. Give one of them.")
    options = [f"--{one}" for one in asked.arguments]
    for strange in (one for one in question.part if one not in asked.arguments):
        findings.error(f"--{strange}", f"has no meaning for {product.name}. Ask with {' or '.join(options)}.")
    if question.family is not None and not product.has_several_families:
        findings.error("--family", f"has no meaning for {product.name}, which has one kind of tables.")
    part = asked.parsed(question.part)
    if question.group is None and question.asks_for_a_table:
        findings.error("--group", f"must be given with --table, {' or '.join(options)}.")
    if question.is_table and question.part:
        without = " and ".join(options)
        findings.error("--table", f"shows {asked.everything}; give it alone, or {without} without it.")
    if isinstance(part, Refusal):
        findings.error(f"--{part.argument}", part.message)
    if isinstance(part, Refusal) or findings.has_errors:
        raise InvalidInput(findings.findings)
    return part
