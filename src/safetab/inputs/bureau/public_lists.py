"""Which codes belong to which iteration: the file of pairs, in its long or its short form.

In the short form one row holds all codes of an iteration, such as `1005|1000,1010:1290, 2000`. A
range stands for every listed code from its first to its last, both included. It may cover numbers
that no code has.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from types import MappingProxyType

from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import Checked, FindingsOf, shortened
from safetab.foundation.new_files import write_new_file
from safetab.inputs.readers.delimited import NAME_RULE, SEPARATOR, Row, RowProblems, read_rows
from safetab.model.census.groups import CharacteristicIteration, GroupKind, GroupLevel, PublicLists
from safetab.model.us.us_census import (
    COMMON,
    COUNTY,
    DETAILED,
    ETHNICITY_KIND,
    MAJOR,
    RACE_ALONE,
    RACE_IN_COMBINATION,
    REGIONAL,
    STATE,
    SUBSTATE_ONLY,
    TOTAL_ONLY,
)

SHORT_FORM_FILE = "race-and-ethnicity-code-to-iteration-short-form.txt"
_ASSIGNMENTS_HEADER = ("ITERATION_CODE", "RACE_ETH_CODE")

_TERM = re.compile(" *([0-9]{4})(?::([0-9]{4}))?")
_BETWEEN_TERMS = ","
_MARKS = frozenset((_BETWEEN_TERMS, ":"))
_CODES = _ASSIGNMENTS_HEADER[1]


def expanded(rows: Sequence[Row], codes: Collection[str] | None, findings: FindingsOf) -> list[Row]:
    """The rows of the short form as pairs, like those of the long form.

    Without the list of codes, a range stands for its two ends. Problems go to the findings.
    """
    problems = RowProblems(findings)
    listed = None if codes is None else sorted(codes)
    seen: set[str] = set()
    pairs: list[Row] = []
    repeated: list[str] = []
    for row in rows:
        iteration = row.fields[0].strip(" ")
        terms = row.fields[1].rstrip(" ")
        if iteration in seen:
            rule = "listed more than once; keep one row per iteration"
            problems.add(row.line, _ASSIGNMENTS_HEADER[0], rule, iteration)
        seen.add(iteration)
        members = [
            code
            for term in terms.split(_BETWEEN_TERMS)
            for code in _codes_of(term, row.line, listed, problems)
        ]
        once = dict.fromkeys(members)
        repeated += [] if len(once) == len(members) else [iteration]
        pairs += [Row(row.line, (iteration, code)) for code in once]
    problems.report()
    if repeated:
        findings.warning(
            _CODES, f"a code is in more than one term of {shortened(repeated)}. It counts once."
        )
    return pairs


def _codes_of(
    term: str, line: int, listed: Sequence[str] | None, problems: RowProblems
) -> Sequence[str]:
    """The codes that a term of the short form stands for."""
    match = _TERM.fullmatch(term)
    if match is None:
        rule = (
            "a term must be a code of four digits or a range such as 1010:1290,"
            " with a comma between terms"
        )
        problems.add(line, _CODES, rule, term)
        return ()
    first, last = match.groups()
    if last is None:
        return (first,)  # _check_pairs asks whether it is listed
    if last < first:
        problems.add(line, _CODES, "a range must begin with its lower code", term)
        return ()
    if listed is None:
        return (first, last)
    inside = listed[bisect_left(listed, first) : bisect_right(listed, last)]
    if not inside:
        problems.add(line, _CODES, "the range contains no listed code", term)
    return inside


def write_short_lists(lists: PublicLists, file: Path, *, overwrite: bool) -> None:
    """Write the code assignments of some lists in the short form.

    Raises what `write_new_file` raises if the file exists and must not be overwritten.
    """
    content = "".join(f"{line}\n" for line in short_form_lines(lists)).encode()
    write_new_file(file, lambda path: path.write_bytes(content), overwrite=overwrite)


def short_form_lines(lists: PublicLists) -> Iterator[str]:
    """The header, and a line for each iteration that has codes.

    Reading these lines gives the same pairs.
    """
    yield SEPARATOR.join(_ASSIGNMENTS_HEADER)
    position = {code: number for number, code in enumerate(sorted(lists.code_names))}
    for iteration, codes in sorted(lists.codes_of_iteration.items()):
        if codes:
            # a term for each run of codes that are neighbours in the list of codes
            by_run = groupby(
                enumerate(sorted(codes)), key=lambda numbered: position[numbered[1]] - numbered[0]
            )
            runs = [[code for _, code in run] for _, run in by_run]
            terms = (run[0] if len(run) == 1 else f"{run[0]}:{run[-1]}" for run in runs)
            yield f"{iteration}{SEPARATOR}{_BETWEEN_TERMS.join(terms)}"


ASSIGNMENTS_FILE = "race-and-ethnicity-code-to-iteration.txt"

_Iterations = Collection[CharacteristicIteration]


def _read_code_assignments(
    parameters: Path, codes: Collection[str] | None, iterations: _Iterations | None
) -> Checked[Mapping[str, frozenset[str]]]:
    """The codes of each iteration, and every finding about the file.

    Codes and iterations are checked against the lists that could be read.
    """
    path = _assignments_path(parameters)
    findings = FindingsOf(path.name)
    rows = read_rows(path, _ASSIGNMENTS_HEADER, findings, _headers())
    # no code has a comma or a colon
    if path.name == SHORT_FORM_FILE or any(not _MARKS.isdisjoint(row.fields[-1]) for row in rows):
        rows = expanded(rows, codes, findings)
    if path.name == ASSIGNMENTS_FILE and _is_there(parameters / SHORT_FORM_FILE):
        findings.error("", f"{SHORT_FORM_FILE} also exists. Keep one of the two.")
    _check_pairs(rows, codes, iterations, findings)
    assigned: dict[str, set[str]] = {iteration.code: set() for iteration in iterations or ()}
    for row in rows:
        iteration_code, code = row.fields
        assigned.setdefault(iteration_code, set()).add(code)
    _check_one_iteration_a_code(assigned, iterations or (), findings)
    without = [
        iteration.code
        for iteration in iterations or ()
        if iteration.listed and not assigned[iteration.code]
    ]
    if rows and without:
        problem = f"no code belongs to {shortened(without)}, so these groups are always empty."
        findings.warning("ITERATION_CODE", problem)
    frozen = MappingProxyType(
        {iteration: frozenset(members) for iteration, members in assigned.items()}
    )
    return Checked(None if findings.has_errors else frozen, findings.findings)


def _assignments_path(parameters: Path) -> Path:
    """The file of the code assignments: the long form, or the short form if only that exists."""
    long = parameters / ASSIGNMENTS_FILE
    short = parameters / SHORT_FORM_FILE
    return short if _is_there(short) and not _is_there(long) else long


def _is_there(path: Path) -> bool:
    try:
        return path.exists() or path.is_symlink()
    except OSError as error:
        raise_if_the_machine_failed(error)
        return False


def _check_pairs(
    rows: Collection[Row],
    codes: Collection[str] | None,
    iterations: _Iterations | None,
    findings: FindingsOf,
) -> None:
    """Report pairs that are repeated, or whose iteration or code is not listed."""
    known_iterations = None if iterations is None else {iteration.code for iteration in iterations}
    problems = RowProblems(findings)
    seen: set[tuple[str, ...]] = set()
    for row in rows:
        iteration_code, code = row.fields
        if row.fields in seen:
            rule = "the same pair is listed more than once; keep one row per pair"
            problems.add(row.line, "", rule, "|".join(row.fields))
        seen.add(row.fields)
        if known_iterations is not None and iteration_code not in known_iterations:
            problems.add(
                row.line, "ITERATION_CODE", "not in the lists of iterations", iteration_code
            )
        if codes is not None and code not in codes:
            problems.add(row.line, "RACE_ETH_CODE", "not in the list of codes", code)
    problems.report()


def _check_one_iteration_a_code(
    assigned: dict[str, set[str]], iterations: _Iterations, findings: FindingsOf
) -> None:
    """Report codes in two iterations of one kind and level at the same grain of geography.

    The stability of population groups rests on this rule.
    """
    for at, grain in ((STATE, "at nation and state level"), (COUNTY, "below state level")):
        owners: dict[tuple[GroupKind, GroupLevel], dict[str, str]] = {}
        clashes: dict[str, str] = {}
        for iteration in iterations:
            if not iteration.is_tabulated(at):
                continue
            owner = owners.setdefault((iteration.kind, iteration.level), {})
            codes = assigned[iteration.code]
            shared = owner.keys() & codes
            for code in sorted(shared):
                clash = f"{code} in {owner[code]} and {iteration.code}"
                clashes[clash] = f"{iteration.level.name} {iteration.kind.name}"
            owner |= dict.fromkeys(codes - shared, iteration.code)
        if clashes:
            described = shortened(f"{clash} ({kind})" for clash, kind in clashes.items())
            rule = f"{grain}, a code can be in only one iteration of each kind and level"
            findings.error("RACE_ETH_CODE", f"{rule}: {described}.")


CODES_FILE = "race-and-ethnicity-codes.txt"
RACE_ITERATIONS_FILE = "race-characteristic-iterations.txt"
ETHNICITY_ITERATIONS_FILE = "ethnicity-characteristic-iterations.txt"

_CODES_HEADER = ("RACE_ETH_CODE", "RACE_ETH_NAME")
_ETHNICITY_HEADER = ("ITERATION_CODE", "ITERATION_NAME", "LEVEL", "DETAILED_ONLY", "COARSE_ONLY")
_RACE_HEADER = (
    "ITERATION_CODE",
    "ITERATION_NAME",
    "LEVEL",
    "ALONE",
    "DETAILED_ONLY",
    "COARSE_ONLY",
)


def _headers() -> dict[str, tuple[str, ...]]:
    """The columns of each list."""
    of_iterations = {
        RACE_ITERATIONS_FILE: _RACE_HEADER,
        ETHNICITY_ITERATIONS_FILE: _ETHNICITY_HEADER,
    }
    return {CODES_FILE: _CODES_HEADER, ASSIGNMENTS_FILE: _ASSIGNMENTS_HEADER, **of_iterations}


_CODE = re.compile("[1-9][0-9]{3}")
_ITERATION_CODE = re.compile("[0-9]{4}")
_LEVELS = {"0": MAJOR, "1": REGIONAL, "2": DETAILED}
_RACE_KINDS = {"True": RACE_ALONE, "False": RACE_IN_COMBINATION}
LISTS = {
    ("False", "False"): COMMON,
    ("True", "False"): TOTAL_ONLY,
    ("False", "True"): SUBSTATE_ONLY,
}
"""The list that a group is in, by DETAILED_ONLY and COARSE_ONLY."""


def paths_of_lists(parameters: Path) -> tuple[Path, ...]:
    """The four files that `read_lists` reads."""
    named = (
        parameters / file for file in (CODES_FILE, RACE_ITERATIONS_FILE, ETHNICITY_ITERATIONS_FILE)
    )
    return (*named, _assignments_path(parameters))


def read_lists(parameters: Path) -> Checked[PublicLists]:
    """The lists of a parameters directory, and every finding about them."""
    codes = codes_and_names(parameters)
    race = _read_iterations(parameters, RACE_ITERATIONS_FILE, _RACE_HEADER)
    ethnicity = _read_iterations(parameters, ETHNICITY_ITERATIONS_FILE, _ETHNICITY_HEADER)
    in_both = FindingsOf(ETHNICITY_ITERATIONS_FILE)
    iterations = None
    if race.value is not None and ethnicity.value is not None:
        iterations = (*race.value, *ethnicity.value)
        race_codes = {iteration.code for iteration in race.value}
        for code in (
            iteration.code for iteration in ethnicity.value if iteration.code in race_codes
        ):
            in_both.error(
                "ITERATION_CODE", f"{code} is also a race iteration. Give each its own code."
            )
    findings = [*codes.findings, *race.findings, *ethnicity.findings, *in_both.findings]
    assignments = _read_code_assignments(parameters, codes.value, iterations)
    findings += assignments.findings
    if codes.value is None or iterations is None or any(finding.is_error for finding in findings):
        return Checked(None, tuple(findings))
    in_code_order = tuple(sorted(iterations, key=lambda iteration: iteration.code))
    return Checked(PublicLists(codes.value, in_code_order, assignments.require()), tuple(findings))


def codes_and_names(parameters: Path) -> Checked[Mapping[str, str]]:
    """The names of all codes, and every finding about their list."""
    findings = FindingsOf(CODES_FILE)
    rows = read_rows(parameters / CODES_FILE, _CODES_HEADER, findings, _headers())
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
            problems.add(
                row.line, "RACE_ETH_CODE", "listed more than once; keep one row per code", code
            )
        names[code] = name
    problems.report()
    return Checked(None if findings.has_errors else MappingProxyType(names), findings.findings)


def _read_iterations(parameters: Path, file: str, header: tuple[str, ...]) -> Checked[_Iterations]:
    """The iterations of one list, and every finding about it."""
    findings = FindingsOf(file)
    rows = read_rows(
        parameters / file, header, findings, _headers(), may_be_empty=header is _ETHNICITY_HEADER
    )
    problems = RowProblems(findings)
    iterations: dict[str, CharacteristicIteration] = {}
    for row in rows:
        iteration = _iteration_of(row, header, problems)
        code = row.fields[0]
        if code in iterations:
            problems.add(
                row.line,
                "ITERATION_CODE",
                "listed more than once; keep one row per iteration",
                code,
            )
        if iteration is not None:
            iterations[code] = iteration
    problems.report()
    return Checked(None if findings.has_errors else tuple(iterations.values()), findings.findings)


def _iteration_of(
    row: Row, header: tuple[str, ...], problems: RowProblems
) -> CharacteristicIteration | None:
    """The iteration that a row describes, or None and the problems with it."""
    field = dict(zip(header, row.fields, strict=True))
    level = _LEVELS.get(field["LEVEL"])
    kind = _RACE_KINDS.get(field["ALONE"]) if "ALONE" in field else ETHNICITY_KIND
    flags = (field["DETAILED_ONLY"], field["COARSE_ONLY"])
    complaints = {
        ("ITERATION_CODE", "must be four digits"): not _ITERATION_CODE.fullmatch(
            field["ITERATION_CODE"]
        ),
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
    return CharacteristicIteration(
        field["ITERATION_CODE"], field["ITERATION_NAME"], level, kind, LISTS.get(flags)
    )


def _broken_flag_rule(level: GroupLevel, flags: tuple[str, str]) -> str | None:
    """The rule that DETAILED_ONLY and COARSE_ONLY break at this level, or None."""
    if level == MAJOR:
        return (
            None
            if flags == ("Null", "Null")
            else "must both be Null at level 0, which is never tabulated"
        )
    if flags == ("True", "True"):
        return "can't both be True"
    return None if flags in LISTS else "must be True or False at levels 1 and 2"
