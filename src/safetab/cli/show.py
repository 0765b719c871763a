"""The answers of `safetab show`: the numbers of an area, or of one group in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from safetab.core.guarantees.plan_json import JsonObject, exact
from safetab.core.privacy.output_status import status_as_json
from safetab.foundation.findings import FindingsOf, InvalidInput
from safetab.model.census.groups import CharacteristicIteration
from safetab.model.products.product import Refusal
from safetab.release.estimates.estimate import Absence, Estimate
from safetab.release.estimates.noisy_number import NoisyNumber
from safetab.release.estimates.open_release import Release, open_release
from safetab.release.estimates.reading.lookup import Entity
from safetab.release.estimates.results import Answers, GroupTable

_LARGEST = 20
_OF_AREA = "area"  # where a finding about the name of an area is
_SEVERAL_LEVELS = "Groups of several levels have the same name: --groups LEVEL shows one level."

_Found = Answers | GroupTable | Estimate | Absence


@dataclass(frozen=True, slots=True)
class Question:
    """The arguments of `safetab show`.

    `areas` holds names with their levels, if these are given, `part` the options that ask for a
    part of a table, and `where` those of --where, as they were typed.
    """

    areas: tuple[tuple[str, str | None], ...]
    groups: tuple[str, ...]
    kind: str | None
    is_table: bool
    family: str | None
    part: Mapping[str, str]
    group_level: str | None
    where: tuple[str, ...]

    @property
    def group(self) -> str | None:
        """The group's name, or None for all groups."""
        return self.groups[0] if self.groups else None

    @property
    def asks_for_a_table(self) -> bool:
        """Whether a table or a part of one is asked for.

        The total of a family belongs to its table.
        """
        return self.is_table or bool(self.part or self.where) or self.family is not None


def answer_to(path: Path, question: Question) -> str:
    """The release's status, then the answer, as text.

    Raises InvalidInput if options contradict each other or the release lacks an area or a group.
    """
    release = open_release(path)
    found = _answer_in_order(release, question, _checked(question, release))
    return (
        f"{release.output_status.line}\n\n"
        f"{_largest(found) if isinstance(found, Answers) else found}"
    )


def answer_as_json(path: Path, question: Question) -> JsonObject:
    """The release's status, then the answer, as JSON values.

    A list has all its numbers, greatest first. Raises InvalidInput like `answer_to`.
    """
    release = open_release(path)
    found = _answer_in_order(release, question, _checked(question, release))
    numbers, absent = tuple[Estimate, ...](), tuple[Absence, ...]()
    match found:
        case Estimate():
            kind, numbers = "number", (found,)
        case Absence():
            kind, absent = "absence", (found,)
        case GroupTable(lines=lines):
            kind, numbers = "table", lines
        case Answers():
            kind, numbers = "list", found.largest(max(len(found.numbers), 1)).numbers
    table = found if isinstance(found, GroupTable) else None
    return {
        **status_as_json(release.output_status),
        "product": release.product.name,
        "answer": kind,
        "numbers": [_number_as_json(one, release) for one in numbers],
        "absent": [_absence_as_json(one, release) for one in absent],
        "withheld": [] if table is None else list(table.withheld),
        "notes": [] if table is None else list(table.notes),
    }


def _number_as_json(number: Estimate, release: Release) -> JsonObject:
    first = number.counted[0]
    names = [column.name for column in release.product.label_columns]
    lines = [
        {"line": each.line.number, "labels": dict(zip(names, each.line.labels, strict=True))}
        for each in number.counted
    ]
    return {
        **_counted_as_json(first.entity, first.group, number.what),
        "table": first.line.table_id,
        "lines": lines,
        "published": number.published,
        **_precision_as_json(number),
        "combined": None if number.combined is None else _precision_as_json(number.combined),
        "notes": [*number.notes, *(number.combined.notes if number.combined else ())],
    }


def _precision_as_json(number: NoisyNumber) -> JsonObject:
    return {
        "estimate": number.value,
        "margin_of_error": number.margin_of_error,
        "interval": list(number.interval),
        "confidence": exact(number.confidence),
        "holds_confidence": number.holds_confidence,
        "variance": number.variance,
    }


def _absence_as_json(absence: Absence, release: Release) -> JsonObject:
    return {
        **_counted_as_json(absence.entity, absence.group, absence.what),
        "status": absence.status,
        "reason": absence.reason,
        "at_most": absence.at_most,
        "confidence": exact(absence.confidence),
        "hint": absence.hint,
        "instead": [_number_as_json(one, release) for one in absence.instead],
    }


def _counted_as_json(entity: Entity, group: CharacteristicIteration, what: str) -> JsonObject:
    """The columns that `status` has for an area and a group, and both in words."""
    return {
        "what": what,
        "geography_level": entity.geography.label,
        "region_id": entity.region_id,
        "region_name": entity.name,
        "iteration_code": group.code,
        "iteration_name": group.name,
        "iteration_level": group.level.name,
    }


