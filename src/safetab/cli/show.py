"""What `safetab show` answers: the numbers of an area, or of one group in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from safetab.dialects.known_census import examples
from safetab.estimates.estimate import Absence
from safetab.estimates.open_release import Release, open_release
from safetab.estimates.results import Answers
from safetab.foundation.findings import Finding, FindingsOf, InvalidInput, Severity
from safetab.products.product import Product, Refusal

_LARGEST = 20


@dataclass(frozen=True, slots=True)
class Question:
    """The arguments of `safetab show`.

    `areas` holds the area options by kind of area, `part` the options that ask for a part of a table.
    """

    area: str | None
    areas: Mapping[str, str]
    is_whole: bool
    groups: tuple[str, ...]
    kind: str | None
    is_table: bool
    family: str | None
    part: Mapping[str, str]

    @property
    def group(self) -> str | None:
        """The group's name, or None for all groups."""
        return self.groups[0] if self.groups else None

    @property
    def asks_for_a_table(self) -> bool:
        """Whether a table or a part of one is asked for. The total of a family belongs to its table."""
        return self.is_table or bool(self.part) or self.family is not None


def answer_to(path: Path, question: Question) -> str:
    """The release's status, then the answer, as text.

    Raises InvalidInput if options contradict each other or the release lacks an area or a group.
    """
    release = open_release(path)
    part = _checked(question, release.product)
    return f"{release.output_status.line}\n\n{_answer(release, question, part)}"


def _answer(release: Release, question: Question, part: Mapping[str, object]) -> object:
    """The answer, which prints as text; what it shows depends on which names were given."""
    if question.area is not None and question.group is not None and release.is_level(question.area):
        if question.asks_for_a_table:
            message = "tables are shown for one area. Give its name, or leave the other options out."
            raise InvalidInput([Finding(Severity.ERROR, "the command", "AREA", message)])
        return _largest(release.totals(group=question.group, level=question.area, kind=question.kind))
    if question.is_whole:
        entity = release.geography(examples.WHOLE_ID, examples.WHOLE_OPTION)
    elif question.area is not None:
        entity = release.geography(question.area)
    else:
        ((level, name),) = question.areas.items()
        entity = release.geography(name, level)
    if question.group is None:
        return _largest(release.totals(geography=entity, kind=question.kind))
    if not question.asks_for_a_table:
        return release.total(entity, question.group, kind=question.kind)
    table = release.table(entity, question.group, kind=question.kind, family=question.family)
    return table if question.is_table or isinstance(table, Absence) else table.count(**part)


def _largest(answers: Answers) -> str:
    """The largest numbers, headed by how many there are."""
    heading, *lines = str(answers.largest(_LARGEST)).splitlines()
    if len(answers.numbers) > _LARGEST:
        heading = f"the {_LARGEST} largest of {len(answers.numbers):,} numbers"
    return "\n".join([heading, *lines])


def _checked(question: Question, product: Product) -> Mapping[str, object]:
    """The part of the group's table that is asked for. Raises InvalidInput with every mistake."""
    findings = FindingsOf("the command")
    asked = product.line_question
    if len(question.areas) + question.is_whole + (question.area is not None) != 1:
        names = ", ".join(f"--{option}" for option in examples.AREA_OPTIONS)
        findings.error("area", f"give AREA, or one of {names} or --{examples.WHOLE_OPTION}.")
    if len(question.groups) > 1:
        findings.error("--group", "means the same as GROUP. Give one of them.")
    options = [f"--{argument}" for argument in asked.arguments]
    for unknown in (name for name in question.part if name not in asked.arguments):
        findings.error(f"--{unknown}", f"does not apply to {product.name}. Use {' or '.join(options)}.")
    if question.family is not None and not product.has_several_families:
        findings.error("--family", f"does not apply to {product.name}, which has one kind of tables.")
    part = asked.parsed(question.part)
    if question.group is None and question.asks_for_a_table:
        findings.error("--group", f"must be given with --table, {' or '.join(options)}.")
    if question.is_table and question.part:
        message = f"shows {asked.everything}; give it alone, or {' and '.join(options)} without it."
        findings.error("--table", message)
    if isinstance(part, Refusal):
        findings.error(f"--{part.argument}", part.message)
    if isinstance(part, Refusal) or findings.has_errors:
        raise InvalidInput(findings.findings)
    return part
