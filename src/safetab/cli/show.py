"""What `safetab show` answers: the question of one area, and of a group in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from safetab.estimates.open_release import Release, open_release
from safetab.estimates.reading.absence import Absence
from safetab.estimates.reading.lookup import Entity
from safetab.foundation.findings import FindingsOf, InvalidInput
from safetab.products.product import Refusal
from safetab.products.safetab_p.safetab_p import SAFETAB_P

AREA_OPTIONS = ("place", "county", "state", "tract", "aiannh")

_LARGEST = 20
_ASKED = SAFETAB_P.line_question  # the options of the command are this product's


@dataclass(frozen=True, slots=True)
class Question:
    """The options as they were given; `areas` has those that name one, by level, `part` those of the product."""

    areas: Mapping[str, str]
    is_nation: bool
    group: str | None
    kind: str | None
    is_table: bool
    part: Mapping[str, str]


def answer_to(path: Path, question: Question) -> str:
    """The release's status, then the answer.

    Raises InvalidInput if the question makes no sense, or names what the release doesn't have.
    """
    part = _checked(question)
    release = open_release(path)
    return f"{release.output_status.line}\n\n{_answer(release, question, part)}"


def _answer(release: Release, question: Question, part: Mapping[str, object]) -> str:
    entity = _entity(release, question)
    if question.group is None:
        return str(release.totals(geography=entity, kind=question.kind).largest(_LARGEST))
    if not (question.is_table or part):
        return str(release.total(entity, question.group, kind=question.kind))
    table = release.table(entity, question.group, kind=question.kind)
    if question.is_table or isinstance(table, Absence):
        return str(table)
    return str(table.count(**part))


def _entity(release: Release, question: Question) -> Entity:
    if question.is_nation:
        return release.geography("1", "nation")
    ((level, name),) = question.areas.items()
    return release.geography(name, level)


def _checked(question: Question) -> Mapping[str, object]:
    """What is asked of the group's table."""
    findings = FindingsOf("the command")
    if len(question.areas) + question.is_nation != 1:
        findings.error("area", f"give one of {', '.join(f'--{one}' for one in AREA_OPTIONS)} or --nation.")
    options = [f"--{one}" for one in _ASKED.arguments]
    part = _ASKED.parsed(question.part)
    if question.group is None and (question.is_table or part):
        findings.error("--group", f"must be given with --table, {' or '.join(options)}.")
    if question.is_table and part:
        without = " and ".join(options)
        findings.error("--table", f"shows {_ASKED.everything}; give it alone, or {without} without it.")
    if isinstance(part, Refusal):
        findings.error(f"--{part.argument}", part.message)
    if isinstance(part, Refusal) or findings.has_errors:
        raise InvalidInput(findings.findings)
    return part