def _answer_in_order(release: Release, question: Question, part: Mapping[str, object]) -> _Found:
    """The answer, also if GROUP was given before AREA and only that order makes sense."""
    try:
        return _answer(release, question, part)
    except InvalidInput as refused:
        ((name, level),) = question.areas
        if level is not None or refused.findings[0].where != _OF_AREA:
            raise
        if question.group is None:
            if _names_a_group(release, name):
                message = f'"{name}" is a group. Name an area or a level before it.'
                raise InvalidInput.about("the command", message, "AREA") from None
            raise
        swapped = replace(question, areas=((question.group, None),), groups=(name,))
        try:
            return _answer(release, swapped, part)
        except InvalidInput as other:
            if other.findings[0].where == _OF_AREA:
                raise refused from None
            raise  # GROUP is an area: its order was the other one


def _names_a_group(release: Release, name: str) -> bool:
    """Whether the release has a group of this name, or several."""
    found = release.find(name)
    return bool(found.groups) and not found.areas


def _answer(release: Release, question: Question, part: Mapping[str, object]) -> _Found:
    """The answer, which prints as text; what it shows depends on which names were given."""
    ((name, level),), of = question.areas, question.group_level
    if level is None and question.group is not None and release.is_level(name):
        if question.asks_for_a_table:
            message = (
                "tables are shown for one area. Give its name, or leave the other options out."
            )
            raise InvalidInput.about("the command", message, "AREA")
        return release.totals(group=question.group, level=name, kind=question.kind, groups=of)
    if level is None and question.group is None and release.is_level(name):
        message = f'"{name}" is a level, not an area. Name one area, or add a GROUP.'
        raise InvalidInput.about("the command", message, "AREA")
    entity = release.area(name, level)
    if question.group is None:
        return release.totals(area=entity, kind=question.kind, groups=of)
    group = question.group if of is None else release.group(question.group, question.kind, of)
    if not question.asks_for_a_table:
        return release.total(entity, group, kind=question.kind)
    table = release.table(entity, group, kind=question.kind, family=question.family)
    return table if question.is_table or isinstance(table, Absence) else table.count(**part)


def _largest(answers: Answers) -> str:
    """The largest numbers, headed by how many there are.

    The level is shown where groups have the same name.
    """
    largest, times = answers.largest(_LARGEST), Counter(one.what for one in answers.numbers)
    heading, *lines = str(largest).splitlines()
    if len(answers.numbers) > _LARGEST:
        heading = f"the {_LARGEST} largest of {len(answers.numbers):,} numbers"
    for place, one in enumerate(largest.numbers):
        group = one.counted[0].group
        if times[one.what] > 1:
            lines[place] = lines[place].replace(group.name, f"{group.name} ({group.level.name})", 1)
    return "\n".join([heading, *lines, *([_SEVERAL_LEVELS] if len(times) < times.total() else [])])


def _checked(question: Question, release: Release) -> Mapping[str, object]:
    """The part of the group's table that is asked for. Raises InvalidInput with every mistake."""
    findings = FindingsOf("the command")
    product = release.product
    asked = product.line_question
    if len(question.areas) != 1:
        for name, level in question.areas[1:]:
            release.area(name, level)  # refuses a level that the census doesn't have
        findings.error("AREA", "name one area, or a level and a GROUP.")
    if len(question.groups) > 1:
        findings.error("--group", "means the same as GROUP. Give one of them.")
    options = [
        f"--where {argument}=VALUE" if release.is_specified else f"--{argument}"
        for argument in asked.arguments
    ]
    for unknown in (name for name in question.part if name not in asked.arguments):
        findings.error(
            f"--{unknown}", f"does not apply to {product.name}. Use {' or '.join(options)}."
        )
    if question.family is not None and not product.has_several_families:
        findings.error(
            "--family", f"does not apply to {product.name}, which has one kind of tables."
        )
    wheres = _where(question.where, asked.arguments, findings)
    part = asked.parsed({**question.part, **wheres})
    if question.group is None and question.asks_for_a_table:
        findings.error("--group", f"must be given with --table, {' or '.join(options)}.")
    if question.is_table and (question.part or question.where):
        message = f"shows {asked.everything}; give it alone, or {' and '.join(options)} without it."
        findings.error("--table", message)
    if isinstance(part, Refusal):
        is_where = part.argument in wheres
        findings.error(
            f"--where {part.argument}" if is_where else f"--{part.argument}", part.message
        )
    if isinstance(part, Refusal) or findings.has_errors:
        raise InvalidInput(findings.findings)
    return part


def _where(
    given: tuple[str, ...], attributes: Collection[str], findings: FindingsOf
) -> dict[str, str]:
    """The category that each --where asks of an attribute, by the attribute's name."""
    singular = {each.removesuffix("s"): each for each in attributes}
    asked = dict[str, str]()
    for text in given:
        name, _, value = (one.strip() for one in text.partition("="))
        name = name if name in attributes else singular.get(name.removesuffix("s"), name)
        if not value:
            example = f"{next(iter(attributes))}=VALUE"
            findings.error(
                "--where", f'"{text}" must be an attribute and a value, such as {example}.'
            )
        elif name not in attributes or name in asked:
            wrong = "is given twice" if name in asked else f"is not one of {', '.join(attributes)}"
            findings.error("--where", f'"{name}" {wrong}.')
        else:
            asked[name] = value
    return asked
