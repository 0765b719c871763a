"""The lists of codes and characteristic iterations -> PublicLists, with every finding about the four files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from types import MappingProxyType

from safetab.census.iterations import CharacteristicIteration, IterationKind, IterationLevel, TabulationList
from safetab.census.public_lists import PublicLists
from safetab.foundation.findings import Checked, Finding, FindingsOf
from safetab.readers.code_assignments import assignments_path, read_code_assignments
from safetab.readers.delimited import NAME_RULE, Row, RowProblems, read_rows

CODES_FILE = "race-and-ethnicity-codes.txt"
RACE_ITERATIONS_FILE = "race-characteristic-iterations.txt"
ETHNICITY_ITERATIONS_FILE = "ethnicity-characteristic-iterations.txt"

_CODES_HEADER = ("RACE_ETH_CODE", "RACE_ETH_NAME")
_ETHNICITY_HEADER = ("ITERATION_CODE", "ITERATION_NAME", "LEVEL", "DETAILED_ONLY", "COARSE_ONLY")
_RACE_HEADER = ("ITERATION_CODE", "ITERATION_NAME", "LEVEL", "ALONE", "DETAILED_ONLY", "COARSE_ONLY")

_CODE = re.compile("[1-9][0-9]{3}")
_ITERATION_CODE = re.compile("[0-9]{4}")
_LEVELS = {"0": IterationLevel.MAJOR, "1": IterationLevel.REGIONAL, "2": IterationLevel.DETAILED}
_RACE_KINDS = {"True": IterationKind.RACE_ALONE, "False": IterationKind.RACE_IN_COMBINATION}
_LISTS = {
    ("False", "False"): TabulationList.COMMON,
    ("True", "False"): TabulationList.TOTAL_ONLY,
    ("False", "True"): TabulationList.SUBSTATE_ONLY,
}


def list_paths(parameters: Path) -> tuple[Path, ...]:
    """The four files that `read_public_lists` reads."""
    named = (parameters / file for file in (CODES_FILE, RACE_ITERATIONS_FILE, ETHNICITY_ITERATIONS_FILE))
    return (*named, assignments_path(parameters))


def read_public_lists(parameters: Path) -> Checked[PublicLists]:
    codes = read_codes(parameters)
    race = _read_iterations(parameters, RACE_ITERATIONS_FILE, _RACE_HEADER)
    ethnicity = _read_iterations(parameters, ETHNICITY_ITERATIONS_FILE, _ETHNICITY_HEADER)
    findings = [*codes.findings, *race.findings, *ethnicity.findings]
    if race.value is not None and ethnicity.value is not None:
        findings += _not_disjoint(race.value, ethnicity.value)
    iterations = None if race.value is None or ethnicity.value is None else (*race.value, *ethnicity.value)
    assignments = read_code_assignments(parameters, codes.value, iterations)
    findings += assignments.findings
    if codes.value is None or iterations is None or any(finding.is_error for finding in findings):
        return Checked(None, tuple(findings))
    in_code_order = tuple(sorted(iterations, key=lambda iteration: iteration.code))
    return Checked(PublicLists(codes.value, in_code_order, assignments.require()), tuple(findings))


def read_codes(parameters: Path) -> Checked[MappingProxyType[str, str]]:
    findings = FindingsOf(CODES_FILE)
    rows = read_rows(parameters / CODES_FILE, _CODES_HEADER, findings)
    problems = RowProblems(findings)
    names: dict[str, str] = {}
    for row in rows:
        code, name = row.fields
        if not _CODE.fullmatch(code):
            problems.add(row.line, "RACE_ETH_CODE", "must be four digits, 1000 to 9999", code)
        if not name.strip():
            problems.add(row.line, "RACE_ETH_NAME", "must not be empty", name)
        if not name.isprintable():
            problems.add(row.line, "RACE_ETH_NAME", NAME_RULE, name)
        if code in names:
            problems.add(row.line, "RACE_ETH_CODE", "listed more than once; keep one row a code", code)
        names[code] = name
    problems.report()
    return Checked(None if findings.has_errors else MappingProxyType(names), findings.findings)


def _read_iterations(
    parameters: Path, file: str, header: tuple[str, ...]
) -> Checked[tuple[CharacteristicIteration, ...]]:
    findings = FindingsOf(file)
    rows = read_rows(parameters / file, header, findings, may_be_empty=header is _ETHNICITY_HEADER)
    problems = RowProblems(findings)
    iterations: dict[str, CharacteristicIteration] = {}
    for row in rows:
        iteration = _iteration_of(row, header, problems)
        code = row.fields[0]
        if code in iterations:
            problems.add(row.line, "ITERATION_CODE", "listed more than once; keep one row an iteration", code)
        if iteration is not None:
            iterations[code] = iteration
    problems.report()
    return Checked(None if findings.has_errors else tuple(iterations.values()), findings.findings)


def _iteration_of(row: Row, header: tuple[str, ...], problems: RowProblems) -> CharacteristicIteration | None:
    """The iteration that a row describes, or nothing and the problems with it."""
    field = dict(zip(header, row.fields, strict=True))
    level = _LEVELS.get(field["LEVEL"])
    kind = _RACE_KINDS.get(field["ALONE"]) if "ALONE" in field else IterationKind.ETHNICITY
    flags = (field["DETAILED_ONLY"], field["COARSE_ONLY"])
    complaints = {
        ("ITERATION_CODE", "must be four digits"): not _ITERATION_CODE.fullmatch(field["ITERATION_CODE"]),
        ("ITERATION_NAME", "must not be empty"): not field["ITERATION_NAME"].strip(),
        ("ITERATION_NAME", NAME_RULE): not field["ITERATION_NAME"].isprintable(),
        ("LEVEL", "must be 0 (major), 1 (Regional) or 2 (Detailed)"): level is None,
        ("ALONE", "must be True or False"): kind is None,
    }
    broken = [complaint for complaint, is_broken in complaints.items() if is_broken]
    for column, rule in broken:
        problems.add(row.line, column, rule, field[column])
    flag_rule = None if level is None else _broken_flag_rule(level, flags)
    if flag_rule is not None:
        problems.add(row.line, "DETAILED_ONLY, COARSE_ONLY", flag_rule, ", ".join(flags))
    if broken or flag_rule is not None or level is None or kind is None:
        return None
    return CharacteristicIteration(field["ITERATION_CODE"], field["ITERATION_NAME"], level, kind, _LISTS.get(flags))


def _broken_flag_rule(level: IterationLevel, flags: tuple[str, str]) -> str | None:
    if level is IterationLevel.MAJOR:
        return None if flags == ("Null", "Null") else "must both be Null at level 0, which is never tabulated"
    if flags == ("True", "True"):
        return "can't both be True"
    return None if flags in _LISTS else "must be True or False at levels 1 and 2"


def _not_disjoint(
    race: Iterable[CharacteristicIteration], ethnicity: Iterable[CharacteristicIteration]
) -> tuple[Finding, ...]:
    findings = FindingsOf(ETHNICITY_ITERATIONS_FILE)
    race_codes = {iteration.code for iteration in race}
    for iteration in ethnicity:
        if iteration.code in race_codes:
            findings.error("ITERATION_CODE", f"{iteration.code} is a race iteration too. Give each its own code.")
    return findings.findings
