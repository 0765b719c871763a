"""What `safetab show` answers: the question of one area, and of a group in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from safetab.estimates.open_release import Release, open_release
from safetab.estimates.reading.absence import Absence
from safetab.estimates.reading.lookup import Entity
from safetab.foundation.findings import FindingsOf, InvalidInput
from safetab.products.safetab_p.tables import OLDEST_AGE

AREA_OPTIONS = ("place", "county", "state", "tract", "aiannh")

_LARGEST = 20
_AGES = re.compile(r"(\d{1,3})(?:-(\d{1,3})|\+)")


@dataclass(frozen=True, slots=True)
class Question:
    """The options as they were given; `areas` has those that name one, by level."""

    areas: Mapping[str, str]
    is_nation: bool
    group: str | None
    kind: str | None
    is_table: bool
    sex: str
    ages: str | None


def answer_to(path: Path, question: Question) -> str:
    """The release's status, then the answer.

    Raises InvalidInput if the question makes no sense, or names what the release doesn't have.
    """
    ages = _checked(question)
    release = open_release(path)
    return f"{release.output_status.line}\n\n{_answer(release, question, ages)}"


def _answer(release: Release, question: Question, ages: tuple[int, int] | None) -> str:
    entity = _entity(release, question)
    if question.group is None:
        return str(release.totals(geography=entity, kind=question.kind).largest(_LARGEST))
    if not (question.is_table or ages or question.sex != "both"):
        return str(release.total(entity, question.group, kind=question.kind))
    table = release.table(entity, question.group, kind=question.kind)
    if question.is_table or isinstance(table, Absence):
        return str(table)
    return str(table.count(question.sex, ages or (0, OLDEST_AGE)))


def _entity(release: Release, question: Question) -> Entity:
    if question.is_nation:
        return release.geography("1", "nation")
    ((level, name),) = question.areas.items()
    return release.geography(name, level)


def _checked(question: Question) -> tuple[int, int] | None:
    findings = FindingsOf("the command")
    if len(question.areas) + question.is_nation != 1:
        findings.error("area", f"give one of {', '.join(f'--{one}' for one in AREA_OPTIONS)} or --nation.")
    has_part = question.is_table or question.ages is not None or question.sex != "both"
    if question.group is None and has_part:
        findings.error("--group", "must be given with --table, --sex or --ages.")
    if question.is_table and (question.ages is not None or question.sex != "both"):
        findings.error("--table", "shows all sexes and ages; give it alone, or --sex and --ages without it.")
    ages = _AGES.fullmatch(question.ages.replace(" ", "")) if question.ages is not None else None
    if question.ages is not None and ages is None:
        findings.error("--ages", "must be like 0-17 or 65+.")
    if findings.has_errors:
        raise InvalidInput(findings.findings)
    return None if ages is None else (int(ages[1]), int(ages[2] or OLDEST_AGE))
